/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * running_totals.h - amounts by key along a sequence that is divided into blocks, as running
 * totals: what a key has in a range of blocks is the difference of two totals. So a range costs as
 * much as there are keys, however many blocks it has.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/pairs.h"

/* All zero is empty, ready for use. */
struct running_totals {
	struct pair_table table; /* of struct key_totals, by (a, b), whatever they stand for */
	uint32_t *pending;	 /* ids of keys with an amount in the block at hand */
	size_t n_pending, cap_pending;
};

/* Adds to the block at hand. longest: the largest piece of what is added. */
void totals_add(struct running_totals *t, uint32_t a, uint32_t b, uint64_t amount,
		uint64_t longest);
/* The block at hand is complete; blocks end in ascending order. */
void totals_end_block(struct running_totals *t, uint32_t block);
/* What the key with this id, 1..table.keys.n, has in the blocks [from, to). */
uint64_t totals_between(const struct running_totals *t, uint32_t id, uint32_t from, uint32_t to);
/* The largest piece of that; looks at each block, unless the largest of all is in it. */
uint64_t totals_longest(const struct running_totals *t, uint32_t id, uint32_t from, uint32_t to);
void totals_free(struct running_totals *t);
