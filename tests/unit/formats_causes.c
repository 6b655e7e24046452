// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=causes: what the waiting came down to. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

#define HEAD "  SHARE   TIME (ms)   WAITS    LONGEST SLOW 1%  ROOT CAUSE\n"
#define MORE "         "
#define TREE MORE "chainwalk -f tree -t 101 --from 0.000"
#define TREE_OF_ALL MORE "chainwalk -f tree --state all -t 101 --from 0.000"
#define ALL "                             all of them\n"
#define PAUSES "                             not counted: pauses and waits for work\n"

/* The table, without what is said of the command, threads and requests before it. */
static void gives(const char *script, const struct options *o, const char *expected)
{
	char *text = script_formatted(script, o, "causes");
	const char *table = strstr(text, HEAD);

	if (table)
		memmove(text, table, strlen(table) + 1);
	expect_text(text, expected);
}

/* A waits for B; B runs, has no CPU, waits for C, which runs, and naps. Then A naps itself. */
static const char several[] =
	"0    c0 - R > A\n"
	"0    c1 - R > B\n"
	"0    c2 - R > C\n"
	"100  c0 A S > - wait|recv;ask\n"
	"300  c1 B S > - wait|read;serve\n"
	"700  c2 C wakes B wake|write;flush\n"
	"800  c1 - R > B\n"
	"850  c1 B S > - nap|sleep;poll\n"
	"1050 c1 - wakes B ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	"1050 c1 - R > B\n"
	"1100 c1 B wakes A wake|send;answer\n"
	"1130 c0 - R > A\n"
	"1200 c0 A S > - nap|sleep;rest\n"
	"1350 c0 - wakes A ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	"1350 c0 - R > A\n"
	"end 2000\n";

TEST(each_instant_goes_to_the_last_of_its_chain)
{
	struct options o = script_options(101);

	gives(several, &o,
	      HEAD
	      " 38.8 %       0.400       1      0.400  38.8 %  C/103 ran, then woke the "
	      "waiter\n" MORE "in write\n" MORE "made A wait 0.400 ms: A <- B <- C\n" TREE
	      "100 --to 0.001131\n"
	      " 29.1 %       0.300       1      0.300  29.1 %  B/102 ran, then woke the "
	      "waiter\n" MORE "in send\n" MORE "made A wait 0.300 ms: A <- B\n" TREE
	      "100 --to 0.001131\n"
	      " 19.4 %       0.200       1      0.200  19.4 %  B/102 slept in nap | sleep,\n" MORE
	      "until a timer\n" MORE "made A wait 0.200 ms: A <- B\n" TREE "100 --to 0.001131\n"
	      "  9.7 %       0.100       1      0.100   9.7 %  B/102 had no CPU\n" MORE
	      "made A wait 0.100 ms: A <- B\n" TREE "100 --to 0.001131\n"
	      "  2.9 %       0.030       1      0.030   2.9 %  A/101 had no CPU\n" TREE
	      "100 --to 0.001131\n"
	      "100.0 %       1.030" ALL "              0.150" PAUSES
	      "              0.150       1  A/101 slept in nap | sleep, until a timer\n");
}

/* A asks B for something, which needs a lock that C has, which syncs a file; then A naps. */
TEST(what_was_waited_for_is_said)
{
	struct options o = script_options(101);

	gives("0    c0 - R > A\n"
	      "0    c1 - R > B\n"
	      "0    c2 - R > C\n"
	      "50   c2 C D > - sync|fsync;flush for=file:/journal\n"
	      "100  c0 A S > - krecv|recv;ask for=unix:B/102\n"
	      "200  c1 B S > - wait|read;serve for=pipe:12\n"
	      "700  c2 - wakes C done;blk_done_softirq;handle_softirqs;asm_common_interrupt\n"
	      "700  c2 - R > C\n"
	      "800  c2 C wakes B wake|write;flush\n"
	      "800  c1 - R > B\n"
	      "900  c1 B wakes A wake|send;serve\n"
	      "900  c0 - R > A\n"
	      "1000 c0 A S > - nap|nanosleep;rest for=sleep:1ms\n"
	      "2000 c0 - wakes A tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	      "2000 c0 - R > A\n"
	      "end 3000\n",
	      &o,
	      HEAD
	      " 62.5 %       0.500       1      0.500  62.5 %  C/103 slept in sync | fsync "
	      "for\n" MORE "file /journal, until an interrupt: blk_done_softirq\n" MORE
	      "made A wait 0.500 ms: A <- B <- C, for pipe 12\n" TREE "100 --to 0.000901\n"
	      " 25.0 %       0.200       1      0.200  25.0 %  B/102 ran, then woke the "
	      "waiter\n" MORE "in send\n" MORE "made A wait 0.200 ms: A <- B, for unix B/102\n" TREE
	      "100 --to 0.000901\n"
	      " 12.5 %       0.100       1      0.100  12.5 %  C/103 ran, then woke the "
	      "waiter\n" MORE "in write\n" MORE
	      "made A wait 0.100 ms: A <- B <- C, for pipe 12\n" TREE "100 --to 0.000901\n"
	      "100.0 %       0.800" ALL "              1.000" PAUSES
	      "              1.000       1  A/101 slept in nap | nanosleep for sleep 1ms, un...\n");
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

TEST(repeated_links_are_one)
{
	struct options o = script_options(101);
	char *got;

	o.top = 1;
	got = script_formatted(handed_on, &o, "causes");
	assert_non_null(strstr(got, MORE "made A wait 0.400 ms: A <- worker x 2 <- holder\n"));
	assert_non_null(strstr(got, " 33.3 %       0.200                             [other]: 1 "
				    "more cause with less\n"));
	free(got);
}

/*
 * A and W wait for the lock L that H keeps over a sync, without a CPU, and running; A through B. A
 * pause of H counts, too: others wait for it.
 */
TEST(a_lock_is_one_row_for_each_holder)
{
	struct options o;

	options_init(&o);
	o.top = 3;
	gives("queues\n"
	      "0    c0 - R > A\n"
	      "0    c1 - R > B\n"
	      "0    c2 - R > H\n"
	      "0    c3 - R > W\n"
	      "100  c0 A S > - krecv|recv;ask for=unix:B/102\n"
	      "100  c1 B S > - wait|lock;serve for=futex:17:L\n"
	      "100  c3 W S > - wait|lock;work for=futex:17:L\n"
	      "200  c2 H D > - sync|fsync;compact for=file:/table\n"
	      "600  c2 - wakes H done;blk_done_softirq;handle_softirqs;asm_common_interrupt\n"
	      "600  c2 H queued! c2\n"
	      "600  c2 - R > H\n"
	      "650  c2 H ran |crunch;compact\n"
	      "700  c2 H R > -\n"
	      "800  c2 - R > H\n"
	      "900  c2 H S > - nap|usleep;compact for=sleep:1ms\n"
	      "1000 c2 - wakes H tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	      "1000 c2 H queued! c2\n"
	      "1000 c2 - R > H\n"
	      "1100 c2 H wakes B wake|unlock;compact\n"
	      "1100 c1 B queued! c1\n"
	      "1101 c1 - R > B\n"
	      "1102 c2 H wakes W wake|unlock;compact\n"
	      "1102 c3 W queued! c3\n"
	      "1102 c3 - R > W\n"
	      "1110 c1 B wakes A wake|send;serve\n"
	      "1110 c0 A queued! c0\n"
	      "1110 c0 - R > A\n"
	      "end 3000\n",
	      &o,
	      HEAD
	      " 85.5 %       3.002       3      1.002  99.0 %  H/108 held futex 17:L: 40 % "
	      "ran,\n" MORE
	      "40 % slept in sync | fsync, 10 % had no CPU, 10 % slept in nap |\n" MORE
	      "usleep; it ran in crunch < compact\n" MORE
	      "made W wait 1.002 ms, A 1.000 ms, B 1.000 ms: A <- B <- H\n" MORE
	      "chainwalk -f tree -t 101 --from 0.000100 --to 0.001111\n"
	      " 11.4 %       0.400       1      0.400   0.0 %  H/108 slept in sync | fsync "
	      "for\n" MORE "file /table, until an interrupt: blk_done_softirq\n" MORE
	      "chainwalk -f tree -t 108 --from 0.000200 --to 0.000601\n"
	      "  2.8 %       0.100       1      0.100   0.0 %  H/108 had no CPU, in crunch:\n" MORE
	      "100 % [idle CPU]\n" MORE
	      "chainwalk -f tree --state all -t 108 --from 0.000700 --to 0.000801\n"
	      "  0.3 %       0.011                             [other]: 2 more causes with less\n"
	      "100.0 %       3.513" ALL "              0.100" PAUSES
	      "              0.100       1  H/108 slept in nap | usleep for sleep 1ms, until...\n");
}

TEST(waits_are_counted_once_for_each_cause)
{
	struct options o = script_options(101);

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
	      HEAD "100.0 %       0.300       2      0.200 100.0 %  B/102 ran, then woke the "
		   "waiter\n" MORE "in send\n" MORE "made A wait 0.300 ms: A <- B\n" TREE
		   "300 --to 0.000501\n"
		   "100.0 %       0.300" ALL);
}

TEST(a_sleep_that_nobody_ended)
{
	struct options o = script_options(101);

	gives("0   c0 - R > A\n"
	      "100 c0 A S > - wait|lock;take\n"
	      "end 1000\n",
	      &o,
	      HEAD
	      "100.0 %       0.900       1      0.900 100.0 %  A/101 slept in wait | lock,\n" MORE
	      "until the recording ended\n" TREE "100 --to 0.001001\n"
	      "100.0 %       0.900" ALL);
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

TEST(a_quota_is_a_cause_of_its_own)
{
	struct options o = script_options(101);

	gives(quota, &o,
	      HEAD
	      " 66.7 %       0.400       2      0.300  60.0 %  A/101 had no CPU, in crunch:\n" MORE
	      "100 % B; in 1 of these waits the quota of its control group was used "
	      "up\n" TREE_OF_ALL "100 --to 0.000601\n"
	      " 33.3 %       0.200       1      0.200  40.0 %  A/101 was throttled, in "
	      "crunch:\n" MORE "the quota of its control group was used up\n" TREE_OF_ALL
	      "100 --to 0.000601\n"
	      "100.0 %       0.600" ALL);
	/* --state says what counts. */
	o.given |= GIVEN_PARTS;
	gives(quota, &o, "nothing was waited for\n");
}

/* The same where it is known until when, and whose quota it was: first nobody else's fault. */
TEST(whose_quota_it_was_is_said)
{
	struct options o = script_options(101);
	char *got;

	got = script_formatted("queues\n"
			       "quotas\n"
			       "0   c0 - R > A\n"
			       "50  c0 A ran spin|crunch\n"
			       "100 c0 A throttled\n"
			       "100 c0 A R > B\n"
			       "400 c0 B S > - x\n"
			       "600 c0 - R > A\n"
			       "600 c0 A unthrottled 100 500 /shop.slice/shop.service\n"
			       "800 c0 A R > B\n"
			       "900 c0 B R > A\n"
			       "end 1000\n",
			       &o, "causes");
	assert_non_null(strstr(got, " 66.7 %       0.400       1      0.400  80.0 %  A/101 was "
				    "throttled, in crunch:\n" MORE
				    "the quota of its control group shop.service was used up\n"));
	assert_non_null(strstr(got, "50 % B, 50 % [idle CPU]\n"));
	free(got);
}

/* A waits for B, which is throttled for most of that time. */
TEST(a_waker_that_was_throttled_is_the_cause)
{
	struct options o = script_options(101);
	char *got;

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
	assert_non_null(strstr(got, " 75.0 %       0.600       1      0.600  75.0 %  B/102 was "
				    "throttled: the quota\n" MORE
				    "of its control group was used up\n" MORE
				    "made A wait 0.600 ms: A <- B\n"));
	assert_non_null(strstr(got, " 25.0 %       0.200       1      0.200  25.0 %  B/102 ran"));
	assert_null(strstr(got, "no CPU"));
	free(got);
}

/* B lacks a CPU before it answers A, and when it is preempted later: that is one row. */
TEST(a_lack_of_cpu_is_one_row)
{
	struct options o;
	char *got;

	options_init(&o);
	got = script_formatted("queues\n"
			       "thread B S\n"
			       "0   c0 - R > A\n"
			       "0   c1 - R > X\n"
			       "100 c0 A wakes B ask\n"
			       "100 c1 B queued! c1\n"
			       "100 c0 A S > - wait|recv\n"
			       "500 c1 X R > B\n"
			       "600 c1 B wakes A wake|send\n"
			       "600 c0 A queued! c0\n"
			       "600 c0 - R > A\n"
			       "700 c1 B R > X\n"
			       "800 c1 X S > B\n"
			       "end 900\n",
			       &o, "causes");
	if (!strstr(got, "B/102 had no CPU: 100 % X\n" MORE "made A wait 0.400 ms: A <- B\n"))
		fail_msg("%s", got);
	assert_null(strstr(strstr(got, "B/102 had no CPU") + 1, "B/102 had no CPU"));
	free(got);
}

/* Two of three samples are in the kernel, of which one is in a call that is named. */
TEST(work_in_the_kernel_is_said)
{
	struct options o = script_options(101);
	char *got;

	got = script_formatted("0   c0 - R > A\n"
			       "0   c1 - R > B\n"
			       "100 c0 A S > - wait|recv\n"
			       "200 c1 B ran begin_new_exec;__x64_sys_execve|work\n"
			       "300 c1 B ran clear_page;asm_exc_page_fault|work\n"
			       "350 c1 B ran clear_page;asm_exc_page_fault|work\n"
			       "380 c1 B ran |work\n"
			       "25000 c1 B wakes A wake|send\n"
			       "25000 c0 - R > A\n"
			       "end 26000\n",
			       &o, "causes");
	if (!strstr(got,
		    "B/102 ran in work, 75 % in the\n" MORE
		    "kernel: 50 % page faults, 25 % execve, then woke the waiter in send\n" MORE
		    "made A wait 24 ms: A <- B\n"))
		fail_msg("%s", got);
	free(got);
}

/* Whether the words stand there, wherever lines end. */
static bool has_words(const char *text, const char *words)
{
	for (const char *at = text; *at; at++) {
		const char *p = at, *w = words;

		while (*w && (*p == *w || (*w == ' ' && *p == '\n'))) {
			p += *p == '\n' ? strspn(p, "\n ") : 1;
			w++;
		}
		if (!*w)
			return true;
	}
	return false;
}

/* What is done for a signal is not what brought the thread into the kernel. */
TEST(a_core_dump_is_no_page_fault)
{
	static const char *const at[][2] = {
		{ "copy_folio;elf_core_dump;do_coredump;get_signal;exit_to_user_mode_loop;"
		  "asm_exc_page_fault|crash",
		  "core dumps" },
		{ "zap_pte;exit_mmap;do_exit;do_group_exit;get_signal;syscall_exit_to_user_mode;"
		  "do_syscall_64|crash",
		  "exit" },
		{ "copy;setup_frame;get_signal;asm_sysvec_apic_timer_interrupt|crash", "signals" },
		{ "zap_pte;exit_mmap;do_exit;__x64_sys_exit_group|crash", "exit_group" },
		{ "clear_page;asm_exc_page_fault|crash", "page faults" },
	};
	struct options o = script_options(101);

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		char script[1000], expected[200], *got;

		snprintf(script, sizeof(script),
			 "0   c0 - R > A\n"
			 "0   c1 - R > B\n"
			 "100 c0 A S > - wait|recv\n"
			 "200 c1 B ran %s\n"
			 "25000 c1 B wakes A wake|send\n"
			 "25000 c0 - R > A\n"
			 "end 26000\n",
			 at[i][0]);
		snprintf(expected, sizeof(expected), "kernel: %s, then", at[i][1]);
		got = script_formatted(script, &o, "causes");
		if (!has_words(got, expected))
			fail_msg("not %s: %s", expected, got);
		free(got);
	}
}

/* Many sleeps of B in one wait of A are no long one. */
TEST(the_longest_is_one_sleep)
{
	struct options o = script_options(101);
	char *got;

	got = script_formatted(
		"0   c0 - R > A\n"
		"0   c1 - R > B\n"
		"100 c0 A S > - wait|recv\n"
		"200 c1 B D > - io|read for=file:/x\n"
		"300 c1 - wakes B done;blk_done_softirq;handle_softirqs;asm_common_interrupt\n"
		"300 c1 - R > B\n"
		"400 c1 B D > - io|read for=file:/x\n"
		"450 c1 - wakes B done;blk_done_softirq;handle_softirqs;asm_common_interrupt\n"
		"450 c1 - R > B\n"
		"500 c1 B wakes A wake|send\n"
		"500 c0 - R > A\n"
		"end 1000\n",
		&o, "causes");
	assert_non_null(
		strstr(got, " 37.5 %       0.150       1      0.100  37.5 %  B/102 slept in"));
	free(got);
}

/* A's wait for B has the same sleep as B itself: that one shows it better. */
TEST(the_example_is_the_sleep_itself)
{
	struct options o;
	char *got;

	options_init(&o);
	got = script_formatted(
		"0   c0 - R > A\n"
		"0   c1 - R > B\n"
		"100 c0 A S > - wait|recv\n"
		"200 c1 B D > - io|read for=file:/x\n"
		"300 c1 - wakes B done;blk_done_softirq;handle_softirqs;asm_common_interrupt\n"
		"300 c1 - R > B\n"
		"500 c1 B wakes A wake|send\n"
		"500 c0 - R > A\n"
		"end 1000\n",
		&o, "causes");
	if (!strstr(got, "chainwalk -f tree -t 102 --from 0.000200 --to 0.000301\n"))
		fail_msg("%s", got);
	free(got);
}

/* One wait of 101 is long: C makes it up, and B all others. */
TEST(a_row_says_what_it_has_of_the_slowest)
{
	struct options o = script_options(101);
	char *script = malloc(1 << 16), *at = script, *got;

	assert_non_null(script);
	at = stpcpy(at, "0 c0 - R > A\n0 c1 - R > B\n0 c2 - R > C\n");
	for (int i = 1; i <= 100; i++)
		at += sprintf(at,
			      "%d c0 A S > - wait|recv\n%d c1 B wakes A wake|send\n"
			      "%d c0 - R > A\n",
			      1000 * i, 1000 * i + 100, 1000 * i + 100);
	stpcpy(at, "200000 c0 A S > - wait|recv\n"
		   "202000 c2 C wakes A wake|send\n"
		   "202000 c0 - R > A\n"
		   "end 300000\n");
	got = script_formatted(script, &o, "causes");
	assert_non_null(strstr(got, " 83.3 %      10.000     100      0.100   0.0 %  B/102 ran"));
	assert_non_null(strstr(got, " 16.7 %       2.000       1      2.000 100.0 %  C/103 ran"));
	free(got);
	free(script);
}

/* What B ran by its samples, most of it for D; it wakes A from two places. */
TEST(what_ran_has_its_functions_and_places)
{
	struct options o = script_options(101);
	char *got;

	got = script_formatted("0   c0 - R > A\n"
			       "0   c1 - R > B\n"
			       "0   c2 - R > D\n"
			       "50  c2 D S > - wait|recv\n"
			       "100 c0 A S > - wait|recv\n"
			       "200 c1 B ran |crunch;work;main\n"
			       "300 c1 B ran |crunch;work;main\n"
			       "350 c1 B ran |other;main\n"
			       "380 c1 B ran |crunch;work;main\n"
			       "400 c1 B wakes D wake|tell\n"
			       "500 c1 B wakes A wake|send\n"
			       "500 c0 - R > A\n"
			       "600 c0 A S > - wait|recv\n"
			       "700 c1 B wakes A wake|reply\n"
			       "700 c0 - R > A\n"
			       "end 1000\n",
			       &o, "causes");
	if (!strstr(got, "B/102 ran in main: 75 % work,\n" MORE
			 "25 % other; 60 % for D, then woke the waiter in send (80 %)\n"))
		fail_msg("%s", got);
	free(got);
}

/* Where a thread begins says nothing, also in a stripped program, whose _start has no name. */
TEST(what_ran_is_not_where_threads_begin)
{
	struct options o = script_options(101);
	char *got;

	got = script_formatted(
		"0   c0 - R > A\n"
		"0   c1 - R > B\n"
		"100 c0 A S > - wait|recv\n"
		"200 c1 B ran |crunch;work;start_thread;clone3\n"
		"300 c1 B ran |crunch;work;start_thread;clone3\n"
		"350 c1 B ran |loop;__libc_start_call_main;__libc_start_main;[B+0x10]\n"
		"380 c1 B ran |crunch;work;start_thread;clone3\n"
		"500 c1 B wakes A wake|send\n"
		"500 c0 - R > A\n"
		"end 1000\n",
		&o, "causes");
	if (!strstr(got, "B/102 ran 75 % in crunch < work,"))
		fail_msg("%s", got);
	free(got);
}

TEST(scripts_get_objects)
{
	struct options o = script_options(101);
	char *got;

	o.json = true;
	got = script_formatted(several, &o, "causes");
	assert_non_null(strstr(got,
			       "{\"cause\":\"A/101 slept in nap | sleep, until a timer\",\"name\":"
			       "\"A\",\"thread\":\"A/101\",\"threads\":1,\"pause\":true,"));
	free(got);
	o.top = 1;
	gives(several, &o,
	      "{\"cause\":\"C/103 ran, then woke the waiter in "
	      "write\",\"name\":\"C\",\"thread\":\"C/103\","
	      "\"threads\":1,\"pause\":false,\"lock\":null,\"function\":null,\"ns\":400000,"
	      "\"waits\":1,\"longest_ns\":400000,\"slowest_ns\":400000,\"made_wait\":[{\"name\":"
	      "\"A\",\"threads\":1,\"ns\":400000}],\"path\":\"A <- B <- C\",\"example\":"
	      "\"chainwalk -f tree -t 101 --from 0.000100 --to 0.001131\"}\n");
}

/* With --wide each part of a row is one line. */
TEST(wide_rows_are_not_folded)
{
	struct options o = script_options(101);
	char *got;

	o.wide = true;
	got = script_formatted(quota, &o, "causes");
	assert_non_null(strstr(got,
			       "A/101 was throttled, in crunch: the quota of its control group "
			       "was used up\n" TREE_OF_ALL));
	free(got);
}

/* A screen has a line for each cause, as many as there is room for, and at least one. */
TEST(a_screen_has_what_fits)
{
	static const char title[] = "All waiting for others, summed over threads: 1.030 ms\n";
	struct options o = script_options(101);
	unsigned int lines = 0;
	char *got;

	o.lines = 24;
	got = script_formatted(several, &o, "causes");
	for (const char *at = got; (at = strchr(at, '\n')); at++)
		lines++;
	if (lines + 5 > o.lines || !strstr(got, title) ||
	    !strstr(got, "\n  1   39 %  ####        C ran, then woke the waiter in write\n"
			 "  2   29 %  ###         B ran, then woke the waiter in send\n"
			 "  3   19 %  ##          B slept in nap | sleep, until a timer\n"
			 "      13 %  #           had no CPU: others were running\n"
			 "not counted: 0.150 ms of pauses and waits for work\n"
			 "one such wait, step by step: chainwalk --show 1\n"))
		fail_msg("%s", got);
	free(got);
	o.lines = 19;
	got = script_formatted(several, &o, "causes");
	if (!strstr(got, " C ran,") || strstr(got, " B slept") ||
	    !strstr(got, "\n      49 %  #####       2 more causes with less\n"))
		fail_msg("%s", got);
	free(got);
	o.lines--;
	got = script_formatted(several, &o, "causes");
	if (!strstr(got, " C ran,") || strstr(got, "more cause"))
		fail_msg("%s", got);
	free(got);
}

/* Shares of a screen are all of the time; what is not known is one line, and has no number. */
TEST(a_screen_leaves_no_share_out)
{
	struct options o = script_options(101);
	unsigned int sum = 0, percent;
	char *got;

	o.lines = 24;
	got = script_formatted("0    c0 A S > - wait|recv;ask\n"
			       "0    c1 B ran serve\n"
			       "100  c1 B wakes A wake|send;serve\n"
			       "100  c0 - R > A\n"
			       "200  c0 A S > - wait|lock;ask\n"
			       "900  c0 - R > A\n"
			       "1000 c0 A S > - wait|recv;ask\n"
			       "1030 c1 B wakes A wake|write;other\n"
			       "1040 c0 - R > A\n"
			       "end 1100\n",
			       &o, "causes");
	for (const char *at = strstr(got, "summed over"); at; at = strchr(at + 1, '\n'))
		if (sscanf(at + 4, "%u %%", &percent) == 1)
			sum += percent;
	if (sum < 98 || sum > 102 || !strstr(got, "\n  1 ") ||
	    !strstr(got, "\n      83 %  ########    unknown: events are missing\n"))
		fail_msg("%u: %s", sum, got);
	free(got);
}

TEST(an_example_is_shown_as_a_tree)
{
	struct options o = script_options(101), tree = o;
	char *expected;

	o.show = 1;
	tree.from_ns = 100000;
	tree.to_ns = 1130001;
	expected = script_formatted(several, &tree, "tree");
	expect_text(script_formatted(several, &o, "causes"), expected);
	free(expected);
}

/* A waits for its child B to exit. */
TEST(an_exit_is_said_in_words)
{
	struct options o = script_options(101);
	char *got;

	got = script_formatted("0   c0 - R > A\n"
			       "0   c1 - R > B\n"
			       "100 c0 A S > - do_wait|wait4;main for=child:102\n"
			       "500 c1 B wakes A wake;do_notify_parent;do_exit|_exit\n"
			       "500 c0 - R > A\n"
			       "end 1000\n",
			       &o, "causes");
	assert_non_null(strstr(got, "B/102 ran, then exited\n"));
	free(got);
}
