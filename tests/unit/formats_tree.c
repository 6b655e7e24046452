// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=tree: what is said of each link. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

static void gives(const char *script, const struct options *o, const char *expected)
{
	expect_text(script_formatted(script, o, "tree"), expected);
}

TEST(a_waker_has_the_name_it_had_when_it_woke)
{
	struct options o = script_options(101);

	/* C is called old when it wakes B, and new when B wakes A. */
	gives("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "0   c2 - R > C\n"
	      "10  c2 C renames-to old\n"
	      "100 c0 A S > - recv\n"
	      "300 c1 B S > - lock\n"
	      "700 c2 C wakes B unlock\n"
	      "700 c1 - R > B\n"
	      "800 c2 C renames-to new\n"
	      "900 c1 B wakes A send\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      &o,
	      "A (101)\n"
	      "  +0.000100000 s  slept 800.000 us (S)\n"
	      "    in recv\n"
	      "    woken by B (102), which ran 400.000 us, slept 400.000 us\n"
	      "      in send\n"
	      "      asleep in lock\n"
	      "      woken by old (103), which ran 400.000 us\n"
	      "        in unlock\n");
}

/* B is woken by C at 50, long before A sleeps, and goes on. */
static const char woken_before[] = "0   c0 - R > A\n"
				   "0   c1 - R > B\n"
				   "0   c2 - R > C\n"
				   "40  c1 B S > - lock\n"
				   "50  c2 C wakes B unlock\n"
				   "50  c1 - R > B\n"
				   "100 c0 A S > - recv\n"
				   "900 c1 B wakes A send\n"
				   "900 c0 - R > A\n"
				   "end 1000\n";

TEST(a_classic_link_says_nothing_of_the_time_between)
{
	struct options o = script_options(101);

	o.mode = MODE_CLASSIC;
	gives(woken_before, &o,
	      "A (101)\n"
	      "  +0.000100000 s  slept 800.000 us (S)\n"
	      "    in recv\n"
	      "    woken by B (102)\n"
	      "      in send\n"
	      "      asleep in lock\n"
	      "      last woken by C (103), whose own last waking is not in the trace\n"
	      "        in unlock\n");
	o.depth = 1;
	gives(woken_before, &o,
	      "A (101)\n"
	      "  +0.000100000 s  slept 800.000 us (S)\n"
	      "    in recv\n"
	      "    woken by B (102) (links beyond --depth are left out)\n"
	      "      in send\n");
}

TEST(a_classic_chain_says_that_it_goes_in_a_loop)
{
	struct options o = script_options(101);

	o.mode = MODE_CLASSIC;
	gives("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "40  c1 B S > - take\n"
	      "90  c0 A wakes B ask\n"
	      "90  c1 - R > B\n"
	      "100 c0 A S > - recv\n"
	      "900 c1 B wakes A answer\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      &o,
	      "A (101)\n"
	      "  +0.000100000 s  slept 800.000 us (S)\n"
	      "    in recv\n"
	      "    woken by B (102)\n"
	      "      in answer\n"
	      "      asleep in take\n"
	      "      last woken by A (101), which is in this chain already\n"
	      "        in ask\n");
	gives(script_chain, &o,
	      "A (101)\n"
	      "  +0.000100000 s  slept 800.000 us (S), runnable 30.000 us\n"
	      "    in ksleep < ksys | usleep < umain\n"
	      "    woken by B (102)\n"
	      "      in kwake < ksend | usend\n"
	      "      asleep in klock | ulock\n"
	      "      last woken by a timer (hrtimer_wakeup)\n"
	      "        in hrtimer_wakeup < __hrtimer_run_queues < "
	      "asm_sysvec_apic_timer_interrupt\n"
	      "  +0.001000000 s  slept 1.000 ms (S)\n"
	      "    in ksleep < ksys | usleep < umain\n"
	      "    not woken: slept until the recording ended\n");
}

TEST(a_wait_that_the_window_cuts_says_so)
{
	struct options o = script_options(101);

	o.from_ns = 600000;
	o.to_ns = 920000;
	gives(woken_before, &o,
	      "A (101)\n"
	      "  +0.000600000 s  slept 300.000 us (S); cut by --from or --to, in all 800.000 us\n"
	      "    in recv\n"
	      "    woken by B (102), which ran 300.000 us\n"
	      "      in send\n");
	o.from_ns = 960000;
	o.to_ns = 1500000;
	o.parts = PART_BLOCKED | PART_PREEMPTED;
	gives(script_chain, &o,
	      "A (101)\n"
	      "  +0.000960000 s  preempted 10.000 us; cut by --from or --to, in all "
	      "20.000 us\n"
	      "    in kpre | upre\n"
	      "  +0.001000000 s  slept 500.000 us (S); cut by --from or --to, in all 1.000 ms\n"
	      "    in ksleep < ksys | usleep < umain\n"
	      "    not woken: slept until the recording ended\n");
}

/* A sleeps until B kills it, or until B ends the process of both. */
static const char *killed(const char *waker_stack)
{
	static char script[400];

	snprintf(script, sizeof(script),
		 "0   c0 - R > B\n"
		 "100 c1 A S > - recv\n"
		 "900 c0 B wakes A %s\n"
		 "930 c1 - R > A\n"
		 "950 c1 A X > - do_exit;get_signal\n"
		 "end 1000\n",
		 waker_stack);
	return script;
}

TEST(who_killed_a_sleeper_is_no_waker)
{
	struct options o = script_options(101);
	char *text;

	gives(killed("complete_signal;kill"), &o,
	      "A (101)\n"
	      "  +0.000100000 s  slept 800.000 us (S), runnable 30.000 us\n"
	      "    in recv\n"
	      "    not woken: slept until it was killed, by B (102)\n");
	gives(killed("zap_other_threads;do_group_exit"), &o,
	      "A (101)\n"
	      "  +0.000100000 s  slept 800.000 us (S), runnable 30.000 us\n"
	      "    in recv\n"
	      "    not woken: slept until its process ended, by B (102)\n");
	text = script_formatted(killed("complete_signal;kill"), &o, "json");
	assert_non_null(strstr(text, "\"wake\":900000,"));
	assert_non_null(strstr(text, "\"flags\":[\"not_woken\",\"killed\"]"));
	free(text);
	text = script_formatted(killed("complete_signal;kill"), &o, "csv");
	assert_non_null(strstr(text, "\n100000,900000,930000,"));
	assert_non_null(strstr(text, ",S,not_woken killed,800000,30000,"));
	free(text);
	expect_text(script_formatted(killed("complete_signal;kill"), &o, "wakers"),
		    "WAKER             TARGET               COUNT         BLOCKED         LONGEST\n"
		    "[not woken]       A                        1           0.800           0.800\n"
		    "all of them                                1           0.800           0.800\n"
		    "(times in ms; 1 pairs)\n");
}
