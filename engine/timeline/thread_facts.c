// SPDX-License-Identifier: GPL-2.0-or-later
#include "thread_facts.h"

#include <stdlib.h>

#include "base/compare.h"
#include "common/lower_bound.h"
#include "common/xalloc.h"

/* A counting sort: samples of one thread keep their order. */
void samples_sort(struct samples *s, uint32_t n_threads)
{
	struct sample *sorted;

	if (!s->n)
		return;
	s->first = xcalloc((size_t)n_threads + 2, sizeof(*s->first));
	sorted = xmalloc(s->n * sizeof(*sorted));
	/* first[i + 1] becomes where thread i begins, then where it ends. */
	for (size_t i = 0; i < s->n; i++)
		s->first[s->at[i].thread + 2]++;
	for (uint32_t i = 0; i < n_threads; i++)
		s->first[i + 2] += s->first[i + 1];
	for (size_t i = 0; i < s->n; i++)
		sorted[s->first[s->at[i].thread + 1]++] = s->at[i];
	free(s->at);
	s->at = sorted;
}

const struct sample *sample_at(const struct sample *from, const struct sample *end, uint64_t ns)
{
	size_t n = (size_t)(end - from);

	return from + LOWER_BOUND(i, n, from[i].ns < ns);
}

static int by_sleeper(const void *pa, const void *pb)
{
	const struct lock_holder *a = pa, *b = pb;
	int c = compare_numbers(a->thread, b->thread);

	return c ? c : compare_numbers(a->out_ns, b->out_ns);
}

void lock_holders_sort(struct lock_holders *l)
{
	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), by_sleeper);
}

const struct lock_holder *lock_holders_find(const struct lock_holders *l, uint32_t thread,
					    uint64_t out_ns)
{
	struct lock_holder key = { .out_ns = out_ns, .thread = thread };

	return l->n ? bsearch(&key, l->at, l->n, sizeof(key), by_sleeper) : NULL;
}

static int by_thread_and_time(const void *pa, const void *pb)
{
	const struct throttle *a = pa, *b = pb;

	if (a->thread != b->thread)
		return compare_numbers(a->thread, b->thread);
	if (a->to_ns != b->to_ns)
		return compare_numbers(a->to_ns, b->to_ns);
	if (a->from_ns != b->from_ns)
		return compare_numbers(a->from_ns, b->from_ns);
	return a->why != b->why ? compare_numbers(a->why, b->why)
				: compare_numbers(a->group, b->group);
}

void throttles_sort(struct throttles *t)
{
	if (t->n)
		qsort(t->at, t->n, sizeof(*t->at), by_thread_and_time);
	for (size_t i = 1; i < t->n; i++)
		if (t->at[i].thread == t->at[i - 1].thread && t->at[i].from_ns < t->at[i - 1].to_ns)
			t->at[i].from_ns = t->at[i - 1].to_ns;
}

const struct throttle *throttles_of(const struct throttles *t, uint32_t thread, uint64_t ready_ns,
				    uint64_t in_ns, size_t *n)
{
	size_t first = LOWER_BOUND(i, t->n,
				   t->at[i].thread < thread || (t->at[i].thread == thread &&
								t->at[i].to_ns <= ready_ns));
	size_t end = first;

	while (end < t->n && t->at[end].thread == thread && t->at[end].to_ns <= in_ns)
		end++;
	*n = end - first;
	return *n ? &t->at[first] : NULL;
}
