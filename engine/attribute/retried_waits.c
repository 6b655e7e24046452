// SPDX-License-Identifier: GPL-2.0-or-later
#include "retried_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/lower_bound.h"
#include "words/kernel_stacks.h"

/* Less than this may a thread run between two tries. */
#define RAN_BETWEEN_NS 1000000u

/* What explains a sleep. */
enum verdict {
	ITS_OWN_END,
	GOES_ON, /* the end of a later sleep */
	UNKNOWN,
	BUSY, /* its own: the thread woke somebody before the next try */
};

/* A sleep that a timer ended, and the next one, which may be its next try. */
struct
try {
	uint32_t thread, sleep; /* number of the thread's off-CPU interval */
	uint32_t next;		/* likewise; 0: it is not known what the thread did next */
	uint32_t last;		/* the sleep whose end it is */
	/* Between the two it woke somebody; an interrupt did. */
	bool woke, interrupted;
	enum verdict verdict;
};

struct tries {
	struct timelines *timelines;
	struct kernel_stacks *kernel;
	bool *at_lock;	/* by stack pair: a thread with that off-CPU stack is at a lock */
	struct try *at; /* by thread, then sleep */
	size_t n, cap;
	uint32_t *first; /* by thread: where its tries begin; NULL: nobody woke anybody */
};

static struct waker_context context_of(const struct tries *t, const struct wait *w)
{
	return waker_context(t->kernel, timelines_pair(t->timelines, w->waker_stack).kstack,
			     w->waker == THREAD_IDLE);
}

static bool by_timer(const struct tries *t, const struct wait *w)
{
	struct waker_context context;

	if (w->flags & WAIT_NOT_WOKEN || w->waker == THREAD_NONE)
		return false;
	context = context_of(t, w);
	return context.interrupt && context.source == IRQ_TIMER;
}

/* What explains the tries before w, which is no other's try. */
static enum verdict verdict_of_last(const struct tries *t, const struct wait *w)
{
	if (w->flags & WAIT_NOT_WOKEN || w->waker == THREAD_IDLE)
		return ITS_OWN_END;
	/* Woken early: when exactly is not known. */
	if (w->waker != THREAD_NONE && w->wake_ns == w->out_ns)
		return ITS_OWN_END;
	if (w->waker == THREAD_NONE)
		return UNKNOWN;
	return context_of(t, w).interrupt ? ITS_OWN_END : GOES_ON;
}

/* Which stack pairs are at a lock. Returns whether there are any; 0 or -ENOMEM in *err. */
static bool find_locks(struct tries *t, int *err)
{
	const struct trace *trace = timelines_trace(t->timelines);
	uint32_t end = timelines_pairs_end(t->timelines);
	bool any = false;

	t->at_lock = calloc(end, sizeof(*t->at_lock));
	*err = t->at_lock ? 0 : -ENOMEM;
	for (uint32_t i = 1; t->at_lock && i < end; i++) {
		const struct trace_object *o =
			trace_object(trace, timelines_pair(t->timelines, i).object);

		t->at_lock[i] = o && !strcmp(trace_string(trace, o->class), "futex");
		any |= t->at_lock[i];
	}
	return any;
}

/*
 * Whether a sleep may go on: in *next, its next try; or, *next being 0, it is not known what the
 * thread did next.
 */
static bool next_try(const struct thread *th, uint32_t sleep, uint32_t *next)
{
	uint64_t ran_ns = 0;

	*next = 0;
	for (uint32_t i = sleep + 1; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];

		ran_ns += w->out_ns - w[-1].in_ns;
		if (ran_ns >= RAN_BETWEEN_NS)
			return false;
		if (w->kind == WAIT_UNKNOWN)
			return true;
		if (w->kind == WAIT_SLEEP) {
			*next = i;
			return w->stack == th->waits[sleep].stack;
		}
	}
	return false;
}

static int find_tries(struct tries *t)
{
	for (uint32_t thread = 0; thread < timelines_threads(t->timelines); thread++) {
		const struct thread *th = timelines_thread(t->timelines, thread);

		for (uint32_t i = 0; i < th->n_waits; i++) {
			const struct wait *w = &th->waits[i];
			uint32_t next;

			if (!t->at_lock[w->stack] || w->kind != WAIT_SLEEP ||
			    !next_try(th, i, &next) || !by_timer(t, w))
				continue;
			if (!GROW(t->at, t->n, t->cap))
				return -ENOMEM;
			t->at[t->n++] = (struct try) {
				.thread = thread,
				.sleep = i,
				.next = next,
				.woke = next && th->waits[next].woke_before,
			};
		}
	}
	return 0;
}

static int find_threads_tries(struct tries *t)
{
	uint32_t n = timelines_threads(t->timelines);
	size_t at = 0;
	bool any = false;

	for (size_t i = 0; i < t->n && !any; i++)
		any = t->at[i].woke;
	if (!any)
		return 0;
	t->first = malloc(((size_t)n + 1) * sizeof(*t->first));
	if (!t->first)
		return -ENOMEM;
	for (uint32_t thread = 0; thread <= n; thread++) {
		while (at < t->n && t->at[at].thread < thread)
			at++;
		t->first[thread] = (uint32_t)at;
	}
	return 0;
}

/* w was ended by a thread, or by an interrupt of it, perhaps between two of its tries. */
static void note_waking(struct tries *t, const struct wait *w)
{
	const struct thread *th = timelines_thread(t->timelines, w->waker);
	struct try *first = t->at + t->first[w->waker];
	size_t n = t->first[w->waker + 1] - t->first[w->waker], i;

	i = LOWER_BOUND(k, n, th->waits[first[k].sleep].wake_ns <= w->wake_ns);
	while (i-- > 0) {
		const struct wait *sleep = &th->waits[first[i].sleep];

		if (first[i].woke && th->waits[first[i].next].out_ns >= w->wake_ns) {
			if (context_of(t, w).interrupt)
				first[i].interrupted = true;
			else
				first[i].verdict = BUSY;
		}
		/* All before that are over before the sleep. */
		if (sleep->out_ns < w->wake_ns)
			break;
	}
}

/* A thread that wakes, or starts, somebody between two tries does not only wait. */
static void part_busy_tries(struct tries *t)
{
	for (uint32_t thread = 0; t->first && thread < timelines_threads(t->timelines); thread++) {
		const struct thread *th = timelines_thread(t->timelines, thread);

		for (uint32_t i = 0; i < th->n_waits; i++) {
			const struct wait *w = &th->waits[i];

			if (w->waker < THREAD_IDLE && t->first[w->waker] < t->first[w->waker + 1])
				note_waking(t, w);
		}
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].woke && !t->at[i].interrupted && t->at[i].verdict != BUSY)
			t->at[i].verdict = UNKNOWN;
}

/* Finds what ends each row of tries. */
static void find_last_tries(struct tries *t)
{
	for (size_t i = t->n; i-- > 0;) {
		struct try *p = &t->at[i];
		const struct try *next = i + 1 < t->n ? p + 1 : NULL;
		const struct thread *th = timelines_thread(t->timelines, p->thread);

		p->last = p->next;
		if (p->verdict != ITS_OWN_END)
			continue;
		if (!p->next) {
			p->verdict = UNKNOWN;
		} else if (next && next->thread == p->thread && next->sleep == p->next) {
			p->last = next->last;
			p->verdict = next->verdict == BUSY ? ITS_OWN_END : next->verdict;
		} else {
			p->verdict = verdict_of_last(t, &th->waits[p->next]);
		}
	}
}

static void join(const struct tries *t)
{
	for (const struct try *p = t->at; p < t->at + t->n; p++)
		if (p->verdict == GOES_ON)
			timelines_go_on(t->timelines, p->thread, p->sleep, p->next, p->last);
		else if (p->verdict == UNKNOWN)
			timelines_forget_waker(t->timelines, p->thread, p->sleep);
}

int retried_waits_join(struct timelines *tl)
{
	struct tries t = { .timelines = tl };
	int err = 0;

	if (!find_locks(&t, &err))
		goto out;
	err = kernel_stacks_new(&t.kernel, timelines_trace(tl));
	if (!err)
		err = find_tries(&t);
	if (err || !t.n)
		goto out;
	err = find_threads_tries(&t);
	if (err)
		goto out;
	part_busy_tries(&t);
	find_last_tries(&t);
	join(&t);
out:
	free(t.at_lock);
	free(t.at);
	free(t.first);
	kernel_stacks_free(t.kernel);
	return err;
}
