// SPDX-License-Identifier: GPL-2.0-or-later
#include "unknown_times.h"

#include <stdlib.h>

#include "base/compare.h"
#include "common/lower_bound.h"
#include "common/xalloc.h"

#define NO_THREAD UINT32_MAX

/* How long the unknown time of a thread lasts at most. */
struct lasts {
	uint32_t thread;
	uint64_t to_ns;
};

struct unknown_time {
	uint32_t tgid; /* 0: not known */
	uint64_t from_ns;
	/*
	 * Of those of the process that do not begin later: those of two threads that end last; at
	 * first this one alone.
	 */
	struct lasts last[2];
};

struct unknown_times {
	const struct timelines *tl;
	size_t n;
	struct unknown_time at[]; /* by process, then time */
};

static int by_process_and_time(const void *pa, const void *pb)
{
	const struct unknown_time *a = pa, *b = pb;

	if (a->tgid != b->tgid)
		return compare_numbers(a->tgid, b->tgid);
	if (a->from_ns != b->from_ns)
		return compare_numbers(a->from_ns, b->from_ns);
	return compare_numbers(a->last[0].thread, b->last[0].thread);
}

/* Counts what is unknown of a thread that is hidden at times, and puts it at `at`, or nowhere. */
static size_t of_thread(const struct timelines *tl, uint32_t thread, struct unknown_time *at)
{
	const struct thread *th = timelines_thread(tl, thread);
	bool hidden = false;
	size_t n = 0;

	for (uint32_t i = 0; i < th->n_waits && !hidden; i++)
		hidden = wait_ran_on(&th->waits[i]);
	if (!hidden)
		return 0;
	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];

		if (w->kind != WAIT_UNKNOWN)
			continue;
		if (at)
			at[n] = (struct unknown_time) {
				th->tgid, w->out_ns, { { thread, w->in_ns }, { NO_THREAD, 0 } }
			};
		n++;
	}
	return n;
}

/* Of threads' ends, a thread's own counts once. */
static void add(struct lasts last[2], struct lasts more)
{
	struct lasts first = last[0];

	if (more.thread == NO_THREAD)
		return;
	if (more.thread == first.thread) {
		if (more.to_ns > first.to_ns)
			last[0] = more;
	} else if (more.to_ns > first.to_ns) {
		last[0] = more;
		last[1] = first;
	} else if (more.to_ns > last[1].to_ns) {
		last[1] = more;
	}
}

struct unknown_times *unknown_times_new(const struct timelines *tl)
{
	struct unknown_times *u;
	size_t n = 0;

	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		n += of_thread(tl, i, NULL);
	u = xmalloc(sizeof(*u) + n * sizeof(*u->at));
	*u = (struct unknown_times) { .tl = tl };
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		u->n += of_thread(tl, i, &u->at[u->n]);
	if (n)
		qsort(u->at, n, sizeof(*u->at), by_process_and_time);
	for (size_t i = 1; i < n; i++) {
		if (u->at[i].tgid != u->at[i - 1].tgid)
			continue;
		for (int k = 0; k < 2; k++)
			add(u->at[i].last, u->at[i - 1].last[k]);
	}
	return u;
}

void unknown_times_free(struct unknown_times *u)
{
	free(u);
}

static bool of_process(const struct unknown_times *u, uint32_t tgid, uint32_t thread,
		       uint64_t from_ns, uint64_t to_ns)
{
	size_t i = LOWER_BOUND(k, u->n,
			       u->at[k].tgid < tgid ||
				       (u->at[k].tgid == tgid && u->at[k].from_ns <= to_ns));
	const struct lasts *last = i && u->at[i - 1].tgid == tgid ? u->at[i - 1].last : NULL;

	return last && last[last[0].thread == thread].to_ns >= from_ns;
}

bool unknown_times_of_others(const struct unknown_times *u, uint32_t thread, uint64_t from_ns,
			     uint64_t to_ns)
{
	uint32_t tgid = timelines_thread(u->tl, thread)->tgid;

	return !tgid || of_process(u, tgid, thread, from_ns, to_ns);
}
