/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_trace.h - a trace that a flight recorder has written, taken apart: what its blocks say of
 * threads, losses and accounts, and its events in a window of their own.
 */
#pragma once

#include <stdlib.h>

#include <cmocka.h>

#include "flight/event_window.h"

#define MANY 4096u

struct listed {
	uint64_t tid, tgid, start_ns, seen_ns, flags, name, kstack, ustack;
	char state;
};

struct written {
	struct event_window events;
	uint64_t end[16]; /* by tag */
	size_t n_threads, n_lost, n_stacks;
	struct listed threads[MANY];
};

static uint64_t get(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;

	*p = chainlog_get_varint(*p, end, &v);
	assert_non_null(*p);
	return v;
}

static void take_end(struct written *w, const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		uint64_t tag = get(&p, end);

		get(&p, end);
		assert_true(tag < 16);
		w->end[tag] = get(&p, end);
	}
}

static void take_threads(struct written *w, const uint8_t *p, const uint8_t *end)
{
	uint64_t count = get(&p, end);

	for (uint64_t i = 0; i < count; i++) {
		struct listed *t = &w->threads[w->n_threads++];

		assert_true(w->n_threads <= MANY);
		t->tid = get(&p, end);
		t->tgid = get(&p, end);
		t->start_ns = get(&p, end);
		t->seen_ns = get(&p, end);
		t->flags = get(&p, end);
		t->state = (char)*p++;
		t->name = get(&p, end);
		t->kstack = get(&p, end);
		t->ustack = get(&p, end);
	}
}

static int take_block(void *ctx, const void *block, size_t len)
{
	const uint8_t *bytes = block, *p = bytes + CHAINLOG_HEADER_SIZE, *end = bytes + len;
	struct written *w = ctx;

	switch (bytes[CHAINLOG_OFF_TYPE]) {
	case CHAINLOG_BLOCK_END:
		take_end(w, p, end);
		break;
	case CHAINLOG_BLOCK_THREADS:
		take_threads(w, p, end);
		break;
	case CHAINLOG_BLOCK_LOST:
		w->n_lost += get(&p, end);
		break;
	case CHAINLOG_BLOCK_STACKS:
		get(&p, end);
		w->n_stacks += get(&p, end);
		break;
	default:
		break;
	}
	return event_window_put(&w->events, block, len);
}

static void forget_written(struct written *w)
{
	event_window_free(&w->events);
	free(w);
}

static const struct listed *thread_in(const struct written *w, uint32_t tid)
{
	for (size_t i = 0; i < w->n_threads; i++)
		if (w->threads[i].tid == tid)
			return &w->threads[i];
	return NULL;
}

/* kernel = log + lost, and log is what is there. */
static void expect_accounts(const struct written *w, uint64_t events, uint64_t lost)
{
	assert_int_equal(w->end[CHAINLOG_END_EVENTS], events);
	assert_int_equal(w->end[CHAINLOG_END_LOST], lost);
	assert_int_equal(w->end[CHAINLOG_END_KERNEL], events + lost);
}
