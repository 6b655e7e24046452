// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=causes: what the waiting came down to. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

#define HEAD "  SHARE     TIME (ms)    WAITS     LONGEST  WHAT THE WAITING CAME DOWN TO\n"
#define MORE "                                             "
#define TREE MORE "chainwalk -f tree --state all -t 101 --from 0.000"

static void gives(const char *script, const struct options *o, const char *expected)
{
	expect_text(script_formatted(script, o, "causes"), expected);
}

/* A waits for B; B runs, has no CPU, waits for C, which runs, and for a timer. */
static const char several[] =
	"0    c0 - R > A\n"
	"0    c1 - R > B\n"
	"0    c2 - R > C\n"
	"100  c0 A S > - wait|recv;ask\n"
	"300  c1 B S > - wait|lock;serve\n"
	"700  c2 C wakes B wake|unlock;flush\n"
	"800  c1 - R > B\n"
	"850  c1 B S > - nap|sleep;poll\n"
	"1050 c1 - wakes B ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	"1050 c1 - R > B\n"
	"1100 c1 B wakes A wake|send;answer\n"
	"1130 c0 - R > A\n"
	"end 2000\n";

static void each_instant_goes_to_the_last_of_its_chain(void **state)
{
	struct options o = script_options(101);

	(void)state;
	gives(several, &o,
	      HEAD
	      " 38.8 %         0.400        1       0.400  C ran, until it woke in unlock\n" MORE
	      "A <- B <- C\n" TREE "100 --to 0.001131\n"
	      " 29.1 %         0.300        1       0.300  B ran, until it woke in send\n" MORE
	      "A <- B\n" TREE "100 --to 0.001131\n"
	      " 19.4 %         0.200        1       0.200  B slept in nap | sleep, until a "
	      "timer: tick\n" MORE "A <- B\n" TREE "100 --to 0.001131\n"
	      "  9.7 %         0.100        1       0.100  B was runnable\n" MORE "A <- B\n" TREE
	      "100 --to 0.001131\n"
	      "  2.9 %         0.030        1       0.030  A was runnable\n" TREE
	      "100 --to 0.001131\n"
	      "100.0 %         1.030                       all of them\n");
}

/* A asks B for something, which needs a lock that C has, which syncs a file; then A naps. */
static void what_was_waited_for_is_said(void **state)
{
	struct options o = script_options(101);

	(void)state;
	gives("0    c0 - R > A\n"
	      "0    c1 - R > B\n"
	      "0    c2 - R > C\n"
	      "50   c2 C D > - sync|fsync;flush for=file:/journal\n"
	      "100  c0 A S > - krecv|recv;ask for=unix:B/102\n"
	      "200  c1 B S > - wait|lock;serve for=futex:b+0x10\n"
	      "700  c2 - wakes C done;blk_done_softirq;handle_softirqs;asm_common_interrupt\n"
	      "700  c2 - R > C\n"
	      "800  c2 C wakes B wake|unlock;flush\n"
	      "800  c1 - R > B\n"
	      "900  c1 B wakes A wake|send;serve\n"
	      "900  c0 - R > A\n"
	      "1000 c0 A S > - nap|nanosleep;rest for=sleep:1ms\n"
	      "2000 c0 - wakes A tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	      "2000 c0 - R > A\n"
	      "end 3000\n",
	      &o,
	      HEAD
	      " 55.6 %         1.000        1       1.000  A slept in nap | nanosleep for sleep "
	      "1ms, until a timer: tick\n" MORE
	      "chainwalk -f tree --state all -t 101 --from 0.001000 --to 0.002001\n"
	      " 27.8 %         0.500        1       0.500  C slept in sync | fsync for "
	      "file /journal, until an interrupt: blk_done_softirq\n" MORE
	      "A <- B <- C, for futex b+0x10\n" TREE "100 --to 0.000901\n"
	      " 11.1 %         0.200        1       0.200  B ran, until it woke in send\n" MORE
	      "A <- B, for unix B/102\n" TREE "100 --to 0.000901\n"
	      "  5.6 %         0.100        1       0.100  C ran, until it woke in unlock\n" MORE
	      "A <- B <- C, for futex b+0x10\n" TREE "100 --to 0.000901\n"
	      "100.0 %         1.800                       all of them\n");
}

/* A lock goes from B to C and to D, which have one name, and then to A. */
static const char handed_on[] = "thread B S\n"
				"thread C S\n"
				"thread D S\n"
				"0    c0 - R > A\n"
				"1    c1 - R > E\n"
				"2    c1 E renames-to holder\n"
				"3    c1 E wakes B x\n"
				"3    c2 - R > B\n"
				"4    c2 B renames-to worker\n"
				"5    c2 B S > - wait|lock\n"
				"6    c1 E wakes C x\n"
				"6    c3 - R > C\n"
				"7    c3 C renames-to worker\n"
				"8    c3 C S > - wait|lock\n"
				"100  c0 A S > - wait|lock\n"
				"500  c1 E wakes B wake|unlock;held\n"
				"500  c2 - R > B\n"
				"600  c2 B wakes C wake|unlock\n"
				"600  c3 - R > C\n"
				"700  c3 C wakes A wake|unlock\n"
				"700  c0 - R > A\n"
				"end 1000\n";

static void repeated_links_are_one(void **state)
{
	struct options o = script_options(101);
	char *got;

	(void)state;
	o.top = 1;
	got = script_formatted(handed_on, &o, "causes");
	assert_non_null(strstr(got,
			       " 66.7 %         0.400        1       0.400  holder ran, until it "
			       "woke in unlock\n" MORE "A <- worker x 2 <- holder\n"));
	assert_non_null(strstr(got, " 33.3 %         0.200                       [other]\n"));
	free(got);
}

static void waits_are_counted_once_for_each_cause(void **state)
{
	struct options o = script_options(101);

	(void)state;
	/* Two waits for B; the longer one is the example. */
	gives("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "100 c0 A S > - wait|recv\n"
	      "200 c1 B wakes A wake|send\n"
	      "200 c0 - R > A\n"
	      "300 c0 A S > - wait|recv\n"
	      "500 c1 B wakes A wake|send\n"
	      "500 c0 - R > A\n"
	      "end 1000\n",
	      &o,
	      HEAD "100.0 %         0.300        2       0.200  B ran, until it woke in send\n" MORE
		   "A <- B\n" TREE "300 --to 0.000501\n"
		   "100.0 %         0.300                       all of them\n");
}

static void a_sleep_that_nobody_ended(void **state)
{
	struct options o = script_options(101);

	(void)state;
	gives("0   c0 - R > A\n"
	      "100 c0 A S > - wait|lock;take\n"
	      "end 1000\n",
	      &o,
	      HEAD "100.0 %         0.900        1       0.900  A slept in wait | lock, and nobody "
		   "woke it\n" TREE "100 --to 0.001001\n"
		   "100.0 %         0.900                       all of them\n");
}

/* A is preempted by B, in whose time its quota is used up; then by nobody, for 200. */
static const char quota[] = "queues\n"
			    "0   c0 - R > A\n"
			    "50  c0 A ran spin|crunch\n"
			    "100 c0 A throttled\n"
			    "100 c0 A R > B\n"
			    "400 c0 B S > - x\n"
			    "600 c0 - R > A\n"
			    "800 c0 A R > B\n"
			    "900 c0 B R > A\n"
			    "end 1000\n";

static void a_quota_is_a_cause_of_its_own(void **state)
{
	struct options o = script_options(101);

	(void)state;
	gives(quota, &o,
	      HEAD
	      " 66.7 %         0.400        2       0.300  A was preempted in crunch: 100 % "
	      "B; in 1 of these waits the quota of its control group was used up\n" TREE
	      "100 --to 0.000601\n"
	      " 33.3 %         0.200        1       0.200  A was throttled in crunch: the quota of "
	      "its control group was used up\n" TREE "100 --to 0.000601\n"
	      "100.0 %         0.600                       all of them\n");
	/* --state says what counts. */
	o.given |= GIVEN_PARTS;
	gives(quota, &o, "nothing was waited for\n");
}

/* A waits for B, which is throttled for most of that time. */
static void a_waker_that_was_throttled_is_the_cause(void **state)
{
	struct options o = script_options(101);
	char *got;

	(void)state;
	got = script_formatted("queues\n"
			       "0   c0 - R > A\n"
			       "0   c1 - R > B\n"
			       "100 c0 A S > - wait|recv\n"
			       "200 c1 B throttled\n"
			       "200 c1 B R > -\n"
			       "800 c1 - R > B\n"
			       "900 c1 B wakes A wake|send\n"
			       "900 c0 - R > A\n"
			       "end 1000\n",
			       &o, "causes");
	assert_non_null(strstr(got,
			       " 75.0 %         0.600        1       0.600  B was throttled: the "
			       "quota of its control group was used up\n" MORE "A <- B\n"));
	assert_non_null(strstr(got, " 25.0 %         0.200        1       0.200  B ran"));
	assert_null(strstr(got, "runnable"));
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instant_goes_to_the_last_of_its_chain),
		cmocka_unit_test(what_was_waited_for_is_said),
		cmocka_unit_test(repeated_links_are_one),
		cmocka_unit_test(waits_are_counted_once_for_each_cause),
		cmocka_unit_test(a_sleep_that_nobody_ended),
		cmocka_unit_test(a_quota_is_a_cause_of_its_own),
		cmocka_unit_test(a_waker_that_was_throttled_is_the_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
