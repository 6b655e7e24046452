/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_waits.h - the chosen waits, one after another, for formats that show each by itself: all of
 * them, thread by thread and in order of time, or the longest ones.
 */
#pragma once

#include "wait_filter.h"
#include "timeline/timeline.h"

struct chosen_wait {
	const struct wait *wait;
	struct shown shown;
	uint32_t thread;
	uint32_t others; /* of a request, where endpoint_requests.h has it: as in struct request */
};

/* The length of what is shown of the wait. */
uint64_t chosen_wait_ns(const struct chosen_wait *p);
/* For qsort(): the longest wait first; equal ones in order of time. */
int longest_wait_first(const void *a, const void *b);

/*
 * Calls visit for each wait that the filter chooses; with top only for the `top` longest ones, the
 * longest first, until visit returns false. Memory grows with top, not with the trace.
 */
void top_waits_walk(const struct timelines *tl, struct wait_filter *f, uint64_t top,
		    bool (*visit)(void *arg, const struct chosen_wait *p), void *arg);
/* The same of the waits of one thread, or client. */
void top_waits_of_thread(const struct timelines *tl, struct wait_filter *f, uint32_t thread,
			 bool (*visit)(void *arg, const struct chosen_wait *p), void *arg);
/*
 * The same of all sleeps for whose stack pair marked[] is not 0, for those who ask for few; marked
 * NULL: of all waits.
 */
void top_waits_walk_marked(const struct timelines *tl, struct wait_filter *f, const uint8_t *marked,
			   bool (*visit)(void *arg, const struct chosen_wait *p), void *arg);
