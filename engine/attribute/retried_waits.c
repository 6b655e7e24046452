// SPDX-License-Identifier: GPL-2.0-or-later
#include "retried_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "common/lower_bound.h"
#include "tries.h"
#include "words/lock_holder.h"

/* ---- locks of files -------------------------------------------------------------------------- */

/*
 * A lock of a file is let go without a waking (chain-semantics, section 14): whoever had it
 * explains the tries for it, up to when that thread was on a CPU last.
 */

/* The tries of a row that are one after the other at one lock that one thread has, from behind. */
struct held {
	size_t first;	    /* of those that were looked at */
	uint32_t holder;    /* THREAD_NONE: there are none */
	uint64_t from_ns;   /* when the first one began */
	uint64_t let_go_ns; /* when the holder was on a CPU last; 0: it was not since from_ns */
	bool known;	    /* it is known what the holder did since from_ns */
	enum answer amid;   /* whether it was then in a row of its own */
	const struct wait *assumed; /* as though it had woken somebody then; NULL: not needed yet */
};

/* Who has the lock of a try; THREAD_NONE: not known, or its own thread. */
static uint32_t holder_of(const struct tries *t, const struct try *p)
{
	uint32_t holder = lock_word_holder(t->timelines, p->thread, tries_wait(t, p));

	return holder == p->thread ? THREAD_NONE : holder;
}

/* Whether it is not known if the row goes on for the same holder after this, the last one known. */
static bool may_go_on(const struct tries *t, const struct try *p)
{
	return p->not_known ||
	       (p->more && p[1].lock == p->lock &&
		lock_word_holder(t->timelines, p->thread, tries_wait(t, p + 1)) == THREAD_NONE);
}

/* Puts try number i, the one before those that were looked at last, to these, or begins anew. */
static void look_at(const struct tries *t, size_t i, struct held *h)
{
	const struct try *p = &t->at[i];
	const struct wait *w = tries_wait(t, p);
	uint32_t holder = tries_of_file(t, p->lock) ? holder_of(t, p) : THREAD_NONE;
	uint64_t to_ns = w->in_ns;
	struct last_ran ran;

	if (holder != THREAD_NONE && h->holder == holder && p->more && h->first == i + 1 &&
	    p[1].lock == p->lock)
		to_ns = h->from_ns;
	else
		*h = (struct held) { .holder = holder, .known = !may_go_on(t, p) };
	h->first = i;
	h->from_ns = w->out_ns;
	if (holder == THREAD_NONE)
		return;
	ran = thread_last_ran(timelines_thread(t->timelines, holder), w->out_ns, to_ns);
	h->known &= ran.known;
	if (h->let_go_ns || !ran.ran)
		return;
	h->let_go_ns = ran.at_ns;
	h->amid = tries_in_row(t, holder, ran.at_ns);
}

/* Of all tries, whose rows are known: sets until, let_go_ns and unexplained of those. */
static void explain_polls(struct tries *t)
{
	struct held h = { .holder = THREAD_NONE };

	for (size_t i = t->n; i-- > 0;) {
		struct try *p = &t->at[i];
		const struct wait *w = tries_wait(t, p);

		look_at(t, i, &h);
		if (!p->timed || h.holder == THREAD_NONE)
			continue;
		p->unexplained = !h.known || (h.let_go_ns && h.amid == PERHAPS);
		if (p->unexplained || !h.let_go_ns || h.amid == YES)
			continue;
		p->holder = h.holder;
		if (h.let_go_ns < w->wake_ns) {
			p->let_go_ns = h.let_go_ns;
			continue;
		}
		if (!h.assumed)
			h.assumed = timelines_assume(t->timelines, w, h.holder, 0, h.let_go_ns);
		p->until = h.assumed;
	}
}

/* Makes two sleeps of those within which the lock was let go. tries.sleep is not valid any more. */
static void part_sleeps(struct tries *t)
{
	struct sleep_part *parts = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct try *p = &t->at[i];

		if (!p->let_go_ns)
			continue;
		XAPPEND(parts, n, cap) =
			(struct sleep_part) { p->thread, p->sleep, p->holder, p->let_go_ns };
	}
	if (n)
		timelines_part(t->timelines, parts, n);
	free(parts);
}

/* ---- what explains a try --------------------------------------------------------------------- */

static int by_lock_and_time(const void *pa, const void *pb)
{
	const struct lock_end *a = pa, *b = pb;

	if (a->lock != b->lock)
		return compare_numbers(a->lock, b->lock);
	if (a->wait->wake_ns != b->wait->wake_ns)
		return compare_numbers(a->wait->wake_ns, b->wait->wake_ns);
	return a->tid != b->tid ? compare_numbers(a->tid, b->tid)
				: compare_numbers(a->begin_ns, b->begin_ns);
}

static int by_time(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return compare_numbers(*a, *b);
}

/*
 * If the i-th interval is the last of unknown time in which events were lost, or the last before a
 * waking in it, its end.
 */
static void add_heard(struct tries *t, const struct thread *th, uint32_t i)
{
	const struct wait *w = &th->waits[i];
	uint64_t out_ns = w->out_ns, in_ns = w->in_ns;

	if (in_ns == th->end_ns || (i + 1 < th->n_waits && w[1].kind == WAIT_UNKNOWN &&
				    w[1].out_ns == in_ns && !w[1].woke_before))
		return;
	while (i-- > 0 && (--w)->kind == WAIT_UNKNOWN && w->in_ns == out_ns)
		out_ns = w->out_ns;
	if (!tries_is_lossy(t, out_ns, in_ns))
		return;
	XAPPEND(t->heard_ns, t->n_heard, t->cap_heard) = in_ns;
}

/* Whether the thread, after its i-th interval, of which it is not known what ended it, tries on. */
static bool tries_on(const struct tries *t, const struct thread *th, uint32_t i)
{
	const struct wait *w = &th->waits[i];
	struct try p = { .sleep = i };
	uint32_t next = i + 1;

	/* What was lost may have been its waking by whoever released the lock. */
	if (w->in_ns - w->out_ns >= TRY_NS || tries_is_lossy(t, w->out_ns, w->in_ns))
		return false;
	tries_find_next(t, th, &p);
	while (next < th->n_waits && th->waits[next].kind == WAIT_PREEMPTED)
		next++;
	return p.more && !p.woke && t->lock_of[th->waits[next].stack] == t->lock_of[w->stack];
}

static void add_end(struct tries *t, const struct thread *th, uint32_t i)
{
	const struct wait *w = &th->waits[i];
	uint32_t lock = w->kind == WAIT_SLEEP ? t->lock_of[w->stack] : 0;
	bool known;

	/* A file's lock is let go without a waking: a signal ended a sleep that a thread did. */
	if (!lock || lock == SOME_LOCK || !t->tried[lock] || tries_of_file(t, lock) ||
	    !tries_is_end(t, w, &known))
		return;
	if (!known && tries_on(t, th, i))
		return;
	XAPPEND(t->ended, t->n_ended, t->cap_ended) =
		(struct lock_end) { w, th->begin_ns, lock, th->tid, known };
}

static void find_ends(struct tries *t)
{
	for (uint32_t thread = 0; thread < timelines_threads(t->timelines); thread++) {
		const struct thread *th = timelines_thread(t->timelines, thread);

		for (uint32_t i = 0; i < th->n_waits; i++)
			if (th->waits[i].kind == WAIT_UNKNOWN)
				add_heard(t, th, i);
			else
				add_end(t, th, i);
	}
	if (t->n_ended)
		qsort(t->ended, t->n_ended, sizeof(*t->ended), by_lock_and_time);
	if (t->n_heard)
		qsort(t->heard_ns, t->n_heard, sizeof(*t->heard_ns), by_time);
}

/* Whether, in that time, a thread of which it is not known may have been woken. */
static bool was_perhaps_other(const struct tries *t, uint64_t from_ns, uint64_t to_ns)
{
	size_t i = LOWER_BOUND(k, t->n_heard, t->heard_ns[k] < from_ns);

	return i < t->n_heard && t->heard_ns[i] <= to_ns;
}

static bool is_known_end(const void *arg, const struct wait *w)
{
	bool known;

	return tries_is_end(arg, w, &known) && known;
}

/*
 * Whether a waking came between two sleeps of a row of its waker's own, the first of which was not
 * over yet when a try began: that sleep goes on, too, perhaps to what this try is to explain.
 */
static enum answer is_amid_row(const struct tries *t, const struct try *p, const struct wait *ended)
{
	const struct thread *th;
	const struct wait *before;
	enum answer in_row;
	size_t n;

	if (ended->waker >= THREAD_IDLE)
		return NO;
	in_row = tries_in_row(t, ended->waker, ended->wake_ns);
	if (in_row == NO)
		return NO;
	th = timelines_thread(t->timelines, ended->waker);
	n = LOWER_BOUND(k, th->n_waits, th->waits[k].out_ns < ended->wake_ns);
	before = tries_right_before(th, (uint32_t)n, ended->wake_ns);
	if (before->flags & WAIT_NEW)
		return NO;
	return (before->kind == WAIT_SLEEP ? before->wake_ns : before->in_ns) >
			       tries_wait(t, p)->out_ns
		       ? in_row
		       : NO;
}

/*
 * The waking that released the lock of a try, by the sleep that it ended, which may be any
 * thread's: the first one from the try's own end on, before the row is over. NULL: there is none.
 * *known: whether it is known who that was.
 */
static const struct wait *released(const struct tries *t, const struct try *p, bool *known)
{
	const struct try *last = &t->at[p->last];
	const struct wait *w = tries_wait(t, last);
	uint64_t from_ns = tries_wait(t, p)->wake_ns;
	size_t i = LOWER_BOUND(k, t->n_ended,
			       t->ended[k].lock < p->lock || (t->ended[k].lock == p->lock &&
							      t->ended[k].wait->wake_ns < from_ns));
	enum answer amid;

	for (;
	     i < t->n_ended && t->ended[i].lock == p->lock && t->ended[i].wait->wake_ns < w->in_ns;
	     i++) {
		amid = is_amid_row(t, p, t->ended[i].wait);
		*known = t->ended[i].known && amid == NO;
		if (amid != YES)
			return t->ended[i].wait;
	}
	/* That of the last sleep may be at the very moment at which its thread ran again. */
	if (last->lock != p->lock || !tries_is_end(t, w, known))
		return NULL;
	amid = is_amid_row(t, p, w);
	*known = *known && amid == NO;
	return amid != YES ? w : NULL;
}

/*
 * Nobody was woken between the end of this try, by its timer, and that of its row: its thread got
 * the lock without another sleep, or gave up. Whoever had the lock, and ran in that time, is why it
 * slept.
 */
static void assume_release(struct tries *t, struct try *p)
{
	const struct wait *w = tries_wait(t, p), *then;
	uint64_t over_ns = tries_wait(t, &t->at[p->last])->in_ns;
	uint32_t holders[HELD_LOCKS_MAX];
	uint32_t n = held_locks_last(t->held, p->lock, w->out_ns, over_ns, holders);

	/* What is not known of another thread may say who has the lock. */
	p->holder_not_known = was_perhaps_other(t, w->out_ns, over_ns);
	if (p->holder_not_known)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(t->timelines, holders[i]);
		struct last_ran ran = thread_last_ran(th, w->wake_ns, over_ns);
		enum answer in_row = ran.ran ? tries_in_row(t, holders[i], ran.at_ns) : NO;

		if (holders[i] == p->thread)
			continue;
		p->holder_not_known = !ran.known || in_row == PERHAPS;
		if (p->holder_not_known)
			return;
		/* Between two tries it has no lock: it waits, too. */
		if (!ran.ran || in_row)
			continue;
		then = ran.then;
		if (then && (then->kind != WAIT_SLEEP || t->lock_of[then->stack] != p->lock))
			then = NULL;
		p->assumed = timelines_assume(t->timelines, w, holders[i], then ? then->stack : 0,
					      ran.at_ns);
		return;
	}
}

/* Finds the ends of all rows, and which long sleeps are tries. */
static void find_lasts(struct tries *t)
{
	/* By lock: the earliest timed try so far, from behind, and its own last_timed. */
	size_t *next = xcalloc((size_t)t->n_locks + 1, sizeof(*next));

	tries_find_told(t);
	for (size_t i = t->n; i-- > 0;) {
		struct try *p = &t->at[i];

		if (!p->timed)
			continue;
		p->last_timed = next[p->lock] && t->at[next[p->lock]].last == p->last
					? t->at[next[p->lock]].last_timed
					: i;
		next[p->lock] = i;
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct try *before = t->at[i].follows ? &t->at[i - 1] : NULL;
		bool unsure = before && before->not_known;

		before = unsure || (before && before->more) ? before : NULL;
		t->at[i].in_row = (t->at[i].timed && !t->at[i].perhaps) ||
				  (before && !unsure && before->in_row);
		t->at[i].perhaps_in_row =
			t->at[i].after_unknown || t->at[i].perhaps ||
			(before && (before->perhaps_in_row || (unsure && before->in_row)));
	}
	free(next);
}

/* Sets what explains each try, or that nobody knows. */
static void explain_tries(struct tries *t)
{
	find_lasts(t);
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].timed && t->at[i].last_timed == i && !tries_of_file(t, t->at[i].lock))
			assume_release(t, &t->at[i]);
	explain_polls(t);
	for (size_t i = 0; i < t->n; i++) {
		struct try *p = &t->at[i];
		const struct try *last = &t->at[p->last], *timed = &t->at[p->last_timed];
		bool known;
		const struct wait *until;

		if (tries_of_file(t, p->lock))
			continue;
		until = p->timed ? released(t, p, &known) : NULL;

		p->unexplained =
			p->perhaps || (until ? !known : last->not_known) ||
			was_perhaps_other(t, tries_wait(t, p)->wake_ns,
					  until ? until->wake_ns : tries_wait(t, last)->in_ns);
		if (p->timed && !until) {
			p->unexplained |= timed->holder_not_known || timed->perhaps;
			until = timed->assumed;
		}
		p->until = p->unexplained ? NULL : until;
	}
}

static void join(struct tries *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct try *p = &t->at[i];

		if (p->until)
			timelines_go_on(t->timelines, p->thread, p->sleep, p->until);
		else if (p->timed && p->unexplained)
			timelines_forget_waker(t->timelines, p->thread, p->sleep);
	}
	part_sleeps(t);
	timelines_sort_later(t->timelines);
}

void retried_waits_join(struct timelines *tl)
{
	struct tries t = { .timelines = tl };

	kernel_stacks_new(&t.kernel, timelines_trace(tl));
	tries_find(&t);
	if (t.n) {
		find_ends(&t);
		held_locks_new(&t.held, tl, t.lock_of, t.n_locks, t.tried, is_known_end, &t);
		explain_tries(&t);
		join(&t);
	}
	free(t.lock_of);
	free(t.of_file);
	free(t.tried);
	free(t.at_lock);
	free(t.at);
	free(t.first);
	free(t.ended);
	free(t.lossy_until);
	free(t.heard_ns);
	held_locks_free(t.held);
	kernel_stacks_free(t.kernel);
}
