/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairs.h - interns pairs of numbers: each distinct pair gets one dense id, counted from 1. Most
 * keys of the engine are such pairs: a kernel and a user stack, a link of a chain and the rest of
 * it, a head and its chain.
 */
#pragma once

#include <stdint.h>

#include "common/id_index.h"

struct pair {
	uint32_t a, b;
};

/* All zero is an empty set, ready for use. */
struct pairs {
	struct pair *at; /* at[id], from 1 */
	struct id_index index;
	uint32_t n;   /* ids given: 1..n */
	uint32_t cap; /* room in at[] */
};

/* Makes room for one more pair. */
void pairs_reserve(struct pairs *p);
/* Forgets all pairs; the memory is kept for the next ones. */
void pairs_clear(struct pairs *p);
void pairs_free(struct pairs *p);

static inline bool pairs_same(const void *at, uint32_t id, const void *pair)
{
	const struct pair *x = &((const struct pair *)at)[id], *y = pair;

	return x->a == y->a && x->b == y->b;
}

/* The id of (a, b), 0 if it is not there. */
static inline uint32_t pairs_find(const struct pairs *p, uint32_t a, uint32_t b)
{
	struct pair key = { a, b };

	if (!p->index.mask)
		return 0;
	return *id_index_slot(&p->index, hash_pair(a, b), pairs_same, p->at, &key);
}

/* The id of (a, b), a new one if it was not there: then *is_new. */
static inline uint32_t pairs_id_new(struct pairs *p, uint32_t a, uint32_t b, int *is_new)
{
	struct pair key = { a, b };
	uint32_t *slot, id;

	*is_new = 0;
	/* Room for a new one comes first: the slots may move. */
	if (id_index_is_full(&p->index, p->n))
		pairs_reserve(p);
	slot = id_index_slot(&p->index, hash_pair(a, b), pairs_same, p->at, &key);
	id = *slot;
	if (id)
		return id;
	if (p->n + 1 >= p->cap)
		pairs_reserve(p);
	*is_new = 1;
	*slot = ++p->n;
	p->at[p->n] = key;
	return p->n;
}

static inline uint32_t pairs_id(struct pairs *p, uint32_t a, uint32_t b)
{
	int is_new;

	return pairs_id_new(p, a, b, &is_new);
}

/*
 * One value for each pair, all of one type. All zero is an empty table, ready for use. The values
 * may be sorted when no more are added.
 */
struct pair_table {
	struct pairs keys;
	void *at;   /* values by the pair's id, from 1 */
	size_t cap; /* values that there is room for */
};

/* Makes room for the value of an id. */
void pair_table_grow(struct pair_table *t, uint32_t id, size_t size);
/*
 * The value of (a, b), of size bytes, which are zero at first. Valid until the next call.
 */
static inline void *pair_table_at(struct pair_table *t, uint32_t a, uint32_t b, size_t size)
{
	uint32_t id = pairs_id(&t->keys, a, b);

	if (id >= t->cap)
		pair_table_grow(t, id, size);
	return (char *)t->at + id * size;
}

/* Adds to the uint64_t of (a, b). */
static inline void pair_table_add(struct pair_table *t, uint32_t a, uint32_t b, uint64_t n)
{
	*(uint64_t *)pair_table_at(t, a, b, sizeof(uint64_t)) += n;
}

/* Forgets all pairs and their values, of size bytes; the memory is kept for the next ones. */
static inline void pair_table_clear(struct pair_table *t, size_t size)
{
	if (t->keys.n)
		memset(t->at, 0, ((size_t)t->keys.n + 1) * size);
	pairs_clear(&t->keys);
}

static inline void pair_table_free(struct pair_table *t)
{
	pairs_free(&t->keys);
	free(t->at);
	*t = (struct pair_table) { .cap = 0 };
}
