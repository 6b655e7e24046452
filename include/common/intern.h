/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.h - gives each distinct string of bytes a dense id, counted from 1. It owns a copy of
 * each, which never moves: many texts are made while others are shown. A look-up allocates nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "id_index.h"

struct intern_key {
	const char *bytes; /* a 0 follows them */
	uint32_t len, hash;
};

struct intern_chunk;

/* All zero is an empty table. */
struct intern {
	struct id_index index;
	uint64_t seed;
	struct intern_key *keys; /* by id - 1 */
	uint32_t n;		 /* ids given */
	size_t cap;		 /* room in keys */
	size_t n_bytes;		 /* of all keys, with their zeros */
	/* Private: the keys' bytes; the newest chunk first, which has room for `left` more. */
	struct intern_chunk *chunks;
	size_t left;
};

/*
 * Returns the id of the len bytes at key, which is given now if they are new; *is_new (may be NULL)
 * says so. 0: out of memory or of ids, or len does not fit 32 bits.
 */
uint32_t intern_id(struct intern *t, const void *key, size_t len, bool *is_new);
/* The id of the len bytes at key; 0: it has none. */
uint32_t intern_find(const struct intern *t, const void *key, size_t len);

/* The bytes of a given id, a 0 after them; they stay where they are until intern_clear(). */
static inline const char *intern_bytes(const struct intern *t, uint32_t id, size_t *len)
{
	*len = t->keys[id - 1].len;
	return t->keys[id - 1].bytes;
}

/* The same of a text; "" for 0 and for an id that was not given. */
static inline const char *intern_text(const struct intern *t, uint32_t id)
{
	return id && id <= t->n ? t->keys[id - 1].bytes : "";
}

/* Forgets all keys; the memory is kept for the next ones. */
void intern_clear(struct intern *t);
void intern_free(struct intern *t);
