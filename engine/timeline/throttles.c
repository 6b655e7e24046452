// SPDX-License-Identifier: GPL-2.0-or-later
#include "throttles.h"

#include <stdlib.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "common/lower_bound.h"

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

void throttles_add(struct throttles *t, const struct throttle *throttle)
{
	XGROW(t->at, t->n, t->cap);
	t->at[t->n++] = *throttle;
}

void throttles_sort(struct throttles *t)
{
	if (t->n)
		qsort(t->at, t->n, sizeof(*t->at), by_thread_and_time);
	for (size_t i = 1; i < t->n; i++)
		if (t->at[i].thread == t->at[i - 1].thread && t->at[i].from_ns < t->at[i - 1].to_ns)
			t->at[i].from_ns = t->at[i - 1].to_ns;
}

void throttles_free(struct throttles *t)
{
	free(t->at);
	*t = (struct throttles) { .at = NULL };
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
