// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text of perf script as a trace: events in, folded lines out. The examples are those of
 * chain-semantics, and what only such a text can lack: events of the idle loop, wakings, threads
 * that perf did not know any more.
 */
#include "test.h"
#include <errno.h>

#include "import/perf_file.h"
#include "synth_script.h"
#include "perf_text.h"

static struct perf_text text;

static struct perf_text *begin(void)
{
	text.len = 0;
	return &text;
}

static struct import_report expect_folded(const char *thread, const char *expected)
{
	struct text_trace tt;

	assert_int_equal(text_open(&tt, text.p, text.len), 0);
	expect_text(text_folded(tt.trace, thread), expected);
	text_close(&tt);
	return tt.report;
}

/* B works, is blocked for a while and woken by C; then it wakes A. */
static void relay(struct perf_text *t, const char *event)
{
	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 2, 0, "-", "R", "C", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "schedule;recv|read;main");
	text_switch(t, 1, 300, "B", "S", "-", "schedule;lock");
	text_wakeup(t, 2, 700, "C", event, "B", "try_to_wake_up;unlock|cwork");
	text_switch(t, 1, 710, "-", "R", "B", "");
	text_wakeup(t, 1, 900, "B", event, "A", "try_to_wake_up;send|work");
	text_switch(t, 0, 930, "-", "R", "A", "");
	text_switch(t, 0, 1000, "A", "R", "-", "");
}

static const char relayed[] =
	"A;main;read;-;recv;schedule;--;try_to_wake_up;send;-;work;B;--;try_to_wake_up;unlock;-;"
	"cwork;C;[running] 400\n"
	"A;main;read;-;recv;schedule;--;try_to_wake_up;send;-;work;B;[runnable] 10\n"
	"A;main;read;-;recv;schedule;--;try_to_wake_up;send;-;work;B;[running] 390\n"
	"A;main;read;-;recv;schedule;[runnable] 30\n";

TEST(the_waker_itself_waited)
{
	struct import_report r;

	relay(begin(), "sched_waking");
	r = expect_folded("A", relayed);
	assert_int_equal(r.switches, 8);
	assert_int_equal(r.wakings, 2);
	assert_int_equal(r.missing_switches, 0);
	assert_false(import_damaged(&r));
	assert_false(r.wakeups || r.micro || r.no_stacks || r.other_ids);
}

TEST(wakeups_stand_in_for_wakings)
{
	struct import_report r;

	relay(begin(), "sched_wakeup");
	r = expect_folded("A", relayed);
	assert_true(r.wakeups);
}

TEST(where_both_are_recorded_wakings_count)
{
	struct perf_text *t = begin();

	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "recv");
	text_wakeup(t, 1, 500, "B", "sched_waking", "A", "try_to_wake_up;send");
	text_wakeup(t, 0, 510, "-", "sched_wakeup", "A", "ttwu_do_activate;sched_ttwu_pending");
	text_switch(t, 0, 520, "-", "R", "A", "");
	assert_false(expect_folded("A", "A;recv;--;try_to_wake_up;send;B;[running] 400\n"
					"A;recv;[runnable] 20\n")
			     .wakeups);
}

TEST(a_wakeup_on_the_targets_cpu_has_no_waker)
{
	struct perf_text *t = begin();
	struct import_report r;

	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "recv");
	text_wakeup(t, 0, 510, "-", "sched_wakeup", "A",
		    "ttwu_do_activate;sched_ttwu_pending;flush_smp_call_function_queue;do_idle");
	text_switch(t, 0, 520, "-", "R", "A", "");
	r = expect_folded("A", "A;recv;[unknown] 420\n");
	assert_int_equal(r.passed_on, 1);
}

/* C's early wakeup only took a sleeping state back; what woke A is not in the text. */
TEST(a_wakeup_without_a_waker_takes_an_early_one_back)
{
	struct perf_text *t = begin();

	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_wakeup(t, 1, 99, "B", "sched_wakeup", "A", "ttwu_do_activate;try_to_wake_up;send");
	text_switch(t, 0, 100, "A", "S", "-", "recv");
	text_wakeup(t, 0, 5100, "-", "sched_wakeup", "A",
		    "ttwu_do_activate;sched_ttwu_pending;flush_smp_call_function_queue;do_idle");
	text_switch(t, 0, 5110, "-", "R", "A", "");
	expect_folded("A", "A;recv;[unknown] 5010\n");
}

TEST(a_device_ends_it)
{
	struct perf_text *t = begin();

	text_switch(t, 1, 0, "-", "R", "Z", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "D", "-", "io_schedule");
	text_wakeup(t, 1, 700, "Z", "sched_waking", "A",
		    "try_to_wake_up;bio_done;common_interrupt;asm_common_interrupt;zfunc|zmain");
	text_switch(t, 0, 710, "-", "R", "A", "");
	(void)expect_folded("A", "A;io_schedule;--;try_to_wake_up;bio_done;common_interrupt;"
				 "asm_common_interrupt;[interrupt] 600\n"
				 "A;io_schedule;[runnable] 10\n");
}

TEST(the_idle_loops_events_are_missing)
{
	struct perf_text *t = begin();
	struct import_report r;

	/* As some kernels lose them: nothing that swapper does is there. */
	text_switch(t, 1, 5, "C", "S", "B", "read");
	text_switch(t, 0, 10, "X", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "recv");
	text_wakeup(t, 0, 400, "A", "sched_waking", "B", "wake;write");
	text_switch(t, 0, 500, "A", "S", "-", "recv");
	text_switch(t, 1, 900, "B", "R", "C", "");
	/* A's waking is missing, and when it came back: it ran at 400. C was not woken at all. */
	r = expect_folded("A", "A;recv;[not woken] 400\n");
	assert_int_equal(r.missing_switches, 1);
	(void)expect_folded("C", "C;read;[unknown] 895\n");
}

TEST(a_told_loss_is_unknown)
{
	struct perf_text *t = begin();
	struct import_report r;

	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "recv");
	text_line(t, "B   102 [001]     0.000300000: PERF_RECORD_LOST lost 9\n");
	text_wakeup(t, 1, 500, "B", "sched_waking", "A", "wake;send");
	text_switch(t, 0, 530, "-", "R", "A", "");
	/* From 0, the last that was heard of CPU 1, to 300 anything may have happened to A. */
	r = expect_folded("A", "A;[unknown stack];[runnable] 30\n");
	assert_int_equal(r.lost_records, 1);
}

TEST(an_unreadable_event_is_a_loss)
{
	struct perf_text *t = begin();
	struct text_trace tt;

	text_switch(t, 1, 0, "-", "R", "B", "");
	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 0, 100, "A", "S", "-", "recv");
	text_line(t,
		  "B   102 [001]     0.000300000: sched:sched_waking: comm=A pid=\n\tffff x\n\n");
	text_line(t, "what is this?\n");
	text_wakeup(t, 1, 500, "B", "sched_waking", "A", "wake;send");
	text_switch(t, 0, 530, "-", "R", "A", "");
	assert_int_equal(text_open(&tt, t->p, t->len), 0);
	assert_int_equal(tt.report.bad_lines, 2);
	assert_int_equal(tt.report.bad_line, 8);
	assert_int_equal(tt.report.lines, 17);
	assert_int_equal(trace_info(tt.trace)->lost, 2);
	assert_true(import_damaged(&tt.report));
	text_close(&tt);
}

TEST(a_text_cut_off_in_a_line)
{
	struct text_trace tt;

	relay(begin(), "sched_waking");
	for (size_t cut = 1; cut < 60; cut++) {
		assert_int_equal(text_open(&tt, text.p, text.len - cut), 0);
		if (text.p[text.len - cut - 1] != '\n')
			assert_true(import_damaged(&tt.report));
		text_close(&tt);
	}
}

TEST(threads_that_perf_did_not_know_any_more)
{
	struct perf_text *t = begin();

	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 1, 20, "-", "R", "B", "");
	text_switch(t, 0, 100, "A", "S", "-", "wait");
	/* B dies: its parent is told, then it leaves its CPU. */
	text_line(t, ":-1    -1 [001]     0.000500000: sched:sched_waking: comm=A pid=101 prio=120 "
		     "target_cpu=000\n");
	text_stack(t, "wake;do_exit");
	text_switch(t, 0, 530, "-", "R", "A", "");
	text_line(t, ":-1    -1 [001]     0.000600000: sched:sched_switch: prev_comm=B "
		     "prev_pid=102 prev_prio=120 prev_state=X ==> next_comm=swapper/1 next_pid=0 "
		     "next_prio=120\n");
	text_stack(t, "do_task_dead");
	assert_false(expect_folded("A", "A;wait;--;wake;do_exit;B;[running] 400\n"
					"A;wait;[runnable] 30\n")
			     .other_ids);
}

TEST(ids_of_another_namespace)
{
	struct perf_text *t = begin();

	/* perf script in a container: its own ids in the column, the host's in the events. */
	for (int i = 0; i < 100; i++) {
		text_line(
			t,
			"B     7 [001]     0.%06d000: sched:sched_switch: prev_comm=B prev_pid=102 "
			"prev_prio=120 prev_state=R ==> next_comm=B next_pid=102 next_prio=120\n\n",
			i);
	}
	text_switch(t, 0, 150, "-", "R", "A", "");
	text_switch(t, 0, 200, "A", "S", "-", "wait");
	text_line(t, "B     7 [001]     0.000500000: sched:sched_waking: comm=A pid=101 prio=120 "
		     "target_cpu=000\n");
	text_stack(t, "wake");
	text_switch(t, 0, 530, "-", "R", "A", "");
	assert_true(expect_folded("A", "A;wait;--;wake;B;[running] 300\n"
				       "A;wait;[runnable] 30\n")
			    .other_ids);
}

TEST(a_thread_gets_another_name)
{
	struct perf_text *t = begin();

	text_switch(t, 0, 0, "-", "R", "A", "");
	text_switch(t, 0, 10, "A", "S", "B", "wait");
	text_wakeup(t, 0, 20, "B", "sched_waking", "A", "wake");
	text_switch(t, 0, 20, "B", "S", "A", "wait");
	text_wakeup(t, 0, 30, "A", "sched_waking", "B", "wake");
	text_line(t, "A  101 [000]     0.000040000: sched:sched_switch: prev_comm=A moth "
		     "prev_pid=101 prev_prio=120 prev_state=S ==> next_comm=B next_pid=102 "
		     "next_prio=120\n");
	text_stack(t, "wait");
	text_wakeup(t, 0, 60, "B", "sched_waking", "A", "wake");
	text_switch(t, 0, 60, "B", "S", "A", "wait");
	(void)expect_folded("A", "A moth;wait;--;wake;B;[running] 20\n"
				 "A;wait;--;wake;B;[running] 10\n");
}

TEST(a_thread_id_is_used_again)
{
	struct perf_text *t = begin();

	text_switch(t, 0, 0, "-", "R", "A", "");
	text_switch(t, 0, 10, "A", "X", "B", "do_task_dead");
	text_wakeup(t, 0, 15, "B", "sched_wakeup_new", "A", "wake_up_new_task");
	text_switch(t, 0, 20, "B", "S", "A", "wait");
	text_switch(t, 0, 50, "A", "S", "-", "first sleep");
	text_switch(t, 0, 90, "-", "R", "B", "");
	(void)expect_folded("A", "A;[unknown stack];[runnable] 5\n"
				 "A;first sleep;[not woken] 40\n");
}

TEST(processes_from_the_column_of_pids)
{
	struct perf_text *t = begin();
	struct text_trace tt;
	struct options o;
	uint32_t pid = 90;

	text_line(t, "A    90/101   [000]     0.000010000: sched:sched_switch: prev_comm=A "
		     "prev_pid=101 prev_prio=120 prev_state=S ==> next_comm=B next_pid=102 "
		     "next_prio=120\n");
	text_stack(t, "one");
	text_line(t, "B   102/102   [000]     0.000020000: sched:sched_switch: prev_comm=B "
		     "prev_pid=102 prev_prio=120 prev_state=S ==> next_comm=A next_pid=101 "
		     "next_prio=120\n");
	text_stack(t, "two");
	assert_int_equal(text_open(&tt, t->p, t->len), 0);
	options_init(&o);
	o.processes.ids = (struct id_list) { &pid, 1 };
	expect_text(trace_folded(tt.trace, &o), "A;one;[unknown] 10\n");
	text_close(&tt);
}

/* B has another name from 300 on, of which no event tells; C has its own, that perf has missed. */
TEST(names_from_the_column_of_names)
{
	struct perf_text *t = begin();

	text_switch(t, 0, 10, "-", "R", "A", "");
	text_switch(t, 1, 20, "-", "R", "B", "");
	text_switch(t, 2, 30, "-", "R", "C", "");
	text_switch(t, 0, 100, "A", "S", "-", "wait");
	text_wakeup(t, 1, 200, "B", "sched_waking", "A", "wake");
	text_switch(t, 0, 200, "-", "R", "A", "");
	text_switch(t, 0, 250, "A", "S", "-", "wait");
	text_line(t, "renamed 102 [001]     0.000300000: sched:sched_waking: comm=A pid=101 "
		     "prio=120 target_cpu=000\n");
	text_stack(t, "wake");
	text_switch(t, 0, 300, "-", "R", "A", "");
	text_switch(t, 0, 350, "A", "S", "-", "wait");
	text_line(t, "old   103 [002]     0.000400000: sched:sched_waking: comm=A pid=101 "
		     "prio=120 target_cpu=000\n");
	text_stack(t, "wake");
	text_switch(t, 0, 400, "-", "R", "A", "");
	(void)expect_folded("A", "A;wait;--;wake;B;[running] 100\n"
				 "A;wait;--;wake;C;[running] 50\n"
				 "A;wait;--;wake;renamed;[running] 50\n");
}

/* 103 wakes A, which has slept for 100: the name column at 200, at 400; what else it has at 500. */
static void column_names(const char *first, const char *second, const char *at_500,
			 const char *expected)
{
	struct perf_text *t = begin();
	const char *names[] = { first, second };

	text_switch(t, 0, 10, "-", "R", "A", "");
	for (int i = 0; i < 2; i++) {
		text_switch(t, 0, 100 + 200 * i, "A", "S", "-", "wait");
		text_line(t,
			  "%s 103 [002] 0.000%d00000: sched:sched_waking: comm=A pid=101 prio=120 "
			  "target_cpu=000\n",
			  names[i], 2 + 2 * i);
		text_stack(t, "wake");
		text_switch(t, 0, 200 + 200 * i, "-", "R", "A", "");
	}
	text_line(t, "%s\n", at_500);
	(void)expect_folded("A", expected);
}

/*
 * No event tells of the exec that makes C bash. Up to it the column's name holds, also where the
 * first one that has the new name is an event; but where the column does not follow, it never was
 * right.
 */
TEST(names_that_only_the_column_has)
{
#define SWITCH_OF(column, name)                                                    \
	column " 103 [002] 0.000500000: sched:sched_switch: prev_comm=" name       \
	       " prev_pid=103 prev_prio=120 prev_state=S ==> next_comm=swapper/2 " \
	       "next_pid=0 next_prio=120\n"
	static const char both[] = "A;wait;--;wake;C;[running] 100\n"
				   "A;wait;--;wake;bash;[running] 100\n";

	column_names("C", "bash", "", both);
	column_names("C", "bash", SWITCH_OF("bash", "bash"), both);
	column_names("C", "C", SWITCH_OF("bash", "bash"), "A;wait;--;wake;C;[running] 200\n");
	column_names("C", "C", SWITCH_OF("C", "bash"), "A;wait;--;wake;bash;[running] 200\n");
	/* perf has listed it so as the recording began. */
	column_names("C 103 [002] 0.000000000: PERF_RECORD_COMM: C:103/103\n\nbash", "bash", "",
		     "A;wait;--;wake;bash;[running] 200\n");
#undef SWITCH_OF
}

TEST(kernel_threads_are_told_by_their_stacks)
{
	struct perf_text *t = begin();
	struct text_trace tt;
	struct options o;

	text_switch(t, 0, 0, "-", "R", "K", "");
	text_switch(t, 0, 10, "K", "I", "A", "schedule;worker_thread;kthread;ret_from_fork");
	text_switch(t, 0, 20, "A", "S", "-", "schedule;ret_from_fork|main");
	text_switch(t, 0, 50, "-", "R", "B", "");
	assert_int_equal(text_open(&tt, t->p, t->len), 0);
	options_init(&o);
	o.no_kthreads = true;
	expect_text(trace_folded(tt.trace, &o), "A;main;-;ret_from_fork;schedule;[not woken] 30\n");
	text_close(&tt);
}

TEST(perfs_own_list_of_threads)
{
	struct perf_text *t = begin();
	struct text_trace tt;
	size_t n;

	text_line(t, "# hostname : db7\n# os release : 6.1.0\n# arch : x86_64\n# nrcpus avail : 8\n"
		     "# perf version : 6.1.9\n# cmdline : /usr/bin/perf record -a \n#\n");
	text_line(t, "swapper     0 [000]     0.000000000: PERF_RECORD_FORK(90:101):(1:1)\n");
	text_line(t, "swapper     0 [000]     0.000000000: PERF_RECORD_COMM: proc:90/101\n");
	text_line(t, "x     0 [000]     5.000000000: PERF_RECORD_COMM: early:90/101\n");
	text_switch(t, 0, 7000000, "-", "R", "A", "");
	text_line(t, "A   101 [000]     8.000000000: PERF_RECORD_FORK(90:103):(90:101)\n");
	text_switch(t, 0, 9000000, "A", "S", "-", "wait");
	assert_int_equal(text_open(&tt, t->p, t->len), 0);
	assert_string_equal(trace_info(tt.trace)->host, "db7");
	assert_string_equal(trace_info(tt.trace)->release, "6.1.0");
	assert_string_equal(trace_info(tt.trace)->tool, "perf script 6.1.9");
	assert_string_equal(trace_info(tt.trace)->options, "/usr/bin/perf record -a");
	assert_int_equal(trace_info(tt.trace)->cpus, 8);
	/* What was told before the recording began is no part of its time. */
	assert_int_equal(trace_info(tt.trace)->start_ns, UINT64_C(7000000000));
	assert_int_equal(trace_info(tt.trace)->events_of[EVENT_FORK], 1);
	assert_int_equal(trace_threads(tt.trace, &n)[0].tgid, 90);
	assert_string_equal(trace_string(tt.trace, trace_threads(tt.trace, &n)[0].name), "A");
	assert_int_equal(n, 2);
	text_close(&tt);
}

TEST(times_that_go_back)
{
	struct perf_text *t = begin();
	struct text_trace tt;
	struct import_report r;

	text_switch(t, 0, 100, "-", "R", "A", "");
	text_switch(t, 0, 99, "A", "S", "B", "wait");
	text_switch(t, 0, 130, "B", "S", "-", "wait");
	r = expect_folded("A", "A;wait;[not woken] 30\n");
	assert_int_equal(r.times_back, 1);
	/* By more than a clock can be wrong: another recording, which is left alone. */
	begin();
	text_switch(t, 0, 5000, "-", "R", "A", "");
	text_switch(t, 0, 5010, "A", "S", "-", "wait");
	text_switch(t, 1, 5030, "-", "R", "B", "");
	text_switch(t, 0, 100, "-", "R", "A", "");
	r = expect_folded("A", "A;wait;[not woken] 20\n");
	assert_int_equal(r.stopped, 8);
	assert_true(import_damaged(&r));
	/* Or no times at all. */
	begin();
	for (int i = 0; i < 1000; i++)
		text_switch(t, 0, i % 2 * 10, "A", "S", "A", "");
	assert_int_equal(text_open(&tt, t->p, t->len), -IMPORT_E_TIMES);
}

TEST(texts_that_do_not_tell_enough)
{
	static const struct {
		const char *text;
		int err;
	} texts[] = {
		{ "", -EBADMSG },
		{ "\n\n\n", -EBADMSG },
		{ "hello\n\tworld\n", -EBADMSG },
		{ "# hostname : x\n", -EBADMSG },
		{ "x 1 [000] sched:sched_switch: prev_comm=x prev_pid=1\n", -IMPORT_E_COLUMNS },
		{ "x 1 1.000000000: sched:sched_switch: prev_comm=x prev_pid=1\n",
		  -IMPORT_E_COLUMNS },
		{ "x 1 [000] 1.000000000: cycles: \n\tffff a (b)\n\n", -IMPORT_E_SWITCHES },
		{ "x 1 [000] 1.000000000: sched:sched_waking: comm=y pid=2 prio=1 target_cpu=0\n",
		  -IMPORT_E_SWITCHES },
	};
	struct text_trace tt;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int err = text_open(&tt, texts[i].text, strlen(texts[i].text));

		if (err != texts[i].err)
			fail_msg("%s\nexpected: %d, got: %d", texts[i].text, texts[i].err, err);
		assert_true(err == -EBADMSG || import_error_text(err));
	}
	assert_null(import_error_text(-EBADMSG));
	assert_false(import_is_text("CLB1\1\1\0\0", 8));
	assert_false(import_is_text("", 0));
	assert_false(import_is_text("PERFILE2....", 12));
	assert_true(perf_file_is("PERFILE2", 8));
	assert_true(import_is_text("perf 1", 6));
}

TEST(microseconds)
{
	struct perf_text *t = begin();

	text_line(t, "A 101 [000] 1.000010: sched:sched_switch: prev_comm=A prev_pid=101 "
		     "prev_prio=120 prev_state=S ==> next_comm=B next_pid=102 next_prio=120\n");
	text_line(t, "B 102 [000] 1.000040: sched:sched_switch: prev_comm=B prev_pid=102 "
		     "prev_prio=120 prev_state=S ==> next_comm=B next_pid=102 next_prio=120\n");
	assert_true(expect_folded("A", "A;[unknown stack];[not woken] 30\n").micro);
}
