/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * id_pool.h - gives distinct byte strings small ids, which are reused after a string is dropped:
 * the flight recorder's strings, frames and stacks. It owns the bytes and keeps the time of each
 * string's last use; its user decides what is old enough to drop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/id_index.h"

struct id_pool_item {
	uint8_t *bytes;	  /* NULL: the id is reserved, or free */
	uint64_t used_ns; /* time of the last use */
	uint32_t len, hash;
	uint32_t next; /* free id */
	uint8_t state; /* enum in id_pool.c */
};

/* A zeroed struct is an empty pool. */
struct id_pool {
	struct id_pool_item *items; /* by id - 1 */
	uint32_t n, free_id;
	size_t cap;
	struct id_index index; /* of those that were not reserved */
	uint64_t seed;	       /* of the hash; 0: not chosen yet */
	size_t bytes;	       /* of memory that its items take; tables never shrink */
};

void id_pool_free(struct id_pool *p);

/*
 * The id of the len bytes at key, used at now_ns; *is_new (may be NULL): it was added by this call.
 * 0: out of memory, or the pool is full (256 MiB).
 */
uint32_t id_pool_get(struct id_pool *p, const void *key, size_t len, uint64_t now_ns, bool *is_new);
/*
 * For a string that is referred to before it is known: an id without bytes, and its bytes when they
 * come (the same bytes may have another id, too). id_pool_define() returns false when out of
 * memory.
 */
uint32_t id_pool_reserve(struct id_pool *p, uint64_t now_ns);
bool id_pool_define(struct id_pool *p, uint32_t id, const void *key, size_t len);

/* Memory that a string of len bytes takes. */
size_t id_pool_item_bytes(size_t len);
/* Its *len bytes, NULL: it has none. Valid until it is dropped. */
const void *id_pool_key(const struct id_pool *p, uint32_t id, size_t *len);
/* The string of id as text into buf (size bytes, terminated, cut to fit); "" for no such id. */
void id_pool_text(const struct id_pool *p, uint32_t id, char *buf, size_t size);
/* False for an id that is not in use. Ids are 1 to p->n. */
bool id_pool_has(const struct id_pool *p, uint32_t id);
void id_pool_drop(struct id_pool *p, uint32_t id);

/* Notes a use at now_ns. */
static inline void id_pool_touch(struct id_pool *p, uint32_t id, uint64_t now_ns)
{
	struct id_pool_item *i = &p->items[id - 1];

	if (i->used_ns < now_ns)
		i->used_ns = now_ns;
}
