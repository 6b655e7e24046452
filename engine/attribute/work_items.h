/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work_items.h - who asked a worker for what it did when it woke somebody (chain-semantics,
 * section 18). A worker is a thread that waits in a loop for work, as the kernel's do. What it did
 * before it was asked explains nothing.
 */
#pragma once

#include "timeline/timeline.h"
#include "words/kernel_stacks.h"

/*
 * Finds that out for all workers, and notes of who queued items that it acted then. To be called
 * once, when the wakers of all sleeps are known, and before any sleep goes on.
 */
void work_items_find(struct timelines *tl, struct kernel_stacks *k);

/*
 * woke was ended at_ns by its waker: who had asked that one for it, as a sleep that ended so:
 * wake_ns says when, waker and waker_stack who and where; without a waker that is not known. NULL:
 * the waker is no worker, or had not waited for work yet: its own time explains all. Belongs to tl.
 */
const struct wait *work_item_at(const struct timelines *tl, const struct thread *worker,
				uint64_t at_ns);
static inline const struct wait *work_item_of(const struct timelines *tl, const struct wait *woke,
					      uint64_t at_ns)
{
	const struct thread *waker =
		woke->waker < THREAD_IDLE ? timelines_thread(tl, woke->waker) : NULL;

	return waker && waker->work ? work_item_at(tl, waker, at_ns) : NULL;
}
