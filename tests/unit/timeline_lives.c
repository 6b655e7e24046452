// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Wakers that are not what they were, waits without both ends, and stacks without their root's end,
 * as made traces (chain-semantics, sections 1 to 3); engine_recorded.c has the same from a live
 * kernel.
 */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

/* The folded lines of A, of all its waits. */
static void folds(const char *script, const char *expected)
{
	struct options o;

	options_init(&o);
	o.tids = (struct id_list) { (uint32_t[]) { 101 }, 1 };
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	expect_text(script_folded(script, &o), expected);
}

/* "tid first-name/..." of all threads, in the order in which they were first seen. */
static void has_threads(const char *script, const char *expected)
{
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct timelines *tl;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(timelines_new(&tl, t), 0);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		fprintf(out, "%u ", th->tid);
		for (uint32_t k = 0; k <= th->renames; k++)
			fprintf(out, "%s%s", k ? "/" : "",
				trace_string(t, timelines_nth_name(tl, i, k)));
		putc('\n', out);
	}
	fclose(out);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
	expect_text(text, expected);
}

/* ---- wakers ---- */

TEST(a_waker_has_the_name_that_it_had)
{
	folds("0   c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "300 c0 B wakes A wake;send\n"
	      "310 c1 - R > A\n"
	      "400 c0 B renames-to moth\n"
	      "500 c1 A S > - recv\n"
	      "900 c0 B wakes A wake;send\n"
	      "910 c1 - R > A\n"
	      "end 1000\n",
	      "A;recv;--;wake;send;B;[running] 200\n"
	      "A;recv;--;wake;send;moth;[running] 400\n"
	      "A;recv;[runnable] 20\n");
}

TEST(an_exec_changes_no_thread)
{
	folds("0   c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B S > - sleep\n"
	      "500 c0 - wakes B wake;timer;asm_sysvec_x\n"
	      "500 c0 - R > B\n"
	      "600 c0 B renames-to ls\n"
	      "610 c0 B execs\n"
	      "900 c0 B wakes A wake;send\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;recv;--;wake;send;ls;--;wake;timer;asm_sysvec_x;[interrupt] 300\n"
	      "A;recv;--;wake;send;ls;[running] 500\n");
}

/* The kernel renames after it has given the leader's tid away, and tells of the exec after that. */
static const char exec_by_thread[] = "thread B S/B wait\n"
				     "born D\n"
				     "thread C R/B\n"
				     "0   c0 - R > C\n"
				     "100 c1 A S > - recv\n"
				     "200 c0 C wakes B kill\n"
				     "210 c0 C D > B de_thread\n"
				     "220 c0 B exits\n"
				     "230 c0 B wakes C wake;exit\n"
				     "240 c0 B X > C exit\n"
				     "300 c0 B renames-to ls\n"
				     "350 c0 C execs-as B\n"
				     "400 c0 B S > - sleep\n"
				     "700 c0 - wakes B wake;timer;asm_sysvec_x\n"
				     "700 c0 - R > B\n"
				     "900 c0 B wakes A wake;send\n"
				     "900 c1 - R > A\n"
				     "end 1000\n";

TEST(exec_by_a_thread_is_one_life)
{
	folds(exec_by_thread, "A;recv;--;wake;send;ls;--;wake;exit;B;[running] 20\n"
			      "A;recv;--;wake;send;ls;--;wake;timer;asm_sysvec_x;[interrupt] 300\n"
			      "A;recv;--;wake;send;ls;[runnable] 10\n"
			      "A;recv;--;wake;send;ls;[running] 470\n");
}

TEST(exec_by_a_thread_adds_no_third)
{
	has_threads(exec_by_thread, "102 B\n"
				    "102 C/ls\n"
				    "101 A\n");
}

TEST(a_reused_tid_is_not_followed_into_its_past)
{
	/* The first B slept from 200 on; the second one was born at 410 and did nothing before. */
	folds("0   c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B S > C sleep\n"
	      "300 c0 C wakes B wake;first\n"
	      "310 c0 C S > B sleep\n"
	      "320 c0 B exits\n"
	      "330 c0 B wakes C wake;exit\n"
	      "330 c0 B X > C exit\n"
	      "400 c0 C forks B\n"
	      "410 c0 C new B wake_new\n"
	      "420 c0 C S > B wait\n"
	      "900 c0 B wakes A wake;second\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;recv;--;wake;second;B;--;wake_new;C;--;wake;exit;B;[running] 20\n"
	      "A;recv;--;wake;second;B;--;wake_new;C;[running] 190\n"
	      "A;recv;--;wake;second;B;--;wake_new;C;[unknown] 100\n"
	      "A;recv;--;wake;second;B;[runnable] 10\n"
	      "A;recv;--;wake;second;B;[running] 480\n");
}

TEST(a_kernel_worker_is_followed)
{
	folds("0   c0 - R > B\n"
	      "50  c0 B S > - sleep\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 - wakes B wake;timer;asm_sysvec_x\n"
	      "200 c0 - R > B\n"
	      "600 c0 B wakes W kick_pool;queue_work;write|types\n"
	      "610 c0 B S > W sleep\n"
	      "900 c0 W wakes A wake;flush_to_ldisc;worker_thread;kthread\n"
	      "900 c1 - R > A\n"
	      "thread W I worker_thread\n"
	      "end 1000\n",
	      "A;recv;--;wake;flush_to_ldisc;worker_thread;kthread;W;--;"
	      "kick_pool;queue_work;write;-;types;B;--;wake;timer;asm_sysvec_x;[interrupt] 100\n"
	      "A;recv;--;wake;flush_to_ldisc;worker_thread;kthread;W;--;"
	      "kick_pool;queue_work;write;-;types;B;[running] 400\n"
	      "A;recv;--;wake;flush_to_ldisc;worker_thread;kthread;W;[runnable] 10\n"
	      "A;recv;--;wake;flush_to_ldisc;worker_thread;kthread;W;[running] 290\n");
}

/* ---- waits ---- */

TEST(stopped_is_a_wait_for_whoever_continues)
{
	folds("0   c0 - R > B\n"
	      "100 c1 A T > - do_signal_stop\n"
	      "900 c0 B wakes A wake;send_signal|kill\n"
	      "930 c1 - R > A\n"
	      "end 1000\n",
	      "A;do_signal_stop;--;wake;send_signal;-;kill;B;[running] 800\n"
	      "A;do_signal_stop;[runnable] 30\n");
}

TEST(dead_is_not_a_wait)
{
	folds("100 c1 A exits\n"
	      "200 c1 A Z > - do_exit\n"
	      "end 1000\n",
	      "");
	folds("100 c1 A X > - do_exit\n"
	      "end 1000\n",
	      "");
	/* Dead before the recording began, and never reaped. */
	folds("thread A Z\n"
	      "100 c0 B S > - recv\n"
	      "end 1000\n",
	      "");
	folds("thread A X\n"
	      "100 c0 B S > - recv\n"
	      "end 1000\n",
	      "");
}

TEST(a_wait_without_either_end)
{
	folds("thread A S@10 futex_wait;lock\n"
	      "100 c0 B S > - recv\n"
	      "end 1000\n",
	      "A;lock;futex_wait;[not woken] 1000\n");
	/* Not one event in all of the trace. */
	folds("thread A D futex_wait;lock\n"
	      "end 1000\n",
	      "A;lock;futex_wait;[not woken] 1000\n");
	folds("thread A S\n"
	      "end 1000\n",
	      "A;[unknown stack];[not woken] 1000\n");
}

TEST(runnable_all_the_time_is_not_a_wait_to_be_woken_from)
{
	char *text = script_timeline("thread A R@10\n"
				     "end 1000\n",
				     'A');

	assert_null(strstr(text, "not woken"));
	free(text);
}

TEST(a_deadlock_is_not_a_loop)
{
	/* Neither was woken, so neither has a link to the other. */
	folds("thread A S lock_b\n"
	      "thread B S lock_a\n"
	      "end 1000\n",
	      "A;lock_b;[not woken] 1000\n");
}

/* ---- stacks of which the root's end is missing ---- */

/* before, then so many frames "f" that there are as many as a stack can have, then after; cut. */
static void woken_from_a_full_stack(const char *before, const char *after, const char *expected)
{
	char script[4096], stack[2048] = "+", *p = stack + 1;
	int n = CHAINLOG_STACK_MAX;

	for (const char *c = before; *c; c++)
		n -= *c == ';';
	for (const char *c = after; *c; c++)
		n -= *c == ';';
	p += sprintf(p, "%s", before);
	for (int i = 0; i < n; i++)
		p += sprintf(p, "f%s", i < n - 1 ? ";" : "");
	sprintf(p, "%s", after);
	snprintf(script, sizeof(script),
		 "0   c0 - R > B\n"
		 "100 c1 A S > - recv\n"
		 "900 c0 B wakes A %s\n"
		 "900 c1 - R > A\n"
		 "end 1000\n",
		 stack);
	folds(script, expected);
}

TEST(an_interrupt_of_a_deep_thread)
{
	woken_from_a_full_stack("wake;bio_done;asm_common_interrupt;", "",
				"A;recv;--;wake;bio_done;asm_common_interrupt;[interrupt] 800\n");
	woken_from_a_full_stack("wake;call_timer_fn;handle_softirqs;__irq_exit_rcu;asm_sysvec_apic_"
				"timer_interrupt;",
				"",
				"A;recv;--;wake;call_timer_fn;handle_softirqs;__irq_exit_rcu;"
				"asm_sysvec_apic_timer_interrupt;[timer] 800\n");
}

TEST(an_interrupt_whose_entry_is_the_last_frame_recorded)
{
	char expected[2048] = "A;recv;--;wake", *p = expected + strlen(expected);

	for (int i = 0; i < CHAINLOG_STACK_MAX - 2; i++)
		p += sprintf(p, ";f");
	sprintf(p, ";asm_common_interrupt;[interrupt] 800\n");
	woken_from_a_full_stack("wake;", ";asm_common_interrupt", expected);
}

TEST(an_interrupt_whose_entry_is_beyond_the_cut)
{
	char expected[2048] = "A;recv;--;wake", *p = expected + strlen(expected);

	for (int i = 0; i < CHAINLOG_STACK_MAX - 3; i++)
		p += sprintf(p, ";f");
	sprintf(p, ";handle_softirqs;__irq_exit_rcu;[interrupt] 800\n");
	woken_from_a_full_stack("wake;", ";handle_softirqs;__irq_exit_rcu", expected);
}
