// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace reader: what was recorded comes back, in order; what was damaged is told. */
#include "test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/crc32c.h"
#include "timeline/timeline.h"
#include "recording.h"
#include "synth.h"

/* ---- helpers ------------------------------------------------------------------------------- */

static const struct trace_damage *damage_of(struct synth *m)
{
	static struct trace_damage d;
	struct trace *t = synth_open(m);

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

TEST(what_was_recorded_comes_back)
{
	struct synth *m = synth_sample();

	synth_expect_events(m, synth_sample_events);
	assert_null(damage_of(m)->what);
	synth_free(m);
}

TEST(info_says_what_the_recorder_said)
{
	struct synth *m = synth_sample();
	struct trace *t = synth_open(m);
	const struct trace_info *i = trace_info(t);

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
	synth_free(m);
}

TEST(threads_modules_and_names_are_found_by_id)
{
	const uint8_t build_id[] = { 0xab, 0x01, 0xff };
	struct synth *m = synth_new();
	struct encoder *e = synth_encoder(m);
	uint32_t module =
		encoder_module(e, encoder_text(e, "/lib/libc.so.6"), build_id, sizeof(build_id));
	uint32_t bare = encoder_module(e, encoder_text(e, "/bin/bare"), NULL, 0);
	uint32_t space = encoder_space(e, 42, "/bin/x");
	uint32_t frame = encoder_frame(e, space, 0x7f0000001234), nameless;
	struct encoder_thread th = {
		42, 40, 5, 6, CHAINLOG_THREAD_KTHREAD, 'D', encoder_text(e, "kw"), 0, 0, 0, 0, 3
	};
	const struct trace_thread *threads;
	struct trace *t;
	size_t n;

	nameless = encoder_frame(e, 0, 0xffffffff80000000);
	encoder_name(e, frame, encoder_text(e, "malloc"), module, 0x34);
	MUST(synth_group_object(m, "/a", 7) == 1 && synth_group_object(m, "/b", 8) == 2);
	th.group = 2;
	th.kstack = synth_kstack(m, "io_schedule;kthread");
	synth_thread_full(m, &th);
	synth_end(m, 10);
	t = synth_open(m);
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
	assert_string_equal(trace_string(t, trace_object(t, threads[0].group)->name), "/b");
	assert_int_equal(threads[0].own_id, 3);
	trace_close(t);
	synth_free(m);
}

/* Of two segments, one with a gap before it; of old traces, which have the address as an offset. */
TEST(the_link_time_address_of_a_frame_is_known)
{
	const uint8_t build_id[] = { 1, 2 };
	struct synth *m = synth_new();
	struct encoder *e = synth_encoder(m);
	uint32_t module =
		encoder_module(e, encoder_text(e, "/lib/a.so"), build_id, sizeof(build_id));
	uint32_t old =
		encoder_module(e, encoder_text(e, "/lib/old.so"), build_id, sizeof(build_id));
	uint32_t file = encoder_space(e, 0, "/lib/a.so"), process = encoder_space(e, 42, "/bin/x");
	const struct {
		uint32_t space, module;
		const char *symbol;
		uint64_t addr, offset, want; /* want 0: not known */
	} frames[] = {
		{ file, module, "f", 0x1234, 4, 0x401234 },
		{ file, module, NULL, 0x5fff, 0, 0x806fff },
		{ file, module, NULL, 0x6000, 0, 0 },
		{ process, module, NULL, 0x1235, 0, 0 },
		{ file, old, NULL, 0x77, 0x400077, 0x400077 },
		{ file, old, "g", 0x78, 8, 0 },
		{ file, 0, NULL, 0x79, 0, 0 },
	};
	enum { N = sizeof(frames) / sizeof(frames[0]) };
	uint32_t id[N];
	struct trace *t;

	assert_int_equal(encoder_segment(e, module, 0x1000, 0x1000, 0x401000), 0);
	assert_int_equal(encoder_segment(e, module, 0x5000, 0x1000, 0x806000), 0);
	for (size_t i = 0; i < N; i++) {
		id[i] = encoder_frame(e, frames[i].space, frames[i].addr);
		assert_int_equal(encoder_name(e, id[i], encoder_text(e, frames[i].symbol),
					      frames[i].module, frames[i].offset),
				 0);
	}
	synth_end(m, 10);
	t = synth_open(m);
	for (size_t i = 0; i < N; i++) {
		uint64_t vaddr = 0;

		assert_int_equal(trace_frame_vaddr(t, id[i], &vaddr), frames[i].want != 0);
		if (frames[i].want)
			assert_int_equal(vaddr, frames[i].want);
	}
	trace_close(t);
	synth_free(m);
}

TEST(ids_that_were_never_defined_give_nothing)
{
	struct synth *m = synth_sample();
	struct trace *t = synth_open(m);

	for (uint64_t id = 0; id <= UINT32_MAX; id = id * 3 + 1000) {
		assert_string_equal(trace_string(t, (uint32_t)id), "");
		assert_int_equal(trace_stack(t, (uint32_t)id).n, 0);
		assert_string_equal(trace_module_path(t, (uint32_t)id), "");
		assert_string_equal(trace_module_build_id(t, (uint32_t)id), "");
		assert_null(trace_frame(t, (uint32_t)id));
	}
	trace_close(t);
	synth_free(m);
}

TEST(a_cut_stack_says_so)
{
	struct synth *m = synth_new();

	synth_switch(m, 0, 5, 3, 'S', 0, "+schedule;deep");
	synth_end(m, 10);
	synth_expect_events(m, "5 switch 3 S>0 schedule;deep+\n");
	synth_free(m);
}

/* Law 3. The same two CPUs' events, told with CPU numbers swapped, in either order of blocks. */
TEST(equal_times_come_in_an_order_without_cpu_numbers)
{
	static const char expected[] = "50 waking 7>8 wake\n"
				       "50 switch 5 S>6 a\n"
				       "50 switch 8 S>0 b\n"
				       "50 waking 9>5 wake\n"
				       "50 waking 9>6 wake\n"
				       "60 switch 6 R>0\n";

	for (uint32_t swap = 0; swap < 2; swap++) {
		struct synth *m = synth_new();

		/* On the first CPU a switch, in the recorded order before two wakings. */
		synth_switch(m, swap, 50, 8, 'S', 0, "b");
		synth_waking(m, swap, 50, 9, 5, "wake");
		synth_waking(m, swap, 50, 9, 6, "wake");
		if (swap)
			synth_flush(m);
		synth_waking(m, !swap, 50, 7, 8, "wake");
		synth_switch(m, !swap, 50, 5, 'S', 6, "a");
		synth_switch(m, !swap, 60, 6, 'R', 0, "");
		synth_end(m, 100);
		synth_expect_events(m, expected);
		synth_free(m);
	}
}

TEST(blocks_of_one_cpu_that_meet_keep_their_order)
{
	struct synth *m = synth_new();

	synth_switch(m, 0, 10, 1, 'S', 2, "");
	synth_switch(m, 0, 20, 2, 'S', 3, "");
	synth_flush(m);
	synth_waking(m, 0, 20, 3, 2, "");
	synth_flush(m);
	synth_switch(m, 0, 20, 3, 'S', 4, "");
	synth_waking(m, 0, 30, 4, 1, "");
	synth_end(m, 100);
	synth_expect_events(m, "10 switch 1 S>2\n20 switch 2 S>3\n20 waking 3>2\n"
			       "20 switch 3 S>4\n30 waking 4>1\n");
	synth_free(m);
}

TEST(a_cpus_time_that_steps_back_is_put_in_order)
{
	struct synth *m = synth_new();

	synth_switch(m, 0, 10, 1, 'S', 2, "");
	synth_switch(m, 0, 30, 2, 'S', 3, "");
	synth_switch(m, 0, 20, 3, 'S', 4, "");
	synth_end(m, 100);
	synth_expect_events(m, "10 switch 1 S>2\n20 switch 3 S>4\n30 switch 2 S>3\n");
	synth_free(m);
}

TEST(recorded_losses_are_events)
{
	struct synth *m = synth_new();

	synth_switch(m, 0, 10, 1, 'S', 2, "");
	synth_lost(m, 0, 5, 20, 40);
	synth_lost(m, -1, 2, 15, 16);
	synth_switch(m, 0, 50, 2, 'S', 1, "");
	synth_end(m, 100);
	synth_expect_events(m, "10 switch 1 S>2\n15 lost-16 n=2 cpu=?\n20 lost-40 n=5 cpu=0\n"
			       "50 switch 2 S>1\n");
	assert_null(damage_of(m)->what);
	synth_free(m);
}

TEST(many_events_in_many_blocks_come_back_in_order)
{
	struct synth *m = synth_new();
	uint64_t n = 0, last = 0;
	struct trace_cursor *c;
	struct trace *t;
	struct event ev;

	for (uint32_t i = 0; i < 200000; i++) {
		uint32_t cpu = i % 3, tid = 100 + i % 517;

		synth_switch(m, cpu, 1000 + i * 7, tid, i % 5 ? 'S' : 'D', tid + 1,
			     i % 11 ? "schedule;read" : "");
	}
	synth_end(m, 10000000);
	t = synth_open(m);
	assert_int_equal(trace_cursor_new(&c, t), 0);
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
	synth_free(m);
}

TEST(a_pipe_reads_like_a_file)
{
	struct synth *m = synth_sample();
	char path[32], *text;
	uint8_t *bytes;
	struct recording r;
	size_t len;
	int fds[2];

	bytes = synth_bytes(m, &len);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], bytes, len), len);
	close(fds[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	assert_int_equal(recording_open(&r, path, true, NULL), 0);
	text = synth_events_text(r.trace);
	assert_string_equal(text, synth_sample_events);
	free(text);
	recording_close(&r);
	close(fds[0]);
	synth_free(m);
}

TEST(a_block_type_of_the_future_is_skipped)
{
	struct synth *m = synth_new();

	synth_switch(m, 0, 10, 1, 'S', 2, "");
	synth_flush(m);
	synth_add_block(m, 200, "whatever", 8);
	synth_switch(m, 0, 20, 2, 'S', 1, "");
	synth_flush(m);
	synth_expect_events(m, "10 switch 1 S>2\n20 switch 2 S>1\n20 lost-20 n=0 cpu=0\n");
	synth_free(m);
}

/* Opened without a check, a trace is taken for sound until somebody reads its events. */
TEST(a_malformed_event_is_found_by_who_reads_it)
{
	static const uint8_t bad[] = { 0x00, 0x0a, 0x0a, 0x01, 0x1f, 0x05, 0x00, 0x07 };
	struct synth *m = synth_new();
	struct timelines *timelines;
	struct trace *quick, *checked;
	const uint8_t *bytes;
	char *a, *b;
	size_t len;

	synth_switch(m, 0, 10, 1, 'S', 2, "a");
	synth_flush(m);
	synth_add_block(m, CHAINLOG_BLOCK_EVENTS, bad, sizeof(bad));
	synth_switch(m, 0, 30, 2, 'S', 1, "b");
	synth_flush(m);
	checked = synth_open(m);
	assert_int_equal(trace_damage(checked)->blocks, 1);
	bytes = synth_bytes(m, &len);
	assert_int_equal(trace_open_bytes(&quick,
					  &(struct trace_bytes) { .base = bytes, .len = len },
					  false),
			 0);
	assert_int_equal(trace_damage(quick)->blocks, 0);
	assert_int_equal(timelines_new(&timelines, quick), -EBADMSG);
	assert_null(timelines);
	assert_int_equal(trace_check(quick), 0);
	assert_int_equal(trace_damage(quick)->blocks, 1);
	a = synth_events_text(quick);
	b = synth_events_text(checked);
	assert_string_equal(a, b);
	assert_non_null(strstr(a, "lost"));
	assert_int_equal(timelines_new(&timelines, quick), 0);
	timelines_free(timelines);
	free(a);
	free(b);
	trace_close(quick);
	trace_close(checked);
	synth_free(m);
}

/* The example of docs/trace-format.md, byte by byte. */
TEST(the_documented_example_means_what_it_says)
{
	static const uint8_t payload[] = {
		0x00, 0x64, 0x32, 0x02,		    /* cpu 0, from 100 to 150, 2 events */
		0xa0, 0x00, 0x00, 0x00, 0x00, 0x07, /* 0 -> 7 */
		0x48, 0x32, 0x01, 0x00, 0x05, 0x02, /* 7 sleeps, -> 0, stacks 5 and 2 */
	};
	struct synth *m = synth_new();
	struct trace_cursor *c;
	struct trace *t;
	struct event ev;

	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	synth_flush(m);
	for (int i = 0; i < 5; i++)
		synth_kstack(m, &"a;b;c;d;e"[2 * i]);
	synth_flush(m);
	synth_add_block(m, CHAINLOG_BLOCK_EVENTS, payload, sizeof(payload));
	t = synth_open(m);
	assert_int_equal(trace_cursor_new(&c, t), 0);
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
	synth_free(m);
}

/* ---- what is not a trace ------------------------------------------------------------------- */

TEST(what_is_not_a_trace_is_refused)
{
	char text[5000];

	memset(text, 'x', sizeof(text));
	assert_int_equal(open_bytes("", 0), -ENODATA);
	assert_int_equal(open_bytes(text, sizeof(text)), -EBADMSG);
	assert_int_equal(open_bytes("CLB1", 4), -EBADMSG);
	assert_int_equal(open_bytes("CL", 2), -EBADMSG);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7919 >> 3);
	assert_int_equal(open_bytes(text, sizeof(text)), -EBADMSG);
	assert_int_equal(recording_open(&(struct recording) { 0 }, "/nonexistent/trace", true,
					NULL),
			 -ENOENT);
	assert_int_equal(recording_open(&(struct recording) { 0 }, "/", true, NULL), -EISDIR);
}

TEST(another_version_is_refused_by_name)
{
	struct synth *m = synth_sample();
	uint8_t *bytes;
	uint32_t crc;
	size_t len;

	bytes = synth_bytes(m, &len);
	bytes[CHAINLOG_OFF_VERSION] = CHAINLOG_VERSION + 1;
	/* That alone is damage: the checksum does not match. */
	assert_string_equal(damage_of(m)->what, "a block whose checksum does not match");
	assert_int_equal(open_bytes(bytes, 40), -EBADMSG);
	synth_free(m);

	m = synth_new();
	synth_add_block(m, CHAINLOG_BLOCK_INFO, "", 0);
	bytes = synth_bytes(m, &len);
	assert_int_equal(open_bytes(bytes, len), 0);
	bytes[CHAINLOG_OFF_VERSION] = CHAINLOG_VERSION + 1;
	crc = crc32c(0, bytes, CHAINLOG_OFF_CRC);
	chainlog_put_le32(bytes + CHAINLOG_OFF_CRC, crc);
	assert_int_equal(open_bytes(bytes, len), -EPROTONOSUPPORT);
	synth_free(m);
}
