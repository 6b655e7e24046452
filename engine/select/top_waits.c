// SPDX-License-Identifier: GPL-2.0-or-later
#include "top_waits.h"

#include <stdlib.h>

#include "base/compare.h"
#include "common/xalloc.h"

/* The longest waits so far, as a heap: at[0] is the shortest of them. */
struct longest {
	struct chosen_wait *at;
	size_t n, cap, top;
};

uint64_t chosen_wait_ns(const struct chosen_wait *p)
{
	return p->shown.blocked_to_ns - p->shown.blocked_from_ns + p->shown.off_to_ns -
	       p->shown.off_from_ns;
}

int longest_wait_first(const void *pa, const void *pb)
{
	const struct chosen_wait *a = pa, *b = pb;
	uint64_t la = chosen_wait_ns(a), lb = chosen_wait_ns(b);

	if (la != lb)
		return compare_numbers(lb, la);
	if (a->wait->out_ns != b->wait->out_ns)
		return compare_numbers(a->wait->out_ns, b->wait->out_ns);
	return compare_numbers(a->thread, b->thread);
}

static void swap(struct longest *l, size_t i, size_t k)
{
	struct chosen_wait p = l->at[i];

	l->at[i] = l->at[k];
	l->at[k] = p;
}

static void sift_up(struct longest *l, size_t i)
{
	for (; i && longest_wait_first(&l->at[i], &l->at[(i - 1) / 2]) > 0; i = (i - 1) / 2)
		swap(l, i, (i - 1) / 2);
}

static void sift_down(struct longest *l)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < l->n) {
		if (child + 1 < l->n && longest_wait_first(&l->at[child + 1], &l->at[child]) > 0)
			child++;
		if (longest_wait_first(&l->at[child], &l->at[i]) <= 0)
			break;
		swap(l, i, child);
		i = child;
	}
}

static bool keep_if_longer(void *arg, const struct chosen_wait *wait)
{
	struct longest *l = arg;

	if (l->n == l->top) {
		if (longest_wait_first(wait, &l->at[0]) < 0) {
			l->at[0] = *wait;
			sift_down(l);
		}
		return true;
	}
	XGROW(l->at, l->n, l->cap);
	l->at[l->n] = *wait;
	sift_up(l, l->n++);
	return true;
}

/* As top_waits_of_thread(), false: visit ended it; marked: see top_waits_walk_marked(). */
static bool walk_thread(const struct timelines *tl, struct wait_filter *f, uint32_t thread,
			const uint8_t *marked,
			bool (*visit)(void *arg, const struct chosen_wait *p), void *arg)
{
	const struct thread *th = timelines_thread(tl, thread);

	for (uint32_t k = 0; wait_filter_thread(f, thread) && k < th->n_waits; k++) {
		const struct wait *w = &th->waits[k];
		struct chosen_wait p = { .wait = w, .thread = thread };

		if (marked && (w->kind != WAIT_SLEEP || !marked[w->stack]))
			continue;
		if (wait_filter_wait(f, thread, w, &p.shown) && !visit(arg, &p))
			return false;
	}
	return true;
}

void top_waits_of_thread(const struct timelines *tl, struct wait_filter *f, uint32_t thread,
			 bool (*visit)(void *arg, const struct chosen_wait *p), void *arg)
{
	walk_thread(tl, f, thread, NULL, visit, arg);
}

void top_waits_walk_marked(const struct timelines *tl, struct wait_filter *f, const uint8_t *marked,
			   bool (*visit)(void *arg, const struct chosen_wait *p), void *arg)
{
	uint32_t first, end;

	timelines_range(tl, wait_filter_of_requests(f), &first, &end);
	for (uint32_t i = first; i < end; i++)
		if (!walk_thread(tl, f, i, marked, visit, arg))
			break;
}

void top_waits_walk(const struct timelines *tl, struct wait_filter *s, uint64_t top,
		    bool (*visit)(void *arg, const struct chosen_wait *p), void *arg)
{
	struct longest l = { .top = (size_t)top };

	top_waits_walk_marked(tl, s, NULL, top ? keep_if_longer : visit, top ? &l : arg);
	if (l.n)
		qsort(l.at, l.n, sizeof(*l.at), longest_wait_first);
	for (size_t i = 0; i < l.n && visit(arg, &l.at[i]); i++)
		;
	free(l.at);
}
