// SPDX-License-Identifier: GPL-2.0-or-later
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct output {
	jmp_buf full;
	char *buf;
	size_t len, cap;
};

/*
 * The only way to end a demangler that has more to say than we want to hear (32 nested
 * substitutions are four billion characters) is to not return to it. It keeps its state on the
 * stack, so nothing is left behind.
 */
static void take(const char *s, size_t n, void *ctx)
{
	struct output *o = ctx;

	if (o->cap - o->len <= n)
		longjmp(o->full, 1);
	memcpy(o->buf + o->len, s, n);
	o->len += n;
}

const char *demangle(const char *symbol, char *buf, size_t cap)
{
	struct output o = { .buf = buf, .cap = cap };
	int ok;

	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R') || !cap)
		return symbol;
	if (setjmp(o.full))
		return symbol;
	/* Rust's older names are C++ names with a hash at the end, so Rust is asked first. */
	ok = rust_demangle_callback(symbol, DMGL_NO_OPTS, take, &o);
	if (!ok) {
		o.len = 0;
		ok = symbol[1] == 'Z' && cplus_demangle_v3_callback(symbol, DMGL_NO_OPTS, take, &o);
	}
	if (!ok || !o.len)
		return symbol;
	buf[o.len] = '\0';
	return buf;
}
