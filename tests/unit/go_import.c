// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Go's execution traces as traces: events in, in both layouts, folded lines out. A tick is a
 * microsecond. import_goroutines.sh compares with what Go's own tool says of a real one.
 */
#include "test.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "go/go_import.h"
#include "go_bytes.h"
#include "synth_script.h"

/* ---- reading them --------------------------------------------------------------------------- */

static char *folded_of(const struct bytes *b, uint32_t goroutine, struct import_report *report)
{
	struct trace_bytes log;
	struct options o;
	struct trace *t;
	char *lines;

	/* Of just this size, so that a read beyond it is caught. */
	uint8_t *copy = malloc(b->len);

	assert_non_null(copy);
	memcpy(copy, b->p, b->len);
	assert_int_equal(
		go_import(&(struct import_input) { .p = copy, .len = b->len }, &log, report), 0);
	free(copy);
	assert_int_equal(trace_open_memory(&t, log.base, log.len), 0);
	assert_null(trace_damage(t)->what);
	options_init(&o);
	o.parts |= PART_PREEMPTED;
	o.tids = (struct id_list) { &goroutine, 1 };
	lines = trace_folded(t, &o);
	trace_close(t);
	trace_bytes_free(&log);
	return lines;
}

/* Leaves out where in the source frames are: " (x.go:1)". */
static char *without_places(char *lines)
{
	char *to = lines;

	for (const char *p = lines; *p;) {
		if (!strncmp(p, " (x.go:", 7))
			p += strcspn(p, ")") + 1;
		else
			*to++ = *p++;
	}
	*to = '\0';
	return lines;
}

static struct import_report expect_folded(const struct bytes *b, uint32_t goroutine,
					  const char *expected)
{
	struct import_report r;

	expect_text(without_places(folded_of(b, goroutine, &r)), expected);
	assert_int_equal(r.source, IMPORT_FROM_GO);
	return r;
}

static int error_of(const struct bytes *b)
{
	struct import_report r;
	struct trace_bytes log;
	int err = go_import(&(struct import_input) { .p = b->p, .len = b->len }, &log, &r);

	if (!err)
		trace_bytes_free(&log);
	return err;
}

/* ---- up to Go 1.21 -------------------------------------------------------------------------- */

/*
 * 1 waits for a mutex from 1100 to 1900, which 2, on P 1, releases at 1900. 2 itself waited from
 * 1300 to 1700 at a channel for 3, on P 2.
 */
static struct bytes old_relay(void)
{
	struct bytes b = old_begin();

	item(&b, OLD_SYNC, NUMBERS(90, 4));
	item(&b, OLD_START, NUMBERS(830, 1, 3));
	item(&b, OLD_BATCH, NUMBERS(1, 1020));
	item(&b, OLD_PROC_START, NUMBERS(0, 5));
	item(&b, OLD_START, NUMBERS(0, 2, 1));
	item(&b, OLD_RECEIVE, NUMBERS(280, 12));
	item(&b, OLD_START, NUMBERS(410, 2, 3));
	item(&b, OLD_UNBLOCK, NUMBERS(190, 1, 2, 6));
	item(&b, OLD_BATCH, NUMBERS(2, 1020));
	item(&b, OLD_PROC_START, NUMBERS(0, 7));
	item(&b, OLD_START, NUMBERS(0, 3, 1));
	item(&b, OLD_UNBLOCK, NUMBERS(680, 2, 2, 7));
	item(&b, OLD_ENDS, NUMBERS(1000));
	old_end(&b);
	return b;
}

static const char relayed[] = "f1;f4;[sync];--;f6;f2;--;f7;f3;[running] 400\n"
			      "f1;f4;[sync];--;f6;f2;[runnable] 10\n"
			      "f1;f4;[sync];--;f6;f2;[running] 390\n"
			      "f1;f4;[sync];[runnable] 30\n";

TEST(a_chain_goes_from_goroutine_to_goroutine)
{
	struct bytes b = old_relay();
	struct import_report r = expect_folded(&b, 1, relayed);

	assert_int_equal(r.wakings, 2);
	assert_int_equal(r.missing_switches, 0);
	assert_int_equal(r.times_back, 0);
	expect_folded(&b, 2,
		      "f2;f2;f1;[chan receive];--;f7;f3;[running] 400\n"
		      "f2;f2;f1;[chan receive];[runnable] 10\n");
}

TEST(frames_have_the_source_line)
{
	struct bytes b = old_relay();
	struct import_report r;

	expect_text(folded_of(&b, 2, &r),
		    "f2;f2 (x.go:2);f1 (x.go:1);[chan receive];--;f7 (x.go:7);f3;[running] 400\n"
		    "f2;f2 (x.go:2);f1 (x.go:1);[chan receive];[runnable] 10\n");
}

/* The clock of P 1 is 40 us behind: it starts 1 after, and not before, P 0 woke it. */
TEST(clocks_of_cpus_may_differ)
{
	struct bytes b = old_begin();
	struct import_report r;

	item(&b, OLD_SYNC, NUMBERS(90, 4));
	item(&b, OLD_START, NUMBERS(10, 2, 1));
	item(&b, OLD_UNBLOCK, NUMBERS(790, 1, 2, 6));
	item(&b, OLD_ENDS, NUMBERS(100));
	item(&b, OLD_BATCH, NUMBERS(1, 1500));
	item(&b, OLD_PROC_START, NUMBERS(0, 5));
	item(&b, OLD_START, NUMBERS(360, 1, 3));
	old_end(&b);
	r = expect_folded(&b, 1,
			  "f1;f4;[sync];--;f6;f2;[running] 790\n"
			  "f1;f4;[sync];--;f6;f2;[unknown] 10\n");
	assert_int_equal(r.times_back, 1);
}

/* The call is one wait from 1100 on; the goroutine lost its P at 1200, and got one at 1900. */
TEST(a_system_call_is_a_wait_from_its_begin_to_its_end)
{
	struct bytes b = old_begin();

	item(&b, OLD_CALL, NUMBERS(90, 4));
	item(&b, OLD_CALL_BLOCKED, NUMBERS(100));
	item(&b, OLD_CALL_EXIT, NUMBERS(690, 1, 2, 1700));
	item(&b, OLD_START_LOCAL, NUMBERS(10, 1));
	/* This one is short. */
	item(&b, OLD_CALL, NUMBERS(10, 5));
	item(&b, OLD_ENDS, NUMBERS(100));
	old_end(&b);
	expect_folded(&b, 1,
		      "f1;f4;[syscall];--;runtime.exitsyscall;[interrupt] 600\n"
		      "f1;f4;[syscall];[runnable] 200\n");
}

TEST(what_no_goroutine_ends_has_the_end_of_timers_and_packets)
{
	static const struct {
		uint8_t type;
		const char *lines;
	} cases[] = {
		{ OLD_SLEEP, "f1;f4;[sleep];--;runtime.runtimer;[timer] 800\n" },
		{ OLD_SELECT, "f1;f4;[chan select];--;runtime.runtimer;[timer] 800\n" },
		{ OLD_NETWORK, "f1;f4;[IO wait];--;runtime.netpoll;[network] 800\n" },
		{ OLD_SYNC, "f1;f4;[sync];--;runtime.ready;[interrupt] 800\n" },
		{ OLD_BLOCK, "f1;f4;--;runtime.ready;[interrupt] 800\n" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes b = old_begin();

		item(&b, cases[i].type, NUMBERS(90, 4));
		item(&b, OLD_UNBLOCK_LOCAL, NUMBERS(800, 1, 0));
		item(&b, OLD_START_LOCAL, NUMBERS(0, 1));
		item(&b, OLD_ENDS, NUMBERS(100));
		old_end(&b);
		expect_folded(&b, 1, cases[i].lines);
	}
}

/* 4 is created at 1200 by 1, and starts at 1300; 3 has been waiting since before. */
TEST(goroutines_are_born_and_some_were_there)
{
	struct bytes b = begin("go 1.19 trace");

	item(&b, OLD_BATCH, NUMBERS(0, 1000));
	item(&b, OLD_CREATE, NUMBERS(0, 1, 1, 0));
	item(&b, OLD_CREATE, NUMBERS(1, 3, 3, 0));
	item(&b, OLD_WAITING, NUMBERS(1, 3));
	item(&b, OLD_PROC_START, NUMBERS(8, 0));
	item(&b, OLD_START, NUMBERS(0, 1, 1));
	item(&b, OLD_CREATE, NUMBERS(190, 4, 4, 8));
	item(&b, OLD_UNBLOCK, NUMBERS(0, 3, 2, 9));
	item(&b, OLD_YIELD, NUMBERS(100, 5));
	item(&b, OLD_START, NUMBERS(0, 4, 1));
	item(&b, OLD_ENDS, NUMBERS(100));
	item(&b, OLD_START, NUMBERS(0, 3, 3));
	item(&b, OLD_ENDS, NUMBERS(100));
	item(&b, OLD_START_LOCAL, NUMBERS(0, 1));
	item(&b, OLD_ENDS, NUMBERS(100));
	old_end(&b);
	expect_folded(&b, 4, "f4;[unknown stack];[runnable] 100\n");
	expect_folded(&b, 3,
		      "f3;[unknown stack];--;f9;f1;[running] 190\n"
		      "f3;[unknown stack];[runnable] 200\n");
	expect_folded(&b, 1, "f1;f5;[preempted] 200\n");
}

TEST(goroutines_with_large_numbers_are_numbered_anew)
{
	struct bytes b = begin("go 1.11 trace");

	item(&b, OLD_BATCH, NUMBERS(0, 1000));
	item(&b, OLD_CREATE, NUMBERS(0, 1ull << 40, 1, 0));
	item(&b, OLD_PROC_START, NUMBERS(10, 0));
	item(&b, OLD_START, NUMBERS(0, 1ull << 40, 1));
	item(&b, OLD_YIELD, NUMBERS(100, 5));
	item(&b, OLD_START_LOCAL, NUMBERS(100, 1ull << 40));
	old_end(&b);
	assert_true(expect_folded(&b, 1, "f1;f5;[preempted] 100\n").renumbered);
}

TEST(what_is_no_sound_trace_is_refused)
{
	struct bytes b;

	b = begin("go 1.5 trace");
	assert_true(go_is_trace(b.p, b.len));
	assert_int_equal(error_of(&b), -IMPORT_E_GO_VERSION);
	b = begin("go 1.99 trace");
	assert_int_equal(error_of(&b), -IMPORT_E_GO_VERSION);
	b = begin("go 1.1999 trace");
	assert_false(go_is_trace(b.p, b.len));
	b = begin("go 1.19 tracks");
	assert_false(go_is_trace(b.p, b.len));
	assert_false(go_is_trace(b.p, 15));
	/* The program ended without trace.Stop(). */
	b = old_begin();
	assert_int_equal(error_of(&b), -IMPORT_E_GO_CUT);
	b = begin("go 1.19 trace");
	assert_int_equal(error_of(&b), -IMPORT_E_GO_CUT);
	b = begin("go 1.22 trace");
	assert_int_equal(error_of(&b), -IMPORT_E_GO_CUT);
	/* 2 is started twice. */
	b = old_begin();
	item(&b, OLD_BATCH, NUMBERS(1, 1020));
	item(&b, OLD_START, NUMBERS(0, 2, 1));
	item(&b, OLD_START, NUMBERS(0, 2, 1));
	old_end(&b);
	assert_int_equal(error_of(&b), -IMPORT_E_GO_ORDER);
	assert_non_null(import_error_text(-IMPORT_E_GO_VERSION));
	assert_non_null(import_error_text(-IMPORT_E_GO_CUT));
	assert_non_null(import_error_text(-IMPORT_E_GO_ORDER));
	assert_non_null(import_error_text(-IMPORT_E_GO_MANY));
}

/* ---- since Go 1.22 -------------------------------------------------------------------------- */

enum { SYNC = 10, RECEIVE };

/* As old_relay(), with threads 71, 72 and 73; a second generation begins at 1800. */
static struct bytes new_relay(bool is_1_26)
{
	struct bytes b = begin(is_1_26 ? "go 1.26 trace" : "go 1.23 trace");
	struct bytes one = { .len = 0 }, two = one, three = one;

	put_event(&one, NEW_PROC_STATUS, NUMBERS(0, 0, RUNNING - 1));
	put_event(&one, NEW_STATUS_STACK, NUMBERS(0, 1, 71, RUNNING, 1));
	put_event(&one, NEW_BLOCK, NUMBERS(100, SYNC, 4));
	put_batch(&b, 1, 71, 1000, &one);
	put_event(&two, NEW_PROC_START, NUMBERS(0, 1, 1));
	put_event(&two, NEW_STATUS, NUMBERS(0, 2, NOBODY, RUNNABLE));
	put_event(&two, NEW_START, NUMBERS(0, 2, 1));
	put_event(&two, NEW_BLOCK, NUMBERS(280, RECEIVE, 12));
	put_event(&two, NEW_START, NUMBERS(410, 2, 3));
	put_batch(&b, 1, 72, 1020, &two);
	put_event(&three, NEW_PROC_START, NUMBERS(0, 2, 1));
	put_event(&three, NEW_STATUS_STACK, NUMBERS(0, 3, NOBODY, RUNNABLE, 3));
	put_event(&three, NEW_START, NUMBERS(0, 3, 1));
	put_event(&three, NEW_UNBLOCK, NUMBERS(680, 2, 2, 7));
	put_batch(&b, 1, 73, 1020, &three);
	put_tables(&b, 1);
	if (is_1_26)
		put_byte(&b, NEW_GENERATION_END);
	/* The second: states are told again, and numbered anew. */
	one.len = two.len = three.len = 0;
	put_event(&one, NEW_START, NUMBERS(0, 1, 2));
	put_batch(&b, 2, 71, 1930, &one);
	put_event(&two, NEW_STATUS_STACK, NUMBERS(0, 2, 72, RUNNING, 1));
	put_event(&two, NEW_STATUS_STACK, NUMBERS(0, 1, NOBODY, WAITING, 4));
	put_event(&two, NEW_UNBLOCK, NUMBERS(50, 1, 1, 6));
	put_batch(&b, 2, 72, 1850, &two);
	put_event(&three, NEW_STATUS, NUMBERS(0, 3, 73, RUNNING));
	put_event(&three, NEW_ENDS, NUMBERS(200));
	put_batch(&b, 2, 73, 1850, &three);
	put_tables(&b, 2);
	if (is_1_26)
		put_byte(&b, NEW_GENERATION_END);
	return b;
}

/* Without the start functions: those of 1 and 2 are the roots of their stacks. */
TEST(the_newer_layout_says_the_same)
{
	struct import_report r;

	for (int is_1_26 = 0; is_1_26 <= 1; is_1_26++) {
		struct bytes b = new_relay(is_1_26);

		r = expect_folded(&b, 1,
				  "f4;f4;[sync];--;f6;f2;--;f7;[unknown];[running] 400\n"
				  "f4;f4;[sync];--;f6;f2;[runnable] 10\n"
				  "f4;f4;[sync];--;f6;f2;[running] 390\n"
				  "f4;f4;[sync];[runnable] 30\n");
		assert_int_equal(r.missing_switches, 0);
		assert_false(import_damaged(&r));
	}
}

/* 1 calls from 1100 to 1700 and loses its P; 2 has been in a call on thread 72, until 1500. */
TEST(system_calls_of_the_newer_layout)
{
	struct bytes b = begin("go 1.22 trace"), one = { .len = 0 }, two = one;

	put_event(&one, NEW_PROC_START, NUMBERS(0, 0, 1));
	put_event(&one, NEW_STATUS, NUMBERS(0, 2, 72, IN_CALL));
	put_event(&one, NEW_CREATE, NUMBERS(0, 1, 1, 0));
	put_event(&one, NEW_START, NUMBERS(10, 1, 1));
	put_event(&one, NEW_CALL, NUMBERS(90, 1, 4));
	put_event(&one, NEW_CALL_END_BLOCKED, NUMBERS(600));
	put_event(&one, NEW_PROC_START, NUMBERS(50, 0, 3));
	put_event(&one, NEW_START, NUMBERS(50, 1, 2));
	put_event(&one, NEW_CALL, NUMBERS(10, 4, 5));
	put_event(&one, NEW_CALL_END, NUMBERS(10));
	put_event(&one, NEW_ENDS, NUMBERS(100));
	put_batch(&b, 1, 71, 1000, &one);
	put_event(&two, NEW_CALL_END_BLOCKED, NUMBERS(0));
	put_event(&two, NEW_PROC_START, NUMBERS(0, 1, 1));
	put_event(&two, NEW_START, NUMBERS(20, 2, 1));
	put_event(&two, NEW_ENDS, NUMBERS(0));
	put_batch(&b, 1, 72, 1500, &two);
	put_tables(&b, 1);
	expect_folded(&b, 1,
		      "f1;[unknown stack];[runnable] 10\n"
		      "f1;f4;[syscall];--;runtime.exitsyscall;[interrupt] 600\n"
		      "f1;f4;[syscall];[runnable] 100\n");
	expect_folded(&b, 2,
		      "[unknown];[unknown stack];--;runtime.exitsyscall;[interrupt] 500\n"
		      "[unknown];[unknown stack];[runnable] 20\n");
}

/* A coroutine: 1 lets 2 run on its own thread, which wakes 1 again in the same way. */
TEST(a_coroutine_is_woken_by_who_switches_to_it)
{
	struct bytes b = begin("go 1.23 trace"), one = { .len = 0 };

	put_event(&one, NEW_PROC_START, NUMBERS(0, 0, 1));
	put_event(&one, NEW_CREATE, NUMBERS(0, 1, 1, 0));
	put_event(&one, 47, NUMBERS(0, 2, 2, 0));
	put_event(&one, NEW_START, NUMBERS(0, 1, 1));
	put_event(&one, NEW_SWITCH, NUMBERS(100, 2, 1));
	put_event(&one, NEW_SWITCH, NUMBERS(300, 1, 2));
	put_event(&one, NEW_ENDS, NUMBERS(50));
	put_batch(&b, 1, 71, 1000, &one);
	put_tables(&b, 1);
	expect_folded(&b, 1, "f1;[unknown stack];--;[unknown stack];f2;[running] 300\n");
}

/* ---- hostile -------------------------------------------------------------------------------- */

static void must_be_sound(const uint8_t *p, size_t len)
{
	struct import_report r;
	struct trace_bytes log;
	struct trace *t;
	uint8_t *copy = malloc(len + !len);

	assert_non_null(copy);
	memcpy(copy, p, len);
	if (!go_import(&(struct import_input) { .p = copy, .len = len }, &log, &r)) {
		assert_int_equal(trace_open_memory(&t, log.base, log.len), 0);
		assert_null(trace_damage(t)->what);
		assert_int_equal(trace_info(t)->events_of[EVENT_SWITCH], r.switches);
		trace_close(t);
		trace_bytes_free(&log);
	}
	free(copy);
}

TEST(a_damaged_trace_gives_a_sound_one_or_none)
{
	static const uint8_t evil[] = { 0, 1, 0x3f, 0x7f, 0x80, 0xc0, 0xff };
	struct bytes traces[] = { old_relay(), new_relay(true) };

	for (size_t i = 0; i < 2; i++) {
		struct bytes *b = &traces[i];

		for (size_t at = 0; at < b->len; at++) {
			uint8_t was = b->p[at];

			for (size_t k = 0; k < sizeof(evil); k++) {
				b->p[at] = evil[k];
				must_be_sound(b->p, b->len);
			}
			b->p[at] = was ^ 4;
			must_be_sound(b->p, b->len);
			b->p[at] = was;
			must_be_sound(b->p, at);
		}
	}
}
