// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests come back as they were written, in whichever form: any numbers, of any connections. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "common/event_read.h"

#define REQUESTS 3000u

/* Few different ones, so that most are as before; some of the greatest there are. */
static uint64_t number(uint64_t most)
{
	int r = rand() % 20;

	return r ? (uint64_t)(r % 3) : most;
}

static uint64_t earlier(uint64_t now)
{
	return now - (rand() % 9 ? (uint64_t)(rand() % 300000) : 0);
}

static struct event any_request(uint64_t time_ns, uint32_t connections)
{
	struct event ev = { .time_ns = time_ns, .cpu = 3, .kind = EVENT_REQUEST };
	uint64_t t[3] = { earlier(time_ns), earlier(time_ns), earlier(time_ns) };

	ev.request.connection = (uint64_t)rand() % connections;
	ev.request.connection += ev.request.connection % 7 ? 0 : UINT64_MAX - 10000;
	ev.tid = (uint32_t)number(CHAINLOG_TID_LIMIT - 1);
	ev.other = (uint32_t)number(CHAINLOG_TID_LIMIT - 1);
	if (!(rand() % 30)) {
		ev.kstack = (uint32_t)number(UINT32_MAX);
		ev.ustack = (uint32_t)number(UINT32_MAX);
	}
	ev.request.endpoint = (uint32_t)number(UINT32_MAX);
	ev.request.label = (uint32_t)number(UINT32_MAX);
	ev.request.flags = number(UINT64_MAX);
	ev.request.bytes_read = number(UINT64_MAX);
	ev.request.bytes_written = number(UINT64_MAX);
	/* In their order: others are not written. */
	for (int i = 0; i < 2; i++)
		if (t[i] > t[2]) {
			uint64_t was = t[2];

			t[2] = t[i];
			t[i] = was;
		}
	ev.request.arrival_ns = t[0] < t[1] ? t[0] : t[1];
	ev.request.taken_ns = t[0] < t[1] ? t[1] : t[0];
	ev.request.answer_ns = rand() % 2 ? t[2] : time_ns;
	return ev;
}

static void expect_same(const struct event *a, const struct event *b)
{
	assert_int_equal(a->kind, EVENT_REQUEST);
	for (const struct event_field *f = event_fields(EVENT_REQUEST); f->type; f++)
		assert_int_equal(event_value(a, f), event_value(b, f));
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->cpu, b->cpu);
}

/* Reads a block; its events are those from *n on. */
static void expect_block(struct chainlog_reader *r, const uint8_t *block, size_t len,
			 const struct event *events, size_t *n)
{
	struct event ev;

	assert_int_equal(chainlog_reader_begin(r, true, block + CHAINLOG_HEADER_SIZE, block + len),
			 0);
	while (chainlog_read_aux(r, &ev) > 0)
		expect_same(&ev, &events[(*n)++]);
	assert_int_equal(chainlog_read_aux(r, &ev), 0);
}

static void write_and_read(uint32_t connections)
{
	struct chainlog_aux_writer *w = malloc(sizeof(*w));
	struct event *events = calloc(REQUESTS, sizeof(*events));
	struct chainlog_reader r = { .p = NULL };
	uint64_t time_ns = 1000000;
	const uint8_t *block;
	size_t len, n = 0;

	assert_non_null(w);
	assert_non_null(events);
	memset(w, 0xee, sizeof(*w)); /* it is not read before it is set */
	chainlog_aux_init(w, 3);
	for (uint32_t i = 0; i < REQUESTS; i++) {
		time_ns += (uint64_t)(rand() % 100000);
		if (chainlog_events_full(&w->made, time_ns) || i % 1700 == 1699) {
			block = chainlog_aux_finish(w, &len);
			expect_block(&r, block, len, events, &n);
		}
		events[i] = any_request(time_ns, connections);
		chainlog_aux_write(w, &events[i]);
	}
	block = chainlog_aux_finish(w, &len);
	expect_block(&r, block, len, events, &n);
	assert_int_equal(n, REQUESTS);
	chainlog_reader_free(&r);
	free(events);
	free(w);
}

TEST(requests_come_back)
{
	srand(1);
	write_and_read(1);
	write_and_read(50);
	/* More than have the short form. */
	write_and_read(100000);
}

/* What a connection's requests have in common takes no bytes: 50 connections of a fast server. */
TEST(a_request_takes_ten_bytes)
{
	struct chainlog_aux_writer *w = malloc(sizeof(*w));
	uint64_t time_ns = 1000000;
	struct event ev;
	size_t len;

	assert_non_null(w);
	chainlog_aux_init(w, 0);
	for (uint32_t i = 0; i < 2000; i++) {
		time_ns += 16000;
		ev = (struct event) { .time_ns = time_ns,
				      .kind = EVENT_REQUEST,
				      .tid = 123456,
				      .other = 123456,
				      .request = { .connection = 1000 + i % 50,
						   .endpoint = 1234,
						   .label = 2345,
						   .arrival_ns = time_ns - 100000,
						   .taken_ns = time_ns - 16000,
						   .answer_ns = time_ns,
						   .bytes_read = 300,
						   .bytes_written = 400 } };
		chainlog_aux_write(w, &ev);
	}
	chainlog_aux_finish(w, &len);
	assert_in_range(len, 9 * 2000, 11 * 2000);
	free(w);
}

/* What changes between the kinds of requests of a server takes one byte. */
TEST(a_kind_of_request_takes_a_byte)
{
	struct chainlog_aux_writer *w = malloc(sizeof(*w));
	struct event *events = calloc(2000, sizeof(*events));
	struct chainlog_reader r = { .p = NULL };
	uint64_t time_ns = 1000000;
	const uint8_t *block;
	size_t len, n = 0;

	assert_non_null(w);
	assert_non_null(events);
	chainlog_aux_init(w, 0);
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t kind = (uint32_t)rand() % 12;

		time_ns += 16000;
		events[i] = (struct event) { .time_ns = time_ns,
					     .kind = EVENT_REQUEST,
					     .tid = 123456,
					     .other = 123456,
					     .request = { .connection = 1000 + i % 8,
							  .endpoint = 1234,
							  .label = 2345 + kind,
							  .arrival_ns = time_ns - 100000,
							  .taken_ns = time_ns - 16000,
							  .answer_ns = time_ns,
							  .bytes_read = 300 + kind / 2,
							  .bytes_written = 400 * kind } };
		chainlog_aux_write(w, &events[i]);
	}
	block = chainlog_aux_finish(w, &len);
	assert_in_range(len, 10 * 2000, 12 * 2000);
	expect_block(&r, block, len, events, &n);
	assert_int_equal(n, 2000);
	chainlog_reader_free(&r);
	free(events);
	free(w);
}
