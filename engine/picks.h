/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * picks.h - the chosen waits, one after another, for formats that look at each by itself: all of
 * them thread by thread and in order of time, or the longest ones.
 */
#ifndef ENGINE_PICKS_H
#define ENGINE_PICKS_H

#include "select.h"
#include "timeline.h"

struct pick {
	const struct wait *wait;
	struct shown shown;
	uint32_t thread;
};

/* How much of the wait is shown. */
uint64_t pick_ns(const struct pick *p);
/* For qsort(): the longest pick first; equal ones in order of time. */
int pick_longest_first(const void *a, const void *b);

/*
 * Calls visit for each wait that s chooses; with top only for the top longest ones, longest first.
 * Returns 0, -ENOMEM, or what visit returned when that was not 0, which ends it. Memory grows with
 * top, not with the trace.
 */
int picks_walk(const struct timelines *tl, struct selection *s, uint64_t top,
	       int (*visit)(void *arg, const struct pick *p), void *arg);

#endif /* ENGINE_PICKS_H */
