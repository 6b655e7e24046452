// SPDX-License-Identifier: GPL-2.0-or-later
/* Timelines: what each thread did, from made events (chain-semantics, section 2). */
#include "test.h"
#include <stdio.h>

#include "synth_script.h"

static void timeline(const char *script, char thread, const char *expected)
{
	expect_text(script_timeline(script, thread), expected);
}

/* ---- ordinary life -------------------------------------------------------------------------- */

TEST(a_sleep_is_blocked_then_runnable)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A D > - io\n"
		 "900 c1 B wakes A\n"
		 "930 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "100-900-930 D\n"
		 "lived 0-1000\n");
}

TEST(a_preempted_thread_has_no_waker)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A R > B\n"
		 "300 c0 B S > A\n"
		 "end 1000\n",
		 'A',
		 "100-300 preempted\n"
		 "lived 0-1000\n");
}

TEST(a_new_thread_begins_with_its_waking)
{
	timeline("0   c0 - R > B\n"
		 "born A\n"
		 "50  c0 B forks A\n"
		 "60  c0 B new A\n"
		 "80  c1 - R > A\n"
		 "end 1000\n",
		 'A',
		 "60-60-80 ?, new\n"
		 "lived 60-1000\n");
}

TEST(exit_ends_a_timeline_and_is_no_wait)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A exits\n"
		 "120 c0 A wakes B\n"
		 "150 c0 A X > -\n"
		 "end 1000\n",
		 'A', "lived 0-150\n");
}

TEST(a_reused_tid_is_another_thread)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A exits\n"
		 "110 c0 A Z > B\n"
		 "200 c0 B forks A\n"
		 "210 c0 B new A\n"
		 "220 c1 - R > A\n"
		 "300 c1 A S > - poll\n"
		 "end 1000\n",
		 'A',
		 "lived 0-110\n"
		 "210-210-220 ?, new\n"
		 "300-1000-1000 S, not woken, still\n"
		 "lived 210-1000\n");
}

TEST(exec_by_another_thread_goes_on_as_the_leader)
{
	/* B, a thread of A's process, calls exec: A is killed, B gets A's tid. */
	timeline("0   c0 - R > A\n"
		 "0   c1 - R > B\n"
		 "100 c0 A exits\n"
		 "110 c0 A Z > -\n"
		 "200 c1 B execs-as A\n"
		 "300 c1 A S > - poll\n"
		 "end 1000\n",
		 'A',
		 "lived 0-110\n"
		 "300-1000-1000 S, not woken, still\n"
		 "lived 0-1000\n");
}

/* ---- details that decide whether the result is right ---------------------------------------- */

TEST(an_early_waking_ends_the_wait_that_follows)
{
	timeline("0   c0 - R > A\n"
		 "99  c1 B wakes A\n"
		 "100 c0 A S > - recv\n"
		 "130 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "100-100-130 S, early\n"
		 "lived 0-1000\n");
}

TEST(an_early_waking_that_nothing_comes_of_is_none)
{
	timeline("0   c0 - R > A\n"
		 "99  c1 B wakes A\n"
		 "100 c0 A S > - recv\n"
		 "end 1000\n",
		 'A',
		 "100-1000-1000 S, not woken, still\n"
		 "lived 0-1000\n");
}

TEST(an_early_waking_is_dropped_if_a_later_one_comes)
{
	timeline("0   c0 - R > A\n"
		 "50  c1 B wakes A\n"
		 "100 c0 A S > - recv\n"
		 "900 c1 B wakes A\n"
		 "930 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "100-900-930 S\n"
		 "lived 0-1000\n");
}

TEST(an_early_waking_is_dropped_by_a_preemption)
{
	timeline("0   c0 - R > A\n"
		 "50  c1 B wakes A\n"
		 "100 c0 A R > B\n"
		 "200 c0 B S > A\n"
		 "300 c0 A S > - recv\n"
		 "400 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "100-200 preempted\n"
		 "300-400-400 S, no waking\n"
		 "lived 0-1000\n");
}

TEST(a_waking_of_a_preempted_thread_changes_nothing)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A R > B\n"
		 "150 c1 C wakes A\n"
		 "200 c0 B S > A\n"
		 "end 1000\n",
		 'A',
		 "100-200 preempted\n"
		 "lived 0-1000\n");
}

TEST(still_asleep_at_the_end_is_kept)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A D > - lock\n"
		 "end 1000\n",
		 'A',
		 "100-1000-1000 D, not woken, still\n"
		 "lived 0-1000\n");
}

TEST(woken_but_not_yet_running_at_the_end)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A S > - recv\n"
		 "900 c1 B wakes A\n"
		 "end 1000\n",
		 'A',
		 "100-900-1000 S, still\n"
		 "lived 0-1000\n");
}

TEST(asleep_since_before_the_start_by_the_snapshot)
{
	timeline("thread A D lock;main\n"
		 "end 1000\n",
		 'A',
		 "0-1000-1000 D, not woken, since start, still\n"
		 "lived 0-1000\n");
	timeline("thread A S lock;main\n"
		 "0   c0 - R > B\n"
		 "400 c0 B wakes A\n"
		 "450 c1 - R > A\n"
		 "end 1000\n",
		 'A',
		 "0-400-450 S, since start\n"
		 "lived 0-1000\n");
}

TEST(asleep_since_before_the_start_by_its_waking)
{
	timeline("born A\n"
		 "400 c0 B wakes A\n"
		 "450 c1 - R > A\n"
		 "end 1000\n",
		 'A',
		 "0-400-450 ?, since start\n"
		 "lived 0-1000\n");
}

TEST(a_woken_thread_that_never_slept)
{
	/* The first event of CPU 1 is A's switch-out: A ran there all along, the waking was early.
	 */
	timeline("born A\n"
		 "400 c0 B wakes A\n"
		 "450 c1 A S > - recv\n"
		 "500 c1 - R > A\n"
		 "end 1000\n",
		 'A',
		 "450-450-500 S, early\n"
		 "lived 0-1000\n");
}

TEST(whoever_ran_all_along_was_woken_early)
{
	/* CPU 1 has lost nothing, and no switch to A: A was there at 200, too, and before. */
	timeline("thread A R\n"
		 "200 c0 B wakes A\n"
		 "300 c0 B wakes A\n"
		 "400 c1 A wakes C\n"
		 "450 c1 A S > - recv\n"
		 "500 c1 - R > A\n"
		 "end 1000\n",
		 'A',
		 "450-450-500 S, early\n"
		 "lived 0-1000\n");
	/* What woke it last is not known. */
	timeline("thread A R\n"
		 "200 c0 B wakes A\n"
		 "300 c0 - woken A\n"
		 "450 c1 A S > - recv\n"
		 "500 c1 - R > A\n"
		 "end 1000\n",
		 'A',
		 "450-500-500 S, no waking\n"
		 "lived 0-1000\n");
	/* It came there when events of CPU 1 were lost. */
	timeline("thread A R\n"
		 "50  c1 lost 100\n"
		 "200 c0 B wakes A\n"
		 "450 c1 A R > - spin\n"
		 "end 1000\n",
		 'A',
		 "0-100.001 unknown\n"
		 "450-1000 preempted, still\n"
		 "lived 0-1000\n");
}

TEST(ended_without_a_recorded_waking)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A S > - recv\n"
		 "930 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "100-930-930 S, no waking\n"
		 "lived 0-1000\n");
}

TEST(unknown_before_the_first_event)
{
	timeline("0   c0 - R > B\n"
		 "200 c0 B S > A\n"
		 "end 1000\n",
		 'A',
		 "0-200 unknown\n"
		 "lived 0-1000\n");
}

TEST(the_first_to_leave_a_cpu_had_it_since_the_start)
{
	timeline("300 c0 A S > - recv\n"
		 "end 1000\n",
		 'A',
		 "300-1000-1000 S, not woken, still\n"
		 "lived 0-1000\n");
}

TEST(a_waker_is_running)
{
	timeline("300 c0 A wakes B\n"
		 "end 1000\n",
		 'A', "lived 0-1000\n");
}

/* ---- impossible sequences ------------------------------------------------------------------- */

TEST(switched_out_without_having_been_switched_in)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A S > B recv\n"
		 "500 c0 A S > - recv\n"
		 "end 1000\n",
		 'A',
		 "100-500 unknown\n"
		 "500-1000-1000 S, not woken, still\n"
		 "lived 0-1000\n");
}

TEST(displaced_without_having_been_switched_out)
{
	/* A was last seen to run at 200; at 500 its CPU turns out to be B's. */
	timeline("0   c0 - R > A\n"
		 "200 c0 A wakes C\n"
		 "500 c0 B S > -\n"
		 "800 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "200-800 unknown\n"
		 "lived 0-1000\n");
}

TEST(running_on_two_cpus_at_once)
{
	timeline("0   c0 - R > A\n"
		 "300 c1 - R > A\n"
		 "end 1000\n",
		 'A',
		 "0-300 unknown\n"
		 "lived 0-1000\n");
}

TEST(woken_twice)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A S > - recv\n"
		 "200 c1 B wakes A\n"
		 "400 c1 B wakes A\n"
		 "450 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "100-200-200 S, still\n"
		 "200-400 unknown\n"
		 "400-400-450 ?\n"
		 "lived 0-1000\n");
}

/* ---- losses --------------------------------------------------------------------------------- */

TEST(a_sleeper_is_lost_sight_of)
{
	timeline("0   c0 - R > A\n"
		 "100 c0 A S > - recv\n"
		 "400 c1 lost 450\n"
		 "900 c1 B wakes A\n"
		 "930 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "100-400-400 S, no waking, still\n"
		 "400-900 unknown\n"
		 "900-900-930 ?\n"
		 "lived 0-1000\n");
}

TEST(one_that_runs_elsewhere_is_not)
{
	timeline("0   c0 - R > A\n"
		 "400 c1 lost 450\n"
		 "600 c0 A S > - recv\n"
		 "900 c1 B wakes A\n"
		 "930 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "600-900-930 S\n"
		 "lived 0-1000\n");
}

TEST(one_that_runs_on_the_lossy_cpu_is)
{
	timeline("0   c0 - R > A\n"
		 "400 c0 lost 450\n"
		 "600 c0 A S > - recv\n"
		 "900 c1 B wakes A\n"
		 "930 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "400-450.001 unknown\n"
		 "600-900-930 S\n"
		 "lived 0-1000\n");
}

TEST(one_that_falls_asleep_during_a_loss_is_unknown)
{
	timeline("0   c0 - R > A\n"
		 "400 c1 lost 700\n"
		 "600 c0 A S > - recv\n"
		 "900 c1 B wakes A\n"
		 "930 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "600-900 unknown\n"
		 "900-900-930 ?\n"
		 "lived 0-1000\n");
}

TEST(a_loss_drops_an_early_waking)
{
	timeline("0   c0 - R > A\n"
		 "50  c1 B wakes A\n"
		 "60  c1 lost 70\n"
		 "100 c0 A S > - recv\n"
		 "130 c0 - R > A\n"
		 "end 1000\n",
		 'A',
		 "100-130-130 S, no waking\n"
		 "lived 0-1000\n");
}

TEST(a_loss_of_no_known_cpu_is_a_loss_of_all)
{
	timeline("0   c0 - R > A\n"
		 "400 c? lost 450\n"
		 "end 1000\n",
		 'A',
		 "400-1000 unknown\n"
		 "lived 0-1000\n");
}

/* It would have to have run in a tenth of the time, and nowhere else. */
TEST(asleep_throughout_although_events_are_lost)
{
	timeline("thread A S lock\n"
		 "400 c0 lost 450\n"
		 "420 c1 lost 460\n"
		 "700 c0 lost 730\n"
		 "end 1000\n",
		 'A',
		 "0-1000-1000 S, not woken, since start, still\n"
		 "lived 0-1000\n");
}

TEST(asleep_and_never_seen_again_after_much_was_lost)
{
	timeline("thread A S lock\n"
		 "400 c0 lost 450\n"
		 "700 c0 lost 760\n"
		 "end 1000\n",
		 'A',
		 "0-400-400 S, no waking, since start, still\n"
		 "400-1000 unknown\n"
		 "lived 0-1000\n");
}

TEST(seen_asleep_only_after_a_loss)
{
	timeline("thread A S@420 lock\n"
		 "400 c0 lost 410\n"
		 "end 1000\n",
		 'A',
		 "0-400 unknown\n"
		 "400-1000 unknown\n"
		 "lived 0-1000\n");
}

TEST(put_on_a_queue_while_events_are_lost)
{
	timeline("queues\n"
		 "thread A S lock\n"
		 "400 c0 lost 450\n"
		 "420 c0 A queued c1\n"
		 "end 1000\n",
		 'A',
		 "0-400-400 S, no waking, since start, still\n"
		 "400-1000 unknown\n"
		 "lived 0-1000\n");
}

TEST(an_event_before_a_loss_tells_that_it_does_run)
{
	timeline("thread A S lock\n"
		 "100 c0 - S > A\n"
		 "200 c0 A S > - lock\n"
		 "400 c0 lost 450\n"
		 "end 1000\n",
		 'A',
		 "0-100-100 S, no waking, since start\n"
		 "200-400-400 S, no waking, still\n"
		 "400-1000 unknown\n"
		 "lived 0-1000\n");
}

/* The recorder is not in the list of threads, but writes into a pipe that A reads. */
TEST(the_recorder_has_its_programs_name)
{
	struct synth *m = synth_new();
	struct trace *t;
	struct options o;

	synth_info(m, &(struct chainlog_info) {
			      .tool = "chaincap 0.1.0", .cpus = 2, .recorder_tgid = 900 });
	synth_thread(m, 101, "A");
	synth_switch(m, 0, 0, 0, 'R', 101, "");
	synth_switch(m, 0, 100000, 101, 'S', 0, "read");
	synth_waking(m, 1, 300000, 900, 101, "write");
	synth_switch(m, 0, 300000, 0, 'R', 101, "");
	synth_end(m, 400000);
	t = synth_open(m);
	o = script_options(101);
	expect_text(trace_folded(t, &o), "A;read;--;write;chaincap;[unknown] 200\n");
	trace_close(t);
	synth_free(m);
}

/* A is woken at 99, and gets no CPU to the end; C sleeps as long, and nobody wakes it. */
TEST(woken_off_its_queue_and_starved)
{
	static const char before[] = "0   c0 - R > A\n"
				     "0   c1 - R > B\n"
				     "0   c2 - R > C\n";
	static const char after[] = "100 c0 A S > - recv\n"
				    "120 c2 C S > - lock\n"
				    "end 1000\n";
	char script[512];

	snprintf(script, sizeof(script), "%s99 c1 B wakes! A w\n%s", before, after);
	expect_text(script_timeline(script, 'A'), "100-100-1000 S, early, still\nlived 0-1000\n");
	expect_text(script_timeline(script, 'C'), "120-1000-1000 S, not woken, still\n"
						  "lived 0-1000\n");
	/* Without the bit, in older traces, the waking may have been for something else. */
	snprintf(script, sizeof(script), "%s99 c1 B wakes A w\n%s", before, after);
	expect_text(script_timeline(script, 'A'), "100-1000-1000 S, not woken, still\n"
						  "lived 0-1000\n");
}

TEST(a_sure_early_waking_survives_a_loss)
{
	expect_text(script_timeline("0   c0 - R > A\n"
				    "0   c1 - R > B\n"
				    "99  c1 B wakes! A w\n"
				    "100 c0 A S > - recv\n"
				    "200 c1 lost 300\n"
				    "400 c0 - R > A\n"
				    "end 1000\n",
				    'A'),
		    "100-100-200 S, early, still\n200-400 unknown\nlived 0-1000\n");
	/* A second waking then means that an event is missing. */
	expect_text(script_timeline("0   c0 - R > A\n"
				    "0   c1 - R > B\n"
				    "99  c1 B wakes! A w\n"
				    "100 c0 A S > - recv\n"
				    "300 c1 B wakes! A w\n"
				    "400 c0 - R > A\n"
				    "end 1000\n",
				    'A'),
		    "100-300 unknown\n300-300-400 ?\nlived 0-1000\n");
}

TEST(a_waking_by_somebody_takes_an_early_one_back)
{
	expect_text(script_timeline("0   c0 - R > A\n"
				    "0   c1 - R > B\n"
				    "99  c1 B wakes A w\n"
				    "100 c0 A S > - recv\n"
				    "700 c1 - woken A\n"
				    "710 c0 - R > A\n"
				    "end 1000\n",
				    'A'),
		    "100-710-710 S, no waking\nlived 0-1000\n");
	expect_text(script_timeline("0   c0 - R > A\n"
				    "100 c0 A S > - recv\n"
				    "700 c1 - woken A\n"
				    "end 1000\n",
				    'A'),
		    "100-1000-1000 S, no waking, still\nlived 0-1000\n");
}

TEST(switches_that_are_missing_are_counted)
{
	/* B comes on c0, where A was; D leaves c1, which was idle. */
	static const char script[] = "0   c0 - R > A\n"
				     "100 c0 A S > - x\n"
				     "200 c0 - R > A\n"
				     "300 c0 B S > - x\n"
				     "400 c1 D S > - x\n"
				     "500 c1 D S > - x\n"
				     "end 1000\n";
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct timelines *tl;

	assert_int_equal(timelines_new(&tl, t), 0);
	assert_int_equal(timelines_untraced(tl), 2);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}
