// SPDX-License-Identifier: GPL-2.0-or-later
#include "sleep_ends.h"

#include <stdlib.h>

#include "base/kernel_functions.h"
#include "retried_waits.h"
#include "work_items.h"
#include "words/kernel_stacks.h"
#include "common/xalloc.h"

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

static void find_killed(struct timelines *tl, struct kernel_stacks *k, uint32_t thread)
{
	const unsigned int died = KFUNC_ENDS_THREAD | KFUNC_TAKES_SIGNAL;
	const struct thread *th = timelines_thread(tl, thread);
	const struct wait *w;
	unsigned int by;
	uint32_t sleep;

	if ((flags_of(tl, k, th->exit_stack, UINT32_MAX) & died) != died)
		return;
	sleep = last_sleep(tl, k, th);
	if (sleep == th->n_waits)
		return;
	w = &th->waits[sleep];
	if (w->waker == THREAD_NONE || w->wake_ns <= w->out_ns)
		return;
	by = by_signal(tl, k, w);
	/* A thread that waited for a signal got it. */
	if (!(by & KFUNC_ENDS_PROCESS) &&
	    flags_of(tl, k, w->stack, UINT32_MAX) & KFUNC_AWAITS_SIGNAL)
		return;
	if (by)
		timelines_kill(tl, thread, sleep, by & KFUNC_ENDS_PROCESS);
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

/* Of a thread: it only lost its CPU in [from, to), the last intervals that were looked at. */
struct preempted {
	uint32_t from, to;
	uint32_t before; /* so many intervals were before the waking that was looked at last */
};

/*
 * The first of the waker's sleeps after it woke w, as its number, unless something unknown comes
 * before that; or n_waits. last: the waker's.
 */
static uint32_t sleep_after(const struct thread *waker, const struct wait *w,
			    struct preempted *last)
{
	uint64_t at_ns = wait_waker_ns(waker, w);
	uint32_t i = wait_waker_pos_near(waker, w, &last->before);

	while (i < waker->n_waits && waker->waits[i].out_ns < at_ns)
		i++;
	if (i < last->from || i >= last->to)
		last->from = last->to = i;
	i = last->to;
	while (i < waker->n_waits && waker->waits[i].kind == WAIT_PREEMPTED)
		i++;
	last->to = i;
	return i < waker->n_waits && waker->waits[i].kind == WAIT_SLEEP ? i : waker->n_waits;
}

/* In what wakings a thread was current before a sleep, or-ed. */
enum hit_before {
	HIT_BY_INTERRUPT = 1,
	HIT_BY_ITSELF = 2,
};

/* first: by thread, where its waits begin in hits[], which is all zero. */
static void find_hits(const struct timelines *tl, struct kernel_stacks *k, const size_t *first,
		      uint8_t *hits)
{
	struct preempted *last = xcalloc((size_t)timelines_threads(tl) + 1, sizeof(*last));

	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i), *waker;

		for (uint32_t n = 0; n < th->n_waits; n++) {
			const struct wait *w = &th->waits[n];
			uint32_t sleep;

			if (w->waker >= THREAD_IDLE)
				continue;
			waker = timelines_thread(tl, w->waker);
			sleep = sleep_after(waker, w, &last[w->waker]);
			if (sleep < waker->n_waits && waker->waits[sleep].woke_before)
				hits[first[w->waker] + sleep] |= waker_context(k, tl, w).interrupt
									 ? HIT_BY_INTERRUPT
									 : HIT_BY_ITSELF;
		}
	}
	free(last);
}

/*
 * The timelines know that a thread was current in a waking. That of an interrupt, or of a softirq
 * of others that it only ran, is none of its own (chain-semantics, section 3).
 */
static void leave_out_interrupts(struct timelines *tl, struct kernel_stacks *k)
{
	uint32_t end = timelines_threads(tl);
	size_t *first = xcalloc((size_t)end + 1, sizeof(*first));
	uint8_t *hits;

	for (uint32_t i = 0; i < end; i++)
		first[i + 1] = first[i] + timelines_thread(tl, i)->n_waits;
	hits = xcalloc(first[end] + 1, sizeof(*hits));
	find_hits(tl, k, first, hits);
	for (uint32_t i = 0; i < end; i++)
		for (size_t n = first[i]; n < first[i + 1]; n++)
			if (hits[n] & HIT_BY_INTERRUPT)
				timelines_woke_before(tl, i, (uint32_t)(n - first[i]),
						      hits[n] & HIT_BY_ITSELF);
	free(first);
	free(hits);
}

/* ---- I/O limits ----------------------------------------------------------------------------- */

/* The requests for which a thread waited are its own. */
static void take_held(struct timelines *tl, uint32_t thread)
{
	const struct thread *th = &tl->threads[thread];

	for (uint32_t i = 0; i < th->n_waits; i++) {
		uint32_t number = timelines_pair(tl, th->waits[i].waker_stack).request;
		struct disk_request *r;

		if (th->waits[i].kind != WAIT_SLEEP || !number)
			continue;
		r = &tl->disk_requests.at[number - 1];
		if (timelines_disk_request_kind(tl, r->kind).held)
			r->thread = thread;
	}
}

/*
 * Which requests to disks an I/O limit of a control group held back, by where they were asked for
 * (chain-semantics, section 11). A worker of the kernel asked for these: if it is known which
 * thread waited for one, it becomes that thread's.
 */
static void find_held_requests(struct timelines *tl, struct kernel_stacks *k)
{
	struct disk_requests *all = &tl->disk_requests;
	bool any = false;

	for (size_t i = 0; i < all->n; i++) {
		struct disk_request *r = &all->at[i];
		uint32_t kstack = timelines_pair(tl, r->pair).kstack;

		if (!(kernel_stack_flags(k, kstack, UINT32_MAX) & KFUNC_IO_LIMIT))
			continue;
		disk_requests_hold(all, r);
		any = true;
	}
	/* If several waited for one, it is that of the first of them. */
	for (uint32_t i = timelines_threads(tl); i > 0 && any; i--)
		take_held(tl, i - 1);
}

void sleep_ends_settle(struct timelines *tl)
{
	struct kernel_stacks *k;

	kernel_stacks_new(&k, timelines_trace(tl));
	leave_out_interrupts(tl, k);
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		find_killed(tl, k, i);
	find_held_requests(tl, k);
	work_items_find(tl, k);
	kernel_stacks_free(k);
	retried_waits_join(tl);
}
