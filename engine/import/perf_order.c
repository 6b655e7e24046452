// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_order.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "common/lower_bound.h"

void perf_order_put(struct perf_order *o, const struct perf_queued *record)
{
	XAPPEND(o->queued, o->n, o->cap) = *record;
	if (o->last_ns < record->time_ns)
		o->last_ns = record->time_ns;
}

/* The end of the run in order that begins at i. */
static size_t run_end(const struct perf_queued *q, size_t i, size_t n)
{
	for (i++; i < n && q[i - 1].time_ns <= q[i].time_ns; i++)
		;
	return i;
}

/* Merges [a, b) and [b, end) of from into to; with equal times the first ones come first. */
static void merge(const struct perf_queued *from, size_t a, size_t b, size_t end,
		  struct perf_queued *to)
{
	for (size_t i = a, k = b, at = a; at < end; at++)
		to[at] = k == end || (i < b && from[i].time_ns <= from[k].time_ns) ? from[i++]
										   : from[k++];
}

/*
 * Sorts by merging the runs that are there: each CPU's records are in order. One pass over all
 * halves their number.
 */
static void sort(struct perf_order *o)
{
	while (run_end(o->queued, 0, o->n) < o->n) {
		struct perf_queued *from = o->queued;

		for (size_t a = 0, b, end; a < o->n; a = end) {
			b = run_end(from, a, o->n);
			end = b < o->n ? run_end(from, b, o->n) : b;
			merge(from, a, b, end, o->sorted);
		}
		o->queued = o->sorted;
		o->sorted = from;
	}
}

void perf_order_round(struct perf_order *o, bool all)
{
	if (!o->n)
		return;
	o->sorted = xreallocarray(o->sorted, o->cap, sizeof(*o->sorted));
	sort(o);
	o->next = 0;
	o->n_due = all ? o->n : LOWER_BOUND(i, o->n, o->queued[i].time_ns <= o->round_ns);
	o->round_ns = o->last_ns;
}

const struct perf_queued *perf_order_next(struct perf_order *o)
{
	if (o->next < o->n_due)
		return &o->queued[o->next++];
	if (o->n_due) {
		o->n -= o->n_due;
		memmove(o->queued, o->queued + o->n_due, o->n * sizeof(*o->queued));
		o->next = o->n_due = 0;
	}
	return NULL;
}

void perf_order_free(struct perf_order *o)
{
	free(o->queued);
	free(o->sorted);
}
