/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_map.h - from the object ids of the BPF side, which are given and recycled as those of
 * stacks (stack_map.h), to the ids of a store: the trace being written, or the memory of the flight
 * recorder. An event may come before the record of its object, from another CPU's ring.
 */
#ifndef OBJECT_MAP_H
#define OBJECT_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "object_text.h"

/* What an object becomes. Ids are below 2^31; 0: out of memory. time_ns: CLOCK_MONOTONIC. */
struct object_store {
	uint32_t (*object)(void *ctx, const struct object_text *o, uint64_t time_ns);
	/* An id whose text comes later, by define(), or never. */
	uint32_t (*reserve)(void *ctx, uint64_t time_ns);
	int (*define)(void *ctx, uint32_t id, const struct object_text *o);
	/* An event at time_ns refers to the object. NULL: the store does not need to know. */
	void (*use)(void *ctx, uint32_t id, uint64_t time_ns);
	void *ctx;
};

struct object_map;

/* store is copied. Returns 0 or -ENOMEM. */
int object_map_new(struct object_map **out, const struct object_store *store);
void object_map_free(struct object_map *m);

/* Takes a WIRE_OBJECT record of len bytes. Returns 0, -EBADMSG, -ENOMEM or the store's error. */
int object_map_take(struct object_map *m, const struct wire_object *o, size_t len);
/* The store's id for an object that an event at time_ns refers to, by its text. 0: out of memory.
 */
uint32_t object_map_text(struct object_map *m, const struct object_text *o, uint64_t time_ns);
/* The store's id for the object of an event; 0: none, or out of memory. */
uint32_t object_map_id(struct object_map *m, uint32_t wire_id, uint64_t time_ns);
/*
 * Calls fn for each store id that the BPF side may still refer to, after dropping the wire ids that
 * it cannot.
 */
void object_map_each(struct object_map *m, void (*fn)(void *ctx, uint32_t id), void *ctx);

#endif /* OBJECT_MAP_H */
