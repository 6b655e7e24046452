// SPDX-License-Identifier: GPL-2.0-or-later
/* Who had the CPU (chain-semantics, section 9): made events in, lines with --who-ran out. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export_read.h"
#include "oracle_script.h"
#include "synth_script.h"

/* The lines of thread A, in us. */
static void a_shows(const char *script, const char *expected)
{
	struct options o = script_options(101);

	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	o.who_ran = true;
	expect_text(script_folded(script, &o), expected);
}

/* A sleeps on CPU 0, and is woken while B runs there. */
#define WOKEN                        \
	"queues\n"                   \
	"0   c0 - R > A\n"           \
	"0   c1 - R > C\n"           \
	"100 c0 A S > B recv;main\n" \
	"400 c1 C wakes A wake;send\n"

TEST(the_thread_on_the_same_cpu_had_it)
{
	a_shows(WOKEN "700 c0 B S > A\n"
		      "end 1000\n",
		"A;main;recv;--;wake;send;C;[running] 300\n"
		"A;main;recv;[runnable];B 300\n");
}

TEST(several_threads_had_it_in_turn)
{
	a_shows(WOKEN "500 c0 B S > D\n"
		      "600 c0 D S > -\n"
		      "650 c0 - R > B\n"
		      "700 c0 B S > A\n"
		      "end 1000\n",
		"A;main;recv;--;wake;send;C;[running] 300\n"
		"A;main;recv;[runnable];B 150\n"
		"A;main;recv;[runnable];D 100\n"
		"A;main;recv;[runnable];[idle CPU] 50\n");
}

TEST(a_thread_that_is_moved_waits_for_another_cpu)
{
	a_shows(WOKEN "500 c1 A queued c1\n"
		      "600 c1 C S > A\n"
		      "end 1000\n",
		"A;main;recv;--;wake;send;C;[running] 300\n"
		"A;main;recv;[runnable];B 100\n"
		"A;main;recv;[runnable];C 100\n");
}

TEST(the_wakeup_chooses_the_cpu)
{
	a_shows(WOKEN "401 c1 A queued! c1\n"
		      "600 c1 C S > A\n"
		      "end 1000\n",
		"A;main;recv;--;wake;send;C;[running] 300\n"
		"A;main;recv;[runnable];C 200\n");
}

TEST(a_move_that_is_missing_makes_it_unknown)
{
	a_shows(WOKEN "600 c1 C S > A\n"
		      "end 1000\n",
		"A;main;recv;--;wake;send;C;[running] 300\n"
		"A;main;recv;[runnable] 200\n");
}

TEST(a_loss_of_moves_makes_it_unknown_up_to_its_end)
{
	/* At 500 to CPU 1, as far as is known; the last change may be lost. */
	a_shows(WOKEN "450 c1 lost-queues 550\n"
		      "500 c1 A queued c1\n"
		      "600 c1 C S > A\n"
		      "end 1000\n",
		"A;main;recv;--;wake;send;C;[running] 300\n"
		"A;main;recv;[runnable] 100\n"
		"A;main;recv;[runnable];B 50\n"
		"A;main;recv;[runnable];C 50\n");
}

TEST(of_a_thread_not_seen_before_the_arrival_says_it)
{
	a_shows("queues\n"
		"thread A S recv;main\n"
		"0   c0 - R > B\n"
		"0   c1 - R > C\n"
		"400 c1 C wakes A wake;send\n"
		"500 c0 B S > A\n"
		"end 600\n",
		"A;main;recv;--;wake;send;C;[running] 400\n"
		"A;main;recv;[runnable];B 100\n");
}

TEST(a_preempted_thread_stays_on_its_queue)
{
	a_shows("queues\n"
		"0   c0 - R > A\n"
		"100 c0 A R > B spin;main\n"
		"300 c0 B S > A\n"
		"end 400\n",
		"A;main;spin;[preempted];B 200\n");
}

TEST(an_idle_cpu_is_due_to_a_quota_where_the_kernel_says_so)
{
	a_shows("queues\n"
		"0   c0 - R > A\n"
		"100 c0 A R > - spin;main\n"
		"100 c0 A throttled\n"
		"200 c0 - R > B\n"
		"250 c0 B S > -\n"
		"300 c0 - R > A\n"
		"350 c0 A R > - spin;main\n"
		"360 c0 - R > A\n"
		"end 400\n",
		"A;main;spin;[preempted];B 50\n"
		"A;main;spin;[preempted];[idle CPU] 10\n"
		"A;main;spin;[preempted];[throttled] 150\n");
}

/* Others run on A's CPU while the quota of its group is used up, and after that. */
TEST(a_quota_is_the_reason_whoever_runs_meanwhile)
{
	a_shows("queues\n"
		"quotas\n"
		"0   c0 - R > A\n"
		"100 c0 A R > B spin;main\n"
		"100 c0 A throttled\n"
		"200 c0 B S > -\n"
		"240 c0 - R > C\n"
		"300 c0 C S > A\n"
		"300 c0 A unthrottled 100 250 /shop.slice/shop.service\n"
		"end 400\n",
		"A;main;spin;[preempted];C 50\n"
		"A;main;spin;[preempted];[throttled shop.service] 150\n");
}

/* So it is where a woken thread cannot run, and only until when it is over. */
TEST(a_quota_counts_from_when_the_thread_is_ready)
{
	a_shows(WOKEN "quotas\n"
		      "700 c0 B S > A\n"
		      "700 c0 A unthrottled 350 500 deadline\n"
		      "end 1000\n",
		"A;main;recv;--;wake;send;C;[running] 300\n"
		"A;main;recv;[runnable];B 200\n"
		"A;main;recv;[runnable];[throttled SCHED_DEADLINE] 100\n");
}

/* The waker has no CPU, as its group's quota is used up. */
TEST(a_waker_that_is_throttled_is_told_as_well)
{
	a_shows("queues\n"
		"quotas\n"
		"0   c0 - R > A\n"
		"0   c1 - R > B\n"
		"100 c0 A S > - recv;main\n"
		"200 c1 B R > C spin;work\n"
		"200 c1 B throttled\n"
		"600 c1 C S > B\n"
		"600 c1 B unthrottled 200 500 /batch\n"
		"700 c1 B wakes A wake;send\n"
		"700 c0 - R > A\n"
		"end 800\n",
		"A;main;recv;--;wake;send;B;[runnable];C 100\n"
		"A;main;recv;--;wake;send;B;[runnable];[throttled /batch] 300\n"
		"A;main;recv;--;wake;send;B;[running] 200\n");
}

/* A is throttled when the trace ends: until when is not known, so who had the CPU is not, either.
 */
TEST(a_quota_without_its_end_blames_nobody)
{
	a_shows("queues\n"
		"quotas\n"
		"0   c0 - R > A\n"
		"100 c0 A R > B spin;main\n"
		"100 c0 A throttled\n"
		"200 c0 B S > -\n"
		"end 400\n",
		"A;main;spin;[preempted] 300\n");
}

static void the_second_engine_agrees(const char *script)
{
	both_agree(script, (struct oracle_asked) { .depth = 6, .who_ran = true });
}

/*
 * A waits for the CPU of B, which is sampled every 5 ms; then nothing is seen of any CPU for
 * `still` us, and B's next sample is the first event.
 */
static char *still_for(unsigned int still, bool sampled)
{
	unsigned int at = 1000;
	char *script;
	size_t len;
	FILE *f = open_memstream(&script, &len);

	fputs("queues\n0 c0 - R > A\n0 c1 - R > C\n100 c0 A S > B recv;main\n"
	      "400 c1 C wakes A wake;send\n500 c1 C S > - nap\n",
	      f);
	for (; at < 300000; at += 5000)
		fprintf(f, sampled ? "%u c0 B ran work\n" : "%u c0 B renames-to B\n", at);
	at += still - 5000;
	fprintf(f, "%u c0 B renames-to B\n%u c0 B S > A\nend %u\n", at, at + 100, at + 200);
	fclose(f);
	return script;
}

TEST(when_the_machine_stands_still_nobody_has_the_cpu)
{
	static const struct {
		unsigned int still_us;
		bool sampled;
		const char *expected;
	} cases[] = {
		{ 500000, true,
		  "A;main;recv;--;wake;send;C;[running] 300\n"
		  "A;main;recv;[runnable];B 295700\n"
		  "A;main;recv;[runnable];[no events] 500000\n" },
		{ 500000, false,
		  "A;main;recv;--;wake;send;C;[running] 300\n"
		  "A;main;recv;[runnable];B 795700\n" },
		{ 99000, true,
		  "A;main;recv;--;wake;send;C;[running] 300\n"
		  "A;main;recv;[runnable];B 394700\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *script = still_for(cases[i].still_us, cases[i].sampled);

		a_shows(script, cases[i].expected);
		the_second_engine_agrees(script);
		free(script);
	}
}

TEST(a_waker_without_a_cpu_is_explained_as_well)
{
	a_shows("queues\n"
		"0   c0 - R > B\n"
		"0   c1 - R > A\n"
		"0   c2 - R > C\n"
		"100 c1 A S > - recv;main\n"
		"300 c0 B S > D lock\n"
		"700 c2 C wakes B wake;unlock\n"
		"710 c0 D S > B\n"
		"900 c0 B wakes A wake;send\n"
		"930 c1 - R > A\n"
		"end 1000\n",
		"A;main;recv;--;wake;send;B;--;wake;unlock;C;[running] 400\n"
		"A;main;recv;--;wake;send;B;[runnable];D 10\n"
		"A;main;recv;--;wake;send;B;[running] 390\n"
		"A;main;recv;[runnable];[idle CPU] 30\n");
}

/* In its own time, also where it came in between two threads, and went several times. */
TEST(the_recorder_had_it)
{
	static const char script[] = WOKEN "500 c0 B S > -\n"
					   "530 c0 recorder 20\n"
					   "600 c0 recorder 60\n"
					   "600 c0 - R > D\n"
					   "640 c0 D S > -\n"
					   "650 c0 recorder 10\n"
					   "700 c0 - R > A\n"
					   "end 1000\n";

	a_shows(script, "A;main;recv;--;wake;send;C;[running] 300\n"
			"A;main;recv;[runnable];B 100\n"
			"A;main;recv;[runnable];D 40\n"
			"A;main;recv;[runnable];[idle CPU] 70\n"
			"A;main;recv;[runnable];[recorder] 90\n");
	the_second_engine_agrees(script);
}

/* Longer than since the trace began, and twice at once: a damaged trace. */
TEST(the_recorder_has_no_more_than_idle_time)
{
	static const char script[] = WOKEN "500 c0 B S > -\n"
					   "600 c0 recorder 4000\n"
					   "620 c0 recorder 90\n"
					   "700 c0 - R > A\n"
					   "end 1000\n";

	a_shows(script, "A;main;recv;--;wake;send;C;[running] 300\n"
			"A;main;recv;[runnable];B 100\n"
			"A;main;recv;[runnable];[idle CPU] 80\n"
			"A;main;recv;[runnable];[recorder] 120\n");
	the_second_engine_agrees(script);
}

/* Nor longer than since the CPU switched last: some recorders said that of real-time threads. */
TEST(the_recorder_came_by_a_switch)
{
	static const char script[] = WOKEN "500 c0 B S > -\n"
					   "600 c0 - R > D\n"
					   "640 c0 D S > -\n"
					   "660 c0 recorder 150\n"
					   "700 c0 - R > A\n"
					   "end 1000\n";

	a_shows(script, "A;main;recv;--;wake;send;C;[running] 300\n"
			"A;main;recv;[runnable];B 100\n"
			"A;main;recv;[runnable];D 40\n"
			"A;main;recv;[runnable];[idle CPU] 140\n"
			"A;main;recv;[runnable];[recorder] 20\n");
	the_second_engine_agrees(script);
}

/* The quota of A's group is used up, and then the recorder runs. */
TEST(throttled_is_only_who_could_have_run)
{
	static const char script[] = "queues\n"
				     "0   c0 - R > A\n"
				     "100 c0 A R > - spin;main\n"
				     "100 c0 A throttled\n"
				     "150 c0 recorder 30\n"
				     "200 c0 - R > A\n"
				     "end 1000\n";

	a_shows(script, "A;main;spin;[preempted];[recorder] 30\n"
			"A;main;spin;[preempted];[throttled] 70\n");
	the_second_engine_agrees(script);
}

/* That the recorder had the CPU is told right after the switch with which its time ends. */
TEST(a_loss_may_hide_that_the_recorder_had_it)
{
#define QUOTA_AND(lost)                            \
	"queues\n"                                 \
	"0   c0 - R > A\n"                         \
	"0   c1 - R > C\n"                         \
	"100 c0 A R > - spin;main\n"               \
	"100 c0 A throttled\n"                     \
	"200 c0 - R > B\n" lost "300 c0 B S > A\n" \
	"end 1000\n"
#define BOTH_SHOW(script, lines)                  \
	do {                                      \
		a_shows(script, lines);           \
		the_second_engine_agrees(script); \
	} while (0)

	BOTH_SHOW(QUOTA_AND("200 c0 recorder 60\n"), "A;main;spin;[preempted];B 100\n"
						     "A;main;spin;[preempted];[recorder] 60\n"
						     "A;main;spin;[preempted];[throttled] 40\n");
	BOTH_SHOW(QUOTA_AND("200 c0 lost 200\n"), "A;main;spin;[preempted] 100\n");
	BOTH_SHOW(QUOTA_AND("180 c0 lost 220\n"), "A;main;spin;[preempted] 80\n");
	BOTH_SHOW(QUOTA_AND("180 c? lost 220\n"), "A;main;spin;[preempted] 80\n");
	BOTH_SHOW(QUOTA_AND("180 c1 lost 220\n"), "A;main;spin;[preempted];[throttled] 80\n");
	BOTH_SHOW(QUOTA_AND("201 c0 lost 220\n"), "A;main;spin;[preempted];B 1\n"
						  "A;main;spin;[preempted];[throttled] 100\n");
}

/* A still has no quota when C, which does not know that, wakes it: amid a system call. */
TEST(a_loss_may_hide_that_who_is_woken_is_throttled)
{
#define WOKEN_AFTER_LOSS(quotas, wakes)         \
	"queues\n" quotas "0   c0 - R > A\n"    \
	"0   c1 - R > C\n"                      \
	"100 c0 A R > B spin;main\n"            \
	"100 c0 A throttled\n"                  \
	"200 c1 lost 250\n"                     \
	"300 c1 C " wakes " A wake;send;main\n" \
	"700 c0 B S > A\n"                      \
	"end 1000\n"

	BOTH_SHOW(WOKEN_AFTER_LOSS("quotas\n", "wakes"), "A;main;spin;[preempted] 100\n");
	BOTH_SHOW(WOKEN_AFTER_LOSS("quotas\n", "wakes!"), "A;[unknown stack];[runnable];B 400\n"
							  "A;main;spin;[preempted] 100\n");
	/* An older trace. */
	BOTH_SHOW(WOKEN_AFTER_LOSS("", "wakes"), "A;[unknown stack];[runnable];B 400\n"
						 "A;main;spin;[preempted];B 100\n");
}

TEST(names_are_those_that_threads_have_at_the_time)
{
	a_shows(WOKEN "500 c0 B renames-to gzip\n"
		      "600 c0 B S > D\n"
		      "620 c0 D S > B\n"
		      "700 c0 B S > A\n"
		      "end 1000\n",
		"A;main;recv;--;wake;send;C;[running] 300\n"
		"A;main;recv;[runnable];B 100\n"
		"A;main;recv;[runnable];D 20\n"
		"A;main;recv;[runnable];gzip 180\n");
}

TEST(without_queues_in_the_trace_nothing_is_said)
{
	a_shows(strchr(WOKEN "700 c0 B S > A\n"
			     "end 1000\n",
		       '\n') +
			1,
		"A;main;recv;--;wake;send;C;[running] 300\n"
		"A;main;recv;[runnable] 300\n");
}

/* A long wait is summed up in blocks: thousands of turns, no two of the same length. */
TEST(many_turns_add_up)
{
	uint64_t ns[2] = { 0 }, at = 400, turn = 1;
	char *script, *expected;
	size_t len;
	FILE *f = open_memstream(&script, &len);

	fputs(WOKEN, f);
	for (int i = 0; i < 5000; i++) {
		ns[i & 1] += turn;
		at += turn;
		fprintf(f, "%llu c0 %s\n", (unsigned long long)at, i & 1 ? "D S > B" : "B S > D");
		turn = (turn * 7 + 3) % 101 + 1;
	}
	ns[0] += 10;
	fprintf(f, "%llu c0 B S > A\nend %llu\n", (unsigned long long)at + 10,
		(unsigned long long)at + 20);
	fclose(f);
	if (asprintf(&expected,
		     "A;main;recv;--;wake;send;C;[running] 300\n"
		     "A;main;recv;[runnable];B %llu\n"
		     "A;main;recv;[runnable];D %llu\n",
		     (unsigned long long)ns[0], (unsigned long long)ns[1]) < 0)
		abort();
	a_shows(script, expected);
	free(expected);
	free(script);
}

/* ---- in the other formats ------------------------------------------------------------------- */

static const char turns[] = WOKEN "500 c0 B S > D\n"
				  "600 c0 D S > -\n"
				  "650 c0 - R > B\n"
				  "700 c0 B S > A\n"
				  "end 1000\n";

static void has(char *text, const char *part)
{
	if (!strstr(text, part)) {
		fprintf(stderr, "---- no\n%s\n---- in\n%s----\n", part, text);
		fail();
	}
	free(text);
}

TEST(formats_say_it_without_being_asked)
{
	struct options o = script_options(101);

	has(script_formatted(turns, &o, "threads"), "HAD THE CPU MEANWHILE\n");
	has(script_formatted(turns, &o, "threads"), "  50 % B, 33 % D, 17 % [idle CPU]\n");
	has(script_formatted(turns, &o, "tree"),
	    "runnable 300.000 us: 50 % B, 33 % D, 17 % [idle CPU]\n");
	has(script_formatted(turns, &o, "json"),
	    "\"end\":\"runnable\",\"ns\":300000,\"had_cpu\":[{\"name\":\"B\",\"cpu_ns\":150000},"
	    "{\"name\":\"D\",\"cpu_ns\":100000},{\"name\":\"[idle CPU]\",\"cpu_ns\":50000}]");
	has(script_formatted(turns, &o, "csv"),
	    ",stack,had_cpu_1,had_cpu_1_ns,had_cpu_2,had_cpu_2_ns,had_cpu_3,had_cpu_3_ns\n");
	has(script_formatted(turns, &o, "csv"), ",B,150000,D,100000,[idle CPU],50000\n");
}

TEST(rows_have_frames_above_the_end)
{
	struct options o = script_options(101);
	struct bytes profile;

	o.who_ran = true;
	profile = unpacked(script_exported(turns, &o, "pprof"));
	assert_non_null(memmem(profile.p, profile.len, "[idle CPU]", strlen("[idle CPU]")));
	free(profile.p);
}
