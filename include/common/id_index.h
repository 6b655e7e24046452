/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * id_index.h - the project's hash table: finds the dense id, 1..n, that stands for a key. It owns
 * only the slots (open addressing, linear probing, at most two thirds full); what an id stands for
 * lies in an array of the caller's, its table. Two functions of the caller's read that table; they
 * must be static inline or plain names, so that the compiler inlines them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* All zero is an empty index. */
struct id_index {
	uint32_t *slots; /* ids, 0: free */
	uint32_t mask;	 /* slots - 1, a power of two less one; 0: there are no slots */
};

/* Whether id stands for key. */
typedef bool (*id_index_same)(const void *table, uint32_t id, const void *key);
/* The hash of what id stands for. */
typedef uint32_t (*id_index_hash)(const void *table, uint32_t id);

#define ID_INDEX_INLINE __attribute__((always_inline)) static inline

/* The slot of key: it holds key's id, or 0 if key has none yet. The index must have slots. */
ID_INDEX_INLINE uint32_t *id_index_slot(const struct id_index *x, uint32_t hash, id_index_same same,
					const void *table, const void *key)
{
	uint32_t i = hash & x->mask;

	while (x->slots[i] && !same(table, x->slots[i], key))
		i = (i + 1) & x->mask;
	return &x->slots[i];
}

/* The slot of a key that is known to have none. */
static inline uint32_t *id_index_free_slot(const struct id_index *x, uint32_t hash)
{
	uint32_t i = hash & x->mask;

	while (x->slots[i])
		i = (i + 1) & x->mask;
	return &x->slots[i];
}

/* Puts the ids 1..n into slots that are all free, as after a change of their number. */
ID_INDEX_INLINE void id_index_fill(struct id_index *x, uint32_t n, id_index_hash hash_of,
				   const void *table)
{
	for (uint32_t id = 1; id <= n; id++)
		*id_index_free_slot(x, hash_of(table, id)) = id;
}

/* Moves all ids into the slots of another index, which is empty. */
ID_INDEX_INLINE void id_index_move(struct id_index *x, const struct id_index *to,
				   id_index_hash hash_of, const void *table)
{
	for (uint32_t i = 0; x->mask && i <= x->mask; i++)
		if (x->slots[i])
			*id_index_free_slot(to, hash_of(table, x->slots[i])) = x->slots[i];
	free(x->slots);
	*x = *to;
}

static inline bool id_index_is_full(const struct id_index *x, uint32_t n)
{
	return n >= x->mask / 3 * 2;
}

/*
 * Makes room for one more than n ids, in at least min_slots (a power of two). The slots move when
 * it grows. False: out of memory, or more than 2^31 slots; the index is as before.
 */
ID_INDEX_INLINE bool id_index_reserve(struct id_index *x, uint32_t n, uint32_t min_slots,
				      id_index_hash hash_of, const void *table)
{
	uint64_t size = x->mask ? 2 * ((uint64_t)x->mask + 1) : min_slots;
	uint32_t *slots;

	if (!id_index_is_full(x, n))
		return true;
	slots = size <= 1u << 31 ? calloc(size, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	id_index_move(x, &(struct id_index) { slots, (uint32_t)size - 1 }, hash_of, table);
	return true;
}

/* Takes out the id that is in this slot; the ids after it move up to where they are looked for. */
ID_INDEX_INLINE void id_index_remove(struct id_index *x, uint32_t *slot, id_index_hash hash_of,
				     const void *table)
{
	uint32_t gap = (uint32_t)(slot - x->slots), i = gap;

	while (x->slots[i = (i + 1) & x->mask]) {
		uint32_t wanted = hash_of(table, x->slots[i]) & x->mask;

		if (((i - wanted) & x->mask) < ((i - gap) & x->mask))
			continue;
		x->slots[gap] = x->slots[i];
		gap = i;
	}
	x->slots[gap] = 0;
}

/* Frees all slots for other ids; their number stays. */
static inline void id_index_clear(struct id_index *x)
{
	if (x->mask)
		memset(x->slots, 0, ((size_t)x->mask + 1) * sizeof(*x->slots));
}

static inline void id_index_free(struct id_index *x)
{
	free(x->slots);
	*x = (struct id_index) { NULL, 0 };
}

/* ---- hashes -------------------------------------------------------------------------------- */

/* Of hash_pair(): the run's own, so that nobody can prepare a trace whose ids fall into one slot.
 */
extern uint64_t hash_pair_seed;

/* Hashes two numbers, such as ids. */
static inline uint32_t hash_pair(uint32_t a, uint32_t b)
{
	uint64_t k = (((uint64_t)a << 32 | b) ^ hash_pair_seed) * 0x9e3779b97f4a7c15u;

	k ^= k >> 29;
	k *= 0xbf58476d1ce4e5b9u;
	return (uint32_t)(k >> 32);
}

/*
 * Hashes len bytes, by multiplying as wyhash does. With a seed from hash_seed() nobody can prepare
 * keys that fall into one slot, which matters where a recorded program chooses the keys.
 */
uint32_t hash_bytes(uint64_t seed, const void *key, size_t len);

/* A number that differs from run to run. */
uint64_t hash_seed(void);
