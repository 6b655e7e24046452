// SPDX-License-Identifier: GPL-2.0-or-later
/* The builder of imported traces: what goes in comes out of the reader, in any number of blocks. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "import/trace_builder.h"
#include "trace/trace.h"

static struct trace *finish(struct trace_builder *l, const struct chainlog_info *info,
			    uint8_t **buf)
{
	struct trace *t;
	size_t offset, len;

	assert_int_equal(trace_builder_finish(l, info, buf, &offset, &len), 0);
	trace_builder_free(l);
	assert_int_equal(trace_open_memory(&t, *buf + offset, len), 0);
	assert_null(trace_damage(t)->what);
	assert_true(trace_info(t)->complete);
	return t;
}

static void every_kind_of_event_and_definition(void **state)
{
	static const struct chainlog_info info = {
		.host = "h",
		.release = "6.1",
		.arch = "arm64",
		.options = "-a",
		.tool = "x 1",
		.cpus = 9,
		.parts = 2,
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
		{ .time_ns = 10, .cpu = 0, .kind = EVENT_LOST, .last_ns = 12, .n = 3 },
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
	struct trace_builder *l = trace_builder_new();
	struct trace_cursor *c;
	const struct trace_thread *threads;
	struct trace_stack s;
	uint32_t frames[2];
	struct event ev;
	struct trace *t;
	uint8_t *buf;
	size_t n;

	(void)state;
	assert_int_equal(trace_builder_string(l, "one", 3), 1);
	assert_int_equal(trace_builder_string(l, "two;", 4), 2);
	assert_int_equal(trace_builder_module(l, "two;", 4), 1);
	frames[0] = trace_builder_frame(l, 0, UINT64_MAX, 1, 0, 16);
	frames[1] = trace_builder_frame(l, 1, 0x1000, 0, 1, 0);
	assert_int_equal(trace_builder_stack(l, frames, 2, true), 1);
	assert_int_equal(trace_builder_stack(l, frames + 1, 1, false), 2);
	trace_builder_fork(l, 1, 5, 7, 8, 7, 1);
	trace_builder_waking(l, CHAINLOG_WAKING_NEW, 1, 6, 7, 8, 0, 0);
	trace_builder_lost(l, 0, 3, 10, 12);
	trace_builder_switch(l, 1, 20, 7, 'D', 8, 1, 2);
	trace_builder_waking(l, CHAINLOG_WAKING, 1, 30, 8, 7, 1, 2);
	trace_builder_rename(l, 1, 40, 8, 2);
	trace_builder_exec(l, 1, 50, 8, 9, 1);
	trace_builder_exit(l, 1, 60, 8);
	trace_builder_switch(l, 1, 70, 8, 'R', 0, 0, 0);
	trace_builder_thread(l, &(struct chainlog_thread_item) { 7, 6, 0, 70, 1, 'R', 2, 0, 0 });
	assert_int_equal(trace_builder_events(l), 8);
	t = finish(l, &info, &buf);

	c = trace_cursor_new(t);
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
		assert_int_equal(ev.last_ns, expected[i].last_ns);
		assert_int_equal(ev.n, expected[i].n);
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
	free(buf);
}

static void equal_definitions_get_one_id(void **state)
{
	static const uint32_t frames[] = { 1, 2 };
	struct trace_builder *l = trace_builder_new();

	(void)state;
	assert_int_equal(trace_builder_string(l, "one", 3), 1);
	assert_int_equal(trace_builder_string(l, "two", 3), 2);
	assert_int_equal(trace_builder_string(l, "one", 3), 1);
	assert_int_equal(trace_builder_string(l, "", 0), 0);
	assert_int_equal(trace_builder_module(l, "one", 3), 1);
	assert_int_equal(trace_builder_module(l, "one", 3), 1);
	assert_int_equal(trace_builder_module(l, "three", 5), 2);
	assert_int_equal(trace_builder_stack(l, frames, 2, false), 1);
	assert_int_equal(trace_builder_stack(l, frames, 2, true), 2);
	assert_int_equal(trace_builder_stack(l, frames, 1, false), 3);
	assert_int_equal(trace_builder_stack(l, frames, 2, false), 1);
	assert_false(trace_builder_failed(l));
	trace_builder_free(l);
}

static void many_blocks(void **state)
{
	const uint64_t n = 200000;
	struct trace_builder *l = trace_builder_new();
	struct trace_cursor *c;
	char name[32];
	struct event ev;
	struct trace *t;
	uint8_t *buf;

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t frame, string, stack;

		snprintf(name, sizeof(name), "function %u", i);
		string = trace_builder_string(l, name, strlen(name));
		frame = trace_builder_frame(l, i & 1, 0xffffffff81000000u + i, string, 0, i);
		stack = trace_builder_stack(l, &frame, 1, false);
		trace_builder_switch(l, i % 300, 1000 + i, i % 5000, 'S', (i + 300) % 5000, stack,
				     0);
	}
	t = finish(l, &(struct chainlog_info) { .cpus = 300 }, &buf);
	c = trace_cursor_new(t);
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
	free(buf);
}

static void an_empty_log(void **state)
{
	uint8_t *buf;
	struct trace *t = finish(trace_builder_new(), &(struct chainlog_info) { .cpus = 1 }, &buf);

	(void)state;
	assert_int_equal(trace_info(t)->events, 0);
	trace_close(t);
	free(buf);
}

static void what_is_too_long_is_refused(void **state)
{
	static char text[TRACE_BUILDER_STRING_MAX + 1];
	static uint32_t frames[CHAINLOG_STACK_MAX + 1];
	struct trace_builder *l = trace_builder_new();

	(void)state;
	assert_int_equal(trace_builder_string(l, text, sizeof(text)), 0);
	assert_int_equal(trace_builder_string(l, text, sizeof(text) - 1), 1);
	assert_int_equal(trace_builder_stack(l, frames, CHAINLOG_STACK_MAX + 1, false), 0);
	assert_int_equal(trace_builder_stack(l, frames, CHAINLOG_STACK_MAX, false), 1);
	trace_builder_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_event_and_definition),
		cmocka_unit_test(equal_definitions_get_one_id),
		cmocka_unit_test(many_blocks),
		cmocka_unit_test(an_empty_log),
		cmocka_unit_test(what_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
