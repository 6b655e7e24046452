/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_loops.h - a thread that answers a request and sleeps in its event loop meanwhile waits on,
 * although another request, the reply to one or a timer ends the sleep (chain-semantics, section
 * 14).
 */
#pragma once

#include "timeline/timeline.h"
#include "words/kernel_stacks.h"

struct event_loops;

/*
 * *out is NULL if nothing can go on: without requests, or threads in event loops. To be freed with
 * event_loops_free(). tl and kernel must outlive it.
 */
void event_loops_new(struct event_loops **out, const struct timelines *tl,
		     struct kernel_stacks *kernel);
void event_loops_free(struct event_loops *e);

/* A waking, or an answer; at 0 something else, before which nothing goes on. */
struct waking {
	uint64_t at_ns;
	const struct request *answers; /* if it is an answer, which is explained: of what */
};

/* A way back over the off-CPU intervals of a waker, from the waking to when it took the request. */
struct loop_walk {
	const struct event_loops *loops;
	const struct thread *thread;
	const struct request *request; /* NULL: the waker answers none, or more than one */
	uint32_t waker;
	uint32_t i; /* the interval where it is; at first one too many */
	uint64_t at_ns;
	/*
	 * The sleep whose end explains that at i: itself, a later one, or that of a client for
	 * whose request this one was passed on.
	 */
	const struct wait *ended;
	const struct wait *later; /* likewise for the sleep in an event loop that is the next one */
	uint32_t later_i;	  /* which that is */
	/*
	 * When what the thread that ended later was answering then had arrived; UINT64_MAX: not
	 * known, or it is not known that the waker waited in later for its request.
	 */
	uint64_t asked_ns;
	/* What came to others next when the waker had taken the request: arrivals of loops. */
	size_t first_came, end_came;
	bool passed_on; /* one of these is what ended later */
};

/* e may be NULL. */
struct loop_walk event_loops_walk(const struct event_loops *e, const struct timelines *tl,
				  uint32_t waker, struct waking by);
/* One interval back. False: the waker had not taken the request yet. */
bool loop_walk_back(struct loop_walk *l);
/* Whether any sleep that reaches into the time from from_ns on, before the waking, goes on. */
bool event_loops_go_on(const struct event_loops *e, const struct timelines *tl, uint32_t waker,
		       struct waking by, uint64_t from_ns);
/* What ended such a sleep. */
struct waking event_loops_waking(const struct timelines *tl, const struct wait *ended);
/*
 * w as it is explained if it goes on in ended: the times of w, and all else of ended; but the place
 * of w if that is a client's wait.
 */
struct wait event_loops_joined(const struct timelines *tl, const struct wait *w,
			       const struct wait *ended);
/*
 * Whether the thread serves several connections, or streams of one, in an event loop, so that what
 * it does for one of them keeps the others waiting. Looks at a bounded number of its sleeps and
 * requests.
 */
bool event_loop_serves(const struct timelines *tl, uint32_t thread);
