// SPDX-License-Identifier: GPL-2.0-or-later
/* Chains: made events in, folded lines out. The examples are those of chain-semantics, section 6.
 */
#include "test.h"
#include <stdio.h>

#include "synth_script.h"

static void folds(const char *script, const char *expected, uint32_t depth, enum options_mode mode)
{
	struct options o;

	options_init(&o);
	o.depth = depth;
	o.mode = mode;
	o.tids = (struct id_list) { (uint32_t[]) { 101 }, 1 }; /* A's lines */
	expect_text(script_folded(script, &o), expected);
}

static void exact(const char *script, const char *expected)
{
	folds(script, expected, OPTIONS_DEPTH_DEFAULT, MODE_EXACT);
}

static void classic(const char *script, const char *expected)
{
	folds(script, expected, OPTIONS_DEPTH_DEFAULT, MODE_CLASSIC);
}

/* ---- worked examples ------------------------------------------------------------------------ */

static const char waker_worked[] = "0   c0 - R > B\n"
				   "0   c1 - R > A\n"
				   "100 c1 A S > - recv;main\n"
				   "900 c0 B wakes A wake;send;work\n"
				   "930 c1 - R > A\n"
				   "end 1000\n";

static const char waker_waited[] = "0   c0 - R > B\n"
				   "0   c1 - R > A\n"
				   "0   c2 - R > C\n"
				   "100 c1 A S > - recv;main\n"
				   "300 c0 B S > - lock\n"
				   "700 c2 C wakes B wake;unlock;cwork\n"
				   "710 c0 - R > B\n"
				   "900 c0 B wakes A wake;send;work\n"
				   "930 c1 - R > A\n"
				   "end 1000\n";

TEST(example_1_waker_worked_all_along)
{
	exact(waker_worked, "A;main;recv;--;wake;send;work;B;[running] 800\n"
			    "A;main;recv;[runnable] 30\n");
}

TEST(example_2_waker_itself_waited)
{
	exact(waker_waited, "A;main;recv;--;wake;send;work;B;--;wake;unlock;cwork;C;[running] 400\n"
			    "A;main;recv;--;wake;send;work;B;[runnable] 10\n"
			    "A;main;recv;--;wake;send;work;B;[running] 390\n"
			    "A;main;recv;[runnable] 30\n");
}

TEST(example_3_device_ends_it)
{
	exact("0   c0 - R > B\n"
	      "0   c1 - R > A\n"
	      "0   c2 - R > Z\n"
	      "100 c1 A S > - recv;main\n"
	      "300 c0 B S > - lock\n"
	      "700 c2 Z wakes B wake;bio_done;asm_common_interrupt;zfunc;zmain|zuser\n"
	      "710 c0 - R > B\n"
	      "900 c0 B wakes A wake;send;work\n"
	      "930 c1 - R > A\n"
	      "end 1000\n",
	      "A;main;recv;--;wake;send;work;B;--;wake;bio_done;asm_common_interrupt;[interrupt] "
	      "400\n"
	      "A;main;recv;--;wake;send;work;B;[runnable] 10\n"
	      "A;main;recv;--;wake;send;work;B;[running] 390\n"
	      "A;main;recv;[runnable] 30\n");
}

/* With FRED system calls and interrupts have the same entry: the interrupt begins above it. */
TEST(example_3_with_an_entry_for_all_events)
{
	exact("0   c0 - R > B\n"
	      "0   c1 - R > A\n"
	      "0   c2 - R > Z\n"
	      "100 c1 A S > - recv;fred_entry_from_user;asm_fred_entrypoint_user|main\n"
	      "300 c0 B S > - lock\n"
	      "700 c2 Z wakes B wake;bio_done;common_interrupt;fred_extint;fred_entry_from_kernel;"
	      "asm_fred_entrypoint_kernel;zfunc;zmain|zuser\n"
	      "710 c0 - R > B\n"
	      "900 c0 B wakes A wake;timer;__sysvec_apic_timer_interrupt;"
	      "fred_sysvec_apic_timer_interrupt;fred_entry_from_user;asm_fred_entrypoint_user|"
	      "work\n"
	      "930 c1 - R > A\n"
	      "end 1000\n",
	      "A;main;-;asm_fred_entrypoint_user;fred_entry_from_user;recv;--;wake;timer;"
	      "__sysvec_apic_timer_interrupt;fred_sysvec_apic_timer_interrupt;[interrupt] 800\n"
	      "A;main;-;asm_fred_entrypoint_user;fred_entry_from_user;recv;[runnable] 30\n");
}

TEST(example_4_depth_limits_the_links)
{
	folds(waker_waited,
	      "A;main;recv;--;wake;send;work;B;[depth limit] 400\n"
	      "A;main;recv;--;wake;send;work;B;[runnable] 10\n"
	      "A;main;recv;--;wake;send;work;B;[running] 390\n"
	      "A;main;recv;[runnable] 30\n",
	      1, MODE_EXACT);
	folds(waker_waited,
	      "A;main;recv;[depth limit] 800\n"
	      "A;main;recv;[runnable] 30\n",
	      0, MODE_EXACT);
}

static const char stale_waker[] = "0   c0 - R > B\n"
				  "0   c1 - R > A\n"
				  "0   c2 - R > C\n"
				  "10  c0 B S > - idle\n"
				  "50  c2 C wakes B wake;unlock;cwork\n"
				  "60  c0 - R > B\n"
				  "100 c1 A S > - recv;main\n"
				  "900 c0 B wakes A wake;send;work\n"
				  "930 c1 - R > A\n"
				  "end 1000\n";

TEST(example_5_stale_waker)
{
	exact(stale_waker, "A;main;recv;--;wake;send;work;B;[running] 800\n"
			   "A;main;recv;[runnable] 30\n");
	classic(stale_waker,
		"A;main;recv;--;wake;send;work;B;--;wake;unlock;cwork;C;[unknown] 800\n"
		"A;main;recv;[runnable] 30\n");
}

TEST(example_6_never_woken)
{
	exact("100 c1 A S > - recv;main\n"
	      "end 1000\n",
	      "A;main;recv;[not woken] 900\n");
}

/* ---- more of section 4 ---------------------------------------------------------------------- */

TEST(a_preempted_waker_is_runnable)
{
	exact("0   c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B R > C\n"
	      "500 c0 C S > B\n"
	      "900 c0 B wakes A wake\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;recv;--;wake;B;[runnable] 300\n"
	      "A;recv;--;wake;B;[running] 500\n");
}

TEST(an_unknown_waker_is_unknown)
{
	exact("0   c0 - R > C\n"
	      "100 c1 A S > - recv\n"
	      "600 c0 C S > B\n"
	      "900 c0 B wakes A wake\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;recv;--;wake;B;[running] 300\n"
	      "A;recv;--;wake;B;[unknown] 500\n");
}

TEST(a_waker_woken_by_nobody_known)
{
	exact("0   c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B S > - lock\n"
	      "700 c0 - R > B\n"
	      "900 c0 B wakes A wake\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;recv;--;wake;B;[running] 300\n"
	      "A;recv;--;wake;B;[unknown] 500\n");
}

TEST(a_waker_born_during_the_wait)
{
	exact("born B\n"
	      "0   c0 - R > C\n"
	      "100 c1 A S > - wait\n"
	      "300 c0 C forks B\n"
	      "310 c0 C new B\n"
	      "320 c2 - R > B\n"
	      "900 c2 B wakes A exit\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;wait;--;exit;B;--;[unknown stack];C;[running] 210\n"
	      "A;wait;--;exit;B;[runnable] 10\n"
	      "A;wait;--;exit;B;[running] 580\n");
}

TEST(pieces_of_one_chain_add_up)
{
	exact("0   c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B S > - lock\n"
	      "300 c2 C wakes B unlock\n"
	      "300 c0 - R > B\n"
	      "400 c0 B S > - lock\n"
	      "600 c2 C wakes B unlock\n"
	      "600 c0 - R > B\n"
	      "900 c0 B wakes A wake\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;recv;--;wake;B;--;unlock;C;[running] 300\n"
	      "A;recv;--;wake;B;[running] 500\n");
}

TEST(a_waker_that_slept_since_before_counts_from_the_window_on)
{
	/* B sleeps from 50 on, A only from 100 on. */
	exact("0   c0 - R > B\n"
	      "50  c0 B S > - lock\n"
	      "100 c1 A S > - recv\n"
	      "700 c2 C wakes B unlock\n"
	      "700 c0 - R > B\n"
	      "900 c0 B wakes A wake\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;recv;--;wake;B;--;unlock;C;[running] 600\n"
	      "A;recv;--;wake;B;[running] 200\n");
}

TEST(an_early_woken_wait_has_only_a_runnable_part)
{
	exact("99  c0 B wakes A wake\n"
	      "100 c1 A S > - recv\n"
	      "130 c1 - R > A\n"
	      "end 1000\n",
	      "A;recv;[runnable] 30\n");
}

TEST(classic_ping_pong_is_a_loop)
{
	static const char ping_pong[] = "0   c0 - R > B\n"
					"0   c1 - R > A\n"
					"10  c0 B S > - read\n"
					"90  c1 A wakes B ping\n"
					"95  c0 - R > B\n"
					"100 c1 A S > - read\n"
					"900 c0 B wakes A pong\n"
					"900 c1 - R > A\n"
					"end 1000\n";

	exact(ping_pong, "A;read;--;pong;B;[running] 800\n");
	classic(ping_pong, "A;read;--;pong;B;--;ping;A;[loop] 800\n");
	folds(ping_pong, "A;read;--;pong;B;[depth limit] 800\n", 1, MODE_CLASSIC);
}

TEST(classic_ends_at_an_interrupt)
{
	classic("0   c0 - R > B\n"
		"10  c0 B S > - disk\n"
		"50  c0 - wakes B bio_done;asm_common_interrupt;do_idle\n"
		"60  c0 - R > B\n"
		"100 c1 A S > - recv\n"
		"900 c0 B wakes A wake\n"
		"900 c1 - R > A\n"
		"end 1000\n",
		"A;recv;--;wake;B;--;bio_done;asm_common_interrupt;[interrupt] 800\n");
}

TEST(a_loss_hides_the_waker)
{
	exact("0   c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "400 c2 lost 500\n"
	      "900 c0 B wakes A wake\n"
	      "950 c1 - R > A\n"
	      "end 1000\n",
	      "A;[unknown stack];[runnable] 50\n"
	      "A;recv;[unknown] 300\n");
}

/* The example of section 10. */
TEST(one_of_several_things_ends_a_wait)
{
	exact("0   c0 - R > B\n"
	      "0   c1 - R > A\n"
	      "0   c2 - R > C\n"
	      "100 c1 A S > - ep_poll|loop;main for=epoll\n"
	      "400 c0 B wakes A wake|send\n"
	      "400 c0 A ready tcp\n"
	      "400.001 c1 - R > A\n"
	      "500 c1 A S > - ep_poll|loop;main for=epoll\n"
	      "900 c2 C wakes A wake|kill\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;main;loop;[epoll];-;ep_poll;--;wake;-;kill;C;[running] 400\n"
	      "A;main;loop;[epoll];[tcp];-;ep_poll;--;wake;-;send;B;[running] 300\n");
}

/* The second example of section 10, and more like it. */
TEST(a_call_that_has_not_begun_says_nothing)
{
	static const struct {
		const char *stack, *shown, *object;
	} at[] = {
		{ "notify;seccomp_do_user_notification;syscall_trace_enter;do_syscall_64",
		  "do_syscall_64;syscall_trace_enter;seccomp_do_user_notification;notify", "" },
		{ "write;do_coredump;get_signal;exit_to_user_mode_loop;asm_exc_page_fault",
		  "asm_exc_page_fault;exit_to_user_mode_loop;get_signal;do_coredump;write", "" },
		{ "truncate;task_work_run;syscall_exit_to_user_mode;do_syscall_64",
		  "do_syscall_64;syscall_exit_to_user_mode;task_work_run;truncate", "" },
		{ "read_folio;asm_exc_page_fault;copy;pipe_read;do_syscall_64",
		  "do_syscall_64;pipe_read;copy;asm_exc_page_fault;read_folio", "" },
		{ "read_folio;asm_exc_page_fault", "asm_exc_page_fault;read_folio", "[pipe];" },
		{ "pipe_read;do_syscall_64", "do_syscall_64;pipe_read", "[pipe];" },
	};

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		char script[500], lines[500];

		snprintf(script, sizeof(script),
			 "thread Z S@5 %s|get\n"
			 "0   c0 - R > B\n"
			 "100 c1 A S > - %s|get;main for=pipe\n"
			 "900 c0 B wakes A wake\n"
			 "900 c1 - R > A\n"
			 "end 1000\n",
			 at[i].stack, at[i].stack);
		snprintf(lines, sizeof(lines), "A;main;get;%s-;%s;--;wake;B;[running] 800\n",
			 at[i].object, at[i].shown);
		exact(script, lines);
	}
}

/* The third example of section 10, and more like it. */
TEST(a_thread_waits_for_rcu)
{
	static const struct {
		const char *stack, *shown;
	} at[] = {
		{ "wait_for_completion;rcu_barrier;unlink|send;main for=netlink",
		  "main;send;[RCU];-;unlink;rcu_barrier;wait_for_completion" },
		/* Of a worker of the kernel no call says anything. */
		{ "schedule;schedule_timeout;__wait_for_common;__wait_rcu_gp;synchronize_rcu_"
		  "normal;"
		  "synchronize_net;cleanup_net",
		  "[RCU];-;cleanup_net;synchronize_net;synchronize_rcu_normal;__wait_rcu_gp;"
		  "__wait_for_common;schedule_timeout;schedule" },
		{ "schedule;percpu_ref_switch_to_atomic_sync;exit_aio|main for=child:12",
		  "main;[RCU];-;exit_aio;percpu_ref_switch_to_atomic_sync;schedule" },
		/* Another thread is in there. */
		{ "schedule;__mutex_lock;rcu_barrier;unlink|send;main for=netlink",
		  "main;send;[netlink];-;unlink;rcu_barrier;__mutex_lock;schedule" },
		{ "wait_for_completion;kthread_stop;unlink|send;main for=netlink",
		  "main;send;[netlink];-;unlink;kthread_stop;wait_for_completion" },
	};

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		char script[500], lines[500];

		snprintf(script, sizeof(script),
			 "0   c0 - R > Z\n"
			 "100 c1 A D > - %s\n"
			 "900 c0 Z wakes A complete;rcu_do_batch;rcu_core;asm_sysvec_x;f|main\n"
			 "901 c1 - R > A\n"
			 "end 1000\n",
			 at[i].stack);
		snprintf(lines, sizeof(lines),
			 "A;%s;--;complete;rcu_do_batch;rcu_core;asm_sysvec_x;[interrupt] 800\n"
			 "A;%s;[runnable] 1\n",
			 at[i].shown, at[i].shown);
		exact(script, lines);
	}
}

/* chain-semantics, section 3. */
TEST(a_thread_receives_what_it_has_not_sent)
{
	static const char script[] =
		"0   c0 - R > C\n"
		"100 c1 A S > - wait|read;main for=tcp:10.0.0.5:5432\n"
		"900 c0 C wakes! A "
		"wake;ready;process_backlog;__local_bh_enable_ip;tcp_recvmsg|chat\n"
		"%s"
		"901 c1 - R > A\n"
		"end 1000\n";
	struct options o = script_options(101);
	char text[500];

	snprintf(text, sizeof(text), script, "900 c0 A not-sent\n");
	expect_text(script_folded(text, &o),
		    "A;main;read;[tcp];-;wait;--;wake;ready;process_backlog;__local_bh_enable_ip;"
		    "[network];[tcp] 800\n"
		    "A;main;read;[tcp];-;wait;[runnable] 1\n");
	/* That it was not may be lost, or be of an older trace. */
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), script, i ? "900 c0 lost-not-sent 900\n" : "");
		expect_text(script_folded(text, &o),
			    "A;main;read;[tcp];-;wait;--;wake;ready;process_backlog;"
			    "__local_bh_enable_ip;tcp_recvmsg;-;chat;C;[running] 800\n"
			    "A;main;read;[tcp];-;wait;[runnable] 1\n");
	}
}

/*
 * It is said of the waking right before it. A system call says nothing of what is done on the way
 * out of it, nor of what is no softirq of the network's.
 */
TEST(what_was_not_sent_is_no_more_than_that)
{
	static const char *const stacks[] = {
		"wake;ready;process_backlog;__local_bh_enable_ip;tcp_close;task_work_run;send",
		"wake;ready;process_backlog;__local_bh_enable_ip;tcp_close;do_exit;send",
		"wake;tcp_reset;tcp_shutdown;send",
		"wake;ready;unknown_softirq;__local_bh_enable_ip;send",
	};
	struct options o = script_options(101);
	char script[500], line[500];

	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		snprintf(script, sizeof(script),
			 "0   c0 - R > C\n"
			 "100 c1 A S > - recv\n"
			 "900 c0 C wakes A %s\n"
			 "900 c0 A not-sent\n"
			 "901 c1 - R > A\n"
			 "end 1000\n",
			 stacks[i]);
		snprintf(line, sizeof(line), "A;recv;--;%s;C;[running] 800\nA;recv;[runnable] 1\n",
			 stacks[i]);
		expect_text(script_folded(script, &o), line);
	}
	expect_text(
		script_folded("0   c0 - R > C\n"
			      "100 c1 A S > - recv\n"
			      "900 c0 C wakes A wake;process_backlog;__local_bh_enable_ip;send\n"
			      "901 c0 A not-sent\n"
			      "902 c1 - R > A\n"
			      "end 1000\n",
			      &o),
		"A;recv;--;wake;process_backlog;__local_bh_enable_ip;send;C;[running] 800\n"
		"A;recv;[runnable] 2\n");
}

/* The examples of section 11 with timers of TCP. */
TEST(a_timer_of_tcp_puts_off_what_comes)
{
	exact("0   c0 - R > C\n"
	      "50  c1 A S > - wait|read;main for=tcp:peer\n"
	      "100 c2 B S > - wait|read;serve for=tcp:peer\n"
	      "700 c0 - wakes! B wake;ready;net_rx_action;asm_sysvec_x\n"
	      "700 c0 B tcp-timer 1 60 650\n"
	      "710 c2 - R > B\n"
	      "900 c2 B wakes! A wake;send\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;main;read;[tcp];-;wait;--;wake;send;B;--;wake;ready;net_rx_action;asm_sysvec_x;"
	      "[network];[tcp delayed ack];[tcp] 550\n"
	      "A;main;read;[tcp];-;wait;--;wake;send;B;--;wake;ready;net_rx_action;asm_sysvec_x;"
	      "[network];[tcp] 50\n"
	      "A;main;read;[tcp];-;wait;--;wake;send;B;[runnable] 10\n"
	      "A;main;read;[tcp];-;wait;--;wake;send;B;[running] 240\n");
	exact("0   c0 - R > C\n"
	      "100 c1 A S > - wait|connect;main for=tcp:peer\n"
	      "900 c0 C wakes! A wake;ready;process_backlog;__local_bh_enable_ip;execve|work\n"
	      "900 c0 A tcp-timer 3 110 890\n"
	      "901 c1 - R > A\n"
	      "end 1000\n",
	      "A;main;connect;[tcp];-;wait;--;wake;ready;process_backlog;__local_bh_enable_ip;"
	      "[network];[tcp accept queue full];[tcp] 780\n"
	      "A;main;connect;[tcp];-;wait;--;wake;ready;process_backlog;__local_bh_enable_ip;"
	      "[network];[tcp] 20\n"
	      "A;main;connect;[tcp];-;wait;[runnable] 1\n");
}

/* What expired before the sleep, or is not known, explains nothing; nor of another's waking. */
TEST(a_timer_of_tcp_counts_in_its_sleep)
{
	static const char *const lines[] = { "900 c0 A tcp-timer 2 10 100\n",
					     "900 c0 A tcp-timer 4 200 890\n",
					     "899 c0 A tcp-timer 2 200 890\n", "" };
	static const char whole[] = "A;recv;--;wake;ready;net_rx_action;asm_sysvec_x;[network]";
	struct options o = script_options(101);
	char script[300], text[300];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		bool is_before = !strncmp(lines[i], "899", 3);

		snprintf(script, sizeof(script),
			 "0   c0 - R > C\n"
			 "100 c1 A S > - recv\n"
			 "%s"
			 "900 c0 - wakes A wake;ready;net_rx_action;asm_sysvec_x\n"
			 "%s"
			 "901 c1 - R > A\n"
			 "end 1000\n",
			 is_before ? lines[i] : "", is_before ? "" : lines[i]);
		snprintf(text, sizeof(text), "%s 800\nA;recv;[runnable] 1\n", whole);
		expect_text(script_folded(script, &o), text);
	}
	/* Of an object nothing need be known. Classic attribution has no stages. */
	strcpy(script, "0   c0 - R > C\n"
		       "100 c1 A S > - recv\n"
		       "900 c0 - wakes A wake;ready;net_rx_action;asm_sysvec_x\n"
		       "900 c0 A tcp-timer 2 200 890\n"
		       "900 c0 A tcp-timer 1 300 890\n"
		       "901 c1 - R > A\n"
		       "end 1000\n");
	snprintf(text, sizeof(text), "%s 110\n%s;[tcp retransmit] 690\nA;recv;[runnable] 1\n",
		 whole, whole);
	expect_text(script_folded(script, &o), text);
	o.mode = MODE_CLASSIC;
	snprintf(text, sizeof(text), "%s 800\nA;recv;[runnable] 1\n", whole);
	expect_text(script_folded(script, &o), text);
	o.mode = MODE_EXACT;
	o.plain_ends = true;
	snprintf(text, sizeof(text),
		 "A;recv;--;wake;ready;net_rx_action;asm_sysvec_x;[interrupt] "
		 "800\nA;recv;[runnable] 1\n");
	expect_text(script_folded(script, &o), text);
}

/* The first example of section 11. */
TEST(the_network_ends_a_wait_of_the_waker)
{
	exact("0   c0 - R > C\n"
	      "100 c1 A S > - |ask;main for=unix\n"
	      "100 c2 B S > - |query;serve for=tcp\n"
	      "700 c0 C wakes B wake;ready;net_rx_action;run_ksoftirqd;kthread\n"
	      "700 c2 - R > B\n"
	      "900 c2 B wakes A wake;send\n"
	      "900 c1 - R > A\n"
	      "end 1000\n",
	      "A;main;ask;[unix];--;wake;send;B;--;wake;ready;net_rx_action;run_ksoftirqd;"
	      "[network];[tcp] 600\n"
	      "A;main;ask;[unix];--;wake;send;B;[running] 200\n");
}

/* What the frames of the last switch-out say: the thread did not get what it waited for. */
TEST(example_10_killed)
{
#define UP_TO_THE_END                                  \
	"0   c0 - R > B\n"                             \
	"100 c1 A S > - lock\n"                        \
	"900 c0 B wakes A complete_signal;kill|main\n" \
	"930 c1 - R > A\n"
	static const char not_killed[] = "A;lock;--;complete_signal;kill;-;main;B;[running] 800\n"
					 "A;lock;[runnable] 30\n";
	exact(UP_TO_THE_END "950 c1 A X > - do_exit;get_signal\n"
			    "end 1000\n",
	      "A;lock;[not woken] 800\n"
	      "A;lock;[runnable] 30\n");
	/* It may sleep once more as it ends. */
	exact(UP_TO_THE_END "940 c1 A D > - exit_mm;do_exit;get_signal\n"
			    "950 c0 B wakes A\n"
			    "960 c1 - R > A\n"
			    "970 c1 A X > - do_exit;get_signal\n"
			    "end 1000\n",
	      "A;get_signal;do_exit;exit_mm;--;[unknown stack];B;[running] 10\n"
	      "A;get_signal;do_exit;exit_mm;[runnable] 10\n"
	      "A;lock;[not woken] 800\n"
	      "A;lock;[runnable] 30\n");
	/* It called exit, or lives on. */
	exact(UP_TO_THE_END "950 c1 A X > - do_exit;exit_group\n"
			    "end 1000\n",
	      not_killed);
	exact(UP_TO_THE_END "end 1000\n", not_killed);
	/* It slept until a signal came, whatever that did then; or until its process ended. */
	exact("0   c0 - R > B\n"
	      "100 c1 A S > - schedule;sigsuspend.isra.0\n"
	      "900 c0 B wakes A complete_signal;kill|main\n"
	      "930 c1 - R > A\n"
	      "950 c1 A X > - do_exit;get_signal\n"
	      "end 1000\n",
	      "A;sigsuspend.isra.0;schedule;--;complete_signal;kill;-;main;B;[running] 800\n"
	      "A;sigsuspend.isra.0;schedule;[runnable] 30\n");
	exact("0   c0 - R > B\n"
	      "100 c1 A S > - schedule;sigsuspend.isra.0\n"
	      "900 c0 B wakes A zap_other_threads;exit_group|main\n"
	      "930 c1 - R > A\n"
	      "950 c1 A X > - do_exit;get_signal\n"
	      "end 1000\n",
	      "A;sigsuspend.isra.0;schedule;[not woken] 800\n"
	      "A;sigsuspend.isra.0;schedule;[runnable] 30\n");
	/* It was stopped, and continued. */
	exact("0   c0 - R > B\n"
	      "100 c1 A T > - do_signal_stop;get_signal\n"
	      "900 c0 B wakes A wake;prepare_signal;kill\n"
	      "930 c1 - R > A\n"
	      "950 c1 A X > - do_exit;get_signal\n"
	      "end 1000\n",
	      "A;get_signal;do_signal_stop;--;wake;prepare_signal;kill;B;[running] 800\n"
	      "A;get_signal;do_signal_stop;[runnable] 30\n");
#undef UP_TO_THE_END
}

/* Who is the last of a process to die wakes the parent, but others had ended the process. */
TEST(example_11_the_end_of_a_process)
{
#define UP_TO_THE_END                                          \
	"0   c0 - R > C\n"                                     \
	"0   c1 - R > B\n"                                     \
	"50  c1 B S > A nap\n"                                 \
	"100 c1 A S > - wait4\n"                               \
	"300 c0 C wakes B work|main\n"                         \
	"310 c1 - R > B\n"                                     \
	"400 c1 B S > - nap\n"                                 \
	"700 c0 C wakes B zap_other_threads;exit_group|main\n" \
	"710 c1 - R > B\n"
#define B_WAKES "A;wait4;--;do_notify_parent;do_exit;get_signal;B;"
	exact(UP_TO_THE_END "900 c1 B wakes A do_notify_parent;do_exit;get_signal\n"
			    "910 c1 B X > A do_exit;get_signal\n"
			    "end 1000\n",
	      B_WAKES "--;zap_other_threads;exit_group;-;main;C;[running] 600\n" B_WAKES
		      "[runnable] 10\n" B_WAKES "[running] 190\n"
		      "A;wait4;[runnable] 10\n");
	/* What it did before it was to end explains who waited for that. */
	exact(UP_TO_THE_END "900 c1 B wakes A write\n"
			    "910 c1 B X > A do_exit;get_signal\n"
			    "end 1000\n",
	      "A;wait4;--;write;B;--;work;-;main;C;[running] 200\n"
	      "A;wait4;--;write;B;[not woken] 300\n"
	      "A;wait4;--;write;B;[runnable] 20\n"
	      "A;wait4;--;write;B;[running] 280\n"
	      "A;wait4;[runnable] 10\n");
	/* It called exit itself. */
	exact(UP_TO_THE_END "900 c1 B wakes A do_notify_parent;do_exit;exit\n"
			    "910 c1 B X > A do_exit;exit\n"
			    "end 1000\n",
	      "A;wait4;--;do_notify_parent;do_exit;exit;B;--;work;-;main;C;[running] 200\n"
	      "A;wait4;--;do_notify_parent;do_exit;exit;B;--;zap_other_threads;exit_group;-;main;C;"
	      "[running] 300\n"
	      "A;wait4;--;do_notify_parent;do_exit;exit;B;[runnable] 20\n"
	      "A;wait4;--;do_notify_parent;do_exit;exit;B;[running] 280\n"
	      "A;wait4;[runnable] 10\n");
#undef B_WAKES
#undef UP_TO_THE_END
}

/* Section 17: the chain of who waits goes on to whoever pauses; a pause itself is left out. */
TEST(a_pause_is_of_choice_only_for_who_pauses)
{
	static const char script[] =
		"0    c0 - R > A\n"
		"0    c1 - R > B\n"
		"0    c2 - R > S\n"
		"10   c1 B S > - recv\n"
		"50   c0 A wakes B send\n"
		"50   c1 - R > B\n"
		"60   c0 A S > - recv\n"
		"100  c1 B S > - lock\n"
		"200  c2 S S > - nap|sleep;hold\n"
		"700  c2 - wakes S tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
		"700  c2 - R > S\n"
		"800  c2 S wakes B unlock\n"
		"800  c1 - R > B\n"
		"900  c1 B wakes A reply\n"
		"900  c0 - R > A\n"
		"end 2000\n";
	struct options o = script_options(101);

	o.no_idle = true;
	expect_text(script_folded(script, &o),
		    "A;recv;--;reply;B;--;unlock;S;--;tick;__hrtimer_run_queues;"
		    "asm_sysvec_apic_timer_interrupt;[timer] 500\n"
		    "A;recv;--;reply;B;--;unlock;S;[running] 200\n"
		    "A;recv;--;reply;B;[running] 140\n");
	o = script_options(119);
	expect_text(script_folded(script, &o), "S;hold;sleep;-;nap;--;tick;__hrtimer_run_queues;"
					       "asm_sysvec_apic_timer_interrupt;[timer] 500\n");
	o.no_idle = true;
	expect_text(script_folded(script, &o), "");
}
