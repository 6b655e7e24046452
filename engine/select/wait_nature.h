/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_nature.h - what a sleep was for, by its stack and by its outcome: for work that a thread has
 * not got (--no-idle), for a lock that nobody gave it, for which class of objects. The manual
 * page says how.
 */
#pragma once

#include "attribute/sums.h"
#include "timeline/timeline.h"
#include "words/kernel_stacks.h"

/*
 * True if w, a wait of thread, only waited for work: in a function in which threads have nothing to
 * do; or until the trace's end, unless it is at a lock or in state D; or in an event loop that was
 * not ended by an answer.
 */
bool wait_is_idle(const struct timelines *tl, struct kernel_stacks *k, uint32_t thread,
		  const struct wait *w);
/*
 * True if w is a sleep that had not ended when the trace did, and is in state D or in a function
 * that takes a lock.
 */
bool wait_looks_stuck(const struct timelines *tl, struct kernel_stacks *k, const struct wait *w);

/*
 * True if a thread ended w, a wait of thread, that this one, or another one of its process, had
 * woken before: it was asked, and has answered.
 */
bool wait_is_answered(const struct timelines *tl, struct kernel_stacks *k, uint32_t thread,
		      const struct wait *w);
/*
 * True if a thread with this stack pair when it was off the CPU is at a lock: in a function of its
 * program that takes one, or at a mutex or semaphore of the kernel's.
 */
bool wait_is_at_lock(const struct timelines *tl, struct kernel_stacks *k, uint32_t pair);

/* Whether the trace says what was waited for. */
bool wait_classes_known(const struct timelines *tl);
/*
 * The class (string id) of what a wait with this stack was for, "tcp" or "file": of several things
 * that of the one that was ready. SUMS_UNKNOWN: it is not known.
 */
uint32_t wait_class(const struct timelines *tl, uint32_t pair);
