/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairs.h - interning of pairs of numbers: each distinct pair gets one dense id, counted from 1.
 * Most of what the engine counts by is built of such pairs: a kernel and a user stack, a link of
 * a chain and the rest of it, a head and its chain.
 */
#ifndef ENGINE_PAIRS_H
#define ENGINE_PAIRS_H

#include <stdint.h>

struct pair {
	uint32_t a, b;
};

/* All zero is an empty set, ready for use. */
struct pairs {
	struct pair *at; /* at[id], from 1 */
	uint32_t *slots; /* open addressing; 0: free */
	uint32_t n;	 /* ids given: 1..n */
	uint32_t cap;	 /* room in at[] */
	uint32_t mask;	 /* slots - 1, a power of two less one; 0: none yet */
};

/* The id of (a, b), a new one if it was not there. 0: out of memory. */
uint32_t pairs_id(struct pairs *p, uint32_t a, uint32_t b);
/* Also tells whether the pair is new. */
uint32_t pairs_id_new(struct pairs *p, uint32_t a, uint32_t b, int *is_new);
/* The id of (a, b), 0 if it is not there. */
uint32_t pairs_find(const struct pairs *p, uint32_t a, uint32_t b);
void pairs_free(struct pairs *p);

#endif /* ENGINE_PAIRS_H */
