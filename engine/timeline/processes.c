// SPDX-License-Identifier: GPL-2.0-or-later
#include "processes.h"
#include "common/xalloc.h"

#include <stdlib.h>

struct processes {
	const struct timelines *timelines;
	uint32_t *leader; /* by thread */
};

/*
 * Threads are numbered in the order in which they were first seen. A thread takes the last leader
 * before it, or the next one if there is none (a second call, backwards).
 */
static void find_leaders(struct processes *p, bool backwards, struct pair_table *last)
{
	uint32_t n = timelines_threads(p->timelines);

	pair_table_clear(last, sizeof(uint32_t));
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = backwards ? n - 1 - k : k;
		const struct thread *th = timelines_thread(p->timelines, i);
		uint32_t *leader =
			th->tgid ? pair_table_at(last, th->tgid, 0, sizeof(*leader)) : NULL;

		if (!th->tgid)
			continue;
		if (th->tid == th->tgid)
			*leader = i + 1;
		if (p->leader[i] == THREAD_NONE && *leader)
			p->leader[i] = *leader - 1;
	}
}

void processes_new(struct processes **out, const struct timelines *tl)
{
	struct processes *p = xcalloc(1, sizeof(*p));
	uint32_t n = timelines_clients_end(tl);
	struct pair_table last = { .cap = 0 };

	*out = NULL;
	p->timelines = tl;
	p->leader = xmalloc(((size_t)n + 1) * sizeof(*p->leader));
	for (uint32_t i = 0; i < n; i++)
		p->leader[i] = THREAD_NONE;
	find_leaders(p, false, &last);
	find_leaders(p, true, &last);
	pair_table_free(&last);
	for (uint32_t i = timelines_threads(tl); i < n; i++)
		if (timelines_thread(tl, i)->parent != THREAD_NONE)
			p->leader[i] = p->leader[timelines_thread(tl, i)->parent];
	*out = p;
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
