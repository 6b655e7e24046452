// SPDX-License-Identifier: GPL-2.0-or-later
#include "sleep_ends.h"

#include "base/kernel_functions.h"
#include "io_limits.h"
#include "retried_waits.h"
#include "words/kernel_stacks.h"

static unsigned int flags_of(const struct timelines *tl, struct kernel_stacks *k, uint32_t pair,
			     uint32_t frames)
{
	return kernel_stack_flags(k, timelines_pair(tl, pair).kstack, frames);
}

/* What of KFUNC_SENDS_SIGNAL and KFUNC_ENDS_PROCESS the waker of w, a sleep, did. */
static unsigned int by_signal(const struct timelines *tl, struct kernel_stacks *k,
			      const struct wait *w)
{
	uint32_t kstack = timelines_pair(tl, w->waker_stack).kstack;
	struct waker_context context = waker_context(k, kstack, w->waker == THREAD_IDLE);

	return flags_of(tl, k, w->waker_stack, context.frames) &
	       (KFUNC_SENDS_SIGNAL | KFUNC_ENDS_PROCESS);
}

/* The number of the sleep that was the last thing that the thread did but for ending, or n_waits.
 */
static uint32_t last_sleep(const struct timelines *tl, struct kernel_stacks *k,
			   const struct thread *th)
{
	for (uint32_t i = th->n_waits; i-- > 0;) {
		const struct wait *w = &th->waits[i];

		if (w->kind == WAIT_UNKNOWN)
			break;
		if (w->kind == WAIT_SLEEP &&
		    !(flags_of(tl, k, w->stack, UINT32_MAX) & KFUNC_ENDS_THREAD))
			return i;
	}
	return th->n_waits;
}

static int find_killed(struct timelines *tl, struct kernel_stacks *k, uint32_t thread)
{
	const unsigned int died = KFUNC_ENDS_THREAD | KFUNC_TAKES_SIGNAL;
	const struct thread *th = timelines_thread(tl, thread);
	const struct wait *w;
	unsigned int by;
	uint32_t sleep;

	if ((flags_of(tl, k, th->exit_stack, UINT32_MAX) & died) != died)
		return 0;
	sleep = last_sleep(tl, k, th);
	if (sleep == th->n_waits)
		return 0;
	w = &th->waits[sleep];
	if (w->waker == THREAD_NONE || w->wake_ns <= w->out_ns)
		return 0;
	by = by_signal(tl, k, w);
	/* A thread that waited for a signal got it. */
	if (!(by & KFUNC_ENDS_PROCESS) &&
	    flags_of(tl, k, w->stack, UINT32_MAX) & KFUNC_AWAITS_SIGNAL)
		return 0;
	return by ? timelines_kill(tl, thread, sleep, by & KFUNC_ENDS_PROCESS) : 0;
}

const struct wait *sleep_ends_of_process(const struct timelines *tl, struct kernel_stacks *k,
					 const struct wait *woke)
{
	const struct wait *end = timelines_thread(tl, woke->waker)->process_end;

	if (!end || end->wake_ns > woke->wake_ns)
		return NULL;
	return flags_of(tl, k, woke->waker_stack, UINT32_MAX) & KFUNC_ENDS_THREAD ? end : NULL;
}

int sleep_ends_settle(struct timelines *tl)
{
	struct kernel_stacks *k;
	int err = kernel_stacks_new(&k, timelines_trace(tl));

	for (uint32_t i = 0; !err && i < timelines_threads(tl); i++)
		err = find_killed(tl, k, i);
	if (!err)
		err = io_limits_find(tl, k);
	kernel_stacks_free(k);
	return err ? err : retried_waits_join(tl);
}
