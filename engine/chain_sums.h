/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_sums.h - running totals over a waker's timeline, so that a long window costs as much as it
 * has different chains in it, and not as much as it has stretches (law 5: a thousand idle threads
 * that each wait for the whole trace on one busy waker).
 *
 * The chain of a whole sleep of a waker is the same whoever waits for that waker. So for a waker
 * and a number of links left, every chain that its sleeps ever lead to, relative to the waker,
 * gets one list of (block of stretches, total up to the end of it). What a chain has in a range of
 * blocks is the difference of two totals.
 */
#ifndef ENGINE_CHAIN_SUMS_H
#define ENGINE_CHAIN_SUMS_H

#include "chain.h"

/*
 * Adds what the stretches [first, end) of thread, all of them whole, give below node, for a chain
 * with links_left more links; except running time. *ns is what that comes to. Takes as many of the
 * stretches as it can do fast, and leaves the rest of the range, at its ends, to the caller:
 * [first, *from) and [*to, end). *from == *to: all of it.
 */
void chain_sums_add(struct chains *c, uint32_t node, uint32_t thread, uint32_t links_left,
		    uint32_t first, uint32_t end, uint32_t *from, uint32_t *to, uint64_t *ns);
/* NULL is fine. */
void chain_sums_free(struct chain_sums_set *s);

#endif /* ENGINE_CHAIN_SUMS_H */
