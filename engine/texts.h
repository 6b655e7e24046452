/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * texts.h - interning of strings: each distinct text is kept once and gets a dense id, counted
 * from 1. Two texts are equal if and only if their ids are.
 */
#ifndef ENGINE_TEXTS_H
#define ENGINE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty set, ready for use. */
struct texts {
	char *bytes; /* all texts, each with a terminator */
	size_t len, cap;
	size_t *at;	 /* at[id]: offset in bytes */
	uint32_t *slots; /* open addressing; 0: free */
	uint32_t n;	 /* ids given: 1..n */
	size_t cap_at;
	uint32_t mask;
};

/* The id of the len bytes at s, which hold no NUL. 0: out of memory. */
uint32_t texts_id(struct texts *t, const char *s, size_t len);
/* The text, terminated; it stays where it is until the next texts_id(). 0 gives "". */
const char *texts_get(const struct texts *t, uint32_t id);
void texts_free(struct texts *t);

/* A text in the making. All zero is empty. After a failed put nothing more is added. */
struct text_buf {
	char *p;
	size_t len, cap;
	int failed; /* out of memory */
};

void text_put(struct text_buf *b, const char *s, size_t len);
void text_puts(struct text_buf *b, const char *s);
void text_free(struct text_buf *b);

#endif /* ENGINE_TEXTS_H */
