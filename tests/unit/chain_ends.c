// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ends of chains at interrupts (chain-semantics, section 11): which one an interrupt's stack gives.
 * chain_renamed.c has that --plain-ends changes nothing but their names.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
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

static void a_timer(void **state)
{
	(void)state;
	ends_in("B", "wake;hrtimer_wakeup;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt;f",
		"wake;hrtimer_wakeup;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt;[timer]");
	ends_in("-", "wake;process_timeout;call_timer_fn;run_timer_softirq;handle_softirqs;do_idle",
		"wake;process_timeout;call_timer_fn;run_timer_softirq;handle_softirqs;[timer]");
}

static void the_network(void **state)
{
	(void)state;
	ends_in("B", "wake;ready;__netif_receive_skb_core.constprop.0;asm_common_interrupt;f",
		"wake;ready;__netif_receive_skb_core.constprop.0;asm_common_interrupt;[network]");
	ends_in("-", "wake;ready;net_rx_action;handle_softirqs;asm_common_interrupt;do_idle",
		"wake;ready;net_rx_action;handle_softirqs;asm_common_interrupt;[network]");
}

static void anything_else(void **state)
{
	(void)state;
	ends_in("B", "wake;bio_done;asm_common_interrupt;f",
		"wake;bio_done;asm_common_interrupt;[interrupt]");
	/* The timer's interrupt does more on its way out than to expire timers. */
	ends_in("B", "wake;rcu_do_batch;__irq_exit_rcu;asm_sysvec_apic_timer_interrupt;f",
		"wake;rcu_do_batch;__irq_exit_rcu;asm_sysvec_apic_timer_interrupt;[interrupt]");
}

static void what_is_nearest_to_the_leaf(void **state)
{
	(void)state;
	ends_in("B", "wake;tcp_write_timer;call_timer_fn;net_rx_action;asm_common_interrupt;f",
		"wake;tcp_write_timer;call_timer_fn;net_rx_action;asm_common_interrupt;[timer]");
	ends_in("B", "wake;ready;net_rx_action;hrtimer_interrupt;asm_common_interrupt;f",
		"wake;ready;net_rx_action;hrtimer_interrupt;asm_common_interrupt;[network]");
	/* What was interrupted has no part in it. */
	ends_in("B", "wake;bio_done;asm_common_interrupt;net_rx_action;ksoftirqd",
		"wake;bio_done;asm_common_interrupt;[interrupt]");
}

static void a_thread_is_no_end(void **state)
{
	struct options o = script_options(101);

	(void)state;
	expect_text(script_folded("0   c0 - R > B\n"
				  "100 c1 A S > - recv\n"
				  "900 c0 B wakes A wake;net_rx_action;run_ksoftirqd;kthread\n"
				  "900 c1 - R > A\n"
				  "end 1000\n",
				  &o),
		    "A;recv;--;wake;net_rx_action;run_ksoftirqd;kthread;B;[running] 800\n");
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

static void a_disk_by_stages(void **state)
{
	(void)state;
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

static void a_disk_within_a_window(void **state)
{
	static const char script[] = "100 c1 A S > - recv\n"
				     "300 c0 B S > - io\n"
				     "699 c0 B disk-done vda read 4096 290 500\n"
				     "700 c0 - wakes B " BIO "\n"
				     "700 c0 - R > B\n"
				     "900 c0 B wakes A answer\n"
				     "900 c1 - R > A";

	(void)state;
	folds(script, false,
	      "A;recv;--;answer;B;--;" BIO ";[disk vda read];[device] 200\n"
	      "A;recv;--;answer;B;--;" BIO ";[disk vda read];[queued] 200\n"
	      "A;recv;--;answer;B;[running] 400\n");
	/* It is the last wakeup of B, whenever that was. */
	folds(script, true, "A;recv;--;answer;B;--;" BIO ";[disk vda read] 800\n");
}

static void the_last_one_that_was_done(void **state)
{
	(void)state;
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

static void a_disk_that_is_not_known(void **state)
{
	(void)state;
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

static void a_thread_that_ends_requests(void **state)
{
	(void)state;
	folds("100 c1 A S > - recv\n"
	      "899 c0 A disk-done vda read 4096 110 300\n"
	      "900 c0 B wakes A wake;bio_done;blk_update_request;run_ksoftirqd;kthread\n"
	      "900 c1 - R > A",
	      false,
	      "A;recv;--;wake;bio_done;blk_update_request;run_ksoftirqd;kthread;B;[running] 800\n");
}

/* In words, and as JSON. */
static void disks_in_other_formats(void **state)
{
	static const char script[] = "0   c0 - R > B\n"
				     "100 c1 A S > - recv\n"
				     "899 c0 A disk-done vda read 4096 99 300\n"
				     "900 c0 B wakes A " BIO "\n"
				     "900 c1 - R > A\n"
				     "end 2000\n";
	struct options o = script_options(101);
	char *text;

	(void)state;
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
	assert_non_null(strstr(text, "A slept in recv, until done: disk vda read\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timer),
		cmocka_unit_test(the_network),
		cmocka_unit_test(anything_else),
		cmocka_unit_test(what_is_nearest_to_the_leaf),
		cmocka_unit_test(a_thread_is_no_end),
		cmocka_unit_test(a_disk_by_stages),
		cmocka_unit_test(a_disk_within_a_window),
		cmocka_unit_test(the_last_one_that_was_done),
		cmocka_unit_test(a_disk_that_is_not_known),
		cmocka_unit_test(a_thread_that_ends_requests),
		cmocka_unit_test(disks_in_other_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
