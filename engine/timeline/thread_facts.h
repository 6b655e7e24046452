/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread_facts.h - what the trace says of threads beside when they ran: a list of each sort. A list
 * is empty if it is all zero; who reads the trace appends to it, in order of time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- samples -------------------------------------------------------------------------------- */

/* Where a thread was while it ran (chain-semantics, section 8). */
struct sample {
	uint64_t ns;   /* CLOCK_MONOTONIC */
	uint32_t pair; /* its stacks, see timelines_pair(); 0: none */
	uint32_t thread;
	uint32_t cpu;
};

/*
 * They do not determine when a thread ran: a sample at a time at which its thread does not run by
 * its timeline is dropped.
 */
struct samples {
	bool any;	   /* the trace has some, kept or not */
	struct sample *at; /* once sorted, by thread, then time */
	size_t n, cap;
	size_t *first; /* by thread, and one more: where its samples begin */
};

/* When all of them are there: sorts them. */
void samples_sort(struct samples *s, uint32_t n_threads);
/* The first of [from, end) at ns or later. */
const struct sample *sample_at(const struct sample *from, const struct sample *end, uint64_t ns);

/* ---- holders of locks ----------------------------------------------------------------------- */

/*
 * What a lock's own word said of its holder when a thread went to sleep at it (chain-semantics,
 * section 10). Only words/lock_holder.h knows when that is to be believed.
 */
struct lock_holder {
	uint64_t out_ns; /* of the sleep */
	uint32_t thread; /* that sleeps */
	uint32_t holder; /* a thread */
};

struct lock_holders {
	struct lock_holder *at; /* once sorted, by thread, then time */
	size_t n, cap;
};

/* When all of them are there. */
void lock_holders_sort(struct lock_holders *l);
/* Of the sleep of a thread that began at out_ns; NULL: not known. */
const struct lock_holder *lock_holders_find(const struct lock_holders *l, uint32_t thread,
					    uint64_t out_ns);

/* ---- quotas --------------------------------------------------------------------------------- */

/*
 * When a thread that was ready could not run, as a quota of CPU time was used up (chain-semantics,
 * section 9).
 */
struct throttle {
	/* Of the thread's wait for a CPU in which to_ns lies; from_ns may be before that. */
	uint64_t from_ns, to_ns;
	uint32_t thread;
	uint32_t group; /* whose quota it is: its path (string id); 0: not known */
	uint32_t why;	/* enum chainlog_quota; others are as if it was not known whose */
};

struct throttles {
	/* Once sorted, by thread, then time; those of a thread do not overlap. */
	struct throttle *at;
	size_t n, cap;
};

/* When all of them are there. Of two that overlap the later one begins when the other is over. */
void throttles_sort(struct throttles *t);
/* The *n of a thread that end in (ready_ns, in_ns], in which it waited for a CPU. */
const struct throttle *throttles_of(const struct throttles *t, uint32_t thread, uint64_t ready_ns,
				    uint64_t in_ns, size_t *n);

/* ---- TCP connections ------------------------------------------------------------------------ */

/*
 * How far the connection was for which a thread waited, when its data woke the thread
 * (chain-semantics, section 16).
 */
struct stream_point {
	uint64_t wake_ns;
	uint32_t thread;	    /* that was woken */
	uint32_t written, received; /* sequence numbers of the next bytes, in either direction */
};

struct streams {
	struct stream_point *at;
	size_t n, cap;
};

/* ---- work items ----------------------------------------------------------------------------- */

enum work_what {
	WORK_NONE,    /* from then on it executes no item that is known of */
	WORK_QUEUED,  /* it is known who queued it */
	WORK_UNKNOWN, /* not known: since_ns is when its execution began */
	WORK_LOST,    /* of any worker: events are missing in [at_ns, since_ns] */
};

/*
 * Of the items that workers executed when they woke somebody, or queued an item (chain-semantics,
 * section 18).
 */
struct work_event {
	uint64_t at_ns, since_ns;
	uint32_t worker;
	uint32_t queuer; /* thread, THREAD_IDLE or THREAD_NONE */
	uint32_t pair;	 /* the queuer's stacks */
	enum work_what what;
};

/* Events may be missing from first_ns on. */
struct work_loss {
	uint64_t first_ns;
	uint64_t until_ns; /* when this and all before it are over */
};

struct work_events {
	struct work_event *at;
	size_t n, cap;
	struct work_loss *losses; /* by first_ns; set by work_items_find() */
	size_t n_losses;
};
