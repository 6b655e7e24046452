/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pending_stacks.h - a queue of copied stacks that wait for a rule. Bounded by
 * PENDING_STACKS_MAX_BYTES, which owners share (files/owners.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

#define PENDING_STACKS_MAX_BYTES (48u << 20)

struct pending_stacks;

/* Returns 0 or -ENOMEM. */
int pending_stacks_new(struct pending_stacks **out);
void pending_stacks_free(struct pending_stacks *p);

/*
 * Appends a copy of the record of len bytes. If that has the first bytes of the stack only, more of
 * them are read now, if the thread has not run since; the copy has no thread then, so that it is
 * not looked at again. owner: the key of who is to wait for room beside others. False: there is no
 * room for more of that owner's, or out of memory.
 */
bool pending_stacks_add(struct pending_stacks *p, const struct wire_copy *c, size_t len,
			uint64_t owner);
/* Whether the BPF side sent it so long ago that more of the stack is not read. */
bool pending_stacks_is_old(const struct wire_copy *c);
/* The number of records. */
size_t pending_stacks_left(const struct pending_stacks *p);
/* The first record, and its length in bytes; NULL: there is none. Valid until it is dropped. */
const struct wire_copy *pending_stacks_first(const struct pending_stacks *p, size_t *len);
/* Drops the first record, or makes it the last one. */
void pending_stacks_drop(struct pending_stacks *p);
void pending_stacks_rotate(struct pending_stacks *p);
