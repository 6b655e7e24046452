/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_stacks.h - the stacks that the flight recorder may still have to write: of the events in
 * its window, of threads that sleep since before it, and those that the kernel side has told and
 * may name again. It maps the kernel side's stack ids (include/chainwire.h) to its own, which are
 * given anew when a stack is dropped, and finds the places of user frames while their process
 * lives.
 */
#ifndef FLIGHT_STACKS_H
#define FLIGHT_STACKS_H

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "encode.h"
#include "symbolize_flight.h"
#include "threads.h"

struct flight_stacks;

/* A user address space. */
struct flight_space {
	uint32_t tgid;
	const char *exe;
};

/* sym is borrowed; it has to make its spaces by flight_stacks_space(). NULL: out of memory. */
struct flight_stacks *flight_stacks_new(struct symbolizer *sym);
void flight_stacks_free(struct flight_stacks *f);

/* What the kernel side sends: a stack of len bytes. Returns 0 or -EBADMSG, -ENOMEM. */
int flight_stacks_take(struct flight_stacks *f, const struct wire_stack *s, size_t len);
/* From now on the stack with this id is also called WIRE_STACK_LAYOUT | layout. */
void flight_stacks_alias(struct flight_stacks *f, uint32_t wire_id, uint32_t layout);
/* The stack that an event at time_ns names; it may come later. 0: none, or out of memory. */
uint32_t flight_stacks_id(struct flight_stacks *f, uint32_t wire_id, uint64_t time_ns);
/* The kernel stack of a listed thread; 0: none. */
uint32_t flight_stacks_of_thread(struct flight_stacks *f, const struct wire_thread *t);
/* A new address space (ctx is the struct flight_stacks): its id, 0 when out of memory. */
uint32_t flight_stacks_space(void *ctx, uint32_t tgid, const char *exe);
/* How many of a kernel stack's n frames, from the leaf, are the tracer's own. */
uint32_t flight_stacks_tracer_frames(struct flight_stacks *f, const __u64 *addrs, uint32_t n);

/*
 * Drops the stacks that nobody has named since oldest_ns and that none of the threads sleeps in,
 * unless the kernel side may still name them; then frames and spaces without stacks. Returns 0 or
 * -ENOMEM, with nothing dropped.
 */
int flight_stacks_collect(struct flight_stacks *f, uint64_t oldest_ns, const struct threads *t);
/*
 * Bytes of memory that they take; without those that, when they were last collected, were only kept
 * for the kernel side and for threads that sleep, which no smaller window would need less of.
 */
size_t flight_stacks_bytes(const struct flight_stacks *f);

/*
 * For writing. Stack ids are below flight_stacks_end(), frame ids and spaces below theirs; a stack
 * that never came has no frames. Pointers are good until something changes.
 */
uint32_t flight_stacks_end(const struct flight_stacks *f);
uint32_t flight_frames_end(const struct flight_stacks *f);
uint32_t flight_spaces_end(const struct flight_stacks *f);
/* Its n frame ids, leaf first; NULL: it never came. */
const uint32_t *flight_stacks_frames(const struct flight_stacks *f, uint32_t id, size_t *n,
				     int *cut);
/* The frame's space (0: the kernel) and address; where it is, if it is in a file. */
uint32_t flight_frame(const struct flight_stacks *f, uint32_t id, uint64_t *addr,
		      struct symbolizer_place *place);
struct flight_space flight_space(const struct flight_stacks *f, uint32_t id);

#endif /* FLIGHT_STACKS_H */
