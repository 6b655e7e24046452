// SPDX-License-Identifier: GPL-2.0-or-later
#include "picks.h"

#include <errno.h>
#include <stdlib.h>

#include "grow.h"

/* The longest picks so far, as a heap: at[0] is the one that goes first when a longer one comes. */
struct longest {
	struct pick *at;
	size_t n, cap, top;
};

uint64_t pick_ns(const struct pick *p)
{
	return p->shown.blocked_to_ns - p->shown.blocked_from_ns + p->shown.off_to_ns -
	       p->shown.off_from_ns;
}

int pick_longest_first(const void *pa, const void *pb)
{
	const struct pick *a = pa, *b = pb;
	uint64_t la = pick_ns(a), lb = pick_ns(b);

	if (la != lb)
		return la > lb ? -1 : 1;
	if (a->wait->out_ns != b->wait->out_ns)
		return a->wait->out_ns < b->wait->out_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static void swap(struct longest *l, size_t i, size_t k)
{
	struct pick p = l->at[i];

	l->at[i] = l->at[k];
	l->at[k] = p;
}

static void sift_up(struct longest *l, size_t i)
{
	for (; i && pick_longest_first(&l->at[i], &l->at[(i - 1) / 2]) > 0; i = (i - 1) / 2)
		swap(l, i, (i - 1) / 2);
}

static void sift_down(struct longest *l)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < l->n) {
		if (child + 1 < l->n && pick_longest_first(&l->at[child + 1], &l->at[child]) > 0)
			child++;
		if (pick_longest_first(&l->at[child], &l->at[i]) <= 0)
			break;
		swap(l, i, child);
		i = child;
	}
}

static int keep_if_longer(void *arg, const struct pick *pick)
{
	struct longest *l = arg;
	struct pick *p;

	if (l->n == l->top) {
		if (pick_longest_first(pick, &l->at[0]) < 0) {
			l->at[0] = *pick;
			sift_down(l);
		}
		return 0;
	}
	p = grow_array(l->at, l->n, &l->cap, sizeof(*p));
	if (!p)
		return -ENOMEM;
	l->at = p;
	p[l->n] = *pick;
	sift_up(l, l->n++);
	return 0;
}

static int walk_all(const struct timelines *tl, struct selection *s,
		    int (*visit)(void *arg, const struct pick *p), void *arg)
{
	int err = 0;

	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; selection_thread(s, th) && k < th->n_waits && !err; k++) {
			struct pick p = { .wait = &th->waits[k], .thread = i };

			if (selection_wait(s, i, &th->waits[k], &p.shown))
				err = visit(arg, &p);
		}
	}
	return err;
}

int picks_walk(const struct timelines *tl, struct selection *s, uint64_t top,
	       int (*visit)(void *arg, const struct pick *p), void *arg)
{
	struct longest l = { .top = (size_t)top };
	int err;

	if (!top)
		return walk_all(tl, s, visit, arg);
	err = walk_all(tl, s, keep_if_longer, &l);
	if (l.n)
		qsort(l.at, l.n, sizeof(*l.at), pick_longest_first);
	for (size_t i = 0; i < l.n && !err; i++)
		err = visit(arg, &l.at[i]);
	free(l.at);
	return err;
}
