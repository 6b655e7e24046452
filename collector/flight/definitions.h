/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * definitions.h - what the flight recorder's events refer to: stacks with their frames and address
 * spaces, objects, strings. It keeps what events in the window refer to, threads that sleep since
 * before it, and the BPF side may refer to again. Ids are reused after something is dropped. Files
 * of user frames are looked up when the frame is first seen, while the process lives.
 */
#pragma once

#include "events/id_map.h"
#include "id_pool.h"
#include "common/encoder.h"
#include "names/symbolize.h"
#include "threads.h"

/* All zero but for sym, which is borrowed: empty. */
struct definitions {
	struct symbolizer *sym; /* its spaces come from definitions_new_space() */
	struct id_pool stacks;	/* by why they end, and frame ids */
	struct id_pool frames;	/* by address, space and generation */
	struct id_pool spaces;	/* each has an id of its own */
	struct id_pool objects, strings;
	/* By frame id - 1. The offset of a kernel frame is its generation. */
	struct symbolizer_place *places;
	size_t cap_places;
	size_t old_bytes; /* at the last collection: kept, but no event refers to it */
};

void definitions_free(struct definitions *d);

/* For an id_map. */
struct definition_store definitions_store(struct definitions *d);
/* A new address space (ctx is the struct definitions): its id, 0 when out of memory. */
uint32_t definitions_new_space(void *ctx, uint32_t tgid, const char *exe);

/*
 * Drops stacks, objects and strings that no event since oldest_ns refers to, unless a thread sleeps
 * in one or the BPF side may refer to it again (ids); then frames and spaces that no stack
 * uses. Returns 0, or -ENOMEM with nothing dropped.
 */
int definitions_collect(struct definitions *d, uint64_t oldest_ns, const struct threads *t,
			struct id_map *ids);
/*
 * Bytes of memory, without the stacks that the last collection kept for the BPF side and for
 * sleeping threads alone: a smaller window would not need less of that.
 */
size_t definitions_bytes(const struct definitions *d);

/* For writing. Pointers are valid until something changes. */

/* A stack's n frame ids, leaf first; NULL: its record was lost. */
const uint32_t *definitions_stack(const struct definitions *d, uint32_t id, size_t *n,
				  enum chainlog_stack_end *end);
/*
 * The frame's space (0: the kernel), its address, and its place if that is in a file;
 * code->function is NULL if it is no frame of interpreted code.
 */
uint32_t definitions_frame(const struct definitions *d, uint32_t id, uint64_t *addr,
			   struct symbolizer_place *place, struct code_location *code);
/* The program that runs in a space, and its process. */
const char *definitions_space(const struct definitions *d, uint32_t id, uint32_t *tgid);
/* False: the object's record was lost. */
bool definitions_object(const struct definitions *d, uint32_t id, struct encoder_object *out);
