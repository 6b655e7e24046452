/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_stacks.h - the stacks that the flight recorder may have to write: of events in its window,
 * of threads asleep since before it, and those that the BPF side may refer to again. Ids are reused
 * after a stack is dropped. Files of user frames are looked up when the frame is first seen, while
 * the process lives.
 */
#ifndef FLIGHT_STACKS_H
#define FLIGHT_STACKS_H

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "events/stack_map.h"
#include "names/symbolize.h"
#include "threads.h"

struct flight_stacks;

/* A user address space. */
struct flight_space {
	uint32_t tgid;
	const char *exe;
};

/* sym is borrowed; its spaces must come from flight_stacks_space(). NULL: out of memory. */
struct flight_stacks *flight_stacks_new(struct symbolizer *sym);
void flight_stacks_free(struct flight_stacks *f);

/* What a stack_map needs of them. */
struct stack_store flight_stacks_store(struct flight_stacks *f);
/* A new address space (ctx is the struct flight_stacks): its id, 0 when out of memory. */
uint32_t flight_stacks_space(void *ctx, uint32_t tgid, const char *exe);

/*
 * Drops the stacks that no event since oldest_ns refers to, unless a thread sleeps in one or the
 * BPF side may refer to it again (map); then frames and spaces that no stack uses. Returns 0, or
 * -ENOMEM with nothing dropped.
 */
int flight_stacks_collect(struct flight_stacks *f, uint64_t oldest_ns, const struct threads *t,
			  struct stack_map *map);
/*
 * Bytes of memory, without what the last collection kept for the BPF side and for sleeping threads
 * alone: a smaller window would not need less of that.
 */
size_t flight_stacks_bytes(const struct flight_stacks *f);

/*
 * For writing. Stack ids are below flight_stacks_end(), those of frames and spaces below theirs.
 * Pointers are valid until something changes.
 */
uint32_t flight_stacks_end(const struct flight_stacks *f);
uint32_t flight_frames_end(const struct flight_stacks *f);
uint32_t flight_spaces_end(const struct flight_stacks *f);
/* Its n frame ids, leaf first; NULL: its record was lost. */
const uint32_t *flight_stacks_frames(const struct flight_stacks *f, uint32_t id, size_t *n,
				     enum chainlog_stack_end *end);
/* The frame's space (0: the kernel), its address, and its place if that is in a file. */
uint32_t flight_frame(const struct flight_stacks *f, uint32_t id, uint64_t *addr,
		      struct symbolizer_place *place);
struct flight_space flight_space(const struct flight_stacks *f, uint32_t id);

#endif /* FLIGHT_STACKS_H */
