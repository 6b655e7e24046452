/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_nature.h - what a sleep was for, by its stack and by its outcome: whether its thread paused
 * or had no work (chain-semantics, section 17), a lock that nobody gave it, which class of objects.
 */
#pragma once

#include "attribute/sums.h"
#include "timeline/timeline.h"
#include "words/kernel_stacks.h"

/*
 * What the blocked part of a wait is for its own thread. This is the only place that says so: what
 * --no-idle leaves out, and what causes and the report do not count.
 */
enum wait_nature {
	WAIT_FOR_OTHERS, /* for an answer, a lock, a device...: it has a cause */
	WAIT_PAUSE,	 /* its own timer ended it, and nobody is known to have asked for it */
	WAIT_FOR_WORK,	 /* the thread had nothing to do */
};

/* Says it, and keeps what it found out on the way. */
struct wait_natures;

/* tl and k must outlive it. To be freed with wait_natures_free(). */
void wait_natures_new(struct wait_natures **out, const struct timelines *tl,
		      struct kernel_stacks *k);
/* One for another thread, which shares what is found out; `of` must outlive it. Likewise. */
void wait_natures_share(struct wait_natures **out, const struct wait_natures *of,
			struct kernel_stacks *k);
void wait_natures_free(struct wait_natures *f);
/* Of w, an off-CPU interval of thread or a client's wait. Looks at a bounded number of sleeps. */
enum wait_nature wait_nature(struct wait_natures *f, uint32_t thread, const struct wait *w);
/*
 * True if w is a sleep that had not ended when the trace did, and is in state D or in a function
 * that takes a lock.
 */
bool wait_looks_stuck(const struct timelines *tl, struct kernel_stacks *k, const struct wait *w);

/*
 * True if a thread with this stack pair when it was off the CPU is at a lock: in a function of its
 * program that takes one, or at a mutex or semaphore of the kernel's.
 */
bool wait_is_at_lock(const struct timelines *tl, struct kernel_stacks *k, uint32_t pair);

/*
 * The object (of the trace) of a sleep with this stack pair for a message of somebody else's: a
 * socket, also one of several that was ready, or a poll() of one that is connected; 0: it is none.
 */
uint32_t wait_message_object(const struct timelines *tl, uint32_t pair);

/* Whether the trace says what was waited for. */
bool wait_classes_known(const struct timelines *tl);
/*
 * The class (string id) of what a wait with this stack was for, "tcp" or "file": of several things
 * that of the one that was ready. SUMS_UNKNOWN: it is not known.
 */
uint32_t wait_class(const struct timelines *tl, uint32_t pair);
