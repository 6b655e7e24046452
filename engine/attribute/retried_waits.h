/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retried_waits.h - timed waits for a lock that are tried again at once (chain-semantics, section
 * 14): a thread that waits 5 ms at a time, again and again, waits for whoever releases the lock.
 */
#pragma once

#include "timeline/timeline.h"

/*
 * Gives the tries that a timer ended the waker that released the lock: wait.goes_on says which
 * these are. Where it is not known what that was, they get no waker. To be called once, before
 * anything looks at the timelines' wakers.
 */
void retried_waits_join(struct timelines *tl);
