/* SPDX-License-Identifier: GPL-2.0-or-later */
/* definition_store.h - where id_map.h puts what events refer to, and what it tells of that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainlog.h"
#include "code_map.h"
#include "object_text.h"

/*
 * Where definitions go. Ids are below 2^31; 0: out of memory. time_ns: CLOCK_MONOTONIC. Those that
 * return int return 0 or a negative errno; *id is one of reserve(), which they define, or 0: then
 * it becomes the id of what is equal to this, or a new one.
 */
struct definition_store {
	/* The frame at addr of an address space (0: the kernel). */
	uint32_t (*frame)(void *ctx, uint32_t space, uint64_t addr, uint64_t time_ns);
	/* One of interpreted code, whose addr has CHAINLOG_CODE_TAG, is the same for this location.
	 */
	uint32_t (*code_frame)(void *ctx, uint32_t space, uint64_t addr,
			       const struct code_location *at, uint64_t time_ns);
	/* The stack of n frame ids, leaf first, and why there are no more. */
	int (*stack)(void *ctx, uint32_t *id, const uint32_t *frames, size_t n,
		     enum chainlog_stack_end end, uint64_t time_ns);
	int (*object)(void *ctx, uint32_t *id, const struct object_text *o, uint64_t time_ns);
	/* The id of a stack or an object that is defined later, or never. */
	uint32_t (*reserve)(void *ctx, bool is_object, uint64_t time_ns);
	/* An event at time_ns refers to it. NULL: the store does not need to know. */
	void (*use)(void *ctx, bool is_object, uint32_t id, uint64_t time_ns);
	void *ctx;
};
