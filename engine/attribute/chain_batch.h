/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_batch.h - exact attribution of many waits at once. The result is the sum of what
 * chains_explain() gives for each; the cost is not.
 *
 * What a waker did in a window is wanted over and over: by each thread of a pool that waits for the
 * waker, by each thread that waits for one of these. As long as the chain down to the waker is the
 * same, only the number of windows that cover an instant of the waker's time matters, not whose
 * windows they are. So windows are collected by (chain, waker), and the off-CPU intervals of each
 * waker are gone over once, each with its count of windows. The covered part of a sleep becomes new
 * windows on whoever ended that sleep, one link further down.
 *
 * Invariant: for each (chain, waker) at each instant, the counts of its windows add up to the
 * number of waits that at this instant were waiting for the waker through this chain.
 *
 * A window nearly always ends where the waker woke. One that ends sooner may do so in a sleep of
 * the waker's: then what follows from it ends there, too. Chains are not searched for loops: a
 * thread cannot wake another while its own timeline has it asleep, a sleep only goes on to the next
 * time that its thread wakes somebody (chain-semantics, section 14), and the depth is bounded.
 */
#pragma once

#include "chain.h"

struct chain_batch;

/* c must outlive it; its user's sink receives the sums. */
void chain_batch_new(struct chain_batch **out, struct chains *c);
void chain_batch_free(struct chain_batch *b);
/*
 * Adds [from_ns, to_ns) of the blocked part of w, a wait of thread, as for chains_explain(). This
 * is fast if consecutive calls are for waits near each other in time. Returns the node of the first
 * link; 0: there is none.
 */
uint32_t chain_batch_add(struct chain_batch *b, uint32_t head, uint32_t thread,
			 const struct wait *w, uint64_t from_ns, uint64_t to_ns);
/* The same of w, the wait of a client. */
void chain_batch_add_client(struct chain_batch *b, uint32_t head, const struct wait *w,
			    uint64_t from_ns, uint64_t to_ns);
/* A chain_windows' origin for a wait, and back. */
uint64_t chain_batch_number(const struct chain_batch *b, uint32_t thread, const struct wait *w);
/* The wait whose number is in a chain_windows' origin, and its thread. */
const struct wait *chain_batch_origin(const struct chain_batch *b, uint64_t origin,
				      uint32_t *thread);
/* When this returns, everything added so far has reached the user. */
void chain_batch_run(struct chain_batch *b);
