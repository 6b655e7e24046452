// SPDX-License-Identifier: GPL-2.0-or-later
#include "held_locks.h"

#include <stdlib.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "common/lower_bound.h"
#include "words/lock_holder.h"

/* What a sleep at a lock says: when it begins, and when it is over. */
struct told {
	uint64_t at_ns, begin_ns; /* begin_ns: of the sleeper's life */
	uint32_t lock, tid, holder;
	bool woken;
};

struct held_locks {
	struct told *at; /* by lock, then time */
	size_t n, cap;
};

static int by_lock_and_time(const void *pa, const void *pb)
{
	const struct told *a = pa, *b = pb;

	if (a->lock != b->lock)
		return compare_numbers(a->lock, b->lock);
	if (a->at_ns != b->at_ns)
		return compare_numbers(a->at_ns, b->at_ns);
	if (a->tid != b->tid)
		return compare_numbers(a->tid, b->tid);
	return a->begin_ns != b->begin_ns ? compare_numbers(a->begin_ns, b->begin_ns)
					  : a->woken - b->woken;
}

/* The sleep of the thread that began then; NULL: there is none. */
static const struct wait *sleep_at(const struct thread *th, uint64_t out_ns)
{
	size_t i = LOWER_BOUND(k, th->n_waits, th->waits[k].out_ns < out_ns);

	return i < th->n_waits && th->waits[i].out_ns == out_ns && th->waits[i].kind == WAIT_SLEEP
		       ? &th->waits[i]
		       : NULL;
}

static void add(struct held_locks *h, struct told told)
{
	XAPPEND(h->at, h->n, h->cap) = told;
}

void held_locks_new(struct held_locks **out, const struct timelines *tl, const uint32_t *lock_of,
		    uint32_t n_locks, const bool *wanted,
		    bool (*is_end)(const void *arg, const struct wait *w), const void *arg)
{
	const struct lock_holders *all = &tl->lock_holders;
	struct held_locks *h = xcalloc(1, sizeof(*h));

	*out = h;
	for (size_t i = 0; i < all->n; i++) {
		const struct thread *th = timelines_thread(tl, all->at[i].thread);
		const struct wait *w = sleep_at(th, all->at[i].out_ns);
		uint32_t lock = w ? lock_of[w->stack] : 0;
		struct told told = { .lock = lock, .begin_ns = th->begin_ns, .tid = th->tid };

		if (!lock || lock > n_locks || !wanted[lock])
			continue;
		told.holder = lock_word_holder(tl, all->at[i].thread, w);
		if (told.holder == THREAD_NONE)
			continue;
		told.at_ns = w->out_ns;
		add(h, told);
		if (!is_end(arg, w))
			continue;
		told.at_ns = w->wake_ns;
		told.holder = all->at[i].thread;
		told.woken = true;
		add(h, told);
	}
	if (h->n)
		qsort(h->at, h->n, sizeof(*h->at), by_lock_and_time);
}

void held_locks_free(struct held_locks *h)
{
	if (h)
		free(h->at);
	free(h);
}

uint32_t held_locks_last(const struct held_locks *h, uint32_t lock, uint64_t from_ns,
			 uint64_t to_ns, uint32_t holders[HELD_LOCKS_MAX])
{
	size_t i = LOWER_BOUND(k, h->n,
			       h->at[k].lock < lock ||
				       (h->at[k].lock == lock && h->at[k].at_ns <= to_ns));
	uint32_t n = 0;

	while (n < HELD_LOCKS_MAX && i-- > 0 && h->at[i].lock == lock && h->at[i].at_ns >= from_ns)
		holders[n++] = h->at[i].holder;
	return n;
}

struct last_ran thread_last_ran(const struct thread *th, uint64_t from_ns, uint64_t to_ns)
{
	struct last_ran r = { .known = true, .at_ns = to_ns < th->end_ns ? to_ns : th->end_ns };
	size_t i = LOWER_BOUND(k, th->n_waits, th->waits[k].out_ns <= r.at_ns), end = i;

	while (end-- > 0 && th->waits[end].in_ns > from_ns)
		r.known &= th->waits[end].kind != WAIT_UNKNOWN;
	/* Intervals may follow each other with no time between them. */
	for (; r.at_ns > from_ns; i--) {
		r.ran = (i ? th->waits[i - 1].in_ns : th->begin_ns) < r.at_ns;
		if (r.ran || !i)
			break;
		r.then = &th->waits[i - 1];
		r.at_ns = r.then->out_ns;
	}
	return r;
}
