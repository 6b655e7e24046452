/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle.h - C++ and Rust names as in the source, in the form that perf shows: with template
 * arguments, without parameters, return types, clone suffixes and Rust's hashes. Programs that use
 * it link libiberty.
 */
#ifndef CHAIN_DEMANGLE_H /* libiberty has a demangle.h too */
#define CHAIN_DEMANGLE_H

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
static inline void demangle_take(const char *s, size_t n, void *ctx)
{
	struct demangle_output *o = ctx;

	if (o->cap - o->len <= n)
		longjmp(o->full, 1);
	memcpy(o->buf + o->len, s, n);
	o->len += n;
}

/*
 * Writes the readable form of symbol to buf (cap bytes, terminated) and returns buf. Returns symbol
 * itself if it is not a mangled name, or if the readable form does not fit: a short hostile name
 * can expand to gigabytes. Memory use does not depend on that length.
 */
static inline const char *demangle(const char *symbol, char *buf, size_t cap)
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

#endif /* CHAIN_DEMANGLE_H */
