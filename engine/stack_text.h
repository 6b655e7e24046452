/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_text.h - one stack of a wait by itself, as text in the form of folded lines: for formats
 * that have a field for it.
 */
#ifndef ENGINE_STACK_TEXT_H
#define ENGINE_STACK_TEXT_H

#include "names.h"

/* Not terminated; it stands until the next name is made. */
struct stack_text {
	const char *s; /* NULL: out of memory */
	size_t len;
};

/* Where w's thread slept: root first, "user;-;kernel". */
struct stack_text stack_text_off_cpu(struct names *n, uint32_t thread, const struct wait *w);
/* From where it was woken, as w has a waker: leaf first, "kernel;-;user". */
struct stack_text stack_text_waker(struct names *n, const struct wait *w, struct context context);

#endif /* ENGINE_STACK_TEXT_H */
