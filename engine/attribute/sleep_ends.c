// SPDX-License-Identifier: GPL-2.0-or-later
#include "sleep_ends.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/kernel_functions.h"
#include "common/grow.h"
#include "common/lower_bound.h"
#include "io_limits.h"
#include "retried_waits.h"
#include "work_items.h"
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
	return flags_of(tl, k, w->waker_stack, waker_context(k, tl, w).frames) &
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

/* ---- whether a thread itself woke anybody --------------------------------------------------- */

/* A sleep before which an interrupt woke somebody while its thread was current. */
struct hit_before {
	uint32_t thread, sleep;
	bool woke; /* the thread did so, too */
};

struct hits {
	struct hit_before *at;
	size_t n, cap;
};

static int by_sleep(const void *pa, const void *pb)
{
	const struct hit_before *a = pa, *b = pb;

	return a->thread != b->thread ? compare_numbers(a->thread, b->thread)
				      : compare_numbers(a->sleep, b->sleep);
}

/* Calls fn for each waking with a thread that was current, by an interrupt or not. 0 or -ENOMEM. */
static int each_waking(struct timelines *tl, struct kernel_stacks *k, bool by_interrupt,
		       int (*fn)(struct hits *h, struct hit_before key), struct hits *h)
{
	int err = 0;

	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i), *waker;
		uint32_t sleep;

		for (uint32_t n = 0; n < th->n_waits && !err; n++) {
			const struct wait *w = &th->waits[n];

			if (w->waker >= THREAD_IDLE ||
			    waker_context(k, tl, w).interrupt != by_interrupt)
				continue;
			waker = timelines_thread(tl, w->waker);
			sleep = thread_sleep_after(waker, wait_waker_ns(waker, w));
			if (sleep < waker->n_waits && waker->waits[sleep].woke_before)
				err = fn(h, (struct hit_before) { w->waker, sleep, false });
		}
	}
	return err;
}

static int add_hit(struct hits *h, struct hit_before key)
{
	if (!GROW(h->at, h->n, h->cap))
		return -ENOMEM;
	h->at[h->n++] = key;
	return 0;
}

static int note_own(struct hits *h, struct hit_before key)
{
	size_t i = LOWER_BOUND(m, h->n, by_sleep(&h->at[m], &key) < 0);

	for (; i < h->n && !by_sleep(&h->at[i], &key); i++)
		h->at[i].woke = true;
	return 0;
}

/*
 * The timelines know that a thread was current in a waking. That of an interrupt, or of a softirq
 * of others that it only ran, is none of its own (chain-semantics, section 3). 0 or -ENOMEM.
 */
static int leave_out_interrupts(struct timelines *tl, struct kernel_stacks *k)
{
	struct hits h = { 0 };
	int err = each_waking(tl, k, true, add_hit, &h);

	if (!err && h.n) {
		qsort(h.at, h.n, sizeof(*h.at), by_sleep);
		err = each_waking(tl, k, false, note_own, &h);
	}
	for (size_t i = 0; i < h.n && !err; i++)
		timelines_woke_before(tl, h.at[i].thread, h.at[i].sleep, h.at[i].woke);
	free(h.at);
	return err;
}

int sleep_ends_settle(struct timelines *tl)
{
	struct kernel_stacks *k;
	int err = kernel_stacks_new(&k, timelines_trace(tl));

	if (!err)
		err = leave_out_interrupts(tl, k);

	for (uint32_t i = 0; !err && i < timelines_threads(tl); i++)
		err = find_killed(tl, k, i);
	if (!err)
		err = io_limits_find(tl, k);
	if (!err)
		err = work_items_find(tl, k);
	kernel_stacks_free(k);
	return err ? err : retried_waits_join(tl);
}
