// SPDX-License-Identifier: GPL-2.0-or-later
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct demangle_output {
	jmp_buf full;
	char *buf;
	size_t len, cap;
};

/*
 * libiberty's demangler cannot be told to stop (32 nested substitutions expand to four billion
 * characters), so a full buffer jumps out of it. Its state is on the stack: nothing leaks.
 */
static void demangle_take(const char *s, size_t n, void *ctx)
{
	struct demangle_output *o = ctx;

	if (o->cap - o->len <= n)
		longjmp(o->full, 1);
	memcpy(o->buf + o->len, s, n);
	o->len += n;
}

const char *demangle(const char *symbol, char *buf, size_t cap)
{
	struct demangle_output o = { .buf = buf, .cap = cap };
	int ok;

	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R') || !cap)
		return symbol;
	if (setjmp(o.full))
		return symbol;
	/* Rust's legacy names are valid C++ names that end in a hash: Rust is tried first. */
	ok = rust_demangle_callback(symbol, DMGL_NO_OPTS, demangle_take, &o);
	if (!ok) {
		o.len = 0;
		ok = symbol[1] == 'Z' &&
		     cplus_demangle_v3_callback(symbol, DMGL_NO_OPTS, demangle_take, &o);
	}
	if (!ok || !o.len)
		return symbol;
	buf[o.len] = '\0';
	return buf;
}
