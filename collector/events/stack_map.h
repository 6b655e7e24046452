/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_map.h - from the stack ids of the BPF side ("wire ids", include/chainwire.h) to the ids of
 * a store: the trace being written, or the memory of the flight recorder. It cuts the tracer's own
 * frames off kernel stacks and ends user stacks at the first address that is no code.
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
 * WIRE_STACK_ONCE ids serve the one event that follows them in the ring.
 */
#ifndef STACK_MAP_H
#define STACK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainlog.h"
#include "chainwire.h"
#include "names/symbolize.h"

/* What a stack becomes. Ids are below 2^31; 0: out of memory. time_ns: CLOCK_MONOTONIC. */
struct stack_store {
	/* The frame at addr of an address space (0: the kernel). */
	uint32_t (*frame)(void *ctx, uint32_t space, uint64_t addr, uint64_t time_ns);
	/* The stack of n frame ids, leaf first, and why there are no more. */
	uint32_t (*stack)(void *ctx, const uint32_t *frames, size_t n, enum chainlog_stack_end end,
			  uint64_t time_ns);
	/* An id whose frames come later, by define(), or never. */
	uint32_t (*reserve)(void *ctx, uint64_t time_ns);
	int (*define)(void *ctx, uint32_t id, const uint32_t *frames, size_t n,
		      enum chainlog_stack_end end);
	/*
	 * The addresses of a defined stack of at most WIRE_STACK_MAX frames; returns how many.
	 * NULL: the store does not know them, the map keeps them itself.
	 */
	uint32_t (*addrs)(void *ctx, uint32_t id, __u64 *addrs, enum chainlog_stack_end *end);
	/* An event at time_ns refers to the stack. NULL: the store does not need to know. */
	void (*use)(void *ctx, uint32_t id, uint64_t time_ns);
	void *ctx;
};

struct stack_map;

/* store is copied, sym is borrowed until stack_map_free(). Returns 0 or -ENOMEM. */
int stack_map_new(struct stack_map **out, const struct stack_store *store, struct symbolizer *sym);
void stack_map_free(struct stack_map *m);

/* Takes a WIRE_STACK record of len bytes. Returns 0, -EBADMSG, -ENOMEM or the store's error. */
int stack_map_take(struct stack_map *m, const struct wire_stack *s, size_t len);
/* The store's id for the stack of an event; 0: no stack, or out of memory. */
uint32_t stack_map_id(struct stack_map *m, uint32_t wire_id, uint64_t time_ns);
/*
 * Whether the store's id for wire_id is defined, and stays until other code is mapped at the
 * addresses of a user stack, or a layout's number becomes another stack's.
 */
bool stack_map_is_settled(const struct stack_map *m, uint32_t wire_id);
/* From now on WIRE_STACK_LAYOUT | layout refers to the stack, too. */
void stack_map_set_layout(struct stack_map *m, uint32_t wire_id, uint32_t layout, uint64_t time_ns);

/* The store's id for the kernel stack of a listed thread; 0: it has none, or out of memory. */
uint32_t stack_map_listed(struct stack_map *m, const struct wire_thread *t);
/* How many of a kernel stack's n addresses, from the leaf, were the tracer's own at time_ns. */
uint32_t stack_map_tracer_frames(const struct stack_map *m, const __u64 *addrs, uint32_t n,
				 uint64_t time_ns);

/*
 * Calls fn for each store id that the BPF side may still refer to (some more than once), after
 * dropping the wire ids that it cannot.
 */
void stack_map_each(struct stack_map *m, void (*fn)(void *ctx, uint32_t id), void *ctx);
/* Stacks so far that were sent for one event as the BPF side had no room for them. */
uint64_t stack_map_once(const struct stack_map *m);

#endif /* STACK_MAP_H */
