// SPDX-License-Identifier: GPL-2.0-or-later
#include "event_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that the allocator adds to each block. */
#define OVERHEAD 16u

/* ---- blocks -------------------------------------------------------------------------------- */

static struct event_queue *get_queue(struct event_window *w, uint32_t i)
{
	if (i >= w->n_queues) {
		struct event_queue *queues = realloc(w->queues, (i + 1) * sizeof(*queues));

		if (!queues)
			return NULL;
		memset(queues + w->n_queues, 0, (i + 1 - w->n_queues) * sizeof(*queues));
		w->queues = queues;
		w->n_queues = i + 1;
	}
	return &w->queues[i];
}

static size_t size_of(const struct event_block *b)
{
	return sizeof(*b) + b->len + OVERHEAD;
}

int event_window_put(void *ctx, const void *block, size_t len)
{
	const uint8_t *bytes = block;
	struct event_window *w = ctx;
	struct event_block *b;
	struct event_queue *c;
	uint64_t cpu;
	bool aux;

	if (len < CHAINLOG_HEADER_SIZE)
		return 0;
	aux = bytes[CHAINLOG_OFF_TYPE] == CHAINLOG_BLOCK_AUX_EVENTS;
	if (!aux && bytes[CHAINLOG_OFF_TYPE] != CHAINLOG_BLOCK_EVENTS)
		return 0;
	bytes += CHAINLOG_HEADER_SIZE;
	len -= CHAINLOG_HEADER_SIZE;
	if (!chainlog_get_varint(bytes, bytes + len, &cpu) || cpu > 65535)
		return -EBADMSG;
	c = get_queue(w, 2 * (uint32_t)cpu + aux);
	b = c ? malloc(sizeof(*b) + len) : NULL;
	if (!b)
		return -ENOMEM;
	b->next = NULL;
	b->number = ++c->made;
	b->len = len;
	memcpy(b->payload, bytes, len);
	if (c->last)
		c->last->next = b;
	else
		c->first = b;
	c->last = b;
	w->bytes += size_of(b);
	return 0;
}

static void drop_first(struct event_window *w, struct event_queue *c)
{
	struct event_block *b = c->first;

	c->first = b->next;
	if (!c->first)
		c->last = NULL;
	w->bytes -= size_of(b);
	free(b);
}

void event_window_free(struct event_window *w)
{
	for (uint32_t i = 0; i < w->n_queues; i++)
		while (w->queues[i].first)
			drop_first(w, &w->queues[i]);
	free(w->queues);
	*w = (struct event_window) { 0 };
}

/* ---- views --------------------------------------------------------------------------------- */

static bool is_before(const struct event_view *v, uint32_t a, uint32_t b)
{
	uint64_t time_a = v->cursors[a].ev.time_ns, time_b = v->cursors[b].ev.time_ns;

	return time_a != time_b ? time_a < time_b : a < b;
}

static void sift_up(struct event_view *v, uint32_t i)
{
	while (i && is_before(v, v->heap[i], v->heap[(i - 1) / 2])) {
		uint32_t parent = (i - 1) / 2, cursor = v->heap[i];

		v->heap[i] = v->heap[parent];
		v->heap[parent] = cursor;
		i = parent;
	}
}

static void sift_down(struct event_view *v)
{
	uint32_t i = 0;

	for (;;) {
		uint32_t least = i, cursor = v->heap[i];

		for (uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < v->n_heap; child++)
			if (is_before(v, v->heap[child], v->heap[least]))
				least = child;
		if (least == i)
			return;
		v->heap[i] = v->heap[least];
		v->heap[least] = cursor;
		i = least;
	}
}

/*
 * Reads the cursor's next event, from the next block if this one is at its end. A block that is
 * read stays c->block until it has a successor, so that the successor can be found.
 */
static void read_next(struct event_view *v, struct event_cursor *c, const struct event_block *first)
{
	bool aux = (c - v->cursors) & 1;
	int ret = c->block ? chainlog_read(&c->reader, &c->ev) : 0;

	while (!ret) {
		const struct event_block *next = c->block ? c->block->next : first;

		if (!next)
			break;
		c->block = next;
		ret = chainlog_reader_begin(&c->reader, aux, next->payload,
					    next->payload + next->len);
		if (!ret)
			ret = chainlog_read(&c->reader, &c->ev);
	}
	c->has_event = ret > 0;
	if (ret < 0)
		v->error = ret;
}

int event_view_refresh(struct event_view *v, const struct event_window *w)
{
	if (v->n_cursors < w->n_queues) {
		struct event_cursor *cursors = realloc(v->cursors, w->n_queues * sizeof(*cursors));
		uint32_t *heap;

		if (!cursors)
			return -ENOMEM;
		v->cursors = cursors;
		heap = realloc(v->heap, w->n_queues * sizeof(*heap));
		if (!heap)
			return -ENOMEM;
		v->heap = heap;
		memset(cursors + v->n_cursors, 0, (w->n_queues - v->n_cursors) * sizeof(*cursors));
		v->n_cursors = w->n_queues;
	}
	for (uint32_t i = 0; i < v->n_cursors; i++) {
		struct event_cursor *c = &v->cursors[i];

		if (c->has_event)
			continue;
		read_next(v, c, w->queues[i].first);
		if (!c->has_event)
			continue;
		v->heap[v->n_heap++] = i;
		sift_up(v, v->n_heap - 1);
	}
	return v->error;
}

const struct event *event_view_next(struct event_view *v, uint64_t until_ns)
{
	struct event_cursor *c;

	if (!v->n_heap || v->error)
		return NULL;
	c = &v->cursors[v->heap[0]];
	if (c->ev.time_ns >= until_ns)
		return NULL;
	v->given = c->ev;
	read_next(v, c, NULL);
	if (!c->has_event)
		v->heap[0] = v->heap[--v->n_heap];
	if (v->n_heap)
		sift_down(v);
	return v->error ? NULL : &v->given;
}

void event_window_forget(struct event_window *w, struct event_view *v)
{
	for (uint32_t i = 0; i < v->n_cursors; i++) {
		const struct event_block *now = v->cursors[i].block;

		while (now && w->queues[i].first->number < now->number)
			drop_first(w, &w->queues[i]);
	}
}

void event_view_free(struct event_view *v)
{
	for (uint32_t i = 0; i < v->n_cursors; i++)
		chainlog_reader_free(&v->cursors[i].reader);
	free(v->cursors);
	free(v->heap);
	*v = (struct event_view) { 0 };
}
