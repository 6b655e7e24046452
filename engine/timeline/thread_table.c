// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "common/xalloc.h"
#include "timeline_private.h"

static uint32_t *page_of(struct builder *b, uint32_t tid)
{
	uint32_t **page = &b->tid_pages[tid / TID_PAGE];

	if (!*page) {
		*page = xmalloc(TID_PAGE * sizeof(**page));
		for (uint32_t i = 0; i < TID_PAGE; i++)
			(*page)[i] = THREAD_NONE;
	}
	return *page;
}

/* Where the tid's thread is kept. */
static uint32_t *current_of(struct builder *b, uint32_t tid)
{
	uint32_t id;
	int is_new;

	if (tid < TID_PAGED)
		return &page_of(b, tid)[tid % TID_PAGE];
	id = pairs_id_new(&b->tids, tid, 0, &is_new);
	XGROW(b->current, id, b->cap_current);
	if (is_new)
		b->current[id] = THREAD_NONE;
	return &b->current[id];
}

uint32_t table_find_beyond(const struct builder *b, uint32_t tid)
{
	uint32_t id = pairs_find(&b->tids, tid, 0);

	return id ? b->current[id] : THREAD_NONE;
}

/* Copies the snapshot's data of a thread. */
static void describe(struct builder *b, uint32_t thread, size_t place)
{
	size_t n;
	const struct trace_thread *s = &trace_threads(b->tl->trace, &n)[place];
	struct thread *th = &b->tl->threads[thread];

	b->live[thread].snapshot = (uint32_t)place + 1;
	th->tgid = s->tgid;
	th->own_id = s->own_id;
	th->name = s->name;
	if (s->group)
		groups_thread(&b->tl->groups, b->tl->trace, thread, th->begin_ns, s->group);
	if (s->flags & CHAINLOG_THREAD_KTHREAD)
		th->flags |= THREAD_KTHREAD;
}

uint32_t table_birth(struct builder *b, uint32_t tid, uint64_t begin_ns)
{
	struct timelines *tl = b->tl;
	uint32_t *slot = current_of(b, tid);
	uint32_t recorder = trace_info(tl->trace)->recorder_tgid;
	size_t n, i = tl->n_threads;
	uint32_t late;

	if (i >= THREADS_MAX)
		out_of_memory();
	XGROW(tl->threads, i, b->cap_threads);
	XGROW(b->live, i, b->cap_live);
	tl->threads[i] =
		(struct thread) { .tid = tid, .parent = THREAD_NONE, .begin_ns = begin_ns };
	b->live[i] = (struct live) {
		.state = LIVE_UNKNOWN,
		.fresh = true,
		.losses = (uint32_t)b->n_losses,
		.since_ns = begin_ns,
		.last_ns = begin_ns,
	};
	tl->n_threads = i + 1;
	*slot = (uint32_t)i;

	/* The snapshot has it if it was born before the snapshot listed it. */
	late = pairs_find(&b->late, tid, 0);
	if (late && trace_threads(tl->trace, &n)[b->late_place[late]].start_ns <= begin_ns)
		describe(b, (uint32_t)i, b->late_place[late]);
	if (recorder && (tid == recorder || tl->threads[i].tgid == recorder))
		tl->threads[i].flags |= THREAD_RECORDER;
	if (tl->threads[i].flags & THREAD_RECORDER && !tl->threads[i].name)
		tl->threads[i].name = trace_info(tl->trace)->recorder_name;
	return (uint32_t)i;
}

uint32_t table_get(struct builder *b, uint32_t tid, uint64_t now_ns)
{
	uint32_t i = table_find(b, tid);

	if (i == THREAD_NONE)
		return table_birth(b, tid, b->tl->start_ns);
	if (b->live[i].state == LIVE_DEAD)
		return table_birth(b, tid, now_ns); /* its fork was not recorded */
	return i;
}

void table_retid(struct builder *b, uint32_t thread, uint32_t tid)
{
	uint32_t *slot = current_of(b, b->tl->threads[thread].tid);

	if (*slot == thread)
		*slot = THREAD_NONE;
	slot = current_of(b, tid);
	*slot = thread;
	b->tl->threads[thread].tid = tid;
}

void table_rename(struct builder *b, uint32_t thread, uint32_t name, uint64_t now_ns)
{
	struct timelines *tl = b->tl;

	XAPPEND(tl->renames, tl->n_renames, b->cap_renames) =
		(struct rename) { now_ns, thread, name };
	tl->threads[thread].renames++;
}

/* Keeps a snapshot entry of a thread born after the trace's start until an event of its birth. */
static void note_late(struct builder *b, uint32_t tid, uint32_t place)
{
	uint32_t id = pairs_id(&b->late, tid, 0);

	XGROW(b->late_place, id, b->cap_late);
	b->late_place[id] = place;
}

void table_snapshot(struct builder *b)
{
	struct timelines *tl = b->tl;
	size_t n;
	const struct trace_thread *s = trace_threads(tl->trace, &n);

	for (size_t k = 0; k < n; k++) {
		struct live *l;
		uint32_t i;

		if (!s[k].tid || s[k].state == 'X' || s[k].state == 'Z' ||
		    table_find(b, s[k].tid) != THREAD_NONE)
			continue;
		if (s[k].start_ns > tl->start_ns) {
			note_late(b, s[k].tid, (uint32_t)k);
			continue;
		}
		i = table_birth(b, s[k].tid, tl->start_ns);
		if (i == THREAD_NONE)
			return;
		describe(b, i, k);
		if (trace_info(tl->trace)->recorder_tgid == s[k].tgid && s[k].tgid)
			tl->threads[i].flags |= THREAD_RECORDER;
		l = &b->live[i];
		if (tl->threads[i].flags & THREAD_RECORDER)
			continue;
		if (s[k].flags & CHAINLOG_THREAD_RUNNING) {
			l->state = LIVE_RUNNING;
			l->cpu = LIVE_NO_CPU;
		} else if (s[k].state != 'R') {
			l->state = LIVE_ASLEEP;
			l->assumed = true;
			l->open = (struct wait) {
				.out_ns = tl->start_ns,
				.stack = trace_cursor_thread_pair(b->cursor, k),
				.waker = THREAD_NONE,
				.kind = WAIT_SLEEP,
				.flags = WAIT_SINCE_START,
				.state = (unsigned char)s[k].state & 127u,
			};
		}
	}
}

/* Threads that slept at locks then, by what the locks said. */
void table_snapshot_holders(struct builder *b)
{
	size_t n;
	const struct trace_holder *h = trace_holders(b->tl->trace, &n);

	for (size_t k = 0; k < n; k++) {
		uint32_t i = table_find(b, h[k].tid);

		if (i != THREAD_NONE)
			state_held(b, i, b->tl->start_ns, table_find(b, h[k].holder));
	}
}

void table_finish(struct builder *b)
{
	struct timelines *tl = b->tl;
	struct rename *sorted = xmalloc((tl->n_renames + 1) * sizeof(*sorted));
	uint32_t *first = xcalloc(tl->n_threads + 1, sizeof(*first));

	/* A counting sort, which is stable in time; first[i + 1] is the next place of thread i. */
	for (size_t i = 0; i + 1 < tl->n_threads; i++)
		first[i + 1] = first[i] + tl->threads[i].renames;
	for (size_t i = 0; i < tl->n_renames; i++)
		sorted[first[tl->renames[i].thread]++] = tl->renames[i];
	for (size_t i = 0; i < tl->n_threads; i++)
		first[i] -= tl->threads[i].renames;
	free(tl->renames);
	tl->renames = sorted;
	tl->first_rename = first;
}

/* More pages than this are not worth keeping. */
#define PAGES_KEPT 64u

void table_clear(struct builder *b)
{
	size_t pages = 0;

	for (size_t i = 0; i < b->tl->n_threads; i++)
		*current_of(b, b->tl->threads[i].tid) = THREAD_NONE;
	b->tl->n_threads = 0;
	for (size_t i = 0; i < TID_PAGES; i++)
		pages += b->tid_pages[i] != NULL;
	for (size_t i = 0; i < TID_PAGES && pages > PAGES_KEPT; i++) {
		free(b->tid_pages[i]);
		b->tid_pages[i] = NULL;
	}
}

void table_free(struct builder *b)
{
	for (size_t i = 0; i < TID_PAGES; i++)
		free(b->tid_pages[i]);
	free(b->current);
	free(b->late_place);
	pairs_free(&b->tids);
	pairs_free(&b->late);
}
