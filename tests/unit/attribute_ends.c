// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ends of chains at interrupts (chain-semantics, section 11): which one an interrupt's stack gives.
 * chain_renamed.c has that --plain-ends changes nothing but their names.
 */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

/* How A's chain ends if somebody with this stack wakes it. */
static void ends_in(const char *who, const char *stack, const char *expected)
{
	char script[1000], line[1000], frames[500] = "";
	struct options o = script_options(101);
	const char *end = strchr(expected, '[');

	snprintf(frames, sizeof(frames), "%.*s", (int)(end - expected), expected);
	snprintf(script, sizeof(script),
		 "0   c0 - R > %s\n"
		 "100 c1 A S > - recv\n"
		 "900 c0 %s wakes A %s\n"
		 "900 c1 - R > A\n"
		 "end 1000\n",
		 who, who, stack);
	snprintf(line, sizeof(line), "A;recv;--;%s 800\n", expected);
	expect_text(script_folded(script, &o), line);
	o.plain_ends = true;
	snprintf(line, sizeof(line), "A;recv;--;%s[interrupt] 800\n", frames);
	expect_text(script_folded(script, &o), line);
}

TEST(a_timer)
{
	ends_in("B", "wake;hrtimer_wakeup;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt;f",
		"wake;hrtimer_wakeup;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt;[timer]");
	ends_in("-", "wake;process_timeout;call_timer_fn;run_timer_softirq;handle_softirqs;do_idle",
		"wake;process_timeout;call_timer_fn;run_timer_softirq;handle_softirqs;[timer]");
}

TEST(the_network)
{
	ends_in("B", "wake;ready;__netif_receive_skb_core.constprop.0;asm_common_interrupt;f",
		"wake;ready;__netif_receive_skb_core.constprop.0;asm_common_interrupt;[network]");
	ends_in("-", "wake;ready;net_rx_action;handle_softirqs;asm_common_interrupt;do_idle",
		"wake;ready;net_rx_action;handle_softirqs;asm_common_interrupt;[network]");
}

TEST(anything_else)
{
	ends_in("B", "wake;bio_done;asm_common_interrupt;f",
		"wake;bio_done;asm_common_interrupt;[interrupt]");
	/* The timer's interrupt does more on its way out than to expire timers. */
	ends_in("B", "wake;rcu_do_batch;__irq_exit_rcu;asm_sysvec_apic_timer_interrupt;f",
		"wake;rcu_do_batch;__irq_exit_rcu;asm_sysvec_apic_timer_interrupt;[interrupt]");
}

TEST(what_is_nearest_to_the_leaf)
{
	ends_in("B", "wake;tcp_write_timer;call_timer_fn;net_rx_action;asm_common_interrupt;f",
		"wake;tcp_write_timer;call_timer_fn;net_rx_action;asm_common_interrupt;[timer]");
	ends_in("B", "wake;ready;net_rx_action;hrtimer_interrupt;asm_common_interrupt;f",
		"wake;ready;net_rx_action;hrtimer_interrupt;asm_common_interrupt;[network]");
	/* What was interrupted has no part in it. */
	ends_in("B", "wake;bio_done;asm_common_interrupt;net_rx_action;ksoftirqd",
		"wake;bio_done;asm_common_interrupt;[interrupt]");
}

/* Whoever runs ksoftirqd's loop has not sent what it receives; what else it does is its work. */
TEST(a_thread_that_receives_for_others)
{
	ends_in("B", "wake;ready;net_rx_action;handle_softirqs;run_ksoftirqd;kthread",
		"wake;ready;net_rx_action;handle_softirqs;run_ksoftirqd;[network]");
	ends_in("B", "wake;ready;__napi_poll;napi_threaded_poll_loop;napi_threaded_poll;kthread",
		"wake;ready;__napi_poll;napi_threaded_poll_loop;[network]");
	ends_in("B", "wake;ready;process_backlog;run_backlog_napi;kthread",
		"wake;ready;process_backlog;run_backlog_napi;[network]");
	/* A thread that allows softirqs, and has not sent. */
	ends_in("B",
		"wake;ready;net_rx_action;do_softirq.part.0;__local_bh_enable_ip;"
		"__skb_recv_udp;udp_recvmsg",
		"wake;ready;net_rx_action;do_softirq.part.0;[network]");
	ends_in("B", "wake;ready;process_backlog;__local_bh_enable_ip;lock_sock_nested;tcp_recvmsg",
		"wake;ready;process_backlog;__local_bh_enable_ip;[network]");
	/* An interrupt that hit it is not of its doing. */
	ends_in("B", "wake;bio_done;asm_common_interrupt;net_rx_action;run_ksoftirqd;kthread",
		"wake;bio_done;asm_common_interrupt;[interrupt]");
}

TEST(a_thread_is_no_other_end)
{
	static const char *const stacks[] = {
		"wake;timeout;call_timer_fn;run_timer_softirq;run_ksoftirqd;kthread",
		"wake;tcp_write_timer;call_timer_fn;net_rx_action;run_ksoftirqd;kthread",
		"wake;tasklet;run_ksoftirqd;kthread",
		"wake;ready;process_backlog;do_softirq;__local_bh_enable_ip;__dev_queue_xmit;send",
		"wake;ready;process_backlog;__local_bh_enable_ip;send;lock_sock_nested",
		"wake;timeout;call_timer_fn;do_softirq;__local_bh_enable_ip;__skb_recv_udp",
		"wake;net_rx_action;kthread",
	};
	struct options o = script_options(101);
	char script[500], line[500];

	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		snprintf(script, sizeof(script),
			 "0   c0 - R > B\n"
			 "100 c1 A S > - recv\n"
			 "900 c0 B wakes A %s\n"
			 "900 c1 - R > A\n"
			 "end 1000\n",
			 stacks[i]);
		snprintf(line, sizeof(line), "A;recv;--;%s;B;[running] 800\n", stacks[i]);
		expect_text(script_folded(script, &o), line);
	}
}

/* ---- sockets -------------------------------------------------------------------------------- */

#define RX "wake;ready;net_rx_action;asm_common_interrupt"

/* A waits for B, which waits for the network: first by a socket, then by one of several things. */
static const char server[] = "0   c0 - R > C\n"
			     "0   c1 - R > A\n"
			     "0   c2 - R > B\n"
			     "100 c1 A S > - recv|main for=tcp:10.0.0.5:80\n"
			     "100 c2 B S > - recv|serve for=tcp:10.0.0.7:5432\n"
			     "500 c0 C wakes B " RX "\n"
			     "500 c2 - R > B\n"
			     "500 c2 B S > - poll|serve for=epoll:7:5\n"
			     "700 c0 C wakes B wake;ready;net_rx_action;run_ksoftirqd;kthread\n"
			     "700 c0 B ready tcp:10.0.0.8:5432\n"
			     "701 c2 - R > B\n"
			     "701 c2 B S > - poll|serve for=epoll:7:5\n"
			     "800 c0 C wakes B " RX "\n"
			     "800 c2 - R > B\n"
			     "900 c2 B wakes A wake;send|serve\n"
			     "900 c1 - R > A\n"
			     "920 c1 A S > - recv|main for=tcp:10.0.0.5:80\n"
			     "980 c0 C wakes A " RX "\n"
			     "980 c1 - R > A\n"
			     "end 1000\n";

TEST(the_socket_to_which_packets_came)
{
	struct options o = script_options(101);

	expect_text(script_folded(server, &o),
		    "A;main;[tcp];-;recv;--;" RX ";[network];[tcp] 60\n"
		    "A;main;[tcp];-;recv;--;wake;send;-;serve;B;--;" RX ";[network] 99\n"
		    "A;main;[tcp];-;recv;--;wake;send;-;serve;B;--;" RX ";[network];[tcp] 400\n"
		    "A;main;[tcp];-;recv;--;wake;send;-;serve;B;--;wake;ready;net_rx_action;"
		    "run_ksoftirqd;[network];[tcp] 200\n"
		    "A;main;[tcp];-;recv;--;wake;send;-;serve;B;[runnable] 1\n"
		    "A;main;[tcp];-;recv;--;wake;send;-;serve;B;[running] 100\n");
	o.objects = OBJECTS_FULL;
	expect_text(script_folded(server, &o),
		    "A;main;[tcp 10.0.0.5:80];-;recv;--;" RX ";[network];[tcp 10.0.0.5:80] 60\n"
		    "A;main;[tcp 10.0.0.5:80];-;recv;--;wake;send;-;serve;B;--;" RX
		    ";[network] 99\n"
		    "A;main;[tcp 10.0.0.5:80];-;recv;--;wake;send;-;serve;B;--;" RX
		    ";[network];[tcp 10.0.0.7:5432] 400\n"
		    "A;main;[tcp 10.0.0.5:80];-;recv;--;wake;send;-;serve;B;--;wake;ready;"
		    "net_rx_action;run_ksoftirqd;[network];[tcp 10.0.0.8:5432] 200\n"
		    "A;main;[tcp 10.0.0.5:80];-;recv;--;wake;send;-;serve;B;[runnable] 1\n"
		    "A;main;[tcp 10.0.0.5:80];-;recv;--;wake;send;-;serve;B;[running] 100\n");
	o.objects = OBJECTS_NONE;
	o.user = false;
	expect_text(script_folded(server, &o),
		    "A;recv;--;" RX ";[network] 60\n"
		    "A;recv;--;wake;send;B;--;" RX ";[network] 499\n"
		    "A;recv;--;wake;send;B;--;wake;ready;net_rx_action;run_ksoftirqd;[network] "
		    "200\n"
		    "A;recv;--;wake;send;B;[runnable] 1\n"
		    "A;recv;--;wake;send;B;[running] 100\n");
	o.no_ends = true;
	expect_text(script_folded(server, &o),
		    "A;recv;--;" RX " 60\n"
		    "A;recv;--;wake;send;B 101\n"
		    "A;recv;--;wake;send;B;--;" RX " 499\n"
		    "A;recv;--;wake;send;B;--;wake;ready;net_rx_action;run_ksoftirqd 200\n");
}

/* In what is read, too: of several sockets the one with the most time. */
TEST(the_socket_in_words)
{
	struct options o = script_options(101);
	char *text;

	text = script_formatted(server, &o, "tree");
	assert_non_null(strstr(text, "woken by the network (asm_common_interrupt) for "
				     "tcp 10.0.0.7:5432: 400.000 us\n"));
	assert_non_null(strstr(text, "woken by the network (run_ksoftirqd) for "
				     "tcp 10.0.0.8:5432: 200.000 us\n"));
	free(text);
	text = script_formatted(server, &o, "json");
	assert_non_null(strstr(text, "\"end\":\"network\",\"ns\":400000,"
				     "\"socket\":{\"class\":\"tcp\","
				     "\"name\":\"10.0.0.7:5432\"}}"));
	assert_non_null(strstr(text, "\"end\":\"network\",\"ns\":99000}"));
	free(text);
	text = script_formatted(server, &o, "csv");
	assert_non_null(strstr(text, ",699000,")); /* end_network_ns is of all of them */
	free(text);
	text = script_formatted(server, &o, "causes");
	assert_non_null(strstr(text,
			       "B/102 slept in recv | serve for\n         tcp 10.0.0.7:5432, until "
			       "a packet arrived\n"));
	free(text);
}

/* ---- disks ---------------------------------------------------------------------------------- */

#define BIO "wake;bio_done;blk_update_request;asm_common_interrupt"

/* A's lines, in ns, of a script in which B runs on CPU 0 and all sleepers are on CPU 1. */
static void folds(const char *script, bool classic, const char *expected)
{
	struct options o = script_options(101);
	char whole[2000];

	o.mode = classic ? MODE_CLASSIC : MODE_EXACT;
	snprintf(whole, sizeof(whole), "0 c0 - R > B\n%s\nend 2000\n", script);
	expect_text(script_folded(whole, &o), expected);
}

TEST(a_disk_by_stages)
{
	folds("99  c1 A asks-disk submit|main\n"
	      "100 c1 A S > - recv\n"
	      "899 c0 A disk-done vda read 4096 99 300\n"
	      "900 c0 B wakes A " BIO "\n"
	      "900 c1 - R > A",
	      false,
	      "A;recv;--;" BIO ";[disk vda read];[device] 600\n"
	      "A;recv;--;" BIO ";[disk vda read];[queued] 200\n");
	/* The device had it before A slept. */
	folds("100 c1 A S > - recv\n"
	      "899 c0 A disk-done vg-root write 4096 10 50\n"
	      "900 c0 B wakes A " BIO "\n"
	      "900 c1 - R > A",
	      false, "A;recv;--;" BIO ";[disk vg-root write];[device] 800\n");
	folds("100 c1 A S > - recv\n"
	      "899 c0 - disk-done vda flush 0 - -\n"
	      "900 c0 B wakes A " BIO "\n"
	      "900 c1 - R > A",
	      false, "A;recv;--;" BIO ";[disk vda flush] 800\n");
}

/* An I/O limit of A's group holds its request back until 700, when worker W asks for it. */
#define HELD                                                               \
	"100 c1 A S > - recv\n"                                            \
	"700 c2 W asks-disk submit;blk_throtl_dispatch_work_fn;kthread|\n" \
	"899 c0 W disk-done vda write 4096 700 750 /shop.slice/db.scope\n" \
	"900 c0 B wakes A " BIO "\n"                                       \
	"900 c1 - R > A"

TEST(a_disk_that_was_asked_late_because_of_a_limit)
{
	folds(HELD, false,
	      "A;recv;--;" BIO ";[disk vda write];[device] 150\n"
	      "A;recv;--;" BIO ";[disk vda write];[queued] 50\n"
	      "A;recv;--;" BIO ";[disk vda write];[throttled db.scope] 600\n");
	/* Also if nothing else is known of the worker. */
	folds("born W\n" HELD, false,
	      "A;recv;--;" BIO ";[disk vda write];[device] 150\n"
	      "A;recv;--;" BIO ";[disk vda write];[queued] 50\n"
	      "A;recv;--;" BIO ";[disk vda write];[throttled db.scope] 600\n");
	/* Of a worker that writes for others on its own nothing is known. */
	folds("100 c1 A S > - recv\n"
	      "700 c2 W asks-disk submit;wb_workfn;kthread|\n"
	      "899 c0 W disk-done vda write 4096 700 750 /shop.slice/db.scope\n"
	      "900 c0 B wakes A " BIO "\n"
	      "900 c1 - R > A",
	      false,
	      "A;recv;--;" BIO ";[disk vda write];[device] 150\n"
	      "A;recv;--;" BIO ";[disk vda write];[queued] 650\n");
}

TEST(what_a_limit_held_back_is_asked_for_by_who_waits)
{
	struct options o;
	char *text;

	options_init(&o);
	text = script_formatted("0 c0 - R > B\n0 c2 - R > W\n" HELD "\nend 2000\n", &o, "io");
	assert_non_null(strstr(text, "  A\n"));
	assert_null(strstr(text, "  W\n"));
	free(text);
	text = script_formatted("0 c0 - R > B\n0 c2 - R > W\n" HELD "\nend 2000\n", &o, "causes");
	assert_non_null(strstr(text, "the I/O limit of its control group db.scope was"));
	free(text);
}

TEST(a_disk_within_a_window)
{
	static const char script[] = "100 c1 A S > - recv\n"
				     "300 c0 B S > - io\n"
				     "699 c0 B disk-done vda read 4096 290 500\n"
				     "700 c0 - wakes B " BIO "\n"
				     "700 c0 - R > B\n"
				     "900 c0 B wakes A answer\n"
				     "900 c1 - R > A";

	folds(script, false,
	      "A;recv;--;answer;B;--;" BIO ";[disk vda read];[device] 200\n"
	      "A;recv;--;answer;B;--;" BIO ";[disk vda read];[queued] 200\n"
	      "A;recv;--;answer;B;[running] 400\n");
	/* It is the last wakeup of B, whenever that was. */
	folds(script, true, "A;recv;--;answer;B;--;" BIO ";[disk vda read] 800\n");
}

TEST(the_last_one_that_was_done)
{
	folds("100 c1 A S > - recv\n"
	      "700 c0 A disk-done vda write 4096 110 150\n"
	      "800 c0 A disk-done vdb read 4096 110 200\n"
	      "850 c1 A disk-done vdc read 4096 110 300\n"
	      "900 c0 B wakes A " BIO "\n"
	      "900 c1 - R > A",
	      false,
	      "A;recv;--;" BIO ";[disk vdb read];[device] 700\n"
	      "A;recv;--;" BIO ";[disk vdb read];[queued] 100\n");
}

TEST(a_disk_that_is_not_known)
{
	/* The interrupt was at no request. */
	folds("100 c1 A S > - recv\n"
	      "899 c0 A disk-done vda read 4096 110 300\n"
	      "900 c0 B wakes A wake;bio_done;asm_common_interrupt\n"
	      "900 c1 - R > A",
	      false, "A;recv;--;wake;bio_done;asm_common_interrupt;[interrupt] 800\n");
	/* It was, but what it did is lost, or not recorded. */
	folds("100 c1 A S > - recv\n"
	      "800 c0 A disk-done vda read 4096 110 300\n"
	      "850 c0 lost-disk-dones 880\n"
	      "900 c0 B wakes A " BIO "\n"
	      "900 c1 - R > A",
	      false, "A;recv;--;" BIO ";[interrupt] 800\n");
	folds("100 c1 A S > - recv\n"
	      "900 c0 B wakes A " BIO "\n"
	      "900 c1 - R > A",
	      false, "A;recv;--;" BIO ";[interrupt] 800\n");
}

TEST(a_thread_that_ends_requests)
{
	folds("100 c1 A S > - recv\n"
	      "899 c0 A disk-done vda read 4096 110 300\n"
	      "900 c0 B wakes A wake;bio_done;blk_update_request;run_ksoftirqd;kthread\n"
	      "900 c1 - R > A",
	      false,
	      "A;recv;--;wake;bio_done;blk_update_request;run_ksoftirqd;kthread;B;[running] 800\n");
}

/* In words, and as JSON. */
TEST(disks_in_other_formats)
{
	static const char script[] = "0   c0 - R > B\n"
				     "100 c1 A S > - recv\n"
				     "899 c0 A disk-done vda read 4096 99 300\n"
				     "900 c0 B wakes A " BIO "\n"
				     "900 c1 - R > A\n"
				     "end 2000\n";
	struct options o = script_options(101);
	char *text;

	expect_text(
		script_formatted(script, &o, "tree"),
		"A (101)\n"
		"  +0.000100000 s  slept 800.000 us (S)\n"
		"    in recv\n"
		"    woken by disk vda read (asm_common_interrupt): 800.000 us (queued 200.000 us, "
		"device 600.000 us)\n"
		"      in wake < bio_done < blk_update_request < ...\n");
	text = script_formatted(script, &o, "json");
	assert_non_null(strstr(text, "\"end\":\"disk\",\"ns\":600000,\"disk\":\"vda\","
				     "\"operation\":\"read\",\"stage\":\"device\"}"));
	assert_non_null(strstr(text, "\"end\":\"disk\",\"ns\":200000,\"disk\":\"vda\","
				     "\"operation\":\"read\",\"stage\":\"queued\"}"));
	free(text);
	text = script_formatted(script, &o, "causes");
	assert_non_null(strstr(text, "A/101 slept in recv, until done:\n         disk vda read\n"));
	free(text);
}

/*
 * What md asks its members for has the array's name, as the recorder takes it down in the thread
 * that asks: of two copies the wait is over with the later one.
 */
TEST(an_array_is_one_device)
{
	folds("99  c1 A asks-disk submit|main\n"
	      "99  c1 A asks-disk submit|main\n"
	      "100 c1 A S > - fsync\n"
	      "499 c0 A disk-done md0 write 4096 99 150\n"
	      "899 c0 A disk-done md0 write 4096 99 300\n"
	      "900 c0 B wakes A " BIO "\n"
	      "900 c1 - R > A",
	      false,
	      "A;fsync;--;" BIO ";[disk md0 write];[device] 600\n"
	      "A;fsync;--;" BIO ";[disk md0 write];[queued] 200\n");
}
