// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=causes: each figure is of what stands beside it. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

#define MORE "         "

/* What the rows say of all threads, or of tid; to be freed. */
static char *rows_of(const char *script, uint32_t tid)
{
	struct options o = script_options(tid);

	if (!tid)
		options_init(&o);
	o.wide = true;
	return script_formatted(script, &o, "causes");
}

static void has(const char *rows, const char *text)
{
	if (!strstr(rows, text))
		fail_msg("not there:\n%s\nin:\n%s", text, rows);
}

/* ---- LONGEST and the example ----------------------------------------------------------------- */

/* A lives only for its question, as curl does; D's wait is short. */
static const char lives_for_one_question[] = "born A\n"
					     "0   c0 - R > W\n"
					     "0   c1 - R > B\n"
					     "0   c2 - R > D\n"
					     "10  c0 W forks A\n"
					     "10  c0 W wakes A new\n"
					     "11  c3 - R > A\n"
					     "12  c3 A S > - wait|recv\n"
					     "20  c2 D S > - wait|recv\n"
					     "25  c1 B wakes D wake|send\n"
					     "25  c2 - R > D\n"
					     "312 c1 B wakes A wake|send\n"
					     "312 c3 - R > A\n"
					     "315 c3 A exits\n"
					     "315 c3 A X > -\n"
					     "end 1000\n";

TEST(a_life_that_is_one_wait_is_the_longest)
{
	char *got = rows_of(lives_for_one_question, 0);
	struct options o;

	has(got, "       0.305       2      0.300 ");
	has(got, MORE "chainwalk -f tree -t 101 --from 0.000012 --to 0.000313\n");
	free(got);
	options_init(&o);
	got = script_formatted(lives_for_one_question, &o, "html");
	has(got, "<code>chainwalk -f tree -t 101 --from 0.000012 --to 0.000313</code>");
	free(got);
	o.json = true;
	got = script_formatted(lives_for_one_question, &o, "causes");
	has(got, "\"longest_ns\":300000,");
	has(got, "\"example\":\"chainwalk -f tree -t 101 --from 0.000012 --to 0.000313\"");
	free(got);
}

/* A starts B and waits for its end; C serves B three times. Longest is A's, but B's shows it. */
TEST(who_waits_for_all_is_no_example)
{
	char *got = rows_of("0   c0 - R > A\n"
			    "0   c1 - R > B\n"
			    "0   c2 - R > C\n"
			    "10  c0 A S > - do_wait|wait4;main for=child:102\n"
			    "100 c1 B S > - wait|recv\n"
			    "160 c2 C wakes B wake|send\n"
			    "160 c1 - R > B\n"
			    "200 c1 B S > - wait|recv\n"
			    "270 c2 C wakes B wake|send\n"
			    "270 c1 - R > B\n"
			    "300 c1 B S > - wait|recv\n"
			    "360 c2 C wakes B wake|send\n"
			    "360 c1 - R > B\n"
			    "400 c1 B wakes A wake;do_notify_parent;do_exit|_exit\n"
			    "400 c0 - R > A\n"
			    "end 1000\n",
			    0);

	has(got, "       0.380       4      0.190 ");
	has(got, "C/103 ran, then woke the waiter in send\n");
	has(got, MORE "chainwalk -f tree -t 102 --from 0.000200 --to 0.000271\n");
	free(got);
}

/* A's first wait is the longest of both B and C: of C, which has less, the next one is shown. */
TEST(no_two_rows_have_one_example)
{
	char *got = rows_of("0   c0 - R > A\n"
			    "0   c1 - R > B\n"
			    "0   c2 - R > C\n"
			    "100 c0 A S > - wait|recv\n"
			    "110 c1 B S > - wait|read\n"
			    "200 c2 C wakes B wake|write\n"
			    "200 c1 - R > B\n"
			    "400 c1 B wakes A wake|send\n"
			    "400 c0 - R > A\n"
			    "500 c0 A S > - wait|recv\n"
			    "510 c1 B S > - wait|read\n"
			    "550 c2 C wakes B wake|write\n"
			    "550 c1 - R > B\n"
			    "600 c1 B wakes A wake|send\n"
			    "600 c0 - R > A\n"
			    "end 1000\n",
			    101);

	has(got, "       0.270       2      0.210  70.0 %  B/102 ran, then woke the waiter in "
		 "send\n" MORE "made A wait 0.270 ms: A <- B\n" MORE
		 "chainwalk -f tree -t 101 --from 0.000100 --to 0.000401\n");
	has(got, "       0.130       2      0.090  30.0 %  C/103 ran, then woke the waiter in "
		 "write\n" MORE "made A wait 0.130 ms: A <- B <- C\n" MORE
		 "chainwalk -f tree -t 101 --from 0.000500 --to 0.000601\n");
	free(got);
}

/* Of B's sleeps, which are walked for A, C and D, but are summed up for E, one is long. */
TEST(the_longest_of_many_sleeps_is_found)
{
	uint32_t tids[] = { 101, 103, 104, 105 };
	char *script = malloc(1 << 17), *at = script, *got;
	struct options o;

	assert_non_null(script);
	options_init(&o);
	o.tids = (struct id_list) { tids, 4 };
	at = stpcpy(at, "0 c0 - R > A\n0 c1 - R > B\n0 c2 - R > C\n0 c3 - R > D\n0 c4 - R > E\n"
			"10 c0 A S > - wait|recv\n10 c2 C S > - wait|recv\n"
			"10 c3 D S > - wait|recv\n");
	for (int i = 0; i < 600; i++) {
		int from = 100 + 50 * i + (i > 450 ? 400 : 0), to = from + (i == 450 ? 430 : 30);

		at += sprintf(at,
			      "%d c1 B D > - io|read for=file:/x\n%d c1 - wakes B "
			      "done;blk_done_softirq;handle_softirqs;asm_common_interrupt\n"
			      "%d c1 - R > B\n",
			      from, to, to);
		if (i == 300)
			at += sprintf(at,
				      "%d c1 B wakes A x\n%d c0 - R > A\n%d c1 B wakes C x\n"
				      "%d c2 - R > C\n%d c1 B wakes D x\n%d c3 - R > D\n"
				      "%d c4 E S > - wait|recv\n",
				      to + 1, to + 1, to + 2, to + 2, to + 3, to + 3, to + 4);
	}
	stpcpy(at, "40000 c1 B wakes E x\n40000 c4 - R > E\nend 41000\n");
	got = script_formatted(script, &o, "causes");
	has(got, " 4      0.430 ");
	free(got);
	free(script);
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* A waits for B, which has so many samples of each stack. */
static char *rows_of_samples(const char *const *stacks, const int *times, int n)
{
	char *script = malloc(1 << 16), *at = script, *got;
	int us = 200;

	assert_non_null(script);
	at = stpcpy(at, "0 c0 - R > A\n0 c1 - R > B\n100 c0 A S > - wait|recv\n");
	for (int i = 0; i < n; i++)
		for (int k = 0; k < times[i]; k++)
			at += sprintf(at, "%d c1 B ran %s\n", us += 10, stacks[i]);
	sprintf(at, "%d c1 B wakes A wake|send\n%d c0 - R > A\nend %d\n", us + 10, us + 10,
		us + 1000);
	got = rows_of(script, 101);
	free(script);
	return got;
}

/* Nearly all samples have the same leaf, but by way of two callers. */
TEST(where_samples_part_each_way_has_its_share)
{
	const char *const stacks[] = { "|clock_gettime;now;spin_cheap;srv;main",
				       "|clock_gettime;now;spin_dear;srv;main", "|poll;srv;main" };
	const int times[] = { 52, 46, 2 };
	char *got = rows_of_samples(stacks, times, 3);

	has(got, "B/102 ran in srv < main: 52 % spin_cheap, 46 % spin_dear, then");
	assert_null(strstr(got, "now"));
	free(got);
}

/* What has most of the samples, and no other one much: it and its share. */
TEST(one_way_is_followed_to_its_end)
{
	const char *const stacks[] = { "|crunch;work;main", "|a;main", "|b;main", "|c;main" };
	const int times[] = { 80, 7, 7, 6 };
	char *got = rows_of_samples(stacks, times, 4);

	has(got, "B/102 ran 80 % in crunch < work < main, then");
	free(got);
}

/* A function without a name says nothing: of those that it calls the one with most is said. */
TEST(a_way_without_a_name_is_looked_into)
{
	const char *const stacks[] = { "|match;keys;[srv+0x13c1f0];[srv+0x64da0];loop;main",
				       "|rest;[srv+0x64da0];loop;main" };
	const int times[] = { 85, 15 };
	char *got = rows_of_samples(stacks, times, 2);

	has(got, "B/102 ran 85 % in match < keys < [srv+0x64da0], then");
	free(got);
}

/* What a function does itself is one way; of its calls of itself the innermost counts. */
TEST(recursion_and_own_work_are_ways)
{
	const char *const stacks[] = { "|walk;main", "|walk;walk;main", "|free;walk;walk;walk;main",
				       "|free;walk;sweep;walk;main" };
	const int times[] = { 20, 40, 20, 20 };
	char *got = rows_of_samples(stacks, times, 4);

	has(got, "B/102 ran in walk < main: 60 % itself, 40 % free, then");
	free(got);
}

/* A's waits for B, of which the last one is for a child: that says its share, if it has much. */
TEST(what_some_waits_are_for_says_its_share)
{
	static const char script[] = "0    c0 - R > A\n"
				     "0    c1 - R > B\n"
				     "100  c0 A S > - wait|open\n"
				     "%d c1 B wakes A wake|allow\n"
				     "%d c0 - R > A\n"
				     "1000 c0 A S > - wait|wait4 for=child:102\n"
				     "1040 c1 B wakes A wake|allow\n"
				     "1040 c0 - R > A\n"
				     "end 2000\n";
	char text[sizeof(script) + 16], *got;

	sprintf(text, script, 160, 160);
	got = rows_of(text, 101);
	has(got, "made A wait 0.100 ms: A <- B, for child 102 (40 %)\n");
	free(got);
	sprintf(text, script, 860, 860);
	got = rows_of(text, 101);
	has(got, "made A wait 0.800 ms: A <- B\n");
	free(got);
}

/* Of twenty pipes, each with a twentieth of the time, it is said that they are pipes. */
TEST(many_things_are_told_by_their_class)
{
	char text[4096] = "0 c0 - R > A\n0 c1 - R > B\n", *got;

	for (int i = 0; i < 20; i++) {
		int us = 100 + 100 * i;

		sprintf(text + strlen(text),
			"%d c0 A S > - wait|read for=pipe:%d\n%d c1 B wakes A wake|write\n"
			"%d c0 - R > A\n",
			us, 4000 + i, us + 50, us + 50);
	}
	strcat(text, "end 3000\n");
	got = rows_of(text, 101);
	has(got, "A <- B, for pipe\n");
	free(got);
}

/* How B woke A, twice: each way with its share; what both begin with is said once. */
TEST(ways_to_wake_have_their_shares)
{
	static const char script[] = "0    c0 - R > A\n"
				     "0    c1 - R > B\n"
				     "100  c0 A S > - wait|recv\n"
				     "160  c1 B wakes A wake|send\n"
				     "160  c0 - R > A\n"
				     "1000 c0 A S > - wait|recv\n"
				     "1040 c1 B wakes A %s\n"
				     "1040 c0 - R > A\n"
				     "end 2000\n";
	char text[sizeof(script) + 64], *got;

	sprintf(text, script, "wake|reply");
	got = rows_of(text, 101);
	has(got, "B/102 ran, then woke the waiter in send (60 %), reply (40 %)\n");
	free(got);
	sprintf(text, script, "wake;do_notify_parent;do_exit|_exit");
	got = rows_of(text, 101);
	has(got, "B/102 ran, then woke the waiter in send (60 %), exited (40 %)\n");
	free(got);
}
