// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the recorded traces of tests/data must show: chainload's threads on a live kernel, one trace
 * for each context a waker can be in and for each way a thread can begin and end (chain-semantics,
 * sections 2 and 3). tests/data/README.md tells how they were made and what each thread was told to
 * do.
 *
 * The lines are skeletons of chainwalk's (synth_skeleton.h).
 */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording.h"
#include "synth_script.h"
#include "synth_skeleton.h"

static struct trace *open_recorded(const char *name)
{
	struct recording r;
	char path[256];

	snprintf(path, sizeof(path), "tests/data/%s.bin", name);
	if (recording_open(&r, path, true, NULL))
		fail_msg("%s cannot be read (run from the project's folder)", path);
	assert_null(trace_damage(r.trace)->what);
	assert_null(r.import); /* so the trace is all that there is to close */
	return r.trace;
}

static void shows(const char *name, const char *thread, const char *functions, const char *expected)
{
	struct trace *t = open_recorded(name);
	char *text = trace_skeleton(t, thread, functions);

	trace_close(t);
	expect_text(text, expected);
}

TEST(a_relay)
{
	/* 24 rounds: bravo, charlie and delta work for 2, 3 and 4 ms, delta sleeps for 20. */
	shows("relay", "alpha",
	      "alpha_waits bravo_wakes_alpha charlie_wakes_bravo delta_wakes_charlie "
	      "hrtimer_wakeup",
	      "alpha;alpha_waits;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;"
	      "charlie;--;delta_wakes_charlie;delta;--;hrtimer_wakeup;"
	      "[timer] 498990855\n"
	      "alpha;alpha_waits;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;"
	      "charlie;--;delta_wakes_charlie;delta;[runnable] 1732918\n"
	      "alpha;alpha_waits;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;"
	      "charlie;--;delta_wakes_charlie;delta;[running] 96514790\n"
	      "alpha;alpha_waits;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;"
	      "charlie;[runnable] 1334637\n"
	      "alpha;alpha_waits;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;"
	      "charlie;[running] 72536411\n"
	      "alpha;alpha_waits;--;bravo_wakes_alpha;bravo;[runnable] 794342\n"
	      "alpha;alpha_waits;--;bravo_wakes_alpha;bravo;[running] 48935047\n"
	      "alpha;alpha_waits;[runnable] 523246\n");
}

TEST(inline_softirqs_of_loopback_tcp)
{
	/* 5 rounds of 1.5, 2.5, 3.5 ms. The senders run the softirq that wakes: theirs is the
	 * cause. */
	shows("relay_unix_tcp", "alpha",
	      "alpha_waits __local_bh_enable_ip bravo_wakes_alpha charlie_wakes_bravo "
	      "delta_wakes_charlie",
	      "alpha;alpha_waits;--;__local_bh_enable_ip;bravo_wakes_alpha;bravo;--;charlie_wakes_"
	      "bravo;charlie;--;__local_bh_enable_ip;delta_wakes_charlie;delta;--;[timer] "
	      "121728252\n"
	      "alpha;alpha_waits;--;__local_bh_enable_ip;bravo_wakes_alpha;bravo;--;charlie_wakes_"
	      "bravo;charlie;--;__local_bh_enable_ip;delta_wakes_charlie;delta;[runnable] 221792\n"
	      "alpha;alpha_waits;--;__local_bh_enable_ip;bravo_wakes_alpha;bravo;--;charlie_wakes_"
	      "bravo;charlie;--;__local_bh_enable_ip;delta_wakes_charlie;delta;[running] 17833882\n"
	      "alpha;alpha_waits;--;__local_bh_enable_ip;bravo_wakes_alpha;bravo;--;charlie_wakes_"
	      "bravo;charlie;[runnable] 2794285\n"
	      "alpha;alpha_waits;--;__local_bh_enable_ip;bravo_wakes_alpha;bravo;--;charlie_wakes_"
	      "bravo;charlie;[running] 12619460\n"
	      "alpha;alpha_waits;--;__local_bh_enable_ip;bravo_wakes_alpha;bravo;[runnable] "
	      "224021\n"
	      "alpha;alpha_waits;--;__local_bh_enable_ip;bravo_wakes_alpha;bravo;[running] "
	      "7665610\n"
	      "alpha;alpha_waits;[runnable] 285783\n");
}

TEST(ping_and_pong)
{
	/* 200 rounds of 0.1 ms. */
	shows("pingpong", "ping", "ping_waits pong_wakes_ping",
	      "ping;ping_waits;--;pong_wakes_ping;pong;[runnable] 1027867\n"
	      "ping;ping_waits;--;pong_wakes_ping;pong;[running] 13155064\n"
	      "ping;ping_waits;[runnable] 1898916\n");
}

TEST(what_a_worker_ran)
{
	/* 30 rounds: it sorts for 7 ms and hashes for 3. */
	shows("shares", "client", "client_waits worker_wakes_client worker_sorts worker_hashes",
	      "client;client_waits;--;worker_wakes_client;worker;[runnable] 2212650\n"
	      "client;client_waits;--;worker_wakes_client;worker;[running];worker_hashes "
	      "90335666\n"
	      "client;client_waits;--;worker_wakes_client;worker;[running];worker_sorts "
	      "210416000\n"
	      "client;client_waits;[runnable] 1838679\n");
}

TEST(a_convoy)
{
	/* 10 rounds of 1 ms by each of four. */
	shows("convoy", "convoy0", "convoy_waits convoy_unlocks",
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy1;--;convoy_unlocks;convoy2;--;convoy_"
	      "unlocks;convoy3;[running] 312984\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy1;--;convoy_unlocks;convoy2;[runnable] "
	      "4019\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy1;--;convoy_unlocks;convoy2;[running] "
	      "1002564\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy1;--;convoy_unlocks;convoy3;--;convoy_"
	      "unlocks;convoy2;[running] 1022399\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy1;--;convoy_unlocks;convoy3;[runnable] "
	      "26065\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy1;--;convoy_unlocks;convoy3;[running] "
	      "3288797\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy1;--;convoy_unlocks;convoy3;[running];"
	      "convoy_waits 822200\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy1;[runnable] 9056617\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy1;[running] 5078622\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy2;--;convoy_unlocks;convoy3;[running] "
	      "1021401\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy2;[runnable] 15603\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy2;[running] 1021704\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy3;--;convoy_unlocks;convoy2;[runnable] "
	      "20816\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy3;--;convoy_unlocks;convoy2;[running] "
	      "1020440\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy3;[runnable] 4575\n"
	      "convoy0;convoy_waits;--;convoy_unlocks;convoy3;[running] 2024087\n"
	      "convoy0;convoy_waits;[runnable] 155226\n");
}

TEST(idle_threads_and_their_keeper)
{
	/* The keeper sleeps 100 ms and works 2. */
	shows("idle", "idle7", "idle_waits keeper_wakes_all",
	      "idle7;idle_waits;--;keeper_wakes_all;keeper;--;[timer] 100116208\n"
	      "idle7;idle_waits;--;keeper_wakes_all;keeper;[runnable] 609900\n"
	      "idle7;idle_waits;--;keeper_wakes_all;keeper;[running] 2131642\n"
	      "idle7;idle_waits;[runnable] 336802\n");
}

TEST(device_interrupts_end_reads)
{
	/* 40 reads. What ends them is the block softirq on the way out of the disk's interrupt. */
	shows("disk_reads", "disk", "disk_reads asm_common_interrupt blk_done_softirq",
	      "disk;disk_reads;--;blk_done_softirq;asm_common_interrupt;"
	      "[interrupt] 1741528\n"
	      "disk;disk_reads;[runnable] 1354885\n");
}

TEST(device_interrupts_end_syncs)
{
	shows("disk_syncs", "disk", "disk_syncs asm_common_interrupt blk_done_softirq",
	      "disk;disk_syncs;--;blk_done_softirq;asm_common_interrupt;"
	      "[interrupt] 2411055\n"
	      "disk;disk_syncs;[runnable] 12785551\n");
}

TEST(what_each_thread_waited_for)
{
	/* 12 rounds: asker pauses for 1 ms, and poller works for 1.5. */
	shows("things", "asker", "asker_pauses asker_waits [sleep] [tcp] poller_answers",
	      "asker;asker_pauses;[sleep];--;[timer] 12807054\n"
	      "asker;asker_pauses;[sleep];[runnable] 7870656\n"
	      "asker;asker_waits;[tcp];--;poller_answers;poller;[runnable] 23527146\n"
	      "asker;asker_waits;[tcp];--;poller_answers;poller;[running] 18886179\n"
	      "asker;asker_waits;[tcp];[runnable] 4290632\n");
	shows("things", "poller", "poller_waits [epoll] [tcp] asker_asks",
	      "poller;poller_waits;[epoll];[tcp];--;asker_asks;asker;--;[timer] 12731883\n"
	      "poller;poller_waits;[epoll];[tcp];--;asker_asks;asker;[runnable] 8209639\n"
	      "poller;poller_waits;[epoll];[tcp];--;asker_asks;asker;[running] 287069\n"
	      "poller;poller_waits;[epoll];[tcp];[runnable] 462326\n");
	/* A page of a mapped file comes from the disk. */
	shows("things", "faulter", "faulter_touches [file]",
	      "faulter;faulter_touches;[file];--;[disk vda read];[device] 558785\n"
	      "faulter;faulter_touches;[file];[runnable] 348947\n");
	shows("things", "syncer", "syncer_syncs [file]",
	      "syncer;syncer_syncs;[file];--;[disk vda flush];[device] 566099\n"
	      "syncer;syncer_syncs;[file];--;[disk vda flush];[queued] 63770\n"
	      "syncer;syncer_syncs;[file];--;[disk vda write];[device] 871373\n"
	      "syncer;syncer_syncs;[file];--;kworker/u8:0;--;[disk vda write];[device] 71538\n"
	      "syncer;syncer_syncs;[file];--;kworker/u8:0;[runnable] 2765187\n"
	      "syncer;syncer_syncs;[file];--;kworker/u8:0;[running] 28726\n"
	      "syncer;syncer_syncs;[file];[runnable] 12410312\n");
}

TEST(a_kernel_worker_is_a_thread)
{
	/* 10 rounds of 20 ms sleep and 2 ms work. */
	shows("terminal", "reader", "reader_waits flush_to_ldisc typist_types",
	      "reader;reader_waits;--;flush_to_ldisc;kworker/u8:2;--;typist_types;typist;"
	      "--;[timer] 200842368\n"
	      "reader;reader_waits;--;flush_to_ldisc;kworker/u8:2;--;typist_types;typist;"
	      "[runnable] 448038\n"
	      "reader;reader_waits;--;flush_to_ldisc;kworker/u8:2;--;typist_types;typist;"
	      "[running] 20395303\n"
	      "reader;reader_waits;--;flush_to_ldisc;kworker/u8:2;[runnable] 256468\n"
	      "reader;reader_waits;--;flush_to_ldisc;kworker/u8:2;[running] 141915\n"
	      "reader;reader_waits;[runnable] 204431\n");
}

TEST(ksoftirqd_is_a_thread)
{
	/* 20 reads from a loop device. Its worker raises the softirq outside of any interrupt. */
	shows("loopdev", "loopdev", "loopdev_reads run_ksoftirqd loop_process_work",
	      "loopdev;loopdev_reads;--;run_ksoftirqd;ksoftirqd/1;--;loop_process_work;"
	      "kworker/u8:4;[runnable] 6913\n"
	      "loopdev;loopdev_reads;--;run_ksoftirqd;ksoftirqd/1;--;loop_process_work;"
	      "kworker/u8:4;[running] 182860\n"
	      "loopdev;loopdev_reads;--;run_ksoftirqd;ksoftirqd/1;[runnable] 115026\n"
	      "loopdev;loopdev_reads;--;run_ksoftirqd;ksoftirqd/1;[running] 67935\n"
	      "loopdev;loopdev_reads;[runnable] 123704\n");
}

TEST(a_timer_softirq_on_the_way_out)
{
	/* 10 rounds of 20 ms and what the tick rounds them up to. */
	shows("timeout", "receiver",
	      "receiver_waits run_timer_softirq tmigr_handle_remote __irq_exit_rcu",
	      "receiver;receiver_waits;--;run_timer_softirq;__irq_exit_rcu;"
	      "[timer] 144830356\n"
	      "receiver;receiver_waits;--;tmigr_handle_remote;__irq_exit_rcu;"
	      "[timer] 95670208\n"
	      "receiver;receiver_waits;[runnable] 759884\n");
}

TEST(an_interrupt_that_hits_a_bystander)
{
	/* 10 rounds of 20 ms. */
	shows("bystander", "sleeper", "sleeper_waits hrtimer_wakeup bystander_works",
	      "sleeper;sleeper_waits;--;hrtimer_wakeup;[timer] 200576653\n"
	      "sleeper;sleeper_waits;[runnable] 290495\n");
}

TEST(a_cut_stack_of_a_thread)
{
	/* 5 rounds of 20 ms sleep and 2 ms work. */
	shows("deep", "shallow", "shallow_waits deep_wakes_shallow",
	      "shallow;shallow_waits;--;deep_wakes_shallow;deep;--;[timer] 100426963\n"
	      "shallow;shallow_waits;--;deep_wakes_shallow;deep;[runnable] 376834\n"
	      "shallow;shallow_waits;--;deep_wakes_shallow;deep;[running] 10170456\n"
	      "shallow;shallow_waits;[runnable] 179153\n");
}

TEST(before_and_after_an_exec)
{
	/* Works 3 ms before and 5 ms after the exec, sleeps 20 ms before each. */
	shows("exec", "patient", "patient_waits before_wakes_patient after_wakes_patient",
	      "patient;patient_waits;--;after_wakes_patient;after;--;[timer] 20069315\n"
	      "patient;patient_waits;--;after_wakes_patient;after;[runnable] 11540741\n"
	      "patient;patient_waits;--;after_wakes_patient;after;[running] 6330206\n"
	      "patient;patient_waits;--;before_wakes_patient;before;--;[timer] 201329\n"
	      "patient;patient_waits;--;before_wakes_patient;before;[runnable] 15589101\n"
	      "patient;patient_waits;--;before_wakes_patient;before;[running] 3046821\n"
	      "patient;patient_waits;[runnable] 354288\n");
}

TEST(exec_by_a_thread_that_does_not_lead)
{
	/* 3 ms before and 5 ms after the exec. */
	shows("heir", "patient", "patient_waits heir_wakes_patient after_wakes_patient",
	      "patient;patient_waits;--;after_wakes_patient;after;--;"
	      "[timer] 20068984\n"
	      "patient;patient_waits;--;after_wakes_patient;after;--;leader;"
	      "[running] 27542\n"
	      "patient;patient_waits;--;after_wakes_patient;after;[runnable] 613745\n"
	      "patient;patient_waits;--;after_wakes_patient;after;[running] 5906141\n"
	      "patient;patient_waits;--;heir_wakes_patient;heir;--;[timer] 19651443\n"
	      "patient;patient_waits;--;heir_wakes_patient;heir;[runnable] 90049\n"
	      "patient;patient_waits;--;heir_wakes_patient;heir;[running] 3044576\n"
	      "patient;patient_waits;[runnable] 4606093\n");
}

TEST(two_names_of_a_thread)
{
	/* 3 ms as larva, 5 as moth. */
	shows("rename", "patient", "patient_waits larva_wakes_patient moth_wakes_patient",
	      "patient;patient_waits;--;larva_wakes_patient;larva;--;"
	      "[timer] 20066007\n"
	      "patient;patient_waits;--;larva_wakes_patient;larva;[runnable] 3272023\n"
	      "patient;patient_waits;--;larva_wakes_patient;larva;[running] 3024037\n"
	      "patient;patient_waits;--;moth_wakes_patient;moth;--;[timer] 20059085\n"
	      "patient;patient_waits;--;moth_wakes_patient;moth;[runnable] 1372803\n"
	      "patient;patient_waits;--;moth_wakes_patient;moth;[running] 5036077\n"
	      "patient;patient_waits;[runnable] 450210\n");
}

TEST(two_threads_with_one_tid)
{
	/* 3 ms and 5 ms of work. */
	shows("tenants", "landlord",
	      "landlord_waits first_tenant_wakes_patient second_tenant_wakes_patient",
	      "landlord;landlord_waits;--;first_tenant_wakes_patient;tenant1;--;"
	      "[timer] 20057501\n"
	      "landlord;landlord_waits;--;first_tenant_wakes_patient;tenant1;"
	      "[runnable] 3761650\n"
	      "landlord;landlord_waits;--;first_tenant_wakes_patient;tenant1;"
	      "[running] 3160983\n"
	      "landlord;landlord_waits;--;second_tenant_wakes_patient;tenant2;--;"
	      "[timer] 20059094\n"
	      "landlord;landlord_waits;--;second_tenant_wakes_patient;tenant2;"
	      "[runnable] 5891791\n"
	      "landlord;landlord_waits;--;second_tenant_wakes_patient;tenant2;"
	      "[running] 5100807\n"
	      "landlord;landlord_waits;[runnable] 9096503\n");
}

TEST(a_waker_that_is_gone)
{
	/* 2 ms of work after 20 ms of sleep. */
	shows("early_exit", "patient", "patient_waits early_wakes_patient",
	      "patient;patient_waits;--;early_wakes_patient;early;--;"
	      "[timer] 19556707\n"
	      "patient;patient_waits;--;early_wakes_patient;early;[runnable] 23153\n"
	      "patient;patient_waits;--;early_wakes_patient;early;[running] 2022247\n"
	      "patient;patient_waits;[runnable] 16541\n");
}

TEST(a_stopped_process)
{
	/* 3 times 20 ms. */
	shows("stop", "stopped", "do_signal_stop stopper_continues",
	      "stopped;do_signal_stop;--;stopper_continues;stopper;--;"
	      "[timer] 60125140\n"
	      "stopped;do_signal_stop;--;stopper_continues;stopper;[runnable] 3717213\n"
	      "stopped;do_signal_stop;--;stopper_continues;stopper;[running] 76983\n"
	      "stopped;do_signal_stop;[runnable] 6926143\n");
}

TEST(a_dead_child)
{
	/* Asleep for 100 ms, while undead is dead. */
	shows("zombie", "parent", "parent_waits",
	      "parent;parent_waits;--;[timer] 100068098\n"
	      "parent;parent_waits;[runnable] 402923\n");
}

TEST(asleep_all_the_time)
{
	/* Not an event of its own in half a second. */
	shows("joined_deadlock", "castor", "futex_do_wait",
	      "castor;futex_do_wait;[not woken] 501726300\n");
}

TEST(joined_under_way)
{
	/* alpha's first wait began before the recording. */
	shows("joined_relay", "alpha",
	      "alpha_waits futex_do_wait bravo_wakes_alpha charlie_wakes_bravo "
	      "delta_wakes_charlie",
	      "alpha;alpha_waits;futex_do_wait;--;bravo_wakes_alpha;bravo;--;"
	      "charlie_wakes_bravo;charlie;--;delta_wakes_charlie;delta;--;"
	      "[timer] 236313569\n"
	      "alpha;alpha_waits;futex_do_wait;--;bravo_wakes_alpha;bravo;--;"
	      "charlie_wakes_bravo;charlie;--;delta_wakes_charlie;delta;"
	      "[runnable] 60126759\n"
	      "alpha;alpha_waits;futex_do_wait;--;bravo_wakes_alpha;bravo;--;"
	      "charlie_wakes_bravo;charlie;--;delta_wakes_charlie;delta;"
	      "[running] 30393407\n"
	      "alpha;alpha_waits;futex_do_wait;--;bravo_wakes_alpha;bravo;--;"
	      "charlie_wakes_bravo;charlie;[runnable] 35974711\n"
	      "alpha;alpha_waits;futex_do_wait;--;bravo_wakes_alpha;bravo;--;"
	      "charlie_wakes_bravo;charlie;[running] 30259845\n"
	      "alpha;alpha_waits;futex_do_wait;--;bravo_wakes_alpha;bravo;"
	      "[runnable] 20556054\n"
	      "alpha;alpha_waits;futex_do_wait;--;bravo_wakes_alpha;bravo;"
	      "[running] 30244138\n"
	      "alpha;alpha_waits;futex_do_wait;[not woken] 26507379\n"
	      "alpha;alpha_waits;futex_do_wait;[runnable] 9309343\n"
	      "alpha;futex_do_wait;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;"
	      "charlie;--;delta_wakes_charlie;delta;--;[timer] 1557347\n"
	      "alpha;futex_do_wait;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;"
	      "charlie;--;delta_wakes_charlie;delta;[runnable] 50986\n"
	      "alpha;futex_do_wait;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;"
	      "charlie;--;delta_wakes_charlie;delta;[running] 2014392\n"
	      "alpha;futex_do_wait;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;"
	      "charlie;[runnable] 8474238\n"
	      "alpha;futex_do_wait;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;"
	      "charlie;[running] 2012308\n"
	      "alpha;futex_do_wait;--;bravo_wakes_alpha;bravo;[runnable] 17362\n"
	      "alpha;futex_do_wait;--;bravo_wakes_alpha;bravo;[running] 2014192\n"
	      "alpha;futex_do_wait;[runnable] 5365372\n");
}

TEST(with_losses)
{
	/* 148 events are missing; what they touch is unknown and nothing else. */
	shows("lost", "ping", "ping_waits pong_wakes_ping",
	      "ping;ping_waits;--;pong_wakes_ping;pong;[runnable] 5668164\n"
	      "ping;ping_waits;--;pong_wakes_ping;pong;[running] 7078032\n"
	      "ping;ping_waits;[preempted] 128820\n"
	      "ping;ping_waits;[runnable] 18417322\n"
	      "ping;ping_waits;[unknown] 1859356\n");
}

static void not_a_wait_in(const char *name, const char *thread)
{
	struct trace *t = open_recorded(name);
	struct options o;
	char *folded, *rest;

	options_init(&o);
	rest = folded = trace_folded(t, &o);
	for (char *line; (line = strsep(&rest, "\n"));)
		if (!strncmp(line, thread, strlen(thread)))
			fail_msg("%s: %s", name, line);
	free(folded);
	trace_close(t);
}

TEST(the_dead_wait_for_nothing)
{
	not_a_wait_in("joined_zombie", "undead;");
}

TEST(the_idle_loop_is_in_no_chain)
{
	static const char *const traces[] = { "relay", "timeout", "terminal" };

	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		struct trace *t = open_recorded(traces[i]);
		struct trace_cursor *c;
		struct event ev;
		struct options o;
		char *folded;
		int wakings = 0;

		assert_int_equal(trace_cursor_new(&c, t), 0);
		/* Idle CPUs were interrupted in each of them. */
		while (trace_cursor_next(c, &ev))
			wakings += ev.kind == EVENT_WAKING && !ev.tid;
		trace_cursor_free(c);
		assert_true(wakings > 20);
		options_init(&o);
		folded = trace_folded(t, &o);
		assert_non_null(strstr(folded, ";[timer] "));
		assert_null(strstr(folded, ";do_idle;"));
		assert_null(strstr(folded, ";cpu_startup_entry;"));
		assert_null(strstr(folded, "swapper"));
		free(folded);
		trace_close(t);
	}
}

/* The names of each thread that had the tid of the one called so, in the order of their births. */
static void a_tid_of(const char *name, const char *thread, const char *expected)
{
	struct trace *t = open_recorded(name);
	struct timelines *tl;
	uint32_t tid = 0;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(timelines_new(&tl, t), 0);
	for (int printing = 0; printing < 2; printing++)
		for (uint32_t i = 0; i < timelines_threads(tl); i++) {
			const struct thread *th = timelines_thread(tl, i);

			for (uint32_t k = 0; k <= th->renames && (!printing || th->tid == tid);
			     k++) {
				const char *is = trace_string(t, timelines_nth_name(tl, i, k));

				if (printing)
					fprintf(out, "%s%s", is, k < th->renames ? " " : "\n");
				else if (!strcmp(is, thread))
					tid = th->tid;
			}
		}
	fclose(out);
	timelines_free(tl);
	trace_close(t);
	expect_text(text, expected);
}

TEST(who_had_a_tid)
{
	/* An exec gives a thread its leader's tid: no third one comes of it. */
	a_tid_of("heir", "leader", "chainload leader\nleader heir exe after\n");
	a_tid_of("tenants", "tenant1", "landlord tenant1\nlandlord tenant2\n");
	a_tid_of("rename", "larva", "chainload larva moth\n");
}
