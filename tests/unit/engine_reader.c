// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace reader: what was recorded comes back, in order; what was damaged is told. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crc32c.h"
#include "../../engine/timeline.h"
#include "made.h"

/* ---- helpers ------------------------------------------------------------------------------- */

/* Opens what was made, compares its events with the lines expected, and closes it. */
static void expect_events(struct made *m, const char *expected)
{
	struct trace *t = made_open(m);
	char *text = made_events_text(t);

	assert_string_equal(text, expected);
	free(text);
	trace_close(t);
}

static const struct trace_damage *damage_of(struct made *m)
{
	static struct trace_damage d;
	struct trace *t = made_open(m);

	d = *trace_damage(t);
	trace_close(t);
	return &d;
}

static int open_bytes(const void *p, size_t len)
{
	struct trace *t;
	int err = trace_open_memory(&t, p, len);

	if (!err)
		trace_close(t);
	else
		assert_null(t);
	return err;
}

/* ---- sound traces -------------------------------------------------------------------------- */

static void what_was_recorded_comes_back(void **state)
{
	struct made *m = made_sample();

	(void)state;
	expect_events(m, made_sample_events);
	assert_null(damage_of(m)->what);
	made_free(m);
}

static void info_says_what_the_recorder_said(void **state)
{
	struct made *m = made_sample();
	struct trace *t = made_open(m);
	const struct trace_info *i = trace_info(t);

	(void)state;
	assert_string_equal(i->host, "testhost");
	assert_string_equal(i->release, "6.1.0-test");
	assert_string_equal(i->arch, "x86_64");
	assert_string_equal(i->options, "chaincap -o trace.bin 10");
	assert_string_equal(i->tool, "chaincap 0.1.0");
	assert_int_equal(i->cpus, 2);
	assert_int_equal(i->start_ns, 0);
	assert_int_equal(i->end_ns, 600);
	assert_true(i->complete);
	assert_int_equal(i->events, 12);
	assert_int_equal(i->events_of[EVENT_SWITCH], 5);
	assert_int_equal(i->events_of[EVENT_WAKING], 2);
	assert_int_equal(i->kernel_events, 12);
	trace_close(t);
	made_free(m);
}

static void threads_modules_and_names_are_found_by_id(void **state)
{
	const uint8_t build_id[] = { 0xab, 0x01, 0xff };
	struct made *m = made_new();
	struct encoder *e = made_encoder(m);
	uint32_t module = encoder_module(e, "/lib/libc.so.6", build_id, sizeof(build_id));
	uint32_t bare = encoder_module(e, "/bin/bare", NULL, 0);
	uint32_t space = encoder_space(e, 42, "/bin/x");
	uint32_t frame = encoder_frame(e, space, 0x7f0000001234), nameless;
	struct encoder_thread th = { 42, 40, 5, 6, CHAINLOG_THREAD_KTHREAD, 'D', "kw", 0, 0 };
	const struct trace_thread *threads;
	struct trace *t;
	size_t n;

	(void)state;
	nameless = encoder_frame(e, 0, 0xffffffff80000000);
	encoder_name(e, frame, "malloc", module, 0x34);
	th.kstack = made_kstack(m, "io_schedule;kthread");
	made_thread_full(m, &th);
	made_end(m, 10);
	t = made_open(m);
	assert_string_equal(trace_module_path(t, module), "/lib/libc.so.6");
	assert_string_equal(trace_module_build_id(t, module), "ab01ff");
	assert_string_equal(trace_module_path(t, bare), "/bin/bare");
	assert_string_equal(trace_module_build_id(t, bare), "");
	assert_int_equal(trace_frame(t, frame)->addr, 0x7f0000001234);
	assert_int_equal(trace_frame(t, frame)->space, space);
	assert_int_equal(trace_frame(t, frame)->offset, 0x34);
	assert_string_equal(trace_string(t, trace_frame(t, frame)->symbol), "malloc");
	assert_int_equal(trace_frame(t, nameless)->symbol, 0);
	threads = trace_threads(t, &n);
	assert_int_equal(n, 1);
	assert_int_equal(threads[0].tid, 42);
	assert_int_equal(threads[0].tgid, 40);
	assert_int_equal(threads[0].seen_ns, 6);
	assert_int_equal(threads[0].flags, CHAINLOG_THREAD_KTHREAD);
	assert_int_equal(threads[0].state, 'D');
	assert_string_equal(trace_string(t, threads[0].name), "kw");
	assert_int_equal(trace_stack(t, threads[0].kstack).n, 2);
	trace_close(t);
	made_free(m);
}

static void ids_that_were_never_defined_give_nothing(void **state)
{
	struct made *m = made_sample();
	struct trace *t = made_open(m);

	(void)state;
	for (uint64_t id = 0; id <= UINT32_MAX; id = id * 3 + 1000) {
		assert_string_equal(trace_string(t, (uint32_t)id), "");
		assert_int_equal(trace_stack(t, (uint32_t)id).n, 0);
		assert_string_equal(trace_module_path(t, (uint32_t)id), "");
		assert_string_equal(trace_module_build_id(t, (uint32_t)id), "");
		assert_null(trace_frame(t, (uint32_t)id));
	}
	trace_close(t);
	made_free(m);
}

static void a_cut_stack_says_so(void **state)
{
	struct made *m = made_new();

	(void)state;
	made_switch(m, 0, 5, 3, 'S', 0, "+schedule;deep");
	made_end(m, 10);
	expect_events(m, "5 switch 3 S>0 schedule;deep+\n");
	made_free(m);
}

/* Law 3. The same two CPUs' events, told with CPU numbers swapped, in either order of blocks. */
static void equal_times_come_in_an_order_without_cpu_numbers(void **state)
{
	static const char expected[] = "50 waking 7>8 wake\n"
				       "50 switch 5 S>6 a\n"
				       "50 switch 8 S>0 b\n"
				       "50 waking 9>5 wake\n"
				       "50 waking 9>6 wake\n"
				       "60 switch 6 R>0\n";

	(void)state;
	for (uint32_t swap = 0; swap < 2; swap++) {
		struct made *m = made_new();

		/* On the first CPU a switch, in the recorded order before two wakings. */
		made_switch(m, swap, 50, 8, 'S', 0, "b");
		made_waking(m, swap, 50, 9, 5, "wake");
		made_waking(m, swap, 50, 9, 6, "wake");
		if (swap)
			made_flush(m);
		made_waking(m, !swap, 50, 7, 8, "wake");
		made_switch(m, !swap, 50, 5, 'S', 6, "a");
		made_switch(m, !swap, 60, 6, 'R', 0, "");
		made_end(m, 100);
		expect_events(m, expected);
		made_free(m);
	}
}

static void blocks_of_one_cpu_that_meet_keep_their_order(void **state)
{
	struct made *m = made_new();

	(void)state;
	made_switch(m, 0, 10, 1, 'S', 2, "");
	made_switch(m, 0, 20, 2, 'S', 3, "");
	made_flush(m);
	made_waking(m, 0, 20, 3, 2, "");
	made_flush(m);
	made_switch(m, 0, 20, 3, 'S', 4, "");
	made_waking(m, 0, 30, 4, 1, "");
	made_end(m, 100);
	expect_events(m, "10 switch 1 S>2\n20 switch 2 S>3\n20 waking 3>2\n"
			 "20 switch 3 S>4\n30 waking 4>1\n");
	made_free(m);
}

static void a_cpus_time_that_steps_back_is_put_in_order(void **state)
{
	struct made *m = made_new();

	(void)state;
	made_switch(m, 0, 10, 1, 'S', 2, "");
	made_switch(m, 0, 30, 2, 'S', 3, "");
	made_switch(m, 0, 20, 3, 'S', 4, "");
	made_end(m, 100);
	expect_events(m, "10 switch 1 S>2\n20 switch 3 S>4\n30 switch 2 S>3\n");
	made_free(m);
}

static void recorded_losses_are_events(void **state)
{
	struct made *m = made_new();

	(void)state;
	made_switch(m, 0, 10, 1, 'S', 2, "");
	made_lost(m, 0, 5, 20, 40);
	made_lost(m, -1, 2, 15, 16);
	made_switch(m, 0, 50, 2, 'S', 1, "");
	made_end(m, 100);
	expect_events(m, "10 switch 1 S>2\n15 lost-16 n=2 cpu=?\n20 lost-40 n=5 cpu=0\n"
			 "50 switch 2 S>1\n");
	assert_null(damage_of(m)->what);
	made_free(m);
}

static void many_events_in_many_blocks_come_back_in_order(void **state)
{
	struct made *m = made_new();
	uint64_t n = 0, last = 0;
	struct trace_cursor *c;
	struct trace *t;
	struct event ev;

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		uint32_t cpu = i % 3, tid = 100 + i % 517;

		made_switch(m, cpu, 1000 + i * 7, tid, i % 5 ? 'S' : 'D', tid + 1,
			    i % 11 ? "schedule;read" : "");
	}
	made_end(m, 10000000);
	t = made_open(m);
	c = trace_cursor_new(t);
	for (; trace_cursor_next(c, &ev); n++) {
		assert_true(ev.time_ns >= last);
		assert_int_equal(ev.time_ns, 1000 + n * 7);
		assert_int_equal(ev.cpu, n % 3);
		assert_int_equal(ev.tid, 100 + n % 517);
		assert_int_equal(ev.other, ev.tid + 1);
		assert_int_equal(ev.state, n % 5 ? 'S' : 'D');
		assert_int_equal(ev.kstack != 0, n % 11 != 0);
		last = ev.time_ns;
	}
	assert_int_equal(n, 200000);
	trace_cursor_free(c);
	trace_close(t);
	made_free(m);
}

static void a_pipe_reads_like_a_file(void **state)
{
	struct made *m = made_sample();
	char path[32], *text;
	uint8_t *bytes;
	struct trace *t;
	size_t len;
	int fds[2];

	(void)state;
	bytes = made_bytes(m, &len);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], bytes, len), len);
	close(fds[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	assert_int_equal(trace_open(&t, path), 0);
	text = made_events_text(t);
	assert_string_equal(text, made_sample_events);
	free(text);
	trace_close(t);
	close(fds[0]);
	made_free(m);
}

static void a_block_type_of_the_future_is_skipped(void **state)
{
	struct made *m = made_new();

	(void)state;
	made_switch(m, 0, 10, 1, 'S', 2, "");
	made_flush(m);
	made_add_block(m, 200, "whatever", 8);
	made_switch(m, 0, 20, 2, 'S', 1, "");
	made_flush(m);
	expect_events(m, "10 switch 1 S>2\n20 switch 2 S>1\n20 lost-20 n=0 cpu=0\n");
	made_free(m);
}

/* Opened quickly, a trace is taken for sound until somebody reads its events. */
static void a_malformed_event_is_found_by_who_reads_it(void **state)
{
	static const uint8_t bad[] = { 0x00, 0x0a, 0x0a, 0x01, 0x1f, 0x05, 0x00, 0x07 };
	struct made *m = made_new();
	struct timelines *timelines;
	struct trace *quick, *checked;
	const uint8_t *bytes;
	char *a, *b;
	size_t len;

	(void)state;
	made_switch(m, 0, 10, 1, 'S', 2, "a");
	made_flush(m);
	made_add_block(m, CHAINLOG_BLOCK_EVENTS, bad, sizeof(bad));
	made_switch(m, 0, 30, 2, 'S', 1, "b");
	made_flush(m);
	checked = made_open(m);
	assert_int_equal(trace_damage(checked)->blocks, 1);
	bytes = made_bytes(m, &len);
	assert_int_equal(trace_open_memory_quick(&quick, bytes, len), 0);
	assert_int_equal(trace_damage(quick)->blocks, 0);
	assert_int_equal(timelines_new(&timelines, quick), -EBADMSG);
	assert_null(timelines);
	assert_int_equal(trace_check(quick), 0);
	assert_int_equal(trace_damage(quick)->blocks, 1);
	a = made_events_text(quick);
	b = made_events_text(checked);
	assert_string_equal(a, b);
	assert_non_null(strstr(a, "lost"));
	assert_int_equal(timelines_new(&timelines, quick), 0);
	timelines_free(timelines);
	free(a);
	free(b);
	trace_close(quick);
	trace_close(checked);
	made_free(m);
}

/* The example of docs/trace-format.md, byte by byte. */
static void the_documented_example_means_what_it_says(void **state)
{
	static const uint8_t payload[] = {
		0x00, 0x64, 0x32, 0x02,		    /* cpu 0, from 100 to 150, 2 events */
		0xa0, 0x00, 0x00, 0x00, 0x00, 0x07, /* 0 -> 7 */
		0x48, 0x32, 0x01, 0x00, 0x05, 0x02, /* 7 sleeps, -> 0, stacks 5 and 2 */
	};
	struct made *m = made_new();
	struct trace_cursor *c;
	struct trace *t;
	struct event ev;

	(void)state;
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	made_flush(m);
	for (int i = 0; i < 5; i++)
		made_kstack(m, &"a;b;c;d;e"[2 * i]);
	made_flush(m);
	made_add_block(m, CHAINLOG_BLOCK_EVENTS, payload, sizeof(payload));
	t = made_open(m);
	c = trace_cursor_new(t);
	assert_true(trace_cursor_next(c, &ev));
	assert_int_equal(ev.kind, EVENT_SWITCH);
	assert_int_equal(ev.time_ns, 100);
	assert_int_equal(ev.tid, 0);
	assert_int_equal(ev.state, 'R');
	assert_int_equal(ev.other, 7);
	assert_int_equal(ev.kstack, 0);
	assert_true(trace_cursor_next(c, &ev));
	assert_int_equal(ev.kind, EVENT_SWITCH);
	assert_int_equal(ev.time_ns, 150);
	assert_int_equal(ev.tid, 7);
	assert_int_equal(ev.state, 'S');
	assert_int_equal(ev.other, 0);
	assert_int_equal(ev.kstack, 5);
	assert_int_equal(ev.ustack, 2);
	trace_cursor_free(c);
	trace_close(t);
	made_free(m);
}

/* ---- what is not a trace ------------------------------------------------------------------- */

static void what_is_not_a_trace_is_refused(void **state)
{
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(open_bytes("", 0), -ENODATA);
	assert_int_equal(open_bytes(text, sizeof(text)), -EBADMSG);
	assert_int_equal(open_bytes("CLB1", 4), -EBADMSG);
	assert_int_equal(open_bytes("CL", 2), -EBADMSG);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7919 >> 3);
	assert_int_equal(open_bytes(text, sizeof(text)), -EBADMSG);
	assert_int_equal(trace_open(&(struct trace *) { NULL }, "/nonexistent/trace"), -ENOENT);
	assert_int_equal(trace_open(&(struct trace *) { NULL }, "/"), -EISDIR);
}

static void another_version_is_refused_by_name(void **state)
{
	struct made *m = made_sample();
	uint8_t *bytes;
	uint32_t crc;
	size_t len;

	(void)state;
	bytes = made_bytes(m, &len);
	bytes[CHAINLOG_OFF_VERSION] = CHAINLOG_VERSION + 1;
	/* That alone is damage: the checksum does not match. */
	assert_string_equal(damage_of(m)->what, "a block whose checksum does not match");
	assert_int_equal(open_bytes(bytes, 40), -EBADMSG);
	made_free(m);

	m = made_new();
	made_add_block(m, CHAINLOG_BLOCK_INFO, "", 0);
	bytes = made_bytes(m, &len);
	assert_int_equal(open_bytes(bytes, len), 0);
	bytes[CHAINLOG_OFF_VERSION] = CHAINLOG_VERSION + 1;
	crc = crc32c(0, bytes, CHAINLOG_OFF_CRC);
	chainlog_put_le32(bytes + CHAINLOG_OFF_CRC, crc);
	assert_int_equal(open_bytes(bytes, len), -EPROTONOSUPPORT);
	made_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_recorded_comes_back),
		cmocka_unit_test(info_says_what_the_recorder_said),
		cmocka_unit_test(threads_modules_and_names_are_found_by_id),
		cmocka_unit_test(ids_that_were_never_defined_give_nothing),
		cmocka_unit_test(a_cut_stack_says_so),
		cmocka_unit_test(equal_times_come_in_an_order_without_cpu_numbers),
		cmocka_unit_test(blocks_of_one_cpu_that_meet_keep_their_order),
		cmocka_unit_test(a_cpus_time_that_steps_back_is_put_in_order),
		cmocka_unit_test(recorded_losses_are_events),
		cmocka_unit_test(many_events_in_many_blocks_come_back_in_order),
		cmocka_unit_test(a_pipe_reads_like_a_file),
		cmocka_unit_test(a_block_type_of_the_future_is_skipped),
		cmocka_unit_test(a_malformed_event_is_found_by_who_reads_it),
		cmocka_unit_test(the_documented_example_means_what_it_says),
		cmocka_unit_test(what_is_not_a_trace_is_refused),
		cmocka_unit_test(another_version_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
