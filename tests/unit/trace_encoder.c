// SPDX-License-Identifier: GPL-2.0-or-later
/* The encoder as imports use it: what goes in comes out of the reader, in any number of blocks. */
#include "test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/encoder.h"
#include "trace/trace.h"

/* A trace in memory. */
struct bytes {
	uint8_t *p;
	size_t len;
};

static int keep(void *ctx, const void *block, size_t len)
{
	struct bytes *b = ctx;

	b->p = realloc(b->p, b->len + len);
	assert_non_null(b->p);
	memcpy(b->p + b->len, block, len);
	b->len += len;
	return 0;
}

static struct encoder *new_encoder(struct bytes *b)
{
	struct encoder *e;

	*b = (struct bytes) { NULL, 0 };
	assert_int_equal(encoder_new(&e, keep, b), 0);
	encoder_keep_all(e);
	return e;
}

static struct trace *finish(struct encoder *e, const struct bytes *b, uint64_t end_ns)
{
	struct trace *t;

	assert_int_equal(encoder_end(e, end_ns, 0, 0), 0);
	assert_int_equal(encoder_error(e), 0);
	encoder_free(e);
	assert_int_equal(trace_open_memory(&t, b->p, b->len), 0);
	assert_null(trace_damage(t)->what);
	assert_true(trace_info(t)->complete);
	return t;
}

TEST(every_kind_of_event_and_definition)
{
	static const struct chainlog_info info = {
		.host = "h",
		.release = "6.1",
		.arch = "arm64",
		.options = "-a",
		.tool = "x 1",
		.cpus = 9,
		.parts = 2,
		.start_ns = 5,
	};
	static const struct event expected[] = {
		{ .time_ns = 5,
		  .cpu = 1,
		  .kind = EVENT_FORK,
		  .tid = 7,
		  .other = 8,
		  .tgid = 7,
		  .string = 1 },
		{ .time_ns = 6, .cpu = 1, .kind = EVENT_WAKING_NEW, .tid = 7, .other = 8 },
		{ .time_ns = 10, .cpu = 0, .kind = EVENT_LOST, .lost = { 3, 12 } },
		{ .time_ns = 20,
		  .cpu = 1,
		  .kind = EVENT_SWITCH,
		  .state = 'D',
		  .tid = 7,
		  .other = 8,
		  .kstack = 1,
		  .ustack = 2 },
		{ .time_ns = 30,
		  .cpu = 1,
		  .kind = EVENT_WAKING,
		  .tid = 8,
		  .other = 7,
		  .kstack = 1,
		  .ustack = 2 },
		{ .time_ns = 40, .cpu = 1, .kind = EVENT_RENAME, .tid = 8, .string = 2 },
		{ .time_ns = 50, .cpu = 1, .kind = EVENT_EXEC, .tid = 8, .other = 9, .string = 1 },
		{ .time_ns = 60, .cpu = 1, .kind = EVENT_EXIT, .tid = 8 },
		{ .time_ns = 70,
		  .cpu = 1,
		  .kind = EVENT_SWITCH,
		  .state = 'R',
		  .tid = 8,
		  .other = 0 },
	};
	struct bytes bytes;
	struct encoder *e = new_encoder(&bytes);
	struct encoder_counts counts;
	struct trace_cursor *c;
	const struct trace_thread *threads;
	struct trace_stack s;
	uint32_t frames[2];
	struct event ev;
	struct trace *t;
	size_t n;

	assert_int_equal(encoder_info(e, &info), 0);
	assert_int_equal(encoder_string(e, "one", 3), 1);
	assert_int_equal(encoder_text(e, "two;"), 2);
	assert_int_equal(encoder_module(e, 2, NULL, 0), 1);
	frames[0] = encoder_new_frame(e, 0, UINT64_MAX);
	frames[1] = encoder_new_frame(e, 1, 0x1000);
	encoder_name(e, frames[0], 1, 0, 16);
	encoder_name(e, frames[1], 0, 1, 0);
	assert_int_equal(encoder_stack(e, frames, 2, ENCODER_STACK_CUT), 1);
	assert_int_equal(encoder_stack(e, frames + 1, 1, CHAINLOG_STACK_UNKNOWN), 2);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct event *want = &expected[i];

		if (want->kind == EVENT_LOST)
			encoder_lost(e, (int)want->cpu, want->lost.n, want->time_ns,
				     want->lost.last_ns);
		else
			encoder_event(e, &(struct event) {
						 .time_ns = want->time_ns,
						 .cpu = want->cpu,
						 .kind = want->kind,
						 .state = want->state,
						 .tid = want->tid,
						 .other = want->other,
						 .kstack = want->kstack,
						 .ustack = want->ustack,
						 .string = want->string,
						 .tgid = want->tgid,
					 });
	}
	encoder_thread(e, &(struct encoder_thread) {
				  .tid = 7,
				  .tgid = 6,
				  .seen_ns = 70,
				  .flags = CHAINLOG_THREAD_KTHREAD,
				  .state = 'R',
				  .name = 2,
			  });
	encoder_flush(e);
	encoder_counts(e, &counts);
	assert_int_equal(counts.events, 8);
	assert_int_equal(counts.first_ns, 5);
	assert_int_equal(counts.last_ns, 70);
	t = finish(e, &bytes, 70);

	assert_int_equal(trace_cursor_new(&c, t), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_true(trace_cursor_next(c, &ev));
		assert_int_equal(ev.time_ns, expected[i].time_ns);
		assert_int_equal(ev.cpu, expected[i].cpu);
		assert_int_equal(ev.kind, expected[i].kind);
		assert_int_equal(ev.state, expected[i].state);
		assert_int_equal(ev.tid, expected[i].tid);
		assert_int_equal(ev.other, expected[i].other);
		assert_int_equal(ev.kstack, expected[i].kstack);
		assert_int_equal(ev.ustack, expected[i].ustack);
		assert_int_equal(ev.string, expected[i].string);
		assert_int_equal(ev.tgid, expected[i].tgid);
		if (ev.kind != EVENT_LOST)
			continue;
		assert_int_equal(ev.lost.last_ns, expected[i].lost.last_ns);
		assert_int_equal(ev.lost.n, expected[i].lost.n);
	}
	assert_false(trace_cursor_next(c, &ev));
	trace_cursor_free(c);
	assert_string_equal(trace_info(t)->host, "h");
	assert_string_equal(trace_info(t)->release, "6.1");
	assert_string_equal(trace_info(t)->arch, "arm64");
	assert_string_equal(trace_info(t)->options, "-a");
	assert_string_equal(trace_info(t)->tool, "x 1");
	assert_int_equal(trace_info(t)->cpus, 9);
	assert_int_equal(trace_info(t)->parts, 2);
	assert_int_equal(trace_info(t)->start_ns, 5);
	assert_int_equal(trace_info(t)->end_ns, 70);
	assert_int_equal(trace_info(t)->lost, 3);
	s = trace_stack(t, 1);
	assert_int_equal(s.n, 2);
	assert_true(s.cut);
	assert_true(trace_frame(t, s.frames[0])->addr == UINT64_MAX);
	assert_string_equal(trace_string(t, trace_frame(t, s.frames[0])->symbol), "one");
	assert_int_equal(trace_frame(t, s.frames[0])->offset, 16);
	assert_string_equal(trace_module_path(t, trace_frame(t, s.frames[1])->module), "two;");
	threads = trace_threads(t, &n);
	assert_int_equal(n, 1);
	assert_int_equal(threads[0].tgid, 6);
	assert_string_equal(trace_string(t, threads[0].name), "two;");
	trace_close(t);
	free(bytes.p);
}

TEST(equal_definitions_get_one_id)
{
	static const uint32_t frames[] = { 1, 2 };
	struct bytes bytes;
	struct encoder *e = new_encoder(&bytes);

	assert_int_equal(encoder_string(e, "one", 3), 1);
	assert_int_equal(encoder_string(e, "two", 3), 2);
	assert_int_equal(encoder_string(e, "one", 3), 1);
	assert_int_equal(encoder_text(e, NULL), 0);
	assert_int_equal(encoder_stack(e, frames, 2, CHAINLOG_STACK_UNKNOWN), 1);
	assert_int_equal(encoder_stack(e, frames, 2, ENCODER_STACK_CUT), 2);
	assert_int_equal(encoder_stack(e, frames, 1, CHAINLOG_STACK_UNKNOWN), 3);
	assert_int_equal(encoder_stack(e, frames, 2, CHAINLOG_STACK_UNKNOWN), 1);
	assert_int_equal(encoder_error(e), 0);
	encoder_free(e);
	free(bytes.p);
}

TEST(many_blocks)
{
	const uint64_t n = 200000;
	struct bytes bytes;
	struct encoder *e = new_encoder(&bytes);
	struct trace_cursor *c;
	char name[32];
	struct event ev;
	struct trace *t;

	assert_int_equal(encoder_info(e, &(struct chainlog_info) { .cpus = 300 }), 0);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t frame, string, stack;

		snprintf(name, sizeof(name), "function %u", i);
		string = encoder_text(e, name);
		frame = encoder_new_frame(e, i & 1, 0xffffffff81000000u + i);
		encoder_name(e, frame, string, 0, i);
		stack = encoder_stack(e, &frame, 1, CHAINLOG_STACK_UNKNOWN);
		encoder_event(e, &(struct event) {
					 .time_ns = 1000 + i,
					 .cpu = i % 300,
					 .kind = CHAINLOG_SWITCH,
					 .tid = i % 5000,
					 .state = 'S',
					 .other = (i + 300) % 5000,
					 .kstack = stack,
				 });
	}
	t = finish(e, &bytes, 1000 + n);
	assert_int_equal(trace_cursor_new(&c, t), 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(trace_cursor_next(c, &ev));
		assert_int_equal(ev.time_ns, 1000 + i);
		assert_int_equal(ev.cpu, i % 300);
		assert_int_equal(ev.tid, i % 5000);
		assert_int_equal(ev.other, (i + 300) % 5000);
		assert_int_equal(ev.kstack, i + 1);
		snprintf(name, sizeof(name), "function %u", i);
		assert_string_equal(
			trace_string(t,
				     trace_frame(t, trace_stack(t, ev.kstack).frames[0])->symbol),
			name);
	}
	assert_false(trace_cursor_next(c, &ev));
	trace_cursor_free(c);
	trace_close(t);
	free(bytes.p);
}

TEST(an_empty_trace)
{
	struct bytes bytes;
	struct encoder *e = new_encoder(&bytes);
	struct trace *t;

	assert_int_equal(encoder_info(e, &(struct chainlog_info) { .cpus = 1 }), 0);
	t = finish(e, &bytes, 0);
	assert_int_equal(trace_info(t)->events, 0);
	trace_close(t);
	free(bytes.p);
}

TEST(what_is_too_long_is_cut)
{
	static char text[ENCODER_LONG_STRING + 1];
	static uint32_t frames[CHAINLOG_STACK_MAX + 1];
	struct bytes bytes;
	struct encoder *e = new_encoder(&bytes);

	assert_int_equal(encoder_string(e, text, sizeof(text)), 1);
	assert_int_equal(encoder_string(e, text, sizeof(text) - 1), 1);
	assert_int_equal(encoder_stack(e, frames, CHAINLOG_STACK_MAX + 1, 0), 1);
	assert_int_equal(encoder_stack(e, frames, CHAINLOG_STACK_MAX, CHAINLOG_STACK_DEPTH), 1);
	assert_int_equal(encoder_event(e, &(struct event) { .kind = 7 }), -EINVAL);
	assert_int_equal(encoder_error(e), -EINVAL);
	encoder_free(e);
	free(bytes.p);
}
