// SPDX-License-Identifier: GPL-2.0-or-later
/* Tries for a lock of a file: whoever had it explains them (chain-semantics, section 14). */
#include "test.h"

#include "oracle_script.h"
#include "synth_script.h"

#define TIMER "wake;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt"
#define BY_TIMER "A;[file_lock];-;nap;--;" TIMER ";[timer]"
#define BY_B "A;[file_lock];-;nap;--;[unknown stack];B;"
#define NAP "c0 A S > - nap for=file_lock:/db\n"

/* A's lines, of both engines. */
static void exact(const char *script, const char *expected)
{
	both_fold(script, (struct oracle_asked) { .depth = OPTIONS_DEPTH_DEFAULT }, "A", expected);
}

/* A tries at 0, 100 and 210, and has the lock at 420; what is between is put in. */
#define THREE_TRIES(first, second, third)                \
	"0   c0 - R > A\n"                               \
	"0   c1 - R > B\n"                               \
	"0   c2 - R > C\n"                               \
	"0   " NAP first "99  c3 - wakes A " TIMER "\n"  \
	"99  c0 - R > A\n"                               \
	"100 " NAP second "209 c3 - wakes A " TIMER "\n" \
	"209 c0 - R > A\n"                               \
	"210 " NAP third "410 c3 - wakes A " TIMER "\n"  \
	"420 c0 - R > A\n"                               \
	"end 900\n"

TEST(example_the_last_try_ends_after_the_lock_was_let_go)
{
	exact(THREE_TRIES("0 c0 A held-by B\n50 c1 B S > - read\n",
			  "100 c0 A held-by B\n180 c2 C wakes B send\n180 c1 - R > B\n",
			  "210 c0 A held-by B\n300 c1 B S > - read\n"),
	      "A;[file_lock];-;nap;--;[unknown stack];B;--;send;C;[running] 129000\n" BY_B
	      "[running] 169000\n" BY_TIMER " 110000\nA;[file_lock];-;nap;[runnable] 10000\n");
}

TEST(the_holder_that_runs_on_explains_all)
{
	exact(THREE_TRIES("0 c0 A held-by B\n", "100 c0 A held-by B\n", "210 c0 A held-by B\n"),
	      BY_B "[running] 408000\nA;[file_lock];-;nap;[runnable] 10000\n");
}

TEST(each_holder_explains_the_tries_that_it_was_in_the_way_of)
{
	exact(THREE_TRIES("0 c0 A held-by B\n", "100 c0 A held-by C\n", "210 c0 A held-by C\n"),
	      BY_B "[running] 99000\n"
		   "A;[file_lock];-;nap;--;[unknown stack];C;[running] 309000\n"
		   "A;[file_lock];-;nap;[runnable] 10000\n");
}

TEST(what_nobody_is_known_to_hold_ends_by_its_timer)
{
	static const char timer[] = BY_TIMER " 408000\nA;[file_lock];-;nap;[runnable] 10000\n";

	exact(THREE_TRIES("", "", ""), timer);
	/* Its own lock, as another thread's of a process may be. */
	exact(THREE_TRIES("0 c0 A held-by A\n", "100 c0 A held-by A\n", "210 c0 A held-by A\n"),
	      timer);
}

/* Since before A's first try B has not run: A gives up. */
TEST(a_holder_that_does_not_run_has_not_let_go)
{
	exact("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "5   c1 B S > - read\n"
	      "10  " NAP "10 c0 A held-by B\n"
	      "110 c3 - wakes A " TIMER "\n"
	      "120 c0 - R > A\n"
	      "end 900\n",
	      BY_TIMER " 100000\nA;[file_lock];-;nap;[runnable] 10000\n");
}

/* B tries for another file meanwhile, so it cannot be known when it let this one go. */
TEST(a_holder_between_two_tries_of_its_own_explains_nothing)
{
	exact("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "0   c2 - R > C\n"
	      "10  " NAP "10 c0 A held-by B\n"
	      "20  c1 B S > - nap for=file_lock:/log\n20 c1 B held-by C\n"
	      "100 c3 - wakes B " TIMER "\n"
	      "101 c1 - R > B\n"
	      "102 c1 B S > - nap for=file_lock:/log\n102 c1 B held-by C\n"
	      "110 c3 - wakes A " TIMER "\n"
	      "120 c0 - R > A\n"
	      "500 c3 - wakes B " TIMER "\n"
	      "501 c1 - R > B\n"
	      "end 900\n",
	      BY_TIMER " 100000\nA;[file_lock];-;nap;[runnable] 10000\n");
}

TEST(what_the_holder_did_may_be_unknown)
{
	exact("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "10  " NAP "10 c0 A held-by B\n"
	      "50  c1 C R > -\n"
	      "110 c3 - wakes A " TIMER "\n"
	      "120 c0 - R > A\n"
	      "end 900\n",
	      "A;[file_lock];-;nap;[runnable] 10000\n"
	      "A;[file_lock];-;nap;[unknown] 100000\n");
}
