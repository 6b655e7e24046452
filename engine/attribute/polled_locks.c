// SPDX-License-Identifier: GPL-2.0-or-later
#include "polled_locks.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "words/lock_holder.h"

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

void polled_locks_explain(struct tries *t)
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

void polled_locks_part(struct tries *t)
{
	struct sleep_part *parts = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct try *p = &t->at[i];

		if (!p->let_go_ns)
			continue;
		XGROW(parts, n, cap);
		parts[n++] = (struct sleep_part) { p->thread, p->sleep, p->holder, p->let_go_ns };
	}
	if (n)
		timelines_part(t->timelines, parts, n);
	free(parts);
}
