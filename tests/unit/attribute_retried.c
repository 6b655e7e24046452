// SPDX-License-Identifier: GPL-2.0-or-later
/* Timed waits for a lock that are tried again at once (chain-semantics, section 14). */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_script.h"
#include "synth_script.h"

#define TIMER "wake;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt"

/* A's lines, of both engines. */
static void folds(const char *script, enum options_mode mode, const char *expected)
{
	both_fold(script,
		  (struct oracle_asked) { .depth = OPTIONS_DEPTH_DEFAULT,
					  .classic = mode == MODE_CLASSIC },
		  "A", expected);
}

static void exact(const char *script, const char *expected)
{
	folds(script, MODE_EXACT, expected);
}

/* A waits for a lock from 0 to 500 and from 501 to 800; its timer ends the first sleep. */
TEST(example_waker_of_the_last_try)
{
	exact("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "0   c0 A S > - lock for=futex:m\n"
	      "500 c1 B wakes A " TIMER "\n"
	      "500 c0 - R > A\n"
	      "501 c0 A S > - lock for=futex:m\n"
	      "800 c1 B wakes A unlock;hold\n"
	      "800 c0 - R > A\n"
	      "end 900\n",
	      "A;[futex];-;lock;--;unlock;hold;B;[running] 799000\n");
}

/* The same with a second try that is another: how it begins, and who ends it. */
static char *second_try(const char *begins, const char *ends)
{
	char *script;

	if (asprintf(&script,
		     "born D\n"
		     "0    c0 - R > A\n"
		     "0    c1 - R > B\n"
		     "0    c0 A S > - lock for=futex:m\n"
		     "500  c1 B wakes A " TIMER "\n"
		     "500  c0 - R > A\n"
		     "%s"
		     "2000 c1 %s\n"
		     "2000 c0 - R > A\n"
		     "end 3000\n",
		     begins, ends) < 0)
		abort();
	return script;
}

static void first_goes_on(const char *begins, const char *ends, bool expected)
{
	char *script = second_try(begins, ends);
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct oracle_asked asked = { .depth = 2 };
	struct options o = oracle_options(asked);
	char *lines, *all;
	bool joined;

	lines = trace_folded(t, &o);
	all = oracle_folded(t, &asked);
	joined = !strstr(lines, "A;[futex];-;lock;--;wake;") &&
		 strstr(lines, "A;[futex];-;lock;--;unlock;B;[running] ");
	if (joined != expected)
		fprintf(stderr, "---- schedule\n%s---- %s\n%s----\n", script,
			expected ? "goes on" : "does not go on", lines);
	assert_int_equal(joined, expected);
	assert_string_equal(lines, all);
	free(lines);
	free(all);
	trace_close(t);
	synth_free(m);
	free(script);
}

TEST(a_try_begins_less_than_a_millisecond_later)
{
	first_goes_on("1499.999 c0 A S > - lock for=futex:m\n", "B wakes A unlock", true);
	first_goes_on("1500 c0 A S > - lock for=futex:m\n", "B wakes A unlock", false);
}

TEST(a_try_lasts_less_than_twenty_milliseconds)
{
	static const char script[] = "0       c0 - R > A\n"
				     "0       c1 - R > B\n"
				     "0       c0 A S > - lock for=futex:m\n"
				     "%s c1 B wakes A " TIMER "\n"
				     "%s c0 - R > A\n"
				     "20001   c0 A S > - lock for=futex:m\n"
				     "70000   c1 B wakes A " TIMER "\n"
				     "70000   c0 - R > A\n"
				     "70001   c0 A S > - lock for=futex:m\n"
				     "100000  c1 B wakes A unlock\n"
				     "100000  c0 - R > A\n"
				     "end 100001\n";
	static const char pause[] = "A;[futex];-;lock;--;wake;__hrtimer_run_queues;"
				    "asm_sysvec_apic_timer_interrupt;[timer] ";
	static const char held[] = "A;[futex];-;lock;--;unlock;B;[running] ";
	char *made, *expected;

	if (asprintf(&made, script, "19999.999", "19999.999") < 0 ||
	    asprintf(&expected, "%s49998999\n%s49999000\n", held, pause) < 0)
		abort();
	exact(made, expected);
	free(made);
	free(expected);
	if (asprintf(&made, script, "20000", "20000") < 0 ||
	    asprintf(&expected, "%s29999000\n%s69999000\n", held, pause) < 0)
		abort();
	exact(made, expected);
	free(made);
	free(expected);
}

TEST(time_without_a_cpu_does_not_part_tries)
{
	first_goes_on("900 c0 A R > - lock\n"
		      "1800 c0 - R > A\n"
		      "1900 c0 A S > - lock for=futex:m\n",
		      "B wakes A unlock", true);
	first_goes_on("900 c0 A R > - lock\n"
		      "1000 c0 - R > A\n"
		      "1600 c0 A S > - lock for=futex:m\n",
		      "B wakes A unlock", false);
}

/* The second sleep, in whatever place, is of the row; but only its lock's waking explains the
 * first.
 */
TEST(what_explains_is_a_waking_at_the_same_lock)
{
	first_goes_on("501 c0 A S > - relock for=futex:m\n", "B wakes A unlock", true);
	first_goes_on("501 c0 A S > - lock for=futex:n\n", "B wakes A unlock", false);
	first_goes_on("501 c0 A S > - lock for=pipe:m\n", "B wakes A unlock", false);
	first_goes_on("501 c0 A S > - lock\n", "B wakes A unlock", false);
}

/* The same, with the lock at an address in both sleeps. */
static void words(const char *first, const char *second, bool expected)
{
	char *script, *lines;
	struct synth *m;
	struct trace *t;
	struct options o;
	struct oracle_asked asked = { .depth = 1 };
	char *all;

	if (asprintf(&script,
		     "0   c0 - R > A\n"
		     "0   c1 - R > B\n"
		     "0   c0 A S > - lock for=futex:%s\n"
		     "500 c1 B wakes A " TIMER "\n"
		     "500 c0 - R > A\n"
		     "501 c0 A S > - lock for=futex:%s\n"
		     "800 c1 B wakes A unlock\n"
		     "800 c0 - R > A\n"
		     "end 900\n",
		     first, second) < 0)
		abort();
	m = script_made(script);
	t = synth_open(m);
	options_init(&o);
	o.depth = 1;
	o.unit = UNIT_NS;
	o.parts = PART_BLOCKED;
	lines = trace_folded(t, &o);
	all = oracle_folded(t, &asked);
	if (!strstr(lines, "[timer]") != expected)
		fail_msg("%s and %s: %s", first, second, lines);
	assert_int_equal(!strstr(all, "[timer]"), expected);
	free(lines);
	free(all);
	trace_close(t);
	synth_free(m);
	free(script);
}

TEST(two_words_of_eight_bytes_are_one_lock)
{
	words("17:p+0x40c0", "17:p+0x40c4", true);
	words("17:p+0x40cc", "17:p+0x40c8", true);
	words("17:0x7f00", "17:0x7f04", true);
	words("17:p+0x40c4", "17:p+0x40c8", false);
	words("17:p+0x40c0", "17:p+0x41c4", false);
	words("17:p+0x40c0", "18:p+0x40c4", false);
	/* No addresses. */
	words("n0", "n4", false);
	words("x0", "x4", false);
	words("0x", "0x", true);
}

/* B wakes C, which waits, too; then C wakes A. */
TEST(example_each_try_has_the_holder_of_its_time)
{
	exact("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "0   c2 - R > C\n"
	      "0   c0 A S > - lock for=futex:m\n"
	      "0   c2 C S > - lock for=futex:m\n"
	      "500 c3 - wakes A " TIMER "\n"
	      "500 c0 - R > A\n"
	      "501 c0 A S > - lock for=futex:m\n"
	      "600 c1 B wakes C unlock;hold\n"
	      "600 c2 - R > C\n"
	      "900 c2 C wakes A unlock;next\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "A;[futex];-;lock;--;unlock;hold;B;[running] 500000\n"
	      "A;[futex];-;lock;--;unlock;next;C;--;unlock;hold;B;[running] 99000\n"
	      "A;[futex];-;lock;--;unlock;next;C;[running] 300000\n");
}

/* A gets the lock without a waking when its timer has ended its sleep; C, which B woke, does not.
 */
static const char *const got_it[] = {
	/* B releases it while A has no CPU. */
	"500 c3 - wakes A " TIMER "\n"
	"600 c1 B wakes C unlock\n"
	"700 c0 - R > A\n",
	/* At the very moment at which A comes on a CPU. */
	"500 c3 - wakes A " TIMER "\n"
	"700 c1 B wakes C unlock\n"
	"700 c0 - R > A\n",
	/* Later: A may have had it since. */
	"500 c3 - wakes A " TIMER "\n"
	"700 c0 - R > A\n"
	"701 c1 B wakes C unlock\n",
	/* It is A that releases it. */
	"500 c3 - wakes A " TIMER "\n"
	"700 c0 - R > A\n"
	"700 c0 A wakes C unlock\n",
};

TEST(who_got_it_without_a_waking)
{
	for (size_t i = 0; i < sizeof(got_it) / sizeof(*got_it); i++) {
		char *script;

		if (asprintf(&script,
			     "0   c0 - R > A\n"
			     "0   c1 - R > B\n"
			     "0   c2 - R > C\n"
			     "0   c0 A S > - lock for=futex:m\n"
			     "0   c2 C S > - lock for=futex:m\n"
			     "%s"
			     "end 9000\n",
			     got_it[i]) < 0)
			abort();
		exact(script, i ? "A;[futex];-;lock;--;wake;__hrtimer_run_queues;"
				  "asm_sysvec_apic_timer_interrupt;[timer] 500000\n"
				  "A;[futex];-;lock;[runnable] 200000\n"
				: "A;[futex];-;lock;--;unlock;B;[running] 500000\n"
				  "A;[futex];-;lock;[runnable] 200000\n");
		free(script);
	}
}

/* The mutex of a condition variable, which a thread needs when its time is over. */
TEST(sleeps_at_other_locks_do_not_part_a_row)
{
	static const char script[] = "0   c0 - R > A\n"
				     "0   c1 - R > B\n"
				     "0   c2 - R > C\n"
				     "0   c0 A S > - lock for=futex:m\n"
				     "500 c3 - wakes A " TIMER "\n"
				     "500 c0 - R > A\n"
				     "501 c0 A S > - relock for=%s\n"
				     "600 c2 C wakes A unlock\n"
				     "600 c0 - R > A\n"
				     "601 c0 A S > - lock for=futex:m\n"
				     "800 c1 B wakes A release\n"
				     "800 c0 - R > A\n"
				     "end 900\n";
	char text[sizeof(script) + 16];

	snprintf(text, sizeof(text), script, "futex:n");
	exact(text, "A;[futex];-;lock;--;release;B;[running] 699000\n"
		    "A;[futex];-;relock;--;unlock;C;[running] 99000\n");
	snprintf(text, sizeof(text), script, "file:n");
	exact(text, "A;[file];-;relock;--;unlock;C;[running] 99000\n"
		    "A;[futex];-;lock;--;release;B;[running] 199000\n"
		    "A;[futex];-;lock;--;wake;__hrtimer_run_queues;"
		    "asm_sysvec_apic_timer_interrupt;[timer] 500000\n");
}

TEST(only_a_thread_ends_the_last_try)
{
	first_goes_on("501 c0 A S > - lock for=futex:m\n", "B wakes A " TIMER, false);
	first_goes_on("501 c0 A S > - lock for=futex:m\n", "B wakes A wake;asm_common_interrupt",
		      false);
	first_goes_on("501 c0 A S > - lock for=futex:m\n", "- wakes A", false);
	/* It is not woken at all. */
	first_goes_on("501 c0 A S > - lock for=futex:m\n", "B ran", false);
}

TEST(a_thread_that_wakes_others_in_between_does_not_only_wait)
{
	first_goes_on("100 c2 C S > - sleep\n"
		      "501 c0 A wakes C wake\n"
		      "501 c0 A S > - lock for=futex:m\n",
		      "B wakes A unlock", false);
	first_goes_on("501 c0 A forks D\n"
		      "501 c0 A new D fork\n"
		      "503 c3 - R > D\n"
		      "502 c0 A S > - lock for=futex:m\n",
		      "B wakes A unlock", false);
}

/* The kernel's interrupts wake others in whatever thread they meet. */
TEST(wakings_of_interrupts_do_not_count)
{
	first_goes_on("100 c2 C S > - sleep\n"
		      "501 c0 A wakes C wake;asm_common_interrupt\n"
		      "501 c0 A S > - lock for=futex:m\n",
		      "B wakes A unlock", true);
	/* Of what woke C, which did not sleep, nothing is known. */
	exact("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "0   c2 - R > C\n"
	      "0   c0 A S > - lock for=futex:m\n"
	      "500 c1 B wakes A " TIMER "\n"
	      "500 c0 - R > A\n"
	      "501 c0 A wakes C wake;asm_common_interrupt\n"
	      "501 c0 A S > - lock for=futex:m\n"
	      "800 c1 B wakes A unlock\n"
	      "800 c0 - R > A\n"
	      "end 900\n",
	      "A;[futex];-;lock;--;unlock;B;[running] 299000\n"
	      "A;[futex];-;lock;[unknown] 500000\n");
}

/* After a loss nobody knows whether A waited on, or what for. */
TEST(what_is_not_known_ends_in_unknown)
{
	exact("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "0   c0 A S > - lock for=futex:m\n"
	      "500 c1 B wakes A " TIMER "\n"
	      "500 c0 - R > A\n"
	      "501 c0 lost 502\n"
	      "600 c0 - R > A\n"
	      "601 c0 A S > - lock for=futex:m\n"
	      "800 c1 B wakes A unlock\n"
	      "800 c0 - R > A\n"
	      "end 900\n",
	      "A;[futex];-;lock;--;unlock;B;[running] 199000\n"
	      "A;[futex];-;lock;[unknown] 500000\n");
	exact("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "0   c0 A S > - lock for=futex:m\n"
	      "500 c1 B wakes A " TIMER "\n"
	      "500 c0 - R > A\n"
	      "501 c0 A S > - lock for=futex:m\n"
	      "800 c0 - woken A\n"
	      "801 c0 - R > A\n"
	      "end 900\n",
	      "A;[futex];-;lock;[unknown] 800000\n");
	/* While it ran, somebody else may have been woken. */
	exact("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "0   c0 A S > - lock for=futex:m\n"
	      "500 c1 B wakes A " TIMER "\n"
	      "500 c0 - R > A\n"
	      "501 c2 lost 502\n"
	      "503 c0 A S > - lock for=futex:m\n"
	      "800 c1 B wakes A unlock\n"
	      "800 c0 - R > A\n"
	      "end 900\n",
	      "A;[futex];-;lock;--;unlock;B;[running] 297000\n"
	      "A;[futex];-;lock;[unknown] 500000\n");
	/* It ran for a millisecond before: it did not try at once. */
	exact("0    c0 - R > A\n"
	      "0    c1 - R > B\n"
	      "0    c0 A S > - lock for=futex:m\n"
	      "500  c1 B wakes A " TIMER "\n"
	      "500  c0 - R > A\n"
	      "1500 c0 lost 1502\n"
	      "end 1900\n",
	      "A;[futex];-;lock;--;wake;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt;"
	      "[timer] 500000\n");
}

/* C's sleep ends at 550, nobody knows why; it tries on at once, or after something else. */
TEST(an_unknown_end_after_which_a_thread_tries_on_is_no_release)
{
#define UNKNOWN(then, next)                                            \
	"0    c0 - R > A\n"                                            \
	"0    c1 - R > B\n"                                            \
	"0    c2 - R > C\n"                                            \
	"0    c0 A S > - lock for=futex:m\n"                           \
	"100  c2 C S > - lock for=futex:m\n"                           \
	"500  c1 B wakes A " TIMER "\n"                                \
	"500  c0 - R > A\n"                                            \
	"501  c0 A S > - lock for=futex:m\n"                           \
	"550  c2 - woken C\n"                                          \
	"551  c2 - R > C\n" then next " c2 C S > - lock for=futex:m\n" \
	"2000 c1 B wakes A unlock\n"                                   \
	"2000 c0 - R > A\n"                                            \
	"end 2100\n"
	exact(UNKNOWN("", "552"), "A;[futex];-;lock;--;unlock;B;[running] 1999000\n");
	exact(UNKNOWN("", "1552"), "A;[futex];-;lock;--;unlock;B;[running] 1499000\n"
				   "A;[futex];-;lock;[unknown] 500000\n");
	exact(UNKNOWN("552 c2 C wakes X x\n", "553"),
	      "A;[futex];-;lock;--;unlock;B;[running] 1499000\n"
	      "A;[futex];-;lock;[unknown] 500000\n");
	/* An interrupt woke Z early, before C slept; that Z sleeps just now does not matter. */
	exact("0    c0 - R > A\n"
	      "0    c1 - R > B\n"
	      "0    c2 - R > C\n"
	      "0    c3 - R > X\n"
	      "0    c4 - R > Z\n"
	      "0    c0 A S > - lock for=futex:m\n"
	      "90   c2 C wakes! Z " TIMER "\n"
	      "100  c2 C S > - lock for=futex:m\n"
	      "500  c1 B wakes A " TIMER "\n"
	      "500  c0 - R > A\n"
	      "501  c0 A S > - lock for=futex:m\n"
	      "550  c2 - woken C\n"
	      "551  c2 - R > C\n"
	      "552  c2 C wakes X x\n"
	      "552  c4 Z S > - nap\n"
	      "553  c2 C S > - lock for=futex:m\n"
	      "2000 c1 B wakes A unlock\n"
	      "2000 c0 - R > A\n"
	      "end 2100\n",
	      "A;[futex];-;lock;--;unlock;B;[running] 1499000\n"
	      "A;[futex];-;lock;[unknown] 500000\n");
	/* To queue an item is the same, but not that an interrupt does so meanwhile. */
	exact(UNKNOWN("0 c3 - R > W\n1990 c3 W works-on C 552 queue;cwork\n", "555"),
	      "A;[futex];-;lock;--;unlock;B;[running] 1499000\n"
	      "A;[futex];-;lock;[unknown] 500000\n");
	exact(UNKNOWN("0 c3 - R > W\n1990 c3 W works-on C 552 queue;asm_common_interrupt;cwork\n",
		      "555"),
	      "A;[futex];-;lock;--;unlock;B;[running] 1999000\n");
}

/* What is said of a sleep of A changes nothing of what A did for B. */
TEST(who_wakes_is_judged_by_what_it_did)
{
	struct options o = script_options(102);

	expect_text(script_folded("thread A R\n"
				  "0   c0 - R > B\n"
				  "0   c2 - R > C\n"
				  "5   c2 C S > - nap\n"
				  "10  c3 lost 20\n"
				  "100 c1 - R > A\n"
				  "101 c1 A S > - lock for=futex:m\n"
				  "150 c0 B S > - lock for=futex:m\n"
				  "200 c3 - wakes A wake;do_idle\n"
				  "300 c3 - wakes C wake;do_idle\n"
				  "400 c1 - R > A\n"
				  "500 c3 - wakes B " TIMER "\n"
				  "500 c0 - R > B\n"
				  "501 c0 B S > - lock for=futex:m\n"
				  "800 c1 A wakes B unlock\n"
				  "800 c0 - R > B\n"
				  "end 2000\n",
				  &o),
		    "B;[futex];-;lock;--;unlock;A;--;wake;[interrupt] 50\n"
		    "B;[futex];-;lock;--;unlock;A;[runnable] 200\n"
		    "B;[futex];-;lock;--;unlock;A;[running] 399\n");
}

/*
 * B, which wakes A, is perhaps between two sleeps of a row: before the one in the middle it woke X,
 * which had not slept, so that it is not known if B did so itself.
 */
TEST(who_wakes_may_be_in_a_row)
{
#define ROW_OF_B(woke)                                            \
	"0   c0 - R > A\n"                                        \
	"0   c1 - R > B\n"                                        \
	"0   c3 - R > X\n"                                        \
	"1   c1 B S > - lock for=GIL:7\n"                         \
	"100 c2 - wakes B " TIMER "\n"                            \
	"100 c1 - R > B\n" woke "102 c1 B S > - lock for=GIL:8\n" \
	"150 c0 A S > - lock for=GIL:7\n"                         \
	"200 c2 - wakes B wake;do_idle\n"                         \
	"200 c1 - R > B\n"                                        \
	"300 c2 - wakes A " TIMER "\n"                            \
	"300 c0 - R > A\n"                                        \
	"301 c0 A S > - lock for=GIL:7\n"                         \
	"400 c1 B wakes A unlock\n"                               \
	"400 c0 - R > A\n"                                        \
	"401 c1 B S > - lock for=GIL:8\n"                         \
	"end 500\n"
	exact(ROW_OF_B(""), "A;[GIL];-;lock;--;unlock;B;[running] 99000\n"
			    "A;[GIL];-;lock;--;wake;__hrtimer_run_queues;"
			    "asm_sysvec_apic_timer_interrupt;[timer] 150000\n");
	exact(ROW_OF_B("101 c1 B wakes X x\n"), "A;[GIL];-;lock;--;unlock;B;[running] 99000\n"
						"A;[GIL];-;lock;[unknown] 150000\n");
}

/* B gave the lock to C while A slept; after a loss it is not known what C got. */
TEST(a_thread_that_is_woken_after_a_loss_may_have_the_lock)
{
#define HANDED_OVER(lost)                                                 \
	"0    c0 - R > A\n"                                               \
	"0    c1 - R > B\n"                                               \
	"0    c2 - R > C\n"                                               \
	"50   c2 C S > - wait|pthread_mutex_lock;main for=futex:m\n"      \
	"50   c2 C held-by B\n" lost "200  c0 A S > - lock for=futex:m\n" \
	"400  c1 B wakes C unlock\n"                                      \
	"410  c2 - R > C\n"                                               \
	"500  c1 B wakes A " TIMER "\n"                                   \
	"520  c0 - R > A\n"                                               \
	"end 2000\n"
	exact(HANDED_OVER(""),
	      "A;[futex];-;lock;--;[unknown stack];C;--;unlock;B;[running] 200000\n"
	      "A;[futex];-;lock;--;[unknown stack];C;[runnable] 10000\n"
	      "A;[futex];-;lock;--;[unknown stack];C;[running] 90000\n"
	      "A;[futex];-;lock;[runnable] 20000\n");
	exact(HANDED_OVER("60 c3 lost 70\n"), "A;[futex];-;lock;[runnable] 20000\n"
					      "A;[futex];-;lock;[unknown] 300000\n");
}

/*
 * C has waited, too, and B wakes it first. Of which lock that was is not known once events were
 * lost; C does not run again, so all that is heard of it is this waking.
 */
TEST(a_thread_that_is_woken_after_a_loss_may_have_waited_for_the_lock)
{
#define WOKEN_AFTER(lost)                                             \
	"0    c0 - R > C\n"                                           \
	"50   c0 C S > - lock for=futex:m\n" lost "100  c0 - R > A\n" \
	"100  c1 - R > B\n"                                           \
	"200  c0 A S > - lock for=futex:m\n"                          \
	"500  c1 B wakes A " TIMER "\n"                               \
	"500  c0 - R > A\n"                                           \
	"501  c0 A S > - lock for=futex:m\n"                          \
	"800  c1 B wakes C unlock\n"                                  \
	"900  c1 B wakes A hand\n"                                    \
	"900  c0 - R > A\n"                                           \
	"end 1000\n"
	exact(WOKEN_AFTER(""), "A;[futex];-;lock;--;hand;B;[running] 399000\n"
			       "A;[futex];-;lock;--;unlock;B;[running] 300000\n");
	exact(WOKEN_AFTER("60 c0 lost 70\n"), "A;[futex];-;lock;--;hand;B;[running] 399000\n"
					      "A;[futex];-;lock;[unknown] 300000\n");
}

/*
 * B, which ends the last try, does not run when the first ones end: it waits for C, then has no
 * CPU.
 */
TEST(what_the_waker_did_during_each_try_explains_it)
{
	static const char script[] = "0   c0 - R > A\n"
				     "0   c1 - R > B\n"
				     "0   c0 A S > - lock for=futex:m\n"
				     "100 c1 B S > C read\n"
				     "300 c2 - wakes A " TIMER "\n"
				     "300 c0 - R > A\n"
				     "301 c0 A S > - lock for=futex:m\n"
				     "400 c1 C wakes B send\n"
				     "500 c2 - wakes A " TIMER "\n"
				     "500 c0 - R > A\n"
				     "502 c0 A S > - lock for=futex:m\n"
				     "600 c1 C S > B idle\n"
				     "700 c1 B wakes A unlock\n"
				     "700 c0 - R > A\n"
				     "end 900\n";

	exact(script, "A;[futex];-;lock;--;unlock;B;--;send;C;[running] 299000\n"
		      "A;[futex];-;lock;--;unlock;B;[runnable] 198000\n"
		      "A;[futex];-;lock;--;unlock;B;[running] 200000\n");
	folds(script, MODE_CLASSIC,
	      "A;[futex];-;lock;--;unlock;B;--;send;C;[unknown] 198000\n"
	      "A;[futex];-;lock;--;unlock;B;[unknown] 499000\n");
}

/* A waker that did not exist yet when the first try ended. */
TEST(the_waker_is_born_after_the_first_try)
{
	exact("0   c0 - R > A\n"
	      "0   c1 - R > C\n"
	      "0   c0 A S > - lock for=futex:m\n"
	      "300 c2 - wakes A " TIMER "\n"
	      "300 c0 - R > A\n"
	      "301 c0 A S > - lock for=futex:m\n"
	      "400 c1 C forks B\n"
	      "400 c1 C new B clone\n"
	      "500 c2 - R > B\n"
	      "700 c2 B wakes A unlock\n"
	      "700 c0 - R > A\n"
	      "end 900\n",
	      "A;[futex];-;lock;--;unlock;B;--;clone;C;[running] 399000\n"
	      "A;[futex];-;lock;--;unlock;B;[runnable] 100000\n"
	      "A;[futex];-;lock;--;unlock;B;[running] 200000\n");
}

#define BY_TIMER "wake;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt;[timer] "
#define SIGNALLED "A;[futex];-;wait;--;signal;produce;B;[running] "

/* A waits for a condition three times, for 100 ms at most: as it begins, when the second one does.
 */
static void waits_long(const char *begins, const char *second, const char *then,
		       const char *expected)
{
	char *script;

	if (asprintf(&script,
		     "%s"
		     "20001  c0 A S > - wait for=futex:m\n"
		     "120001 c2 - wakes A " TIMER "\n"
		     "120001 c0 - R > A\n"
		     "%s c0 A S > - wait for=futex:m\n"
		     "220002 c2 - wakes A " TIMER "\n"
		     "220002 c0 - R > A\n"
		     "220003 c0 A S > - wait for=futex:m\n"
		     "300003 c1 B wakes A signal;produce\n"
		     "300003 c0 - R > A\n"
		     "%s",
		     begins, second, then) < 0)
		abort();
	exact(script, expected);
	free(script);
}

#define NAPS                                     \
	"0      c0 - R > A\n"                    \
	"0      c1 - R > B\n"                    \
	"0      c0 A S > - nap for=sleep:20ms\n" \
	"20000  c2 - wakes A " TIMER "\n"        \
	"20000  c0 - R > A\n"
#define NAP "A;[sleep];-;nap;--;" BY_TIMER "20000000\n"

TEST(example_a_condition_that_is_waited_for_long_at_a_time)
{
	waits_long(NAPS, "120002", "end 300004\n", SIGNALLED "280000000\n" NAP);
}

/* For 3 ms it runs, and then for a little less. */
TEST(after_a_long_try_a_thread_may_run_longer)
{
	waits_long(NAPS, "123000.999", "end 300004\n", SIGNALLED "277001001\n" NAP);
	waits_long(NAPS, "123001", "end 300004\n",
		   SIGNALLED "177001000\nA;[futex];-;wait;--;" BY_TIMER "100000000\n" NAP);
}

#define BORN                       \
	"born A\n"                 \
	"0      c1 - R > B\n"      \
	"19000  c1 B forks A\n"    \
	"19000  c1 B new A fork\n" \
	"19000  c0 - R > A\n"
#define TICKS SIGNALLED "80000000\nA;[futex];-;wait;--;" BY_TIMER "200000000\n"

TEST(example_a_thread_that_only_ticks_has_waited_for_nobody)
{
	waits_long(BORN, "120002", "end 300004\n", TICKS);
	/* It ends; it works a little. */
	waits_long(BORN, "120002", "309000 c0 A X > - do_exit\nend 400000\n", TICKS);
	/* It is told twice; works; or has done something before: at a lock, too. */
	waits_long(BORN, "120002",
		   "300004 c0 A S > - wait for=futex:m\n"
		   "310004 c1 B wakes A signal;produce\n"
		   "310004 c0 - R > A\n"
		   "end 310005\n",
		   SIGNALLED "290000000\n");
	waits_long(BORN, "120002", "end 309003\n", SIGNALLED "280000000\n");
	waits_long(BORN "19001 c0 A S > - start for=futex:k\n"
			"19501 c1 B wakes A start\n"
			"19501 c0 - R > A\n",
		   "120002", "end 300004\n",
		   "A;[futex];-;start;--;start;B;[running] 500000\n" TICKS);
	waits_long("born A\n"
		   "0     c1 - R > B\n"
		   "9000  c1 B forks A\n"
		   "9000  c1 B new A fork\n"
		   "9000  c0 - R > A\n"
		   "9001  c0 A S > - pause for=futex:k\n"
		   "19001 c2 - wakes A " TIMER "\n"
		   "19001 c0 - R > A\n",
		   "120002", "end 300004\n",
		   "A;[futex];-;pause;--;" BY_TIMER "10000000\n" SIGNALLED "280000000\n");
}

/* Nobody ends any of its sleeps there, even if another thread is told. */
TEST(a_long_try_has_to_end_in_a_waking)
{
	exact(NAPS "100    c3 - R > C\n"
		   "101    c3 C S > - wait for=futex:m\n"
		   "20001  c0 A S > - wait for=futex:m\n"
		   "120001 c2 - wakes A " TIMER "\n"
		   "120001 c0 - R > A\n"
		   "120002 c0 A S > - wait for=futex:m\n"
		   "130000 c1 B wakes C signal;produce\n"
		   "220002 c2 - wakes A " TIMER "\n"
		   "220002 c0 - R > A\n"
		   "end 300004\n",
	      "A;[futex];-;wait;--;" BY_TIMER "200000000\n" NAP);
}

/* What A's life was like is not known, so what it waited for is not. */
TEST(a_loss_may_hide_what_a_thread_did_besides)
{
	waits_long("born A\n"
		   "0      c1 - R > B\n"
		   "19000  c1 B forks A\n"
		   "19000  c1 B new A fork\n"
		   "19000  c0 - R > A\n"
		   "19100  c0 lost 19200\n"
		   "19300  c0 - R > A\n",
		   "120002", "end 300004\n",
		   SIGNALLED "80000000\nA;[futex];-;wait;[unknown] 200000000\n");
}

/*
 * A naps for 20 ms, then waits 100 times, for 30 ms each, at a lock; then that happens, from 3020.1
 * ms on.
 */
static void looks(const char *begins, const char *lock, const char *then, const char *expected)
{
	char *script;
	size_t len;
	FILE *out = open_memstream(&script, &len);

	fprintf(out, "%s" NAPS, begins);
	for (int i = 0; i < 100; i++)
		fprintf(out,
			"%d c0 A S > - wait for=futex:%s\n"
			"%d c2 - wakes A " TIMER "\n"
			"%d c0 - R > A\n",
			20001 + i * 30001, lock, 50001 + i * 30001, 50001 + i * 30001);
	fprintf(out, then, lock);
	fprintf(out, "end 3200000\n");
	fclose(out);
	exact(script, expected);
	free(script);
}

#define AWAITS "A;[futex];-;wait;"
#define TICKED(ns) AWAITS "--;" BY_TIMER #ns "\n"

/* What it waits for long before somebody tells it, it does by choice. */
TEST(a_thread_is_told_of_so_many_looks)
{
	looks("", "101:m",
	      "3020101 c0 A S > - wait for=futex:%s\n"
	      "3050101 c1 B wakes A signal;produce\n"
	      "3050101 c0 - R > A\n",
	      SIGNALLED "1950000000\n" TICKED(1080000000) NAP);
}

/* So what is not known reaches as far back. */
TEST(what_may_be_lost_explains_so_many_looks)
{
	looks("", "101:m", "3020101 c0 lost 3020102\n",
	      TICKED(1080000000) AWAITS "[unknown] 1920000000\n" NAP);
	looks("", "101:m",
	      "3020101 c0 A S > - wait for=futex:%s\n"
	      "3050101 c3 lost 3050102\n"
	      "3050103 c0 - R > A\n",
	      TICKED(1080000000) AWAITS "[unknown] 1950000000\n" NAP);
}

#define HOLE                                       \
	"3020101 c0 A S > - wait for=futex:%1$s\n" \
	"3050201 c0 A S > - wait for=futex:%1$s\n"
#define SLEEP_HOLE                                 \
	"3020101 c0 A S > - wait for=futex:%1$s\n" \
	"3050101 c0 - R > A\n"                     \
	"3050102 c0 A S > - wait for=futex:%1$s\n"

/* The same happens unseen: without a loss it is what somebody did of whom not all is known. */
TEST(what_is_missing_was_done_by_a_thread_that_is_not_known)
{
	static const char of_process[] = "thread D R/A\n0 c3 - R > D\n";
	/* D is hidden, too: it comes on a CPU twice. */
	static const char at_that_time[] = HOLE "3050202 c4 - R > D\n";

	looks(of_process, "101:m", HOLE, TICKED(3000000000) AWAITS "[not woken] 149799000\n" NAP);
	looks(of_process, "101:m", SLEEP_HOLE,
	      TICKED(3000000000) AWAITS "[not woken] 149898000\n" AWAITS
					"[unknown] 30000000\n" NAP);
	/* Memory that other processes share. */
	looks(of_process, "/m", HOLE,
	      TICKED(1080000000) AWAITS "[not woken] 149799000\n" AWAITS
					"[unknown] 1920000000\n" NAP);
	looks(of_process, "101:m", at_that_time,
	      TICKED(1080000000) AWAITS "[not woken] 149799000\n" AWAITS
					"[unknown] 1920000000\n" NAP);
	/* Of D it is only not known what it did since it slept: all is that it did then as it ran.
	 */
	looks("thread D R/A\n0 c3 - R > D\n100 c3 D S > - nap\n", "101:m",
	      HOLE "3050202 c4 D S > - nap\n",
	      TICKED(3000000000) AWAITS "[not woken] 149799000\n" NAP);
	/* Of another process; at another time. */
	looks("0 c3 - R > D\n", "101:m", at_that_time,
	      TICKED(3000000000) AWAITS "[not woken] 149799000\n" NAP);
	looks("thread D R/A\n0 c3 - R > D\n5000 c4 - R > D\n", "101:m", HOLE,
	      TICKED(3000000000) AWAITS "[not woken] 149799000\n" NAP);
	/* It is told later, perhaps in the same row. */
	looks(of_process, "101:m", HOLE "3060000 c1 B wakes A signal;produce\n3060000 c0 - R > A\n",
	      SIGNALLED "9799000\n" TICKED(1080000000) AWAITS "[unknown] 1920000000\n" NAP);
}

/* Between two tries A lets C go on, which waits for the interpreter; or for a lock of no name. */
TEST(who_waits_for_a_lock_on_the_way_does_not_count)
{
	first_goes_on("100    c2 - R > C\n"
		      "500.2  c2 C S > - take for=GIL:7\n"
		      "500.8  c0 A wakes C drop\n"
		      "501    c0 A S > - lock for=futex:m\n",
		      "B wakes A unlock", true);
	first_goes_on("100    c2 - R > C\n"
		      "499    c2 C S > - take for=GIL:7\n"
		      "500.8  c0 A wakes C drop\n"
		      "501    c0 A S > - lock for=futex:m\n",
		      "B wakes A unlock", false);
	first_goes_on("100    c2 - R > C\n"
		      "500.2  c2 C S > - take for=futex:n\n"
		      "500.8  c0 A wakes C drop\n"
		      "501    c0 A S > - lock for=futex:m\n",
		      "B wakes A unlock", false);
}

/* A waker woke A once, however often A tried. */
TEST(wakings_are_counted_once)
{
	struct synth *m = script_made("0   c0 - R > A\n"
				      "0   c1 - R > B\n"
				      "0   c2 - R > C\n"
				      "0   c0 A S > - lock for=futex:m\n"
				      "10  c2 C S > - recv\n"
				      "300 c1 B wakes A " TIMER "\n"
				      "300 c0 - R > A\n"
				      "301 c0 A S > - lock for=futex:m\n"
				      "500 c1 B wakes A " TIMER "\n"
				      "500 c0 - R > A\n"
				      "502 c0 A S > - lock for=futex:m\n"
				      "700 c1 B wakes A unlock\n"
				      "700 c0 - R > A\n"
				      "800 c1 B wakes C send\n"
				      "800 c2 - R > C\n"
				      "end 900\n");
	struct trace *t = synth_open(m);
	struct options o = script_options(103);
	char *text;

	text = trace_formatted(t, &o, "tree");
	if (!strstr(text, "A once (0.690 ms)")) {
		fprintf(stderr, "%s", text);
		fail();
	}
	free(text);
	trace_close(t);
	synth_free(m);
}
