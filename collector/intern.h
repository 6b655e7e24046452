/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.h - gives each distinct byte string a dense id from 1: how the encoder defines every
 * string, frame and stack once. Keys are kept in one arena; a look-up allocates nothing.
 */
#ifndef INTERN_H
#define INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
	uint32_t *slots; /* open addressing: ids, 0 free */
	uint32_t mask;	 /* number of slots - 1 */
	uint32_t n;	 /* ids given */
	uint32_t cap;	 /* room in keys */
	struct intern_key {
		size_t offset;
		uint32_t len, hash;
	} * keys; /* by id - 1 */
	uint8_t *arena;
	size_t arena_len, arena_cap;
};

/* A zeroed struct is an empty table. intern_free() makes it one again. */
void intern_free(struct intern *t);

/*
 * Returns the id of the len bytes at key (at most UINT32_MAX), given now if they are new; *is_new
 * says so (may be NULL). 0: out of memory or out of ids.
 */
uint32_t intern_id(struct intern *t, const void *key, size_t len, bool *is_new);

/* FNV-1a over 8-byte pieces with a final mix: keys are short and trusted to nobody's patience. */
uint32_t intern_hash(const void *key, size_t len);

#endif /* INTERN_H */
