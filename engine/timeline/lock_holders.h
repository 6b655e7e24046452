/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock_holders.h - what a lock's own word said of its holder when a thread went to sleep at it
 * (chain-semantics, section 10). Only words/lock_holder.h knows when that is to be believed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lock_holder {
	uint64_t out_ns; /* of the sleep */
	uint32_t thread; /* that sleeps */
	uint32_t holder; /* a thread */
};

/* All zero is empty. */
struct lock_holders {
	struct lock_holder *at; /* once sorted, by thread, then time */
	size_t n, cap;
};

void lock_holders_add(struct lock_holders *l, const struct lock_holder *held);
/* When all of them are there. */
void lock_holders_sort(struct lock_holders *l);
void lock_holders_free(struct lock_holders *l);

/* Of the sleep of a thread that began at out_ns; NULL: not known. */
const struct lock_holder *lock_holders_find(const struct lock_holders *l, uint32_t thread,
					    uint64_t out_ns);
