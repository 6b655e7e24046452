/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_chain.h - the chain of one wait over time: the threads and interrupts in it, when the wait
 * waited for what each of them did, when which of them woke which, and where the time went. chain.h
 * computes how much time each chain took; this file (exact attribution only) computes when.
 *
 * The work is bounded however busy the wakers were: only the longest sleeps of a window are
 * followed, and only as many as a picture can show. The others count as REPORT_SHORT.
 */
#pragma once

#include "attribute/chain.h"
#include "words/names.h"
#include "timeline/timeline.h"

/* An end beside enum chain_end: sleeps of a waker that are not followed. */
#define REPORT_SHORT CHAIN_ENDS

enum {
	REPORT_LANES = 24, /* the most, of each kind */
	REPORT_WAKES = 160,
	/* Beyond that, for those who took and answered a request: more lanes and wakeups. */
	REPORT_SERVING = 2,
	REPORT_WINDOWS = REPORT_WAKES + REPORT_SERVING + 1,
	REPORT_FOLLOWED = 24, /* sleeps in a window; those that are one wait count as one */
	REPORT_STACKS = 3,    /* of a lane's sleeps that are not followed, and of its samples */
};

/* A thread or an interrupt in the picture; lane 0 is the thread that waited. */
struct report_lane {
	uint32_t thread;	 /* THREAD_NONE: an interrupt */
	uint32_t handler;	 /* of an interrupt: frame id; 0: unknown */
	uint32_t end;		 /* of an interrupt: what it was, enum chain_end */
	uint64_t interrupted_ns; /* of a thread's part CHAIN_RUNNING: what interrupts took */
};

/* The wait waited for what a lane's thread did in [from, to). */
struct report_window {
	uint32_t lane;
	uint64_t from_ns, to_ns;
};

/* How a thread ended a part of the time of lane 0, the client of a request. */
enum report_served { REPORT_NO_CLIENT, REPORT_READ, REPORT_ANSWERED };

struct report_wake {
	uint64_t at_ns;
	/* Ended by this wakeup: the last one, if several are one wait. NULL: a client's. */
	const struct wait *wait;
	enum report_served served;
	struct link link;
	uint32_t waker, wakee; /* lanes */
};

/*
 * Time that a lane took, and why (end: enum chain_end or REPORT_SHORT). Of REPORT_SHORT: how many
 * sleeps, and their stack pair; 0: several stacks.
 */
struct report_part {
	uint32_t lane, end, stack;
	uint64_t ns, n;
};

struct report_chain {
	struct report_lane lanes[REPORT_LANES + REPORT_SERVING];
	/* The wait's, and for each wakeup by a thread those of the sleeps that it ended. */
	struct report_window windows[REPORT_WINDOWS];
	struct report_wake wakes[REPORT_WAKES + REPORT_SERVING];
	/* For each lane and end, and REPORT_SHORT by stack; they add up to the window. */
	struct report_part
		parts[(REPORT_LANES + REPORT_SERVING) * (CHAIN_ENDS + REPORT_STACKS + 1)];
	size_t n_lanes, n_windows, n_wakes, n_parts;
	struct pair_table shorts; /* struct report_part of REPORT_SHORT, by (lane, stack) */
	struct attribution attribution;
	struct sums ran; /* samples by (lane, stack pair), while the wait waited for them */
	const struct timelines *timelines;
	const struct options *options;
	struct names *names;
	struct kernel_stacks *kernel;
	struct event_loops *loops;
};

/* What is given must outlive it. The caller calls report_chain_free(). */
void report_chain_init(struct report_chain *c, const struct timelines *tl, const struct options *o,
		       struct names *names);
void report_chain_free(struct report_chain *c);
/*
 * Explains [from_ns, to_ns) of the blocked part of w, a wait of thread or of a client, and replaces
 * the previous result. An empty window and a wait that is not a sleep give lane 0 only.
 */
void report_chain_explain(struct report_chain *c, uint32_t thread, const struct wait *w,
			  uint64_t from_ns, uint64_t to_ns);
/*
 * Explains [from_ns, to_ns), which is not empty, of all that a thread did: lane 0 is the thread,
 * and its parts are those of its running and of its longest sleeps.
 */
void report_chain_explain_life(struct report_chain *c, uint32_t thread, uint64_t from_ns,
			       uint64_t to_ns);
