// SPDX-License-Identifier: GPL-2.0-or-later
/* AUX_EVENTS blocks: read in order, skipped where unknown; damage to them makes no time unknown.
 */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/event_block.h"
#include "synth.h"

/* Two CPUs, samples between and at the times of switches. */
static struct synth *with_samples(void)
{
	struct synth *m = synth_new();

	synth_switch(m, 0, 100, 0, 'R', 7, "");
	synth_switch(m, 1, 100, 0, 'R', 8, "");
	synth_ran(m, 1, 100, 8, "", "spin;main");
	synth_ran(m, 0, 120, 7, "copy;read", "fetch;main");
	synth_ran(m, 1, 140, 8, "", "");
	synth_switch(m, 1, 150, 8, 'S', 0, "schedule;read");
	synth_waking(m, 0, 200, 7, 8, "wake;write");
	synth_ran(m, 0, 200, 7, "", "fetch;main");
	MUST(!encoder_aux_lost(synth_encoder(m), 0, EVENT_SAMPLE, 3, 210, 230));
	synth_switch(m, 0, 250, 7, 'S', 0, "schedule;read");
	synth_end(m, 300);
	return m;
}

static const char with_samples_events[] = "100 switch 0 R>7\n"
					  "100 switch 0 R>8\n"
					  "100 sample 8 spin;main\n"
					  "120 sample 7 copy;read fetch;main\n"
					  "140 sample 8\n"
					  "150 switch 8 S>0 schedule;read\n"
					  "200 waking 7>8 wake;write\n"
					  "200 sample 7 fetch;main\n"
					  "210 more-lost-230 n=3 sample\n"
					  "250 switch 7 S>0 schedule;read\n";

TEST(they_come_after_other_events_of_the_same_time)
{
	struct synth *m = with_samples();
	struct trace *t = synth_open(m);
	const struct trace_info *i = trace_info(t);

	synth_expect_events(m, with_samples_events);
	assert_null(trace_damage(t)->what);
	assert_int_equal(i->events, 5);
	assert_int_equal(i->kernel_events, 5);
	assert_int_equal(i->lost, 0);
	assert_int_equal(i->aux_events, 5);
	assert_int_equal(i->events_of[EVENT_SAMPLE], 4);
	assert_int_equal(i->aux_lost, 3);
	assert_int_equal(i->kernel_aux, 7);
	trace_close(t);
	synth_free(m);
}

/* What an older reader of this format sees, and a reader that does not look for them. */
TEST(a_trace_without_them_says_nothing_of_them)
{
	struct synth *m = synth_sample();
	struct trace *t = synth_open(m);

	assert_int_equal(trace_info(t)->aux_events, 0);
	assert_int_equal(trace_info(t)->kernel_aux, 0);
	trace_close(t);
	synth_free(m);
}

static struct event ready(uint64_t time_ns, uint32_t tid, uint32_t object)
{
	return (struct event) {
		.time_ns = time_ns, .kind = EVENT_READY, .tid = tid, .awaited = { object }
	};
}

/* Each field comes back; what was first was longest ago, whatever the trace says. */
TEST(a_request_is_read_whole)
{
	struct synth_request r = {
		.class = "tcp",
		.name = ":80",
		.connection = 1ull << 40,
		.flags = CHAINLOG_REQUEST_FIRST | CHAINLOG_REQUEST_UNSENT,
		.reader = 9,
		.arrival_ns = 100,
		.taken_ns = 150,
		.answer_ns = 190,
		.bytes_read = 1ull << 33,
		.bytes_written = 12,
		.kstack = "send",
		.ustack = "work;main",
		.route = "GET /a",
	};
	/* CPU 0 at 400, one event: connection 1, endpoint 99, no reader, writer 7, no stacks;
	 * arrived 300 ns ago, taken 350 and answered 2097151 ns ago. */
	static const uint8_t impossible[] = {
		0, 0x90, 3,    0,    1,	   CHAINLOG_REQUEST,
		0, 16,	 1,    99,   0x3f, 0,
		7, 0,	 0,    0xac, 2,	   0xde,
		2, 0xff, 0xff, 0x7f, 0,	   0,
	};
	/* An older recorder's, without a route, at 410: not answered. */
	static const uint8_t older[] = {
		0, 0x9a, 3, 0, 1, CHAINLOG_REQUEST_OPEN, 0, 8, 1, 99, 0x3f, 7, 0xac, 2, 0xde, 2,
	};
	struct synth *m = synth_new();

	synth_switch(m, 0, 100, 0, 'R', 7, "");
	synth_request(m, 0, 200, 7, &r);
	r.first_ns = 190;
	r.answer_ns = 250;
	synth_request_more(m, 0, 260, 7, &r);
	synth_request_open(m, 0, 300, &r);
	synth_flush(m);
	synth_add_block(m, CHAINLOG_BLOCK_AUX_EVENTS, impossible, sizeof(impossible));
	synth_add_block(m, CHAINLOG_BLOCK_AUX_EVENTS, older, sizeof(older));
	synth_end(m, 500);
	synth_expect_events(m,
			    "100 switch 0 R>7\n"
			    "200 request 7 1099511627776 [tcp :80] 9 9 100 150 190 8589934592 12 "
			    "[route GET /a] send work;main\n"
			    "260 more 7 1099511627776 9 250 190 12\n"
			    "300 open 9 1099511627776 [tcp :80] 9 100 150 [route GET /a]\n"
			    "400 request 7 1 0 63 0 100 100 100 0 0 0\n"
			    "410 open 7 1 0 63 110 110 0\n");
	synth_free(m);
}

/* A block of CPU 0 by hand. */
static void expect_of_block(const void *payload, size_t len, const char *expected,
			    const char *damage)
{
	struct synth *m = synth_new();
	const char *what;
	struct trace *t;
	size_t all;

	synth_switch(m, 0, 5, 0, 'R', 7, "");
	synth_flush(m);
	synth_add_block(m, CHAINLOG_BLOCK_AUX_EVENTS, payload, len);
	synth_end(m, 50);
	/* The footer does not know of the added block. */
	synth_bytes(m, &all);
	synth_cut_out(m, all - CHAINLOG_FOOTER_SIZE, CHAINLOG_FOOTER_SIZE);
	synth_expect_events(m, expected);
	t = synth_open(m);
	what = trace_damage(t)->what;
	assert_string_equal(what ? what : "none", damage);
	trace_close(t);
	synth_free(m);
}

/* The short form: what is as with the connection's last request, or with the last one if it is new,
 * is not written. */
TEST(requests_are_told_by_what_is_new)
{
	/* CPU 0 from 100 to 140. Of each the kind, the time and the length of the fields. */
	/* clang-format off */
	static const uint8_t payload[] = {
		0, 100, 40, 4,
		/* Connection 9, with everything: 10 and 20 bytes, no label, flags 2, threads 5 and 7,
		 * no endpoint; answered 3 ago, taken 27 before that, and arrived 20 before that. */
		31, 0, 11, 3, 9, 0x3b, 10, 20, 2, 5, 7, 3, 27, 20,
		/* The same again, and then with other bytes written. */
		31, 10, 3, 4, 17, 10,
		31, 10, 5, 5, 2, 21, 17, 20,
		/* Connection 8, as that before, but for stacks. */
		31, 20, 8, 1, 8, 0x80, 1, 0, 0, 17, 20,
	};
	/* clang-format on */
	/* The same as it is written now: a mask is doubled, and what has been so before has a
	 * place. */
	/* clang-format off */
	static const uint8_t shapes[] = {
		0, 100, 50, 5,
		30, 0, 11, 3, 9, 0x76, 10, 20, 2, 5, 7, 3, 27, 20,
		30, 10, 5, 5, 4, 21, 17, 20,
		/* The first and the second shape of the block, and one that it has not had. */
		30, 10, 4, 5, 1, 17, 20,
		30, 10, 4, 5, 3, 17, 20,
		30, 20, 4, 5, 127, 17, 20,
	};
	/* clang-format on */
	/* No such connection; a thread, and a field, that cannot be; too short. */
	static const uint8_t bad[][14] = {
		{ 0, 100, 0, 1, 31, 0, 3, 4, 20, 30 },
		{ 0, 100, 0, 1, 31, 0, 7, 1, 9, 0x10, 0x80, 0x80, 0x80, 2 },
		{ 0, 100, 0, 1, 31, 0, 4, 1, 9, 0x80, 4 },
		{ 0, 100, 0, 1, 31, 0, 3, 0, 9, 50, 30 },
		{ 0, 100, 0, 1, 30, 0, 6, 1, 9, 0x81, 1, 50, 30 },
	};

	expect_of_block(payload, sizeof(payload),
			"5 switch 0 R>7\n"
			"100 request 7 9 0 2 5 50 70 97 10 20 0\n"
			"110 request 7 9 0 2 5 80 90 107 10 20 0\n"
			"120 request 7 9 0 2 5 80 100 117 10 21 0\n"
			"140 request 7 8 0 2 5 100 120 137 10 21 0\n",
			"none");
	expect_of_block(shapes, sizeof(shapes),
			"5 switch 0 R>7\n"
			"100 request 7 9 0 2 5 50 70 97 10 20 0\n"
			"110 request 7 9 0 2 5 70 90 107 10 21 0\n"
			"120 request 7 9 0 2 5 80 100 117 10 20 0\n"
			"130 request 7 9 0 2 5 90 110 127 10 21 0\n"
			"150 request 7 9 0 0 5 110 130 147 0 0 0\n",
			"none");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_of_block(bad[i], 7u + bad[i][6] + (i == 3 ? 1 : 0), "5 switch 0 R>7\n",
				"a malformed block of samples or the like");
}

/* The kinds in the n-th block of AUX_EVENTS, as they are written. */
static void expect_kinds(struct synth *m, unsigned int n, const char *expected)
{
	size_t len, all, at = synth_block(m, CHAINLOG_BLOCK_AUX_EVENTS, n, &len);
	const uint8_t *p = synth_bytes(m, &all) + at + CHAINLOG_HEADER_SIZE, *end = p + len;
	struct chainlog_events_head head = { .count = 0 };
	uint64_t kind = 0, delta, fields = 0;
	char kinds[40] = "";

	p = chainlog_get_head(p, end, &head);
	for (uint32_t i = 0; i < head.count; i++) {
		p = chainlog_get_varint(p, end, &kind);
		p = chainlog_get_varint(p, end, &delta);
		p = chainlog_get_varint(p, end, &fields) + fields;
		snprintf(kinds + strlen(kinds), sizeof(kinds) - strlen(kinds), "%u ",
			 (unsigned int)kind);
	}
	assert_string_equal(kinds, expected);
}

/* Written without the thread, which is the one that was woken right before. */
TEST(what_is_ready_needs_no_thread_after_its_waking)
{
	struct encoder_object
		tcp = { .class = "tcp", .name = "a", .own = "", .peer = 0, .owner = 0 },
		udp = { .class = "udp", .name = "b", .own = "", .peer = 0, .owner = 0 };
	/* At 400 and 401, on a CPU on which there was no waking; the second one in the long form.
	 */
	static const uint8_t alone[] = { 1, 0x90, 3, 1, 2, 35, 0, 0, 6, 1, 1, 1 };
	struct synth *m = synth_new();
	struct encoder *e = synth_encoder(m);
	struct event ev[] = { ready(200, 8, 1), ready(200, 9, 2), ready(210, 8, 2),
			      ready(300, 9, 2) };
	struct trace *t;
	size_t all;

	assert_int_equal(encoder_object(e, &tcp), 1);
	assert_int_equal(encoder_object(e, &udp), 2);
	synth_switch(m, 0, 100, 0, 'R', 7, "");
	synth_waking(m, 0, 200, 7, 8, "wake");
	/* Of that thread, of another one, and later. */
	for (int i = 0; i < 3; i++)
		MUST(!encoder_event(e, &ev[i]));
	synth_waking(m, 0, 300, 7, 9, "wake");
	synth_flush(m);
	MUST(!encoder_event(e, &ev[3]));
	synth_flush(m);
	synth_add_block(m, CHAINLOG_BLOCK_AUX_EVENTS, alone, sizeof(alone));
	synth_end(m, 500);
	expect_kinds(m, 0, "35 7 7 ");
	expect_kinds(m, 1, "7 ");
	/* The footer does not know of the added block. */
	synth_bytes(m, &all);
	synth_cut_out(m, all - CHAINLOG_FOOTER_SIZE, CHAINLOG_FOOTER_SIZE);
	synth_expect_events(m, "100 switch 0 R>7\n"
			       "200 waking 7>8 wake\n"
			       "200 ready 8 [tcp a]\n"
			       "200 ready 9 [udp b]\n"
			       "210 ready 8 [udp b]\n"
			       "300 waking 7>9 wake\n"
			       "300 ready 9 [udp b]\n"
			       "400 ready 0 0\n"
			       "401 ready 0 0\n");
	t = synth_open(m);
	assert_int_equal(trace_info(t)->events_of[EVENT_READY], 6);
	trace_close(t);
	synth_free(m);
}

/* What a thread waits for, in the form of older writers and in the short one. */
TEST(what_is_waited_for_has_two_forms)
{
	static const uint8_t longer[] = { 0, 100, 0, 1, 2, 0, 1, 2 },
			     shorter[] = { 0, 100, 0, 1, 36, 0, 0 };
	static const uint8_t huge[] = { 0,    100,  0,	  1,	0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff, 0xff, 1,    0,	  0 };
	static const struct {
		const uint8_t *p;
		size_t len;
		const char *expected;
	} forms[] = { { longer, sizeof(longer), "100 object 7 [udp b]\n" },
		      { shorter, sizeof(shorter), "100 object 7 [udp b]\n" },
		      { huge, sizeof(huge), "100 ready 0 0\n" } };

	for (size_t i = 0; i < 3; i++) {
		struct encoder_object
			tcp = { .class = "tcp", .name = "a", .own = "", .peer = 0, .owner = 0 },
			udp = { .class = "udp", .name = "b", .own = "", .peer = 0, .owner = 0 };
		struct synth *m = synth_new();
		char expected[100];
		size_t all;

		assert_int_equal(encoder_object(synth_encoder(m), &tcp), 1);
		assert_int_equal(encoder_object(synth_encoder(m), &udp), 2);
		synth_switch(m, 0, 100, 7, 'S', 0, "");
		synth_flush(m);
		synth_add_block(m, CHAINLOG_BLOCK_AUX_EVENTS, forms[i].p, forms[i].len);
		synth_end(m, 500);
		synth_bytes(m, &all);
		synth_cut_out(m, all - CHAINLOG_FOOTER_SIZE, CHAINLOG_FOOTER_SIZE);
		snprintf(expected, sizeof(expected), "100 switch 7 S>0\n%s", forms[i].expected);
		synth_expect_events(m, expected);
		synth_free(m);
	}
}

TEST(unknown_kinds_and_fields_are_skipped)
{
	static const uint8_t kinds[] = { 0, 10, 20, 4,	0, 0, 3, 7,  0, 0, 28, 5,
					 2, 1,	1,  29, 5, 0, 0, 10, 3, 8, 0,  0 };
	/* A sample with a field more, and one with fields less. */
	static const uint8_t fields[] = { 0, 10, 20, 2, 0, 0, 5, 7, 0, 0, 0xff, 1, 0, 20, 1, 8 };

	expect_of_block(kinds, sizeof(kinds), "5 switch 0 R>7\n10 sample 7\n30 sample 8\n", "none");
	expect_of_block(fields, sizeof(fields), "5 switch 0 R>7\n10 sample 7\n30 sample 8\n",
			"none");
}

TEST(malformed_blocks_are_told_and_left_out)
{
	static const uint8_t cut[] = { 0, 10, 20, 1, 0, 20, 4, 7, 0, 0 };
	static const uint8_t late[] = { 0, 10, 20, 1, 0, 21, 3, 7, 0, 0 };
	static const uint8_t early[] = { 0, 10, 20, 1, 0, 19, 3, 7, 0, 0 };
	static const uint8_t tid[] = { 0, 10, 20, 1, 0, 20, 6, 0x80, 0x80, 0x80, 2, 0, 0 };
	static const uint8_t rest[] = { 0, 10, 20, 1, 0, 20, 3, 7, 0, 0, 1 };
	static const uint8_t no_head[] = { 0, 10, 20, 100 };
	static const struct {
		const uint8_t *p;
		size_t len;
	} bad[] = {
		{ cut, sizeof(cut) }, { late, sizeof(late) }, { early, sizeof(early) },
		{ tid, sizeof(tid) }, { rest, sizeof(rest) }, { no_head, sizeof(no_head) },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_of_block(bad[i].p, bad[i].len, "5 switch 0 R>7\n",
				"a malformed block of samples or the like");
}

TEST(a_missing_block_is_told_and_hides_no_event)
{
	static const char *const expected[] = { "blocks of samples or the like are missing",
						"a block whose checksum does not match" };
	struct synth *m;
	struct trace *t;
	size_t at, len, all;

	for (int damaged = 0; damaged < 2; damaged++) {
		m = with_samples();
		at = synth_block(m, CHAINLOG_BLOCK_AUX_EVENTS, 0, &len);
		if (damaged) {
			synth_bytes(m, &all)[at + CHAINLOG_HEADER_SIZE] ^= 1;
		} else {
			synth_bytes(m, &all);
			/* The footer would say that something is missing. */
			synth_cut_out(m, all - CHAINLOG_FOOTER_SIZE, CHAINLOG_FOOTER_SIZE);
			synth_cut_out(m, at, len);
		}
		/* Of CPU 0: those of CPU 1 are there. */
		synth_expect_events(m, "100 switch 0 R>7\n"
				       "100 switch 0 R>8\n"
				       "100 sample 8 spin;main\n"
				       "140 sample 8\n"
				       "150 switch 8 S>0 schedule;read\n"
				       "200 waking 7>8 wake;write\n"
				       "250 switch 7 S>0 schedule;read\n");
		t = synth_open(m);
		assert_string_equal(trace_damage(t)->what, expected[damaged]);
		trace_close(t);
		synth_free(m);
	}
}

/* Unchecked, a malformed event ends the events with an error, so that the trace is checked. */
TEST(an_unchecked_trace_has_the_same_events)
{
	struct synth *m = with_samples();
	struct trace_bytes bytes = { .base = synth_bytes(m, &bytes.len) };
	struct trace *t;
	char *text;

	assert_int_equal(trace_open_bytes(&t, &bytes, false), 0);
	text = synth_events_text(t);
	assert_string_equal(text, with_samples_events);
	free(text);
	trace_close(t);
	synth_free(m);
}

/* Lists that say more of threads, by hand: threads 12 and 13, and one object. */
static void expect_lists(enum chainlog_block type, const uint8_t *payload, size_t len,
			 uint32_t first, uint32_t second, const char *damage)
{
	struct synth *m = synth_new();
	const struct trace_thread *th;
	const char *what;
	struct trace *t;
	size_t n, all;

	synth_thread(m, 12, "a");
	synth_thread(m, 13, "b");
	assert_int_equal(synth_group_object(m, "/a", 1), 1);
	synth_flush(m);
	synth_add_block(m, type, payload, len);
	synth_end(m, 50);
	/* The footer does not know of the added block. */
	synth_bytes(m, &all);
	synth_cut_out(m, all - CHAINLOG_FOOTER_SIZE, CHAINLOG_FOOTER_SIZE);
	t = synth_open(m);
	th = trace_threads(t, &n);
	assert_int_equal(n, 2);
	assert_int_equal(type == CHAINLOG_BLOCK_THREAD_GROUPS ? th[0].group : th[0].own_id, first);
	assert_int_equal(type == CHAINLOG_BLOCK_THREAD_GROUPS ? th[1].group : th[1].own_id, second);
	what = trace_damage(t)->what;
	assert_string_equal(what ? what : "none", damage);
	trace_close(t);
	synth_free(m);
}

TEST(groups_and_own_ids_of_threads_are_checked)
{
	const enum chainlog_block groups = CHAINLOG_BLOCK_THREAD_GROUPS;
	const enum chainlog_block ids = CHAINLOG_BLOCK_THREAD_OWN_IDS;

#define LIST(...) (const uint8_t[]) { __VA_ARGS__ }, sizeof((const uint8_t[]) { __VA_ARGS__ })
	expect_lists(groups, LIST(2, 12, 1, 13, 1), 1, 1, "none");
	/* No such object; no such thread; fewer items than are said; one that is cut. */
	expect_lists(groups, LIST(2, 12, 2, 13, 1), 0, 1, "none");
	expect_lists(groups, LIST(2, 12, 1, 99, 1), 1, 0, "none");
	expect_lists(groups, LIST(3, 12, 1, 13, 1), 0, 0, "a malformed block of threads' groups");
	expect_lists(groups, LIST(2, 12, 1, 13), 0, 0, "a malformed block of threads' groups");
	expect_lists(ids, LIST(2, 12, 1, 13, 2), 1, 2, "none");
	expect_lists(ids, LIST(1, 13, 0xff, 0xff, 0xff, 0x7f), 0, 0,
		     "a malformed block of threads' own ids");
#undef LIST
}

TEST(groups_of_threads_are_read)
{
	struct synth *m = synth_new();

	synth_thread(m, 7, "a");
	synth_group(m, 0, 10, 7, "/a", false);
	synth_group(m, 0, 20, 7, "/b", true);
	/* Without the last field, which an older writer may not have; of no object; of no thread.
	 */
	synth_flush(m);
	synth_add_block(m, CHAINLOG_BLOCK_AUX_EVENTS,
			(const uint8_t[]) { 0, 30, 2, 3, 19, 0,	 2, 1, 7, 19,
					    1, 3,  9, 7, 1,  20, 1, 2, 7, 5 },
			20);
	synth_end(m, 50);
	synth_expect_events(m, "10 group 7 [cgroup /a] 0\n"
			       "20 group 7 [cgroup /b] 1\n"
			       "30 group 7 [cgroup /a] 0\n"
			       "31 group 7 0 1\n"
			       "32 own-id 7 5\n");
	synth_free(m);
}
