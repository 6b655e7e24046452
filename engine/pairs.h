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

/* Adds a pair that is not there. Returns its id; 0: out of memory. */
uint32_t pairs_add(struct pairs *p, uint32_t a, uint32_t b);
void pairs_free(struct pairs *p);

/* The slot in which to begin to look. */
static inline uint32_t pairs_slot(uint32_t a, uint32_t b, uint32_t mask)
{
	uint64_t k = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;

	k ^= k >> 29;
	k *= 0xbf58476d1ce4e5b9u;
	return (uint32_t)(k >> 32) & mask;
}

/* The id of (a, b), 0 if it is not there. */
static inline uint32_t pairs_find(const struct pairs *p, uint32_t a, uint32_t b)
{
	if (!p->mask)
		return 0;
	for (uint32_t i = pairs_slot(a, b, p->mask);; i = (i + 1) & p->mask) {
		uint32_t id = p->slots[i];

		if (!id || (p->at[id].a == a && p->at[id].b == b))
			return id;
	}
}

/* The id of (a, b), a new one if it was not there. 0: out of memory. */
static inline uint32_t pairs_id(struct pairs *p, uint32_t a, uint32_t b)
{
	uint32_t id = pairs_find(p, a, b);

	return id ? id : pairs_add(p, a, b);
}

/* Also tells whether the pair is new. */
static inline uint32_t pairs_id_new(struct pairs *p, uint32_t a, uint32_t b, int *is_new)
{
	uint32_t id = pairs_find(p, a, b);

	*is_new = !id;
	return id ? id : pairs_add(p, a, b);
}

#endif /* ENGINE_PAIRS_H */
