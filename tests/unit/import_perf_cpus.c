// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text of perf script as a trace: samples, moves and quotas, which say what a thread ran and who
 * had the CPU while it did not.
 */
#include "test.h"

#include "synth_script.h"
#include "perf_text.h"

static struct perf_text text;

static struct perf_text *begin(void)
{
	text.len = 0;
	return &text;
}

/* perf record -e cycles beside the sched events: where threads ran. */
TEST(samples_among_the_events_share_out_running_time)
{
	struct perf_text *t = begin();
	struct options o = script_options(text_tid("A"));
	struct text_trace tt;

	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "schedule|read;main");
	text_head(t, 1, 200, "B");
	text_line(t, "    1000000 cycles:P: \n");
	text_stack(t, "copy;sys_read|fetch;main");
	text_head(t, 1, 300, "B");
	text_line(t, "    1000000 cpu-clock:ppp: \n");
	text_stack(t, "|sort;main");
	text_wakeup(t, 1, 900, "B", "sched_waking", "A", "wake|work");
	text_switch(t, 0, 900, "-", "R", "A", "");
	text_switch(t, 0, 1000, "A", "R", "-", "");
	assert_int_equal(text_open(&tt, text.p, text.len), 0);
	expect_text(trace_folded(tt.trace, &o),
		    "A;main;read;-;schedule;--;wake;-;work;B;[running];main;fetch;-;sys_read;copy "
		    "400\n"
		    "A;main;read;-;schedule;--;wake;-;work;B;[running];main;sort 400\n");
	text_close(&tt);
}

static void expect_who_ran(const char *expected)
{
	struct text_trace tt;
	struct options o = script_options(101);

	o.who_ran = true;
	o.parts |= PART_PREEMPTED;
	assert_int_equal(text_open(&tt, text.p, text.len), 0);
	expect_text(trace_folded(tt.trace, &o), expected);
	text_close(&tt);
}

/* C wakes A for CPU 1, where B runs; then A is moved to CPU 2, where C runs. */
TEST(moves_among_the_events_say_who_had_the_cpu)
{
	struct perf_text *t = begin();

	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 2, 0, "-", "R", "C", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "schedule|main");
	text_wakeup(t, 2, 400, "C", "sched_waking", "A", "wake|work");
	text_migrate(t, 2, 402, "C", "A", 0, 1);
	text_migrate(t, 2, 500, "C", "A", 1, 2);
	text_switch(t, 2, 600, "C", "S", "A", "");
	text_switch(t, 2, 700, "A", "R", "-", "");
	expect_who_ran("A;main;-;schedule;--;wake;-;work;C;[running] 300\n"
		       "A;main;-;schedule;[runnable];B 100\n"
		       "A;main;-;schedule;[runnable];C 100\n");
}

TEST(without_moves_it_is_not_said_who_had_the_cpu)
{
	struct perf_text *t = begin();

	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "R", "C", "");
	text_switch(t, 0, 200, "C", "S", "A", "");
	expect_who_ran("A;[unknown stack];[preempted] 100\n");
}

/* What is lost before the first move may have been one. */
TEST(a_loss_may_hide_moves)
{
	struct perf_text *t = begin();

	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "schedule|main");
	text_head(t, 1, 200, "B");
	text_line(t, "PERF_RECORD_LOST lost 7\n");
	text_wakeup(t, 1, 400, "B", "sched_waking", "A", "wake|work");
	text_wakeup(t, 1, 420, "B", "sched_waking", "D", "wake|work");
	text_migrate(t, 1, 450, "B", "A", 0, 2);
	text_switch(t, 2, 500, "-", "R", "A", "");
	text_switch(t, 2, 700, "A", "R", "-", "");
	expect_who_ran("A;[unknown stack];[runnable] 50\n"
		       "A;[unknown stack];[runnable];[idle CPU] 50\n");
}

/* A loses its CPU to B, and then to nobody: the CPU is idle although A could run. */
TEST(a_cpu_left_idle_means_a_quota)
{
	struct perf_text *t = begin();
	struct options o = script_options(text_tid("A"));
	struct text_trace tt;
	char *json, *second;

	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "R", "B", "tick|spin");
	text_switch(t, 0, 150, "B", "S", "A", "nap");
	text_switch(t, 0, 200, "A", "R+", "-", "tick|spin");
	text_switch(t, 0, 290, "-", "R", "A", "");
	assert_int_equal(text_open(&tt, text.p, text.len), 0);
	o.parts |= PART_PREEMPTED;
	json = trace_formatted(tt.trace, &o, "json");
	second = strchr(json, '\n');
	assert_non_null(second);
	*second++ = '\0';
	assert_non_null(strstr(json, "\"preempted\":50000"));
	assert_null(strstr(json, "throttled"));
	assert_non_null(strstr(second, "\"flags\":[\"throttled\"]"));
	assert_non_null(strstr(second, "\"preempted\":90000"));
	free(json);
	json = trace_formatted(tt.trace, &o, "causes");
	assert_non_null(strstr(json, "A/101 was throttled"));
	assert_non_null(strstr(json, "A/101 had no CPU"));
	free(json);
	text_close(&tt);
}
