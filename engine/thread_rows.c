// SPDX-License-Identifier: GPL-2.0-or-later
#include "thread_rows.h"

#include <errno.h>
#include <stdlib.h>

static int by_running(const void *pa, const void *pb)
{
	const struct thread_row *a = pa, *b = pb;

	if (a->sums.running_ns != b->sums.running_ns)
		return a->sums.running_ns > b->sums.running_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static struct thread_row row_of(const struct timelines *tl, struct selection *s, uint32_t thread)
{
	const struct thread *th = timelines_thread(tl, thread);
	struct thread_row r = { .thread = thread };
	uint64_t from_ns, to_ns;
	struct shown shown;

	selection_window(s, &from_ns, &to_ns);
	r.sums = thread_sums(th, from_ns, to_ns);
	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		uint64_t len;

		if (w->kind != WAIT_SLEEP || !selection_wait(s, thread, w, &shown))
			continue;
		len = shown.off_to_ns - shown.blocked_from_ns;
		r.waits++;
		if (len > r.longest_ns)
			r.longest_ns = len;
	}
	return r;
}

int thread_rows_new(struct thread_row **rows, size_t *n, const struct timelines *tl,
		    struct selection *s)
{
	uint32_t n_threads = timelines_threads(tl);

	*n = 0;
	*rows = malloc(((size_t)n_threads + 1) * sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_threads; i++)
		if (selection_thread(s, timelines_thread(tl, i)) && selection_name(s, i))
			(*rows)[(*n)++] = row_of(tl, s, i);
	if (*n)
		qsort(*rows, *n, sizeof(**rows), by_running);
	return 0;
}

void thread_row_add(struct thread_row *total, const struct thread_row *r)
{
	total->sums.running_ns += r->sums.running_ns;
	total->sums.blocked_ns += r->sums.blocked_ns;
	total->sums.runnable_ns += r->sums.runnable_ns;
	total->sums.preempted_ns += r->sums.preempted_ns;
	total->sums.unknown_ns += r->sums.unknown_ns;
	total->sums.lifetime_ns += r->sums.lifetime_ns;
	total->waits += r->waits;
	if (total->longest_ns < r->longest_ns)
		total->longest_ns = r->longest_ns;
}
