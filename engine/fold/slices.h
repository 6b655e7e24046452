/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slices.h - all waits of a trace, in slices of its time, for several workers at once. The windows
 * of a slice's waits, and the wakers' time in it, stay in a cache. About as many waits end in each
 * slice as in any other, so that all of them are the same work, however quiet a part of the trace
 * is.
 */
#pragma once

#include <stdatomic.h>

#include "timeline/timeline.h"

struct slices {
	const struct timelines *timelines;
	uint32_t first, end; /* whose waits: threads or clients */
	uint64_t *bounds; /* n + 1: slice i has the waits that end in (bounds[i], bounds[i + 1]] */
	uint32_t n;
	atomic_uint next; /* that no worker has taken yet */
};

/*
 * clients: of their waits for requests, and else of threads' waits. To be ended with slices_free().
 */
void slices_init(struct slices *s, const struct timelines *tl, bool clients);
void slices_free(struct slices *s);

struct wait_visitor {
	void *arg;
	bool (*wants)(void *arg, const struct thread *th); /* any wait of the thread? */
	/* is_long: it began before the slice that comes before the one in which it ends. */
	void (*visit)(void *arg, uint32_t thread, const struct wait *w, bool is_long);
};

/*
 * A worker's part: takes slices until none is left, and visits the waits that end in them, thread
 * by thread in each.
 */
void slices_walk(struct slices *s, struct wait_visitor v);

/* Where the i-th of n shares of the trace's time begins, equal in work; the first begins at 0. */
uint64_t slices_share_from(const struct slices *s, uint32_t i, uint32_t n);
