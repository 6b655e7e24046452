// SPDX-License-Identifier: GPL-2.0-or-later
#include "processes.h"

#include <errno.h>
#include <stdlib.h>

struct processes {
	const struct timelines *timelines;
	uint32_t *leader; /* by thread */
};

/*
 * Threads are numbered in the order in which they were first seen. A thread takes the last leader
 * before it, or the next one if there is none (a second call, backwards).
 */
static void find_leaders(struct processes *p, bool backwards, uint32_t *last, uint32_t tids_end)
{
	uint32_t n = timelines_threads(p->timelines);

	for (uint32_t i = 0; i < tids_end; i++)
		last[i] = THREAD_NONE;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = backwards ? n - 1 - k : k;
		const struct thread *th = timelines_thread(p->timelines, i);

		if (!th->tgid || th->tgid >= tids_end)
			continue;
		if (th->tid == th->tgid)
			last[th->tgid] = i;
		if (p->leader[i] == THREAD_NONE)
			p->leader[i] = last[th->tgid];
	}
}

int processes_new(struct processes **out, const struct timelines *tl)
{
	struct processes *p = calloc(1, sizeof(*p));
	uint32_t tids_end = trace_info(timelines_trace(tl))->tids_end;
	uint32_t n = timelines_clients_end(tl), *last;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->timelines = tl;
	p->leader = malloc(((size_t)n + 1) * sizeof(*p->leader));
	last = malloc((size_t)tids_end * sizeof(*last));
	if (!p->leader || !last) {
		free(last);
		processes_free(p);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		p->leader[i] = THREAD_NONE;
	find_leaders(p, false, last, tids_end);
	find_leaders(p, true, last, tids_end);
	for (uint32_t i = timelines_threads(tl); i < n; i++)
		if (timelines_thread(tl, i)->parent != THREAD_NONE)
			p->leader[i] = p->leader[timelines_thread(tl, i)->parent];
	free(last);
	*out = p;
	return 0;
}

void processes_free(struct processes *p)
{
	if (!p)
		return;
	free(p->leader);
	free(p);
}

uint32_t process_leader(const struct processes *p, uint32_t thread)
{
	return p->leader[thread];
}

uint32_t process_name(const struct processes *p, uint32_t thread)
{
	uint32_t leader = p->leader[thread];

	if (leader == THREAD_NONE)
		return 0;
	return timelines_nth_name(p->timelines, leader,
				  timelines_thread(p->timelines, leader)->renames);
}
