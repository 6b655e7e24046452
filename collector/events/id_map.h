/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * id_map.h - from the ids that the BPF side gives to stacks and objects ("wire ids",
 * include/chainwire.h) to the ids of a store: the trace being written, or the memory of the flight
 * recorder. It cuts the tracer's own frames off kernel stacks and ends user stacks at the first
 * address that is no code.
 *
 * The life of a stack:
 *
 *     BPF: hash of the frames -> wire id, sent once as WIRE_STACK; events carry the id alone
 *            |
 *     here:  event first (rings of CPUs are drained one by one): store id reserved
 *            WIRE_STACK: frames looked up in the store, the reserved id (or a new one) defined
 *            code replaced at its addresses (dlclose, dlopen; modules and BPF programs of the
 *            kernel): the same addresses get another id
 *            learnt (WIRE_STACK_LAYOUT_SAMPLE): WIRE_STACK_LAYOUT | number stands for it from then
 * on the BPF side recycles the id: the slot goes to a newer wire id
 *
 * WIRE_STACK_ONCE ids serve the one event that follows them in the ring. Objects have the same life
 * without the two steps in the middle.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainlog.h"
#include "chainwire.h"
#include "code_map.h"
#include "definition_store.h"
#include "names/symbolize.h"

struct id_map;

/* store is copied, sym is borrowed until id_map_free(). Returns 0 or -ENOMEM. */
int id_map_new(struct id_map **out, const struct definition_store *store, struct symbolizer *sym);
void id_map_free(struct id_map *m);

/* Takes a WIRE_STACK record of len bytes. Returns 0, -EBADMSG, -ENOMEM or the store's error. */
int id_map_take_stack(struct id_map *m, const struct wire_stack *s, size_t len);
/* Takes a WIRE_CODE record of len bytes. Returns 0, -EBADMSG or -ENOMEM. */
int id_map_take_code(struct id_map *m, const struct wire_code *r, size_t len);
/* The store's id for the stack of an event; 0: no stack, or out of memory. */
uint32_t id_map_stack(struct id_map *m, uint32_t wire_id, uint64_t time_ns);
/*
 * Whether the store's id for wire_id is defined, and stays until other code is mapped at the
 * addresses of a user stack, or a layout's number becomes another stack's.
 */
bool id_map_is_settled(const struct id_map *m, uint32_t wire_id);
/* From now on WIRE_STACK_LAYOUT | layout refers to the stack, too. */
void id_map_set_layout(struct id_map *m, uint32_t wire_id, uint32_t layout, uint64_t time_ns);
/* The store's id for the kernel stack of a listed thread; 0: it has none, or out of memory. */
uint32_t id_map_listed_stack(struct id_map *m, const struct wire_thread *t);
/* How many of a kernel stack's n addresses, from the leaf, were the tracer's own at time_ns. */
uint32_t id_map_tracer_frames(const struct id_map *m, const __u64 *addrs, uint32_t n,
			      uint64_t time_ns);

/* Takes a WIRE_OBJECT record of len bytes. Returns as id_map_take_stack(). */
int id_map_take_object(struct id_map *m, const struct wire_object *o, size_t len);
/*
 * Objects of which not all is known yet, and routes, are defined by what is. More of them that
 * comes later is another object. Call it before what events refer to is read. Returns 0 or the
 * store's error.
 */
int id_map_settle_objects(struct id_map *m);
/* The store's id for the object of an event; 0: none, or out of memory. */
uint32_t id_map_object(struct id_map *m, uint32_t wire_id, uint64_t time_ns);
/* The same of an object that has a text and no wire id. */
uint32_t id_map_text(struct id_map *m, const struct object_text *o, uint64_t time_ns);

/*
 * The store's id for the route of a request that was not marked by probes; endpoint: the store's
 * id. 0: none is known, or out of memory.
 */
uint32_t id_map_route(struct id_map *m, const struct wire_request *w, uint32_t endpoint);
/* Takes the headers of a stream, before the request. */
void id_map_headers(struct id_map *m, const struct wire_headers *w);

typedef void (*id_map_fn)(void *ctx, bool is_object, uint32_t id);
/*
 * Calls fn for each store id that the BPF side may still refer to (some more than once), after
 * dropping the wire ids that it cannot.
 */
void id_map_each(struct id_map *m, id_map_fn fn, void *ctx);
/* Stacks so far that were sent for one event as the BPF side had no room for them. */
uint64_t id_map_once(const struct id_map *m);
/* How many frames of interpreted code, of stacks that became known, lack their functions. */
uint64_t id_map_unknown_code(const struct id_map *m);
/* See route_table_asked(). */
const char *id_map_asked(const struct id_map *m, uint32_t route);
/* How many requests lack their route, or words of it: see route_table_no_room(). */
uint64_t id_map_unknown_routes(const struct id_map *m);
