/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select.h - which waits the user wants to see, and how much of each. A wait is chosen by its
 * thread, its whole length, its state and its off-CPU stack; of a chosen one, what lies in the
 * window of time and belongs to a part that was asked for is shown.
 */
#ifndef ENGINE_SELECT_H
#define ENGINE_SELECT_H

#include "names.h"
#include "options.h"
#include "timeline.h"

struct selection;

/* What is shown of a wait. Empty stretches have equal ends. */
struct shown {
	uint64_t blocked_from_ns, blocked_to_ns;
	uint64_t off_from_ns, off_to_ns; /* runnable, or preempted */
};

/* NULL: out of memory. What is given must outlive it. */
struct selection *selection_new(const struct timelines *tl, const struct options *o,
				struct names *names);
void selection_free(struct selection *s);
/* False: no wait of this thread can be shown, whatever its name at the time. */
bool selection_thread(const struct selection *s, const struct thread *th);
/* True if some name that the thread had fits. */
bool selection_name(struct selection *s, uint32_t thread);
/* The window of time, CLOCK_MONOTONIC. */
void selection_window(const struct selection *s, uint64_t *from_ns, uint64_t *to_ns);
/*
 * False: nothing of w is shown. WAIT_UNKNOWN stretches never are, for nobody knows that they are
 * waits.
 */
bool selection_wait(struct selection *s, uint32_t thread, const struct wait *w,
		    struct shown *shown);
/* What --no-idle took out of the waits that were asked about so far: how many, how much of them. */
void selection_idle(const struct selection *s, uint64_t *waits, uint64_t *ns);

#endif /* ENGINE_SELECT_H */
