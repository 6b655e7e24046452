// SPDX-License-Identifier: GPL-2.0-or-later
#include "tries.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "common/intern.h"
#include "common/lower_bound.h"
#include "words/lock_holder.h"

struct waker_context tries_context(const struct tries *t, const struct wait *w)
{
	return waker_context(t->kernel, t->timelines, w);
}

static bool by_timer(const struct tries *t, const struct wait *w)
{
	struct waker_context context;

	if (w->flags & WAIT_NOT_WOKEN || w->waker == THREAD_NONE)
		return false;
	context = tries_context(t, w);
	return context.interrupt && context.source == IRQ_TIMER;
}

/* Whether a thread ended a sleep, and not early, or that is not known; *known says which. */
bool tries_is_end(const struct tries *t, const struct wait *w, bool *known)
{
	*known = w->waker != THREAD_NONE;
	if (w->flags & WAIT_NOT_WOKEN || w->waker == THREAD_IDLE)
		return false;
	return !*known || (w->wake_ns > w->out_ns && !tries_context(t, w).interrupt);
}

/* ---- locks ---------------------------------------------------------------------------------- */

/*
 * The lock at an address, "17:lib.so+0x40c4", of a file or of shared memory "/pool+0x40c4"; or that
 * of a process's interpreter; or those of a whole file, "/data/shop.db".
 */
static uint32_t lock_id(struct intern *locks, const struct trace *t, const struct trace_object *o,
			bool is_gil, bool of_file)
{
	char *name = xstrdup(trace_string(t, o->name)), *whole;
	/* Processes have each its own interpreter, and all of these one name: none. */
	uint32_t process = is_gil ? o->peer : 0;
	uint32_t id;

	if (!*name && !process) {
		free(name);
		return SOME_LOCK;
	}
	if (!of_file)
		lock_name_of_both_words(name);
	whole = xasprintf("%s%s %" PRIu32 " %" PRIu64 " %" PRIu32, of_file ? "file " : "", name,
			  o->device, o->inode, process);
	id = xintern(locks, whole, strlen(whole), NULL);
	free(whole);
	free(name);
	return id;
}

/* Which stack pairs are at which lock. */
static void find_locks(struct tries *t)
{
	const struct trace *trace = timelines_trace(t->timelines);
	uint32_t end = timelines_pairs_end(t->timelines);
	struct intern locks = { .n = 0 };

	t->lock_of = xcalloc(end, sizeof(*t->lock_of));
	/* There are no more locks than stack pairs. */
	t->of_file = xcalloc((size_t)end + 1, sizeof(*t->of_file));
	for (uint32_t i = 1; i < end; i++) {
		uint32_t object = timelines_pair(t->timelines, i).object;
		const struct trace_object *o = trace_object(trace, object);
		bool is_gil = lock_is_gil(trace, object);
		bool of_file = lock_is_of_file(trace, object);

		if (!o || (strcmp(trace_string(trace, o->class), "futex") && !is_gil && !of_file))
			continue;
		t->lock_of[i] = lock_id(&locks, trace, o, is_gil, of_file);
		if (of_file && t->lock_of[i] != SOME_LOCK)
			t->of_file[t->lock_of[i]] = true;
	}
	t->n_locks = locks.n;
	intern_free(&locks);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void find_losses(struct tries *t)
{
	size_t n;
	const struct trace_loss *at = trace_losses(timelines_trace(t->timelines), &n);

	t->lossy_until = xmalloc((n + 1) * sizeof(*t->lossy_until));
	for (size_t i = 0; i < n; i++) {
		uint64_t before = i ? t->lossy_until[i - 1] : 0;

		t->lossy_until[i] = at[i].last_ns > before ? at[i].last_ns : before;
	}
}

bool tries_is_lossy(const struct tries *t, uint64_t from_ns, uint64_t to_ns)
{
	size_t n, before;
	const struct trace_loss *at = trace_losses(timelines_trace(t->timelines), &n);

	before = LOWER_BOUND(i, n, at[i].first_ns <= to_ns);
	return before && t->lossy_until[before - 1] >= from_ns;
}

/* How long a thread may run after w and before the next sleep of the row. */
static uint64_t ran_after_ns(const struct wait *w)
{
	return w->kind == WAIT_SLEEP && w->wake_ns - w->out_ns >= TRY_NS ? RAN_AFTER_LONG_NS
									 : RAN_BETWEEN_NS;
}

void tries_find_next(const struct tries *t, const struct thread *th, struct try *p)
{
	uint64_t ran_ns = 0, most_ns = ran_after_ns(&th->waits[p->sleep]);
	bool lossy = false;

	for (uint32_t i = p->sleep + 1; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];

		ran_ns += w->out_ns - w[-1].in_ns;
		if (ran_ns >= most_ns)
			return;
		lossy |= tries_is_lossy(t, w[-1].in_ns, w->out_ns);
		if (w->kind == WAIT_PREEMPTED)
			continue;
		p->not_known = w->kind == WAIT_UNKNOWN || (lossy && t->lock_of[w->stack]);
		p->more = w->kind == WAIT_SLEEP && t->lock_of[w->stack] && !lossy;
		p->woke = w->kind == WAIT_SLEEP && w->woke_before;
		return;
	}
}

const struct wait *tries_right_before(const struct thread *th, uint32_t i, uint64_t at_ns)
{
	uint64_t ran_ns = 0;

	while (i-- > 0) {
		const struct wait *w = &th->waits[i];

		ran_ns += at_ns - w->in_ns;
		if (w->kind != WAIT_PREEMPTED)
			return ran_ns < ran_after_ns(w) ? w : NULL;
		if (ran_ns >= RAN_AFTER_LONG_NS)
			return NULL;
		at_ns = w->out_ns;
	}
	return NULL;
}

enum answer tries_in_row(const struct tries *t, uint32_t thread, uint64_t at_ns)
{
	const struct thread *th = timelines_thread(t->timelines, thread);
	size_t n = LOWER_BOUND(k, th->n_waits, th->waits[k].out_ns < at_ns), i;
	const struct wait *w = tries_right_before(th, (uint32_t)n, at_ns);
	const struct try *p;

	if (!w || tries_is_unknown(w))
		return w ? PERHAPS : NO;
	i = LOWER_BOUND(k, t->n,
			t->at[k].thread < thread ||
				(t->at[k].thread == thread && tries_wait(t, &t->at[k]) < w));
	p = i < t->n && tries_wait(t, &t->at[i]) == w ? &t->at[i] : NULL;
	if (!p || !(p->in_row || p->perhaps_in_row) || !(p->more || p->not_known))
		return NO;
	return p->more && p->in_row ? YES : PERHAPS;
}

/* Whether it is known who has the lock for which w, a sleep of a thread, began. */
static bool names_holder(const struct tries *t, uint32_t thread, const struct wait *w)
{
	const struct trace *trace = timelines_trace(t->timelines);
	uint32_t object = timelines_pair(t->timelines, w->stack).object;
	const struct trace_object *o = trace_object(trace, object);

	return lock_is_gil(trace, object) || (o && o->peer) ||
	       lock_word_holder(t->timelines, thread, w) != THREAD_NONE;
}

/*
 * Adds up how long a thread did something else than sleep at locks, and run shortly between two
 * such sleeps; *sure: all of it is known. Fills in what is known by lock.
 */
static uint64_t else_ns(const struct tries *t, uint32_t thread, bool *sure)
{
	const struct thread *th = timelines_thread(t->timelines, thread);
	uint64_t since_ns = th->begin_ns, in_ns = th->begin_ns, ran_ns = 0, most_ns = 0, sum = 0;
	bool all = true, gap = true;

	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		uint32_t lock = w->kind == WAIT_SLEEP ? t->lock_of[w->stack] : 0;
		bool known = true;

		ran_ns += w->out_ns - in_ns;
		in_ns = w->in_ns;
		if (!lock && w->kind != WAIT_PREEMPTED)
			most_ns = 0;
		if (!lock) {
			gap &= !tries_is_unknown(w) || w->flags & WAIT_NEW;
			continue;
		}
		sum += !gap || ran_ns < most_ns ? 0 : w->out_ns - since_ns;
		all &= gap;
		gap = true;
		since_ns = in_ns;
		ran_ns = 0;
		most_ns = ran_after_ns(w);
		if (tries_is_end(t, w, &known) && known && lock != SOME_LOCK)
			t->at_lock[lock].ended++;
		all &= known || w->flags & WAIT_NOT_WOKEN;
		/* A pause may be at a lock of the thread's own. */
		if (lock != SOME_LOCK && by_timer(t, w) && !names_holder(t, thread, w)) {
			t->at_lock[lock].paused_ns += in_ns - w->out_ns;
			sum += in_ns - w->out_ns;
		}
	}
	*sure = all && gap;
	return sum + (gap ? th->end_ns - since_ns : 0);
}

/*
 * A thread that does nothing else than sleep for a while at a lock of which nobody knows who has
 * it, until a thread tells it once, ticks until it is told to end: these are no tries.
 */
static void leave_out_ticks(struct tries *t, uint32_t thread, size_t first)
{
	const struct thread *th = timelines_thread(t->timelines, thread);
	bool sure;
	uint64_t sum = else_ns(t, thread, &sure);

	for (size_t i = first; i < t->n; i++) {
		struct try *p = &t->at[i];

		if (!p->must_be_told || t->at_lock[p->lock].ended > 1 ||
		    sum - t->at_lock[p->lock].paused_ns >= ELSE_NS)
			continue;
		p->timed = !sure;
		p->perhaps = !sure;
	}
	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		uint32_t lock = w->kind == WAIT_SLEEP ? t->lock_of[w->stack] : 0;

		if (lock && lock != SOME_LOCK)
			t->at_lock[lock] = (struct at_lock) { 0 };
	}
}

static void find_threads_rows(struct tries *t, uint32_t thread)
{
	const struct thread *th = timelines_thread(t->timelines, thread);
	size_t first = t->n;
	bool in_row = false, any_long = false;

	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		uint32_t lock = w->kind == WAIT_SLEEP ? t->lock_of[w->stack] : 0;
		const struct wait *before;
		struct try *p;
		bool timed, after_unknown;

		in_row &= w->kind != WAIT_UNKNOWN;
		if (!lock)
			continue;
		before = tries_right_before(th, i, w->out_ns);
		after_unknown = before && tries_is_unknown(before);
		timed = lock != SOME_LOCK && by_timer(t, w);
		if (!timed && !in_row && !after_unknown)
			continue;
		XGROW(t->at, t->n, t->cap);
		p = &t->at[t->n++];
		*p = (struct try) { .thread = thread,
				    .sleep = i,
				    .lock = lock,
				    .timed = timed,
				    .follows = in_row,
				    .must_be_told = timed && w->wake_ns - w->out_ns >= TRY_NS &&
						    !names_holder(t, thread, w),
				    .after_unknown = after_unknown };
		any_long |= p->must_be_told;
		tries_find_next(t, th, p);
		in_row = p->more || p->not_known;
		if (timed)
			t->tried[lock] = true;
	}
	if (any_long)
		leave_out_ticks(t, thread, first);
}

static void find_rows(struct tries *t)
{
	find_losses(t);

	t->tried = xcalloc((size_t)t->n_locks + 1, sizeof(*t->tried));
	t->at_lock = xcalloc((size_t)t->n_locks + 1, sizeof(*t->at_lock));
	for (uint32_t i = 0; i < timelines_threads(t->timelines); i++)
		find_threads_rows(t, i);
}

/* ---- wakings between two sleeps -------------------------------------------------------------- */

static void find_threads_tries(struct tries *t)
{
	uint32_t n = timelines_threads(t->timelines);
	size_t at = 0;
	bool any = false;

	for (size_t i = 0; i < t->n && !any; i++)
		any = t->at[i].woke;
	if (!any)
		return;
	t->first = xmalloc(((size_t)n + 1) * sizeof(*t->first));
	for (uint32_t thread = 0; thread <= n; thread++) {
		while (at < t->n && t->at[at].thread < thread)
			at++;
		t->first[thread] = (uint32_t)at;
	}
}

/*
 * Whether w, a sleep of thread that another one ended, was for a lock that this one had meanwhile:
 * it began after since_ns, and it is known who has that lock. A thread of Python's lets those go on
 * who wait for the interpreter, whatever it does itself.
 */
static bool hands_lock_on(const struct tries *t, uint32_t thread, const struct wait *w,
			  uint64_t since_ns)
{
	return w->kind == WAIT_SLEEP && t->lock_of[w->stack] && w->out_ns >= since_ns &&
	       w->wake_ns > w->out_ns && names_holder(t, thread, w);
}

/*
 * w, a sleep of thread, was ended by a thread, or by an interrupt of it, perhaps between two sleeps
 * of a row.
 */
static void note_waking(struct tries *t, uint32_t thread, const struct wait *w)
{
	const struct thread *th = timelines_thread(t->timelines, w->waker);
	struct try *first = t->at + t->first[w->waker];
	size_t n = t->first[w->waker + 1] - t->first[w->waker], i;
	uint64_t ns = wait_waker_ns(th, w);

	i = LOWER_BOUND(k, n, th->waits[first[k].sleep].wake_ns <= ns);
	while (i-- > 0) {
		const struct wait *sleep = &th->waits[first[i].sleep];
		uint32_t next = first[i].sleep + 1;

		while (next < th->n_waits && th->waits[next].kind == WAIT_PREEMPTED)
			next++;
		if (first[i].woke && th->waits[next].out_ns >= ns) {
			if (tries_context(t, w).interrupt ||
			    hands_lock_on(t, thread, w, sleep->wake_ns))
				first[i].interrupted = true;
			else
				first[i].more = first[i].not_known = false;
		}
		/* All before that are over before the sleep. */
		if (sleep->out_ns < ns)
			break;
	}
}

/* A thread that wakes, or starts, somebody between two sleeps does not only wait. */
static void part_busy_rows(struct tries *t)
{
	for (uint32_t thread = 0; t->first && thread < timelines_threads(t->timelines); thread++) {
		const struct thread *th = timelines_thread(t->timelines, thread);

		for (uint32_t i = 0; i < th->n_waits; i++) {
			const struct wait *w = &th->waits[i];

			if (w->waker < THREAD_IDLE && t->first[w->waker] < t->first[w->waker + 1])
				note_waking(t, thread, w);
		}
		/* To queue an item is the same. */
		for (uint32_t i = 0; th->work && i < th->work->n_recorded; i++) {
			const struct wait *asked = &th->work->recorded[i].asked;

			if (!th->work->recorded[i].none && asked->waker < THREAD_IDLE &&
			    t->first[asked->waker] < t->first[asked->waker + 1] &&
			    !tries_context(t, asked).interrupt)
				note_waking(t, thread, asked);
		}
	}
	for (size_t i = 0; i < t->n; i++) {
		struct try *p = &t->at[i];

		if (p->more && p->woke && !p->interrupted) {
			p->more = false;
			p->not_known = true;
		}
	}
}

void tries_find(struct tries *t)
{
	find_locks(t);

	if (t->n_locks)
		find_rows(t);
	if (t->n)
		find_threads_tries(t);
	part_busy_rows(t);
}
