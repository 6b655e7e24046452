// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Damaged traces: whatever was lost is told, and its time is covered by a loss (law 4); what was
 * not damaged is still read.
 */
#include "test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

/* ---- helpers ------------------------------------------------------------------------------- */

static struct trace_damage damage_of(struct synth *m)
{
	struct trace *t = synth_open(m);
	struct trace_damage d = *trace_damage(t);

	trace_close(t);
	return d;
}

struct event_list {
	struct event *ev;
	size_t n;
};

static struct event_list take_events(const struct trace *t)
{
	struct trace_cursor *c;
	struct event_list l = { NULL, 0 };
	struct event ev;

	assert_int_equal(trace_cursor_new(&c, t), 0);
	while (trace_cursor_next(c, &ev)) {
		l.ev = realloc(l.ev, (l.n + 1) * sizeof(ev));
		assert_non_null(l.ev);
		l.ev[l.n++] = ev;
	}
	assert_int_equal(trace_cursor_error(c), 0);
	trace_cursor_free(c);
	return l;
}

static bool has_event(const struct event_list *l, const struct event *ev)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->ev[i].time_ns == ev->time_ns && l->ev[i].kind == ev->kind &&
		    l->ev[i].tid == ev->tid && l->ev[i].cpu == ev->cpu)
			return true;
	return false;
}

static bool is_covered(const struct event_list *l, const struct event *ev)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct event *x = &l->ev[i];

		if (x->kind == EVENT_LOST && x->time_ns <= ev->time_ns &&
		    x->lost.last_ns >= ev->time_ns &&
		    (x->cpu == ev->cpu || x->cpu == EVENT_CPU_UNKNOWN))
			return true;
	}
	return false;
}

/*
 * Each of the whole trace's events is in t or lies in a loss of its CPU, or before or after all of
 * a trace whose beginning or end was cut off (it is shorter, that is all). Nothing else is in t.
 */
static void check_nothing_hidden(const struct event_list *whole, const struct trace *t)
{
	struct event_list l = take_events(t);
	const struct trace_info *info = trace_info(t);
	bool no_start = !*info->host, no_end = trace_damage(t)->cut;
	size_t kept = 0;

	for (size_t i = 0; i < whole->n; i++) {
		uint64_t ns = whole->ev[i].time_ns;

		if (has_event(&l, &whole->ev[i]))
			kept++;
		else if (!(no_start && ns < info->start_ns) && !(no_end && ns > info->end_ns))
			assert_true(is_covered(&l, &whole->ev[i]));
	}
	for (size_t i = 0; i < l.n; i++)
		kept -= l.ev[i].kind != EVENT_LOST;
	assert_int_equal(kept, 0); /* no event came twice, and none was made up */
	free(l.ev);
}

/* Six blocks of each of two CPUs, in the order in which a recorder would have written them. */
static struct synth *synth_long(void)
{
	struct synth *m = synth_new();

	for (uint32_t i = 0; i < 12; i++) {
		for (uint32_t k = 0; k < 5; k++)
			synth_switch(m, i & 1, 1000 + i * 100 + k * 10, 10 + i, 'S', 20 + k,
				     "schedule;futex");
		synth_flush(m);
	}
	synth_end(m, 3000);
	return m;
}

/* ---- one block ----------------------------------------------------------------------------- */

TEST(a_damaged_block_becomes_a_loss_between_its_neighbours)
{
	struct synth *m = synth_long();
	struct trace_damage d;
	struct trace *t;
	size_t at, len;
	char *text;

	at = synth_block(m, CHAINLOG_BLOCK_EVENTS, 4, &len);
	synth_bytes(m, &len)[at + CHAINLOG_HEADER_SIZE + 3] ^= 0x40;
	d = damage_of(m);
	assert_string_equal(d.what, "a block whose checksum does not match");
	assert_int_equal(d.blocks, 1);
	assert_int_equal(d.first_offset, at);
	assert_false(d.cut);
	t = synth_open(m);
	text = synth_events_text(t);
	/* CPU 0 was silent for 300 ns; CPU 1 for the time between two of its events. */
	assert_non_null(strstr(text, "1240 lost-1600 n=0 cpu=0\n"));
	assert_non_null(strstr(text, "1340 lost-1500 n=0 cpu=1\n"));
	assert_int_equal(trace_info(t)->events, 55);
	free(text);
	trace_close(t);
	synth_free(m);
}

TEST(a_block_that_is_cut_out_cleanly_is_missed)
{
	struct synth *m = synth_long();
	struct event_list whole;
	struct trace *t = synth_open(m);
	size_t at, len;

	whole = take_events(t);
	trace_close(t);
	at = synth_block(m, CHAINLOG_BLOCK_EVENTS, 7, &len);
	synth_cut_out(m, at, len);
	/* The END block moved, and its footer does not know. */
	assert_non_null(damage_of(m).what);
	t = synth_open(m);
	check_nothing_hidden(&whole, t);
	trace_close(t);
	free(whole.ev);
	synth_free(m);
}

TEST(damage_that_hid_no_events_loses_none)
{
	struct synth *m = synth_sample();
	struct trace_damage d;
	size_t at, len;

	at = synth_block(m, CHAINLOG_BLOCK_THREADS, 0, &len);
	synth_bytes(m, &len)[at + CHAINLOG_HEADER_SIZE + 1] ^= 1;
	d = damage_of(m);
	assert_int_equal(d.blocks, 1);
	synth_expect_events(m, synth_sample_events); /* END says that these are all */
	synth_free(m);
}

TEST(the_only_block_of_a_cpu_is_a_loss_of_an_unknown_cpu)
{
	struct synth *m = synth_new();
	size_t at, len;

	synth_switch(m, 0, 100, 1, 'S', 2, "");
	synth_switch(m, 0, 900, 2, 'S', 1, "");
	synth_switch(m, 1, 300, 5, 'S', 6, "");
	synth_end(m, 1000);
	at = synth_block(m, CHAINLOG_BLOCK_EVENTS, 1, &len);
	synth_bytes(m, &len)[at + CHAINLOG_HEADER_SIZE] ^= 2;
	synth_expect_events(m, "100 switch 1 S>2\n100 lost-1000 n=0 cpu=?\n900 switch 2 S>1\n"
			       "900 lost-1000 n=0 cpu=0\n");
	synth_free(m);
}

/* ---- all of them --------------------------------------------------------------------------- */

TEST(no_flipped_bit_hides_anything)
{
	struct synth *makers[] = { synth_sample(), synth_long() };

	for (size_t k = 0; k < 2; k++) {
		struct trace *t = synth_open(makers[k]);
		struct event_list whole = take_events(t);
		uint8_t *bytes;
		size_t len;

		trace_close(t);
		bytes = synth_bytes(makers[k], &len);
		for (size_t bit = 0; bit < len * 8; bit++) {
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(trace_open_memory(&t, bytes, len), 0);
			assert_non_null(trace_damage(t)->what);
			check_nothing_hidden(&whole, t);
			trace_close(t);
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		free(whole.ev);
		synth_free(makers[k]);
	}
}

TEST(a_cut_anywhere_is_read_up_to_the_cut)
{
	struct synth *m = synth_long();
	struct trace *t = synth_open(m);
	struct event_list whole = take_events(t);
	uint64_t events = 0;
	uint8_t *bytes;
	size_t len, opened = 0;

	trace_close(t);
	bytes = synth_bytes(m, &len);
	for (size_t cut = 0; cut < len; cut++) {
		/* A copy of exactly this size, so that a read beyond it is caught. */
		uint8_t *copy = malloc(cut ? cut : 1);
		int err;

		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		err = trace_open_memory(&t, copy, cut);
		if (!err) {
			opened++;
			/* Without its footer a trace is whole. */
			if (cut < len - CHAINLOG_FOOTER_SIZE) {
				assert_true(trace_damage(t)->cut);
				assert_non_null(trace_damage(t)->what);
				assert_false(trace_info(t)->complete);
			}
			assert_true(trace_info(t)->events >= events);
			events = trace_info(t)->events;
			check_nothing_hidden(&whole, t);
			trace_close(t);
		} else {
			assert_int_equal(err, cut ? -EBADMSG : -ENODATA);
		}
		free(copy);
	}
	assert_true(opened > len - 200);
	assert_int_equal(events, 60);
	free(whole.ev);
	synth_free(m);
}

TEST(any_stretch_missing_is_told)
{
	struct synth *m = synth_long();
	struct trace *t = synth_open(m);
	struct event_list whole = take_events(t);
	uint8_t *bytes, *copy;
	size_t len;

	trace_close(t);
	bytes = synth_bytes(m, &len);
	copy = malloc(len);
	assert_non_null(copy);
	for (size_t at = 0; at < len - CHAINLOG_FOOTER_SIZE; at += 13) {
		for (size_t n = 1; n < len - at; n += 97) {
			memcpy(copy, bytes, at);
			memcpy(copy + at, bytes + at + n, len - at - n);
			if (trace_open_memory(&t, copy, len - n))
				continue;
			assert_non_null(trace_damage(t)->what);
			check_nothing_hidden(&whole, t);
			trace_close(t);
		}
	}
	free(copy);
	free(whole.ev);
	synth_free(m);
}

TEST(a_second_trace_behind_the_first_is_not_mixed_in)
{
	struct synth *m = synth_sample();
	struct trace *t;
	uint8_t *bytes, *two;
	char *text;
	size_t len;

	bytes = synth_bytes(m, &len);
	two = malloc(2 * len);
	assert_non_null(two);
	memcpy(two, bytes, len);
	memcpy(two + len, bytes, len);
	assert_int_equal(trace_open_memory(&t, two, 2 * len), 0);
	assert_string_equal(trace_damage(t)->what, "more bytes after the trace's end");
	text = synth_events_text(t);
	assert_string_equal(text, synth_sample_events);
	free(text);
	trace_close(t);
	free(two);
	synth_free(m);
}

/* ---- sound checksums, impossible contents -------------------------------------------------- */

static size_t put_numbers(uint8_t *p, size_t n, const uint64_t *v)
{
	uint8_t *q = p;

	for (size_t i = 0; i < n; i++)
		q = chainlog_put_varint(q, v[i]);
	return (size_t)(q - p);
}

#define NUMBERS(...)                                                            \
	(sizeof((uint64_t[]) { __VA_ARGS__ }) / sizeof(uint64_t)), (uint64_t[]) \
	{                                                                       \
		__VA_ARGS__                                                     \
	}

/* A trace with one event and a block of a type that holds these numbers. */
static struct synth *synth_with(unsigned int type, size_t n, const uint64_t *v)
{
	struct synth *m = synth_new();
	uint8_t payload[256];

	synth_switch(m, 0, 10, 1, 'S', 2, "");
	synth_flush(m);
	synth_add_block(m, type, payload, put_numbers(payload, n, v));
	synth_end(m, 100);
	return m;
}

TEST(claims_beyond_the_input_are_damage_and_cost_nothing)
{
	static const uint64_t claims[][2] = {
		{ 1, 1000000000 },		       /* a billion strings */
		{ 1, UINT64_MAX }, { 4000000000u, 1 }, /* one with a high id */
		{ UINT64_MAX, 1 }, { 0, 1 },
	};

	for (unsigned int type = CHAINLOG_BLOCK_STRINGS; type <= CHAINLOG_BLOCK_LOST; type++) {
		for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
			struct synth *m = synth_with(type, 2, claims[i]);
			struct trace *t = synth_open(m);

			assert_non_null(trace_damage(t)->what);
			assert_true(trace_strings_end(t) < 100000);
			assert_true(trace_frames_end(t) < 100000);
			assert_true(trace_stacks_end(t) < 100000);
			trace_close(t);
			synth_free(m);
		}
	}
}

TEST(impossible_events_are_a_loss_of_their_block)
{
	enum {
		FIRST = 20,
		SPAN = 30,
	};
	/* cpu first span count, then events */
	static const struct {
		const char *what;
		size_t n;
		uint64_t v[12];
	} cases[] = {
		{ "kind 7", 7, { 0, FIRST, SPAN, 1, 7, 30, 1 } },
		{ "a flag that an exit cannot have", 8, { 0, FIRST, SPAN, 1, 0x0e, 30, 0, 1 } },
		{ "the current thread before any switch",
		  8,
		  { 0, FIRST, SPAN, 1, 0x29, 30, 0, 5 } },
		{ "a thread index not yet given", 7, { 0, FIRST, SPAN, 1, 6, 30, 1 } },
		{ "a tid beyond the kernel's limit", 8, { 0, FIRST, SPAN, 1, 6, 30, 0, 1 << 22 } },
		{ "a time after the block's last", 8, { 0, FIRST, SPAN, 1, 6, 31, 0, 1 } },
		{ "a last time that no event has", 8, { 0, FIRST, SPAN, 1, 6, 29, 0, 1 } },
		{ "fewer events than said", 8, { 0, FIRST, SPAN, 2, 6, 30, 0, 1 } },
		{ "more bytes than events", 9, { 0, FIRST, SPAN, 1, 6, 30, 0, 1, 1 } },
		{ "both sleeping and runnable", 10, { 0, FIRST, SPAN, 1, 0xe0, 60, 30, 0, 1, 0 } },
		{ "a stack pair not yet given", 10, { 0, FIRST, SPAN, 1, 1, 30, 0, 1, 1, 1 } },
		{ "the last stack of a thread without one",
		  9,
		  { 0, FIRST, SPAN, 1, 0x11, 30, 0, 1, 1 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct synth *m = synth_with(CHAINLOG_BLOCK_EVENTS, cases[i].n, cases[i].v);
		char expected[100];

		snprintf(expected, sizeof(expected), "10 switch 1 S>2\n20 lost-50 n=%d cpu=0\n",
			 (int)cases[i].v[3]);
		print_message("%s\n", cases[i].what);
		assert_non_null(damage_of(m).what);
		synth_expect_events(m, expected);
		synth_free(m);
	}
}

TEST(an_impossible_head_is_a_loss_of_every_cpu)
{
	static const struct {
		size_t n;
		uint64_t v[4];
	} cases[] = {
		{ 4, { 1 << 16, 20, 30, 1 } },	     /* CPU */
		{ 4, { 0, UINT64_MAX, 1, 1 } },	     /* time */
		{ 4, { 0, 20, UINT64_MAX, 1 } },     /* span */
		{ 4, { 0, 20, 30, 1000000000000 } }, /* count */
		{ 2, { 0, 20 } },
		{ 0, { 0 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct synth *m = synth_new();
		uint8_t payload[64];

		synth_switch(m, 0, 10, 1, 'S', 2, "");
		synth_switch(m, 1, 11, 3, 'S', 4, "");
		synth_flush(m);
		synth_add_block(m, CHAINLOG_BLOCK_EVENTS, payload,
				put_numbers(payload, cases[i].n, cases[i].v));
		synth_switch(m, 1, 40, 4, 'S', 3, "");
		synth_flush(m);
		synth_expect_events(m, "10 switch 1 S>2\n10 lost-40 n=0 cpu=0\n11 switch 3 S>4\n"
				       "11 lost-40 n=0 cpu=1\n40 switch 4 S>3\n"
				       "40 lost-40 n=0 cpu=1\n");
		synth_free(m);
	}
}

TEST(ids_out_of_range_are_none)
{
	struct synth *m = synth_new();
	struct encoder_thread th = {
		5,     5,     0,     0,	    0, 'S', encoder_text(synth_encoder(m), "x"),
		70000, 70001, 70002, 70003, 0
	};
	const struct trace_thread *threads;
	struct trace *t;
	size_t n;

	synth_thread_full(m, &th);
	encoder_event(synth_encoder(m), &(struct event) { .time_ns = 10,
							  .cpu = 0,
							  .kind = CHAINLOG_SWITCH,
							  .tid = 1,
							  .state = 'S',
							  .other = 2,
							  .kstack = 4000000000u,
							  .ustack = 4000000001u });
	encoder_name(synth_encoder(m), 80000, encoder_text(synth_encoder(m), "nobody"), 80001, 0);
	synth_end(m, 100);
	synth_expect_events(m, "10 switch 1 S>2\n");
	t = synth_open(m);
	threads = trace_threads(t, &n);
	assert_int_equal(threads[0].kstack, 0);
	assert_int_equal(threads[0].object, 0);
	assert_int_equal(threads[0].group, 0);
	assert_null(trace_object(t, 70002));
	assert_int_equal(threads[0].ustack, 0);
	assert_null(trace_damage(t)->what); /* what it means may just not have been written yet */
	trace_close(t);
	synth_free(m);
}

TEST(sync_words_everywhere_cost_a_bounded_time)
{
	size_t len = 4 << 20;
	uint8_t *p = calloc(1, len);
	struct trace *t;

	assert_non_null(p);
	/* Every 16 bytes a header that claims a megabyte. */
	for (size_t at = 0; at + CHAINLOG_HEADER_SIZE <= len; at += CHAINLOG_HEADER_SIZE) {
		chainlog_put_le32(p + at, CHAINLOG_SYNC);
		p[at + CHAINLOG_OFF_TYPE] = CHAINLOG_BLOCK_EVENTS;
		p[at + CHAINLOG_OFF_VERSION] = CHAINLOG_VERSION;
		chainlog_put_le32(p + at + CHAINLOG_OFF_LEN, CHAINLOG_PAYLOAD_MAX);
	}
	assert_int_equal(trace_open_memory(&t, p, len), -EBADMSG);
	free(p);
}
