// SPDX-License-Identifier: GPL-2.0-or-later
#include "event_stream.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cpus.h"
#include "common/xalloc.h"

/* A batch is small enough to stay in a cache while it goes from one thread to the other. */
#define BATCH_EVENTS 512u
#define BATCHES 8u
/* Events ahead of the current one that are fetched from the other core's cache. */
#define PREFETCH 8u
/* Below this a thread costs more than it saves. */
#define FEW_EVENTS 100000u

struct batch {
	uint32_t n; /* fewer than BATCH_EVENTS: it is the last one */
	struct event events[BATCH_EVENTS];
};

struct event_stream {
	struct trace_cursor *cursor;
	struct batch *batch; /* the one that events are taken from */
	uint32_t at;	     /* its next event */
	bool threaded, ended;
	pthread_t thread;
	pthread_mutex_t lock; /* protects: made, taken, stop */
	pthread_cond_t changed;
	uint64_t made, taken; /* batches */
	bool stop;	      /* the user frees the stream before its end */
	struct batch batches[BATCHES];
};

static void fill(struct event_stream *s, struct batch *b)
{
	for (b->n = 0; b->n < BATCH_EVENTS; b->n++)
		if (!trace_cursor_next(s->cursor, &b->events[b->n]))
			break;
}

static void *fill_ahead(void *arg)
{
	struct event_stream *s = arg;
	bool more = true;

	for (uint64_t i = 0; more; i++) {
		struct batch *b = &s->batches[i % BATCHES];

		pthread_mutex_lock(&s->lock);
		while (i - s->taken == BATCHES && !s->stop)
			pthread_cond_wait(&s->changed, &s->lock);
		more = !s->stop;
		pthread_mutex_unlock(&s->lock);
		if (!more)
			break;
		fill(s, b);
		more = b->n == BATCH_EVENTS;
		pthread_mutex_lock(&s->lock);
		s->made = i + 1;
		pthread_cond_signal(&s->changed);
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

void event_stream_new(struct event_stream **out, const struct trace *t, struct trace_cursor *cursor)
{
	struct event_stream *s = xcalloc(1, sizeof(*s));

	*out = NULL;
	s->cursor = cursor;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->threaded = trace_info(t)->events > FEW_EVENTS && cpus_usable(2) > 1 &&
		      !pthread_create(&s->thread, NULL, fill_ahead, s);
	*out = s;
}

/* Waits for the next batch. */
static void take_batch(struct event_stream *s)
{
	pthread_mutex_lock(&s->lock);
	/* Wake the filling thread for several batches at once: a wakeup costs as much as one. */
	if (s->batch && s->made - ++s->taken <= BATCHES / 4)
		pthread_cond_signal(&s->changed);
	while (s->made == s->taken)
		pthread_cond_wait(&s->changed, &s->lock);
	s->batch = &s->batches[s->taken % BATCHES];
	pthread_mutex_unlock(&s->lock);
}

const struct event *event_stream_next(struct event_stream *s)
{
	if (!s->threaded) {
		const struct event *ev = s->ended ? NULL : trace_cursor_take(s->cursor);

		s->ended = !ev;
		return ev;
	}
	if (s->batch && s->at < s->batch->n) {
		if (s->at + PREFETCH < BATCH_EVENTS)
			__builtin_prefetch(&s->batch->events[s->at + PREFETCH]);
		return &s->batch->events[s->at++];
	}
	if (s->ended || (s->batch && s->batch->n < BATCH_EVENTS)) {
		s->ended = true;
		return NULL;
	}
	take_batch(s);
	s->at = 0;
	if (!s->batch->n) {
		s->ended = true;
		return NULL;
	}
	return &s->batch->events[s->at++];
}

void event_stream_free(struct event_stream *s)
{
	if (!s)
		return;
	if (s->threaded) {
		pthread_mutex_lock(&s->lock);
		s->stop = true;
		pthread_cond_signal(&s->changed);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
	}
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
