// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of tries that nobody ended: whoever had the lock explains them (chain-semantics, section
 * 14).
 */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>

#include "oracle_script.h"
#include "synth_script.h"

#define TIMER "wake;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt"
#define BY_TIMER "wake;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt;[timer]"

/* A's lines, of both engines. */
static void exact(const char *script, const char *expected)
{
	both_fold(script, (struct oracle_asked) { .depth = OPTIONS_DEPTH_DEFAULT }, "A", expected);
}

/*
 * A sleeps for a lock, which B has, from 0 to 500, when its timer ends the sleep, and is back at
 * 520. How it sleeps, what the lock says, and what happens until 520.
 */
static char *one_try(const char *sleeps, const char *told, const char *then)
{
	char *script;

	if (asprintf(&script,
		     "0    c0 - R > A\n"
		     "0    c1 - R > B\n"
		     "0    c2 - R > C\n"
		     "1    c0 A S > - %s\n"
		     "%s"
		     "501  c3 - wakes A " TIMER "\n"
		     "%s"
		     "520  c0 - R > A\n"
		     "end 900\n",
		     sleeps, told, then) < 0)
		abort();
	return script;
}

#define GIL "take_gil for=GIL:7"
#define B_HAS_IT "1 c0 A held-by B\n"

static void tried(const char *sleeps, const char *told, const char *then, const char *expected)
{
	char *script = one_try(sleeps, told, then), *lines;

	if (asprintf(&lines, "%s\n%s", expected, "A;[GIL];-;take_gil;[runnable] 19000\n") < 0)
		abort();
	exact(script, lines);
	free(lines);
	free(script);
}

TEST(example_the_holder_releases_and_sleeps_for_the_lock)
{
	tried(GIL, B_HAS_IT, "510 c1 B S > - futex_wait|drop_gil;mirror for=GIL:7\n",
	      "A;[GIL];-;take_gil;--;futex_wait;-;drop_gil;mirror;B;[running] 500000");
}

TEST(example_the_holder_runs_on)
{
	tried(GIL, B_HAS_IT, "", "A;[GIL];-;take_gil;--;[unknown stack];B;[running] 500000");
}

/* Where it sleeps for something else nobody knows where it released the lock. */
TEST(the_stack_counts_only_at_the_lock)
{
	static const char expected[] = "A;[GIL];-;take_gil;--;[unknown stack];B;[running] 500000";

	tried(GIL, B_HAS_IT, "510 c1 B S > - read;mirror for=pipe:1\n", expected);
	tried(GIL, B_HAS_IT, "510 c1 B S > - futex_wait for=GIL:8\n", expected);
	tried(GIL, B_HAS_IT, "510 c1 B R > - compute\n", expected);
}

/* All tries of the row, and what the holder did meanwhile. */
TEST(the_whole_row_waited_for_the_holder)
{
	exact("0     c0 - R > A\n"
	      "0     c1 - R > B\n"
	      "0     c2 - R > C\n"
	      "0     c0 A S > - take_gil for=GIL:7\n"
	      "0     c0 A held-by B\n"
	      "1000  c1 B S > - read;mirror\n"
	      "3000  c2 C wakes B wake;send\n"
	      "3000  c1 - R > B\n"
	      "5000  c3 - wakes A " TIMER "\n"
	      "5010  c0 - R > A\n"
	      "5020  c0 A S > - take_gil for=GIL:7\n"
	      "5020  c0 A held-by B\n"
	      "10020 c3 - wakes A " TIMER "\n"
	      "10030 c0 - R > A\n"
	      "12000 c0 A S > - read\n"
	      "end 13000\n",
	      "A;[GIL];-;take_gil;--;[unknown stack];B;--;wake;send;C;[running] 2000000\n"
	      "A;[GIL];-;take_gil;--;[unknown stack];B;[running] 8000000\n"
	      "A;[GIL];-;take_gil;[runnable] 20000\n"
	      "A;read;[not woken] 1000000\n");
}

TEST(a_holder_that_has_not_run_since_has_the_lock_still)
{
	static const char timer[] = "A;[GIL];-;take_gil;--;" BY_TIMER " 500000";

	tried(GIL, B_HAS_IT "400 c1 B S > - read\n", "", timer);
	tried(GIL, B_HAS_IT "501 c1 B R > -\n", "", timer);
	tried(GIL, B_HAS_IT "400 c1 B R > -\n", "510 c1 - R > B\n",
	      "A;[GIL];-;take_gil;--;[unknown stack];B;[runnable] 101000\n"
	      "A;[GIL];-;take_gil;--;[unknown stack];B;[running] 399000");
	/* It may have been the last thing that it did. */
	tried(GIL, B_HAS_IT, "505 c1 B exits\n510 c1 B X > - do_exit\n",
	      "A;[GIL];-;take_gil;--;[unknown stack];B;[running] 500000");
	tried(GIL, B_HAS_IT "400 c1 B exits\n410 c1 B X > - do_exit\n", "", timer);
}

/* D goes to sleep at the lock meanwhile, and learns that C has it now. */
TEST(who_went_to_sleep_last_knows_best)
{
	tried(GIL,
	      B_HAS_IT "10 c3 - R > D\n300 c3 D S > - take_gil for=GIL:7\n300 c3 D held-by C\n", "",
	      "A;[GIL];-;take_gil;--;[unknown stack];C;[running] 500000");
	/* At another lock, or before A. */
	tried(GIL,
	      B_HAS_IT "10 c3 - R > D\n300 c3 D S > - take_gil for=GIL:8\n300 c3 D held-by C\n", "",
	      "A;[GIL];-;take_gil;--;[unknown stack];B;[running] 500000");
	tried(GIL, "", "", "A;[GIL];-;take_gil;--;" BY_TIMER " 500000");
	tried(GIL, "1 c0 A held-by A\n", "", "A;[GIL];-;take_gil;--;" BY_TIMER " 500000");
}

/* C has waited, too, and is woken. */
TEST(a_waking_is_known_for_certain)
{
	tried(GIL, "0 c3 - R > D\n" B_HAS_IT "2 c3 D S > - take_gil for=GIL:7\n2 c3 D held-by B\n",
	      "505 c1 B wakes D futex_wake|drop_gil;mirror\n",
	      "A;[GIL];-;take_gil;--;futex_wake;-;drop_gil;mirror;B;[running] 500000");
}

/* Any lock that says who has it; not what only looks so. */
TEST(mutexes_say_it_too)
{
	static const char *const rows[][2] = {
		{ "futex_wait|pthread_mutex_timedlock;f for=futex:7:0x10",
		  "[unknown stack];B;[running]" },
		{ "futex_wait|pthread_cond_timedwait;f for=futex:7:0x10", BY_TIMER },
	};

	for (int i = 0; i < 2; i++) {
		char *script = one_try(rows[i][0], B_HAS_IT, ""), *expected;
		const char *call = i ? "pthread_cond_timedwait" : "pthread_mutex_timedlock";

		if (asprintf(&expected,
			     "A;f;%s;[futex];-;futex_wait;--;%s 500000\n"
			     "A;f;%s;[futex];-;futex_wait;[runnable] 19000\n",
			     call, rows[i][1], call) < 0)
			abort();
		exact(script, expected);
		free(expected);
		free(script);
	}
}

/* However long it takes: 20 ms, and 100 ms at a mutex; but not where nobody says who has it. */
TEST(a_long_try_is_one)
{
	static const struct {
		const char *sleeps, *told, *expected;
	} rows[] = {
		{ GIL, B_HAS_IT,
		  "A;[GIL];-;take_gil;--;[unknown stack];B;[running] 100000000\n"
		  "A;[GIL];-;take_gil;[runnable] 10000\n" },
		{ "wait|pthread_mutex_timedlock for=futex:7:0x10", B_HAS_IT,
		  "A;pthread_mutex_timedlock;[futex];-;wait;--;[unknown stack];B;[running] "
		  "100000000\n"
		  "A;pthread_mutex_timedlock;[futex];-;wait;[runnable] 10000\n" },
		{ "wait|pthread_mutex_timedlock for=futex:7:0x10", "",
		  "A;pthread_mutex_timedlock;[futex];-;wait;--;" BY_TIMER " 100000000\n"
		  "A;pthread_mutex_timedlock;[futex];-;wait;[runnable] 10000\n" },
	};

	for (int i = 0; i < 3; i++) {
		char *script;

		if (asprintf(&script,
			     "0      c0 - R > A\n"
			     "0      c1 - R > B\n"
			     "1      c0 A S > - %s\n"
			     "%s"
			     "100001 c3 - wakes A " TIMER "\n"
			     "100011 c0 - R > A\n"
			     "end 101000\n",
			     rows[i].sleeps, rows[i].told) < 0)
			abort();
		exact(script, rows[i].expected);
		free(script);
	}
}

TEST(what_is_not_known_ends_in_unknown)
{
	char *script = one_try(GIL, B_HAS_IT, "510 c1 C R > -\n");

	/* Of A too, and what B did. */
	exact("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "1   c0 A S > - take_gil for=GIL:7\n"
	      "1   c0 A held-by B\n"
	      "501 c3 - wakes A " TIMER "\n"
	      "505 c3 lost 506\n"
	      "520 c0 - R > A\n"
	      "end 900\n",
	      "A;[GIL];-;take_gil;[runnable] 4000\n"
	      "A;[GIL];-;take_gil;[unknown] 500000\n");
	/* Events are missing, and nothing says so. */
	exact(script, "A;[GIL];-;take_gil;[runnable] 19000\n"
		      "A;[GIL];-;take_gil;[unknown] 500000\n");
	free(script);
}
