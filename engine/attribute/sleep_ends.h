/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sleep_ends.h - what the whole trace says of who ended single sleeps: some end only because their
 * thread was to end, killed by a signal or with its process (chain-semantics, section 2), and some
 * go on until a later waking (section 14).
 */
#pragma once

#include "timeline/timeline.h"
#include "words/kernel_stacks.h"

/*
 * Gives each sleep the waker that explains it; wait_killed() is true of those that a signal ended
 * together with their thread. To be called once, before anything looks at the timelines' wakers.
 */
void sleep_ends_settle(struct timelines *tl);

/*
 * If woke's waker, a thread, woke because it ended, and that because another thread had ended their
 * process: how that one woke it. What it had done before explains nothing. Else NULL.
 */
const struct wait *sleep_ends_of_process(const struct timelines *tl, struct kernel_stacks *kernel,
					 const struct wait *woke);
