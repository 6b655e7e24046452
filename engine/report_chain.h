/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_chain.h - the chain of one wait in time: who takes part, when what each of them did was
 * what the wait waited for, who woke whom at what moment, and where the time went. chain.h tells
 * how much time each chain took; here, exact attribution alone, is when.
 *
 * Bounded however busy the wakers were: of the sleeps in a window the longest are followed, and of
 * these as many as a picture can show. What is left out counts as REPORT_SHORT.
 */
#ifndef ENGINE_REPORT_CHAIN_H
#define ENGINE_REPORT_CHAIN_H

#include "chain.h"
#include "names.h"
#include "timeline.h"

/* Beside enum chain_end: sleeps of a waker that were not followed. */
#define REPORT_SHORT CHAIN_ENDS

enum {
	REPORT_LANES = 24, /* the most, of each kind */
	REPORT_WAKES = 160,
	REPORT_FOLLOWED = 24, /* sleeps in a window */
};

/* Somebody in the picture; lane 0 is the thread that waited. */
struct report_lane {
	uint32_t thread;  /* THREAD_NONE: an interrupt */
	uint32_t handler; /* of an interrupt: frame id, 0 not known */
};

/* The wait waited for what a lane's thread did in [from, to). */
struct report_window {
	uint32_t lane;
	uint64_t from_ns, to_ns;
};

struct report_wake {
	const struct wait *wait; /* that it ended */
	uint32_t waker, target;	 /* lanes */
	uint32_t frames;	 /* of the waker's kernel stack that are the waker's own */
};

/* Where the time went: to a lane, for the reason `end` (enum chain_end or REPORT_SHORT). */
struct report_part {
	uint32_t lane, end;
	uint64_t ns;
};

struct report_chain {
	struct report_lane *lanes;
	struct report_window *windows;
	struct report_wake *wakes;
	struct report_part *parts; /* one for each lane and end; they add up to the window */
	size_t n_lanes, n_windows, n_wakes, n_parts;
	size_t cap_lanes, cap_windows, cap_wakes, cap_parts;
	const struct timelines *timelines;
	struct contexts *contexts;
	uint32_t depth;
	bool out_of_memory; /* sticky: what came out is not complete */
};

/* 0 or -ENOMEM. To be ended with report_chain_free(), also after an error. */
int report_chain_init(struct report_chain *c, const struct timelines *tl, uint32_t depth);
void report_chain_free(struct report_chain *c);
/*
 * Explains [from_ns, to_ns) of the blocked part of w, a wait of thread; what was there before is
 * forgotten. With an empty window, and for a wait that is no sleep, lane 0 is all there is.
 */
void report_chain_explain(struct report_chain *c, uint32_t thread, const struct wait *w,
			  uint64_t from_ns, uint64_t to_ns);

#endif /* ENGINE_REPORT_CHAIN_H */
