/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain.h - why a wait took as long as it did: each instant of it attributed to a chain of
 * wakers and a reason why the chain ends (chain-semantics, section 4). It knows threads and times;
 * how a link is shown is up to whoever asks, who gives each link a label.
 *
 * Chains are nodes of a tree: a node is its parent and a label, the root of a chain is its head's
 * node. What comes out is a number of (node, end, ns): the chain of links from the head down to
 * the node, why it ends there, and how long that was.
 */
#ifndef ENGINE_CHAIN_H
#define ENGINE_CHAIN_H

#include "context.h"
#include "options.h"
#include "pairs.h"
#include "timeline.h"

enum chain_end {
	CHAIN_RUNNING,	 /* the last waker worked */
	CHAIN_RUNNABLE,	 /* it had no CPU */
	CHAIN_PREEMPTED, /* only of a thread's own time */
	CHAIN_INTERRUPT, /* an interrupt woke */
	CHAIN_UNKNOWN,	 /* missing from the trace */
	CHAIN_NOT_WOKEN, /* still asleep at the end of the trace */
	CHAIN_DEPTH,	 /* there is a waker, but no more links were asked for */
	CHAIN_LOOP,	 /* the last waker was in the chain already */
	CHAIN_ENDS,
};

/* As shown: "[running]" and so on. */
const char *chain_end_name(enum chain_end end);

/*
 * Whether the link that ended w says where the waker itself had slept (--blocked-stacks): not the
 * first one, whose sleep is the head; nor one that was not started yet and slept nowhere.
 */
static inline bool chain_shows_sleep(const struct options *o, const struct wait *w, bool first)
{
	return o->blocked_stacks && !first && !(w->flags & WAIT_NEW);
}

/* What the walker needs from whoever asks. */
struct chain_user {
	void *arg;
	/*
	 * The label (never 0) of the link that ended w, a wait that has a waker: interrupt tells
	 * its context. first: w is the wait that is being explained, not one of a waker.
	 */
	uint32_t (*label)(void *arg, const struct wait *w, struct context context, bool first);
	/* ns of the wait go to the chain that leads to node and ends there. */
	void (*add)(void *arg, uint32_t node, enum chain_end end, uint64_t ns);
};

/* A label for whoever wants to know just why chains end. */
uint32_t chain_any_label(void *arg, const struct wait *w, struct context context, bool first);

struct chain_sums_set;

struct chains {
	const struct timelines *timelines;
	struct contexts *contexts;
	enum options_mode mode;
	uint32_t depth;	    /* links followed */
	struct pairs nodes; /* (parent or 0, label) */
	struct chain_user user;
	bool out_of_memory; /* sticky: what came out is not complete */
	uint64_t steps;	    /* stretches and totals looked at: what it all has cost */
	uint64_t summed;    /* windows that running totals were used for */
	/*
	 * When running totals are used instead of walking a window stretch by stretch: in windows
	 * of so many stretches, with so many stretches for each chain to look up; and the stretches
	 * in a block of totals. They change the cost, not the result; chains_init() sets them.
	 */
	uint32_t long_window, stretches_per_chain, stretches_per_block;
	/* Its own: running totals, and where pieces go just now. */
	struct chain_sums_set *sums;
	void (*add)(void *arg, uint32_t node, enum chain_end end, uint64_t ns);
	void *add_arg;
};

/* 0 or -ENOMEM. To be ended with chains_free(), also after an error. */
int chains_init(struct chains *c, const struct timelines *tl, enum options_mode mode,
		uint32_t depth, struct chain_user user);
void chains_free(struct chains *c);

/* The node of a chain's head. */
uint32_t chains_head(struct chains *c, uint32_t label);
/*
 * Explains [from_ns, to_ns) of the blocked part of w, a WAIT_SLEEP of thread, and adds the
 * pieces, which sum to to_ns - from_ns, below node head.
 */
void chains_explain(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
		    uint64_t from_ns, uint64_t to_ns);

#endif /* ENGINE_CHAIN_H */
