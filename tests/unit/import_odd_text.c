// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text as people have it: losses before anything else, samples of any event, samples of off-CPU
 * time, recordings of some threads, what an editor did to it, ftrace's text, missing fields.
 */
#include "test.h"
#include <inttypes.h>

#include "synth_script.h"
#include "perf_text.h"

static struct perf_text text;

static struct perf_text *begin(void)
{
	text.len = 0;
	return &text;
}

/* B, which runs all the time, wakes A after 400 us. */
static void pair_at(struct perf_text *t, const char *between)
{
	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "schedule|read;main");
	text_line(t, "%s", between);
	text_wakeup(t, 1, 500, "B", "sched_waking", "A", "wake|work");
	text_switch(t, 0, 530, "-", "R", "A", "");
	text_switch(t, 0, 600, "A", "R", "-", "");
}

/* A's lines, with samples; sample_event as the user's option. */
static struct import_report expect_lines(const char *sample_event, const char *expected)
{
	struct options o = script_options(text_tid("A"));
	const struct import_input source = { (const uint8_t *)text.p, text.len, -1, sample_event,
					     0 };
	struct import_report report;
	struct trace *trace;
	struct trace_bytes log;

	assert_int_equal(import_stream(&source, &log, &report), 0);
	assert_int_equal(trace_open_memory(&trace, log.base, log.len), 0);
	expect_text(trace_folded(trace, &o), expected);
	trace_close(trace);
	trace_bytes_free(&log);
	return report;
}

#define PAIR_RUNS(what)                                                   \
	"A;main;read;-;schedule;--;wake;-;work;B;[running]" what " 400\n" \
	"A;main;read;-;schedule;[runnable] 30\n"

/* ---- losses ---------------------------------------------------------------------------------- */

static void expect_length(uint64_t us)
{
	struct text_trace tt;

	assert_int_equal(text_open(&tt, text.p, text.len), 0);
	assert_int_equal(trace_info(tt.trace)->end_ns - trace_info(tt.trace)->start_ns, us * 1000);
	text_close(&tt);
}

/* What was lost before a CPU's first event was lost since the trace's first, not since boot. */
TEST(a_loss_before_all_events)
{
	struct perf_text *t = begin();

	text_line(t, "B 102 [001] 864000.000005000: PERF_RECORD_LOST lost 4\n\n");
	for (int i = 0; i < 2; i++) {
		int us = i * 100;

		text_line(
			t,
			"A 101 [000] 864000.%06d000: sched:sched_switch: prev_comm=A prev_pid=101 "
			"prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 "
			"next_prio=120\n\n",
			us);
	}
	expect_length(100);
}

TEST(a_foreign_line_before_all_events)
{
	struct perf_text *t = begin();

	text_line(t, "'trace' not valid for hardware events. Ignoring.\n");
	pair_at(t, "");
	expect_length(600);
	assert_int_equal(expect_lines(NULL, PAIR_RUNS("")).bad_lines, 1);
}

/* CPU 1 lost events up to 200: nothing is known of what its threads did before. */
TEST(an_early_loss_is_unknown)
{
	struct perf_text *t = begin();

	text_switch(t, 0, 0, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "recv");
	text_head(t, 1, 200, "B");
	text_line(t, "PERF_RECORD_LOST lost 3\n\n");
	text_wakeup(t, 1, 900, "B", "sched_waking", "A", "wake");
	text_switch(t, 0, 930, "-", "R", "A", "");
	expect_lines(NULL, "A;[unknown stack];[runnable] 30\n");
}

/* ---- samples --------------------------------------------------------------------------------- */

static void sample(struct perf_text *t, int us, const char *event, const char *frames)
{
	text_head(t, 1, us, "B");
	text_line(t, "%s \n", event);
	text_stack(t, frames);
}

TEST(samples_of_any_unit_of_the_cpu)
{
	static const char *const events[] = {
		"250000 cpu_core/cycles/P:", "250000 cpu_atom/cycles/:",
		"250000 cpu/cpu-cycles/:",   "250000 armv8_pmuv3_0/cpu_cycles/:",
		"250000 cycles:P:",	     "cycles:",
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct perf_text *t = begin();
		struct import_report r;

		text_switch(t, 1, 0, "-", "R", "B", "");
		text_switch(t, 0, 10, "-", "R", "A", "");
		text_switch(t, 0, 100, "A", "S", "-", "schedule|read;main");
		sample(t, 300, events[i], "|copy;main");
		text_wakeup(t, 1, 500, "B", "sched_waking", "A", "wake|work");
		text_switch(t, 0, 530, "-", "R", "A", "");
		r = expect_lines(NULL, PAIR_RUNS(";main;copy"));
		assert_int_equal(r.n_sample_events, 1);
		assert_true(r.sample_events[0].counts && r.sample_events[0].is_cycles);
	}
}

/* Events: instructions twice, cache-misses once, and cycles once if that is asked for. */
static void mixed(bool cycles)
{
	struct perf_text *t = begin();

	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "schedule|read;main");
	sample(t, 200, "1000 instructions:", "|retire;main");
	sample(t, 210, "1000 cache-misses:", "|miss;main");
	sample(t, 220, "1000 instructions:", "");
	if (cycles)
		sample(t, 300, "1000 cycles:", "|spin;main");
	/* A tracepoint has a text, and says nothing of what ran. */
	sample(t, 310, "1 sched:sched_stat_runtime: comm=B pid=102 runtime=1 [ns]", "|stat;main");
	text_wakeup(t, 1, 500, "B", "sched_waking", "A", "wake|work");
	text_switch(t, 0, 530, "-", "R", "A", "");
}

TEST(cycles_count_whatever_comes_first)
{
	struct import_report r;

	mixed(true);
	r = expect_lines(NULL, PAIR_RUNS(";main;spin"));
	assert_int_equal(r.n_sample_events, 3);
	assert_false(r.sample_events[0].counts || r.sample_events[1].counts);
	assert_true(r.sample_events[2].counts);
}

TEST(without_cycles_the_first_event_counts)
{
	mixed(false);
	assert_true(expect_lines(NULL, PAIR_RUNS(";main;retire")).sample_events[0].counts);
}

TEST(the_user_chooses_an_event)
{
	mixed(true);
	expect_lines("cache-misses", PAIR_RUNS(";main;miss"));
	expect_lines("instructions", PAIR_RUNS(";main;retire"));
	assert_false(expect_lines("branches", PAIR_RUNS("")).sample_events[2].counts);
}

/* ---- perf record --off-cpu ------------------------------------------------------------------- */

static void off_cpu(struct perf_text *t, const char *who, uint64_t ns, const char *frames)
{
	text_line(t, "%s %u [000] 18446744069.414584320: %10" PRIu64 " offcpu-time: \n",
		  text_name(who), text_tid(who), ns);
	text_stack(t, frames);
}

TEST(off_cpu_samples_beside_switches)
{
	struct perf_text *t = begin();
	struct import_report r;

	pair_at(t, "");
	off_cpu(t, "A", 430000, "|recv;main");
	r = expect_lines(NULL, PAIR_RUNS(""));
	assert_int_equal(r.off_cpu, 1);
	assert_false(r.only_off_cpu || import_damaged(&r));
	expect_length(600);
}

/* Their time is none, so that no name is from then on. */
TEST(off_cpu_samples_tell_no_change_of_a_name)
{
	struct perf_text *t = begin();
	struct text_trace tt;

	pair_at(t, "");
	off_cpu(t, "A", 430000, "|recv;main");
	text_line(t, "later %u [000] 18446744069.414584320: 5000 offcpu-time: \n", text_tid("A"));
	text_stack(t, "|recv;main");
	assert_int_equal(text_open(&tt, text.p, text.len), 0);
	assert_null(trace_damage(tt.trace)->what);
	assert_int_equal(trace_info(tt.trace)->events_of[EVENT_RENAME], 0);
	text_close(&tt);
}

TEST(off_cpu_samples_alone_are_the_waits)
{
	struct perf_text *t = begin();
	struct text_trace tt;

	off_cpu(t, "A", 430000, "|recv;main");
	off_cpu(t, "B", 5000000, "schedule|lock;main");
	off_cpu(t, "A", 70000, "|recv;main");
	off_cpu(t, "A", 1000, "|send;main");
	assert_int_equal(text_open(&tt, text.p, text.len), 0);
	assert_true(tt.report.only_off_cpu);
	expect_text(text_folded(tt.trace, "-"), "A;main;recv;[unknown] 500\n"
						"A;main;send;[unknown] 1\n"
						"B;main;lock;-;schedule;[unknown] 5000\n");
	text_close(&tt);
}

/* ---- perf record without -a ------------------------------------------------------------------ */

/* Events of A alone: it wakes C, and whoever comes after it on its CPU is not A. */
static void only_a(struct perf_text *t)
{
	for (int i = 0; i < 20; i++) {
		int us = 10 + i * 1000;

		text_wakeup(t, 0, us, "A", "sched_waking", "C", "wake|work");
		text_switch(t, 0, us + 100, "A", "S", "C", "schedule|read;main");
	}
}

TEST(times_of_threads_that_were_not_recorded)
{
	static const char *const commands[] = {
		"# cmdline : /usr/bin/perf record -g -e sched:* -p 101\n",
		"# cmdline : /usr/bin/perf record -g --call-graph dwarf -e sched:* -- prog -a\n",
		"# cmdline : /usr/bin/perf record --tid=101 -a\n",
		"", /* told by the switches alone */
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct perf_text *t = begin();
		struct text_trace tt;

		text_line(t, "%s", commands[i]);
		only_a(t);
		assert_int_equal(text_open(&tt, text.p, text.len), 0);
		assert_true(tt.report.per_task);
		expect_text(text_folded(tt.trace, "C"), "");
		text_close(&tt);
	}
}

TEST(a_recording_of_all)
{
	static const char *const commands[] = {
		"# cmdline : /usr/bin/perf record -ag -e sched:* sleep 1\n",
		"# cmdline : /usr/bin/perf record -g -e sched:* --all-cpus -o x sleep 1\n",
		"# cmdline : /usr/bin/perf record -C 0-3 -- sleep 1\n",
		"# cmdline : /usr/bin/perf sched record -p 1\n",
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct perf_text *t = begin();

		text_line(t, "%s", commands[i]);
		pair_at(t, "");
		assert_false(expect_lines(NULL, PAIR_RUNS("")).per_task);
	}
}

/* ---- what an editor or a page did to it -------------------------------------------------------
 */

/* Puts `to` in place of each `from` in the text. */
static void replace(const char *from, const char *to)
{
	static struct perf_text copy;

	copy = text;
	text.len = 0;
	for (size_t at = 0; at < copy.len;) {
		size_t n = strlen(from);

		if (copy.len - at >= n && !memcmp(copy.p + at, from, n)) {
			text_line(&text, "%s", to);
			at += n;
		} else {
			text.p[text.len++] = copy.p[at++];
		}
	}
}

TEST(lines_that_end_in_cr)
{
	pair_at(begin(), "");
	replace("\n", "\r\n");
	assert_int_equal(expect_lines(NULL, PAIR_RUNS("")).bad_lines, 0);
}

TEST(spaces_in_place_of_the_tab)
{
	static const char *const spaces[] = { " ", "  ", "    ", "        " };

	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		pair_at(begin(), "");
		replace("\t", spaces[i]);
		assert_int_equal(expect_lines(NULL, PAIR_RUNS("")).bad_lines, 0);
		/* The padding of addresses is gone, too. */
		pair_at(begin(), "");
		replace("\t    ", spaces[i]);
		replace("\t", spaces[i]);
		assert_int_equal(expect_lines(NULL, PAIR_RUNS("")).bad_lines, 0);
	}
}

TEST(records_without_columns)
{
	pair_at(begin(), "PERF_RECORD_FINISHED_ROUND\n\nPERF_RECORD_TIME_CONV 0\n");
	assert_int_equal(expect_lines(NULL, PAIR_RUNS("")).bad_lines, 0);
	pair_at(begin(), "PERF_RECORD_LOST lost 5\n\n");
	assert_int_equal(expect_lines(NULL, "").bad_lines, 0);
}

/* ---- ftrace ---------------------------------------------------------------------------------- */

TEST(text_of_ftrace_and_trace_cmd)
{
	static const char *const texts[] = {
		"# tracer: nop\n#\n"
		"          <idle>-0       [001] d..2.     1.000000: sched_switch: "
		"prev_comm=swapper/1 "
		"prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=B next_pid=102 next_prio=120\n"
		"          <idle>-0       [000] d..2.     1.000010: sched_switch: "
		"prev_comm=swapper/0 "
		"prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=A next_pid=101 next_prio=120\n"
		"               A-101     [000] d..2.     1.000100: sched_switch: prev_comm=A "
		"prev_pid=101 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 "
		"next_prio=120\n"
		"               A-101     [000] d..2.     1.000101: <stack trace>\n => __schedule\n"
		" => schedule\n"
		"               B-102     [001] d..2.     1.000500: sched_waking: comm=A pid=101 "
		"prio=120 target_cpu=000\n"
		"          <idle>-0       [000] d..2.     1.000530: sched_switch: "
		"prev_comm=swapper/0 "
		"prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=A next_pid=101 "
		"next_prio=120\n",
		"cpus=2\n"
		"          <idle>-0     (-------) [001]     1.000000000: sched_switch: swapper/1:0 "
		"[120] R ==> B:102 [120]\n"
		"          <idle>-0     (-------) [000]     1.000010000: sched_switch: swapper/0:0 "
		"[120] R ==> A:101 [120]\n"
		"               A-101   (  101) [000]     1.000100000: sched_switch: A:101 [120] S "
		"==> "
		"swapper/0:0 [120]\n"
		"               B-102   (  102) [001]     1.000500000: sched_waking: A:101 [120] "
		"CPU:000\n"
		"          <idle>-0     (-------) [000]     1.000530000: sched_switch: swapper/0:0 "
		"[120] R ==> A:101 [120]\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct import_report r;

		text_line(begin(), "%s", texts[i]);
		r = expect_lines(NULL, "A;[unknown stack];--;[unknown stack];B;[running] 400\n"
				       "A;[unknown stack];[runnable] 30\n");
		assert_int_equal(r.bad_lines, 0);
		assert_int_equal(r.switches, 4);
	}
}

TEST(losses_in_ftraces_text)
{
	pair_at(begin(), "CPU:1 [LOST 5 EVENTS]\n");
	assert_int_equal(expect_lines(NULL, "").bad_lines, 0);
	pair_at(begin(), "CPU:1 [5 EVENTS DROPPED]\n");
	assert_int_equal(expect_lines(NULL, "").bad_lines, 0);
}

/* ---- fields that were not printed --------------------------------------------------------------
 */

TEST(missing_fields_are_named)
{
	static const struct {
		const char *line;
		int err;
	} lines[] = {
		{ "A 101 [000] 1.000100000: sched:sched_switch: \n\tffffffff81399969 a ([b])\n\n",
		  -IMPORT_E_TRACE },
		{ "A 101 [000] 1.000100000: sched:sched_switch:  ffffffff81399969 a ([b])\n",
		  -IMPORT_E_TRACE },
		{ "A 101 [000] 1.000100000: prev_comm=A prev_pid=101 prev_prio=120 prev_state=S "
		  "==> next_comm=B next_pid=102 next_prio=120\n",
		  -IMPORT_E_EVENT },
		{ "A 101 [000] 1.000100000: \n\tffffffff81399969 a ([b])\n\n", -IMPORT_E_EVENT },
	};
	struct text_trace tt;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int err = text_open(&tt, lines[i].line, strlen(lines[i].line));

		if (err != lines[i].err)
			fail_msg("%s\nexpected: %d, got: %d", lines[i].line, lines[i].err, err);
		assert_non_null(strstr(import_error_text(err), "the field"));
	}
}
