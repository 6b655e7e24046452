// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several threads build slices of the trace's time. Whoever completes the one that comes next puts
 * it behind the timelines so far, and all that follow it and are complete.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/cpus.h"
#include "common/xalloc.h"
#include "slice.h"

/* Bytes: a thread's off-CPU intervals in a large trace are more. */
#define MMAP_FROM 65536
/* So many more odd slices than others: the trace is not one for slices. */
#define ODD_MAX 8

/* The first slice is none: there is nothing before it. */
struct work {
	struct builder *b; /* of who joins */
	const struct event *first;
	const uint64_t *bounds;
	size_t n;
	pthread_mutex_t lock; /* protects the rest */
	pthread_cond_t changed;
	struct slice **complete;		 /* by number; NULL: not complete, or joined */
	struct slice *unused[CPUS_USED_MAX + 1]; /* one more than threads: more take memory */
	uint32_t n_unused;
	size_t next;	/* the next one to be built */
	size_t joined;	/* so many are */
	bool is_joined; /* somebody is at it */
	int odd;	/* how many more odd slices than others */
};

static void take_one(struct work *w, size_t i)
{
	trace_cursor_window(w->b->cursor, w->bounds[i], w->bounds[i + 1]);
	build_window(w->b, trace_cursor_take(w->b->cursor));
}

/* All from the i-th slice on. */
static void take_rest(struct work *w, size_t i)
{
	struct event_stream *events;

	trace_cursor_window(w->b->cursor, w->bounds[i], w->bounds[w->n]);
	event_stream_new(&events, w->b->tl->trace, w->b->cursor);
	build_stream(w->b, events, event_stream_next(events));
	event_stream_free(events);
}

/* Returns how many slices are joined then. */
static size_t join(struct work *w, size_t i, struct slice *s)
{
	if (slice_join(s, w->b)) {
		w->odd -= w->odd > 0;
		w->b->tl->slices++;
		return i + 1;
	}
	w->odd++;
	if (slice_is_lossy(s) || w->odd == ODD_MAX) {
		take_rest(w, i);
		return w->n;
	}
	take_one(w, i);
	return trace_cursor_error(w->b->cursor) ? w->n : i + 1;
}

/* With the lock. */
static void join_complete(struct work *w)
{
	while (!w->is_joined && w->joined < w->n && w->complete[w->joined]) {
		size_t i = w->joined;
		struct slice *s = w->complete[i];

		w->is_joined = true;
		pthread_mutex_unlock(&w->lock);
		i = join(w, i, s);
		pthread_mutex_lock(&w->lock);
		w->complete[w->joined] = NULL;
		w->unused[w->n_unused++] = s;
		w->joined = i;
		w->is_joined = false;
		pthread_cond_broadcast(&w->changed);
	}
}

static void build_first(struct work *w)
{
	build_window(w->b, w->first);
	pthread_mutex_lock(&w->lock);
	w->joined = trace_cursor_error(w->b->cursor) ? w->n : 1;
	join_complete(w);
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static void *build_some(void *arg)
{
	struct work *w = arg;
	bool first;

	pthread_mutex_lock(&w->lock);
	first = !w->next;
	w->next += first;
	pthread_mutex_unlock(&w->lock);
	if (first)
		build_first(w);
	pthread_mutex_lock(&w->lock);
	for (;;) {
		struct slice *s;
		size_t i;

		while (!w->n_unused && w->joined < w->n)
			pthread_cond_wait(&w->changed, &w->lock);
		if (w->next >= w->n || w->joined == w->n)
			break;
		s = w->unused[--w->n_unused];
		i = w->next++;
		pthread_mutex_unlock(&w->lock);
		slice_build(s, w->bounds[i], w->bounds[i + 1]);
		pthread_mutex_lock(&w->lock);
		w->complete[i] = s;
		join_complete(w);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

void slices_build(struct builder *b, const struct event *first, const uint64_t *bounds, size_t n,
		  uint32_t threads)
{
	struct work w = { .b = b, .first = first, .bounds = bounds, .n = n };
	const struct trace_info *info = trace_info(b->tl->trace);
	uint64_t events = (info->events + info->aux_events) / n;
	struct slice *s;

	/* Large arrays grow by moving pages, not bytes, and are given back when they are freed. */
	mallopt(M_MMAP_THRESHOLD, MMAP_FROM);
	w.complete = xcalloc(n, sizeof(*w.complete));
	while (w.n_unused < threads + 1) {
		slice_new(&s, b, events);
		w.unused[w.n_unused++] = s;
	}
	pthread_mutex_init(&w.lock, NULL);
	pthread_cond_init(&w.changed, NULL);
	workers_run(&w, 0, threads, build_some);
	pthread_cond_destroy(&w.changed);
	pthread_mutex_destroy(&w.lock);
	for (size_t i = 0; i < n && w.complete; i++)
		slice_free(w.complete[i]);
	while (w.n_unused)
		slice_free(w.unused[--w.n_unused]);
	free(w.complete);
	/* What the threads have freed is of use to none of those that come. */
	malloc_trim(0);
}
