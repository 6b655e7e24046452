/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool.h - distinct byte strings under small ids that are given anew once a string has been
 * dropped: the flight recorder's strings, frames and stacks. It owns the bytes, and keeps for each
 * string when it was last used; what is old enough to go is for its user to say.
 */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool_item {
	uint8_t *bytes;	  /* NULL: the id is reserved, or free */
	uint64_t used_ns; /* as told last */
	uint32_t len, hash;
	uint32_t next; /* of the bucket, or of the free ids */
	uint8_t state; /* enum in pool.c */
};

/* A zeroed struct is an empty pool. */
struct pool {
	struct pool_item *items; /* by id - 1 */
	uint32_t n, cap, free_id;
	uint32_t *buckets, mask;
	size_t bytes; /* of memory that its items take; tables of past size stay */
};

void pool_free(struct pool *p);

/*
 * The id of the len bytes at key, used at now_ns; *is_new (may be NULL) says whether it is given
 * now. 0: out of memory.
 */
uint32_t pool_id(struct pool *p, const void *key, size_t len, uint64_t now_ns, bool *is_new);
/*
 * For a string that is named before it is known: an id without bytes, and its bytes once they come
 * (such a string may be there twice). pool_define() returns false when out of memory.
 */
uint32_t pool_reserve(struct pool *p, uint64_t now_ns);
bool pool_define(struct pool *p, uint32_t id, const void *key, size_t len);

/* Memory that a string of len bytes takes. */
size_t pool_item_bytes(size_t len);
/* Its bytes, NULL if it has none; *len of them. Valid until it is dropped. */
const void *pool_key(const struct pool *p, uint32_t id, size_t *len);
/* False for an id that is not given. Ids reach from 1 to p->n. */
bool pool_has(const struct pool *p, uint32_t id);
void pool_drop(struct pool *p, uint32_t id);

/* Used again, at now_ns. */
static inline void pool_touch(struct pool *p, uint32_t id, uint64_t now_ns)
{
	struct pool_item *i = &p->items[id - 1];

	if (i->used_ns < now_ns)
		i->used_ns = now_ns;
}

#endif /* POOL_H */
