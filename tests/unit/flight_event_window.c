// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks of events, read again; and the window that keeps them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "common/encoder.h"
#include "flight/event_window.h"

static struct encoder *new_encoder(encoder_sink sink, void *ctx)
{
	struct encoder *e;

	assert_int_equal(encoder_new(&e, sink, ctx), 0);
	return e;
}

/* ---- made events, and what they say -------------------------------------------------------- */

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* An event that may have happened; the acting thread is often the one that came last. */
static struct event make_event(uint32_t cpu, uint64_t time_ns, uint32_t current)
{
	static const char states[] = "SRDITZX";
	struct event ev = {
		.time_ns = time_ns,
		.cpu = cpu,
		.kind = (uint8_t)(draw(4) ? draw(2) : draw(CHAINLOG_EVENT_KINDS)),
		.tid = draw(3) ? current : 1000 + draw(300),
	};

	if (!draw(8)) {
		ev.kind = EVENT_SAMPLE;
		ev.kstack = draw(100);
		ev.ustack = draw(1u << 31);
		return ev;
	}
	if (!draw(20)) {
		ev.kind = EVENT_REQUEST;
		ev.other = draw(1u << 22);
		ev.kstack = draw(100);
		ev.ustack = draw(1u << 31);
		ev.request.connection =
			((uint64_t)draw(1u << 31) << 33 | draw(1u << 31)) >> draw(63);
		ev.request.endpoint = draw(100);
		ev.request.flags = draw(64);
		ev.request.arrival_ns = time_ns - draw((uint32_t)(time_ns < 1000 ? time_ns : 1000));
		ev.request.taken_ns = ev.request.answer_ns = time_ns;
		ev.request.bytes_read = draw(1u << 31);
		ev.request.label = draw(100);
		return ev;
	}
	if (!draw(50)) {
		ev.kind = EVENT_AUX_LOST;
		ev.tid = 0;
		ev.other = draw(3);
		ev.lost.n = draw(1000);
		ev.lost.last_ns = time_ns + ((uint64_t)draw(1u << 31) << draw(30));
		return ev;
	}

	switch (ev.kind) {
	case CHAINLOG_SWITCH:
		ev.state = states[draw(sizeof(states) - 1)];
		/* fall through */
	case CHAINLOG_WAKING:
	case CHAINLOG_WAKING_NEW:
		ev.other = draw(5) ? 1000 + draw(300) : 0;
		ev.kstack = draw(8) ? 1 + draw(50) : 0;
		ev.ustack = draw(3) ? 1 + draw(2000) : 0;
		if (ev.kind != CHAINLOG_SWITCH && !draw(4))
			ev.flags = CHAINLOG_F_OFF_QUEUE;
		if (ev.kind == CHAINLOG_WAKING && !draw(8)) {
			ev.flags = CHAINLOG_F_NO_WAKER;
			ev.tid = ev.kstack = ev.ustack = 0;
		}
		break;
	case CHAINLOG_FORK:
		ev.other = 1000 + draw(300);
		ev.tgid = 1000 + draw(300);
		break;
	case CHAINLOG_EXEC:
		ev.other = 1000 + draw(300);
		break;
	default:
		break;
	}
	return ev;
}

static int encode(struct encoder *e, const struct event *ev)
{
	struct event named = *ev;

	if (ev->kind >= CHAINLOG_FORK && ev->kind <= CHAINLOG_RENAME)
		named.string = encoder_text(e, "a");
	return encoder_event(e, &named);
}

/* What is to be read again: the string "a" has the id 1. */
static void expect_event(const struct event *expected, const struct event *got)
{
	bool has_string = expected->kind == CHAINLOG_FORK || expected->kind == CHAINLOG_EXEC ||
			  expected->kind == CHAINLOG_RENAME;

	assert_non_null(got);
	assert_int_equal(got->time_ns, expected->time_ns);
	assert_int_equal(got->cpu, expected->cpu);
	assert_int_equal(got->kind, expected->kind);
	assert_int_equal(got->state, expected->state);
	assert_int_equal(got->tid, expected->tid);
	assert_int_equal(got->other, expected->other);
	assert_int_equal(got->kstack, expected->kstack);
	assert_int_equal(got->ustack, expected->ustack);
	assert_int_equal(got->tgid, expected->tgid);
	assert_int_equal(got->string, has_string ? 1 : 0);
	for (const struct event_field *f = event_fields(expected->kind); f->type; f++)
		assert_int_equal(event_value(got, f), event_value(expected, f));
}

#define CPUS 3u

/* n events on several CPUs, which overlap; times differ, so that there is one order only. */
static struct event *make_events(struct encoder *e, size_t n)
{
	struct event *events = calloc(n, sizeof(*events));
	uint32_t current[CPUS] = { 1000, 1001, 1002 };
	uint64_t time_ns = 5000;

	assert_non_null(events);
	for (size_t i = 0; i < n; i++) {
		uint32_t cpu = draw(CPUS);

		time_ns += 1 + draw(3000);
		events[i] = make_event(cpu, time_ns, current[cpu]);
		if (events[i].kind == CHAINLOG_SWITCH)
			current[cpu] = events[i].other;
		assert_int_equal(encode(e, &events[i]), 0);
	}
	assert_int_equal(encoder_flush(e), 0);
	return events;
}

/* ---- the tests ----------------------------------------------------------------------------- */

#define N 200000u

TEST(what_was_encoded_is_read_again_in_the_order_of_time)
{
	struct event_window w = { 0 };
	struct event_view v = { 0 };
	struct encoder *e = new_encoder(event_window_put, &w);
	struct event *events;

	seed = 1;
	events = make_events(e, N);
	assert_int_equal(event_view_refresh(&v, &w), 0);
	for (size_t i = 0; i < N; i++)
		expect_event(&events[i], event_view_next(&v, UINT64_MAX));
	assert_null(event_view_next(&v, UINT64_MAX));
	assert_int_equal(v.error, 0);
	event_view_free(&v);
	event_window_free(&w);
	assert_int_equal(w.bytes, 0);
	encoder_free(e);
	free(events);
}

TEST(a_view_stops_where_it_is_told_and_goes_on_with_new_blocks)
{
	struct event_window w = { 0 };
	struct event_view v = { 0 };
	struct encoder *e = new_encoder(event_window_put, &w);
	struct event *first, *second;
	size_t read = 0;

	seed = 2;
	first = make_events(e, 1000);
	assert_int_equal(event_view_refresh(&v, &w), 0);
	for (; read < 500; read++)
		expect_event(&first[read], event_view_next(&v, first[500].time_ns));
	assert_null(event_view_next(&v, first[500].time_ns));
	for (; read < 1000; read++)
		expect_event(&first[read], event_view_next(&v, UINT64_MAX));
	assert_null(event_view_next(&v, UINT64_MAX));
	second = make_events(e, 1000);
	assert_int_equal(event_view_refresh(&v, &w), 0);
	for (read = 0; read < 1000; read++)
		expect_event(&second[read], event_view_next(&v, UINT64_MAX));
	event_view_free(&v);
	event_window_free(&w);
	encoder_free(e);
	free(first);
	free(second);
}

TEST(forgetting_drops_only_what_has_been_read)
{
	struct event_window w = { 0 };
	struct event_view tail = { 0 }, all = { 0 };
	struct encoder *e = new_encoder(event_window_put, &w);
	struct event *events;
	size_t before;

	seed = 3;
	events = make_events(e, N);
	before = w.bytes;
	assert_int_equal(event_view_refresh(&tail, &w), 0);
	while (event_view_next(&tail, events[N - 1000].time_ns))
		;
	event_window_forget(&w, &tail);
	assert_true(w.bytes < before / 2);
	for (size_t i = N - 1000; i < N; i++)
		expect_event(&events[i], event_view_next(&tail, UINT64_MAX));
	/* Who comes later finds a window that begins with whole blocks. */
	assert_int_equal(event_view_refresh(&all, &w), 0);
	assert_non_null(event_view_next(&all, UINT64_MAX));
	event_view_free(&all);
	event_view_free(&tail);
	event_window_free(&w);
	encoder_free(e);
	free(events);
}

static void check_damaged_block(const struct event_block *b, bool aux)
{
	struct chainlog_reader d = { 0 };
	struct event ev;
	uint8_t *copy = malloc(b->len);

	assert_non_null(copy);
	for (size_t len = 0; len < b->len; len++) {
		int ret;

		/* Of its own size, so that a sanitizer sees what is read behind it. */
		uint8_t *cut = malloc(len ? len : 1);

		memcpy(cut, b->payload, len);
		ret = chainlog_reader_begin(&d, aux, cut, cut + len);
		while (!ret && (ret = chainlog_read(&d, &ev)) > 0)
			ret = 0;
		assert_int_equal(ret, -EBADMSG);
		free(cut);
	}
	for (int i = 0; i < 20000; i++) {
		int ret;

		memcpy(copy, b->payload, b->len);
		for (int k = 0; k < 3; k++)
			copy[draw((uint32_t)b->len)] = (uint8_t)draw(256);
		ret = chainlog_reader_begin(&d, aux, copy, copy + b->len);
		while (!ret && (ret = chainlog_read(&d, &ev)) > 0)
			ret = 0;
		assert_true(ret == 0 || ret == -EBADMSG);
	}
	chainlog_reader_free(&d);
	free(copy);
}

TEST(damaged_blocks_are_refused)
{
	struct event_window w = { 0 };
	struct encoder *e = new_encoder(event_window_put, &w);
	struct event *events;

	seed = 4;
	events = make_events(e, 300);
	check_damaged_block(w.queues[0].first, false);
	check_damaged_block(w.queues[1].first, true);
	event_window_free(&w);
	encoder_free(e);
	free(events);
}
