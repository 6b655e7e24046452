// SPDX-License-Identifier: GPL-2.0-or-later
/* In which control group each thread is, and when; and what options and formats make of it. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

static struct timelines *timelines_of(struct synth *m, struct trace **t)
{
	struct timelines *tl;

	*t = synth_open(m);
	assert_int_equal(timelines_new(&tl, *t), 0);
	return tl;
}

static uint32_t thread_of(const struct timelines *tl, uint32_t tid)
{
	for (uint32_t i = timelines_threads(tl); i-- > 0;)
		if (timelines_thread(tl, i)->tid == tid)
			return i;
	fail_msg("there is no thread %u", tid);
	return 0;
}

/* The groups of a thread at times in us, up to 0: "/a /a - /b". */
static void expect_groups(const struct timelines *tl, uint32_t tid, const uint64_t *us,
			  const char *expected)
{
	uint32_t thread = thread_of(tl, tid);
	char got[400] = "";

	for (; *us; us++) {
		uint32_t path = timelines_group(tl, thread, *us * 1000);

		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", *got ? " " : "",
			 path ? trace_string(timelines_trace(tl), path) : "-");
	}
	if (strcmp(got, expected) != 0)
		fail_msg("thread %u: %s\nexpected: %s", tid, got, expected);
}

#define TIMES(...)             \
	(const uint64_t[])     \
	{                      \
		__VA_ARGS__, 0 \
	}

TEST(a_child_is_where_its_parent_is)
{
	struct synth *m = script_made("thread A *\n"
				      "thread B S/A wait\n"
				      "born C\n"
				      "born D\n"
				      "10 c0 A in-group /a\n"
				      "10 c0 B in-group /b\n"
				      "20 c0 A forks C\n"
				      "20 c0 A new C x\n"
				      "30 c0 A all-in-group /moved\n"
				      "40 c0 A forks D\n"
				      "40 c0 A new D x\n"
				      "50 c0 B in-group /b\n"
				      "60 c0 D in-group /\n"
				      "end 100\n");
	struct trace *t;
	struct timelines *tl = timelines_of(m, &t);

	expect_groups(tl, 101, TIMES(5, 10, 29, 30, 90), "- /a /a /moved /moved");
	/* A thread of A's process: moved with it, and then alone. */
	expect_groups(tl, 102, TIMES(5, 10, 30, 49, 50), "- /b /moved /moved /b");
	expect_groups(tl, 103, TIMES(20, 35, 90), "/a /a /a");
	expect_groups(tl, 104, TIMES(40, 60, 90), "/moved / /");
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

TEST(of_two_moves_at_one_time_the_threads_own_counts)
{
	struct synth *m = script_made("thread A *\n"
				      "thread B S/A wait\n"
				      "born C\n"
				      "10 c0 B in-group /b\n"
				      "10 c0 A in-group /a\n"
				      "10 c0 A all-in-group /moved\n"
				      "10 c0 A in-group /a\n"
				      "20 c0 A forks C\n"
				      "20 c0 A new C x\n"
				      "end 100\n");
	struct trace *t;
	struct timelines *tl = timelines_of(m, &t);

	expect_groups(tl, 101, TIMES(10, 90), "/a /a");
	expect_groups(tl, 102, TIMES(10, 90), "/b /b");
	expect_groups(tl, 103, TIMES(20, 90), "/a /a");
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* A process that got the id of one that was moved. */
TEST(a_used_id_begins_anew)
{
	struct synth *m = script_made("thread A *\n"
				      "thread B *\n"
				      "10 c0 A in-group /a\n"
				      "10 c0 B in-group /b\n"
				      "20 c0 A forks C\n"
				      "20 c0 A new C x\n"
				      "21 c1 - R > C\n"
				      "30 c0 C all-in-group /c\n"
				      "40 c1 C exits\n"
				      "41 c1 C X > - x\n"
				      "50 c0 A forks C\n"
				      "50 c0 A new C x\n"
				      "end 100\n");
	struct trace *t;
	struct timelines *tl = timelines_of(m, &t);

	expect_groups(tl, 103, TIMES(50, 60), "/a /a");
	expect_groups(tl, 102, TIMES(60), "/b");
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* A move may be among those that are missing: nobody is known to be where he was. */
TEST(after_a_loss_no_group_is_known_but_by_another_move)
{
	struct synth *m = script_made("thread A *\n"
				      "thread B *\n"
				      "thread C *\n"
				      "10 c0 A in-group /a\n"
				      "10 c0 B in-group /b\n"
				      "20 c1 lost-groups 40\n"
				      "30 c0 B in-group /c\n"
				      "50 c0 A forks D\n"
				      "50 c0 A new D x\n"
				      "60 c0 B in-group /b\n"
				      "70 c0 B forks E\n"
				      "70 c0 B new E x\n"
				      "end 100\n");
	struct trace *t;
	struct timelines *tl = timelines_of(m, &t);

	expect_groups(tl, 101, TIMES(10, 19, 20, 41, 90), "/a /a - - -");
	expect_groups(tl, 102, TIMES(19, 35, 59, 60), "/b - - /b");
	expect_groups(tl, 104, TIMES(50, 90), "- -");
	expect_groups(tl, 105, TIMES(70, 90), "/b /b");
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* Only groups of version 1 can be renamed: who is in one is not told again. */
TEST(a_group_may_get_another_name)
{
	struct synth *m = synth_new();
	struct event ev = { .cpu = 0, .kind = EVENT_GROUP };
	struct trace *t;
	struct timelines *tl;

	synth_thread_full(m, &(struct encoder_thread) { .tid = 7,
							.tgid = 7,
							.state = 'R',
							.group = synth_group_object(m, "/old", 5),
							.own_id = 3 });
	synth_thread_full(m, &(struct encoder_thread) { .tid = 8,
							.tgid = 8,
							.state = 'R',
							.group = synth_group_object(m, "/x", 6) });
	ev.time_ns = 20000;
	ev.group.object = synth_group_object(m, "/new", 5);
	MUST(!encoder_event(synth_encoder(m), &ev));
	/* Of a group that nobody was in so far. */
	ev.time_ns = 30000;
	ev.group.object = synth_group_object(m, "/empty", 9);
	MUST(!encoder_event(synth_encoder(m), &ev));
	ev.time_ns = 40000;
	ev.tid = 8;
	MUST(!encoder_event(synth_encoder(m), &ev));
	synth_end(m, 100000);
	tl = timelines_of(m, &t);
	expect_groups(tl, 7, TIMES(1, 19, 20, 90), "/old /old /new /new");
	expect_groups(tl, 8, TIMES(1, 39, 40), "/x /x /empty");
	assert_int_equal(timelines_thread(tl, thread_of(tl, 7))->own_id, 3);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* A and B wait for a CPU that C has; D is of A's group, and is preempted by C. */
static const char service[] = "queues\n"
			      "thread A S lock\n"
			      "thread B S lock\n"
			      "thread C R\n"
			      "thread D R\n"
			      "0   c0 A in-group /system.slice/shop.service\n"
			      "0   c0 B in-group /system.slice/shop.service\n"
			      "0   c0 C in-group /system.slice/backup.service\n"
			      "0   c0 D in-group /system.slice/shop.service\n"
			      "1   c0 - R > D\n"
			      "100 c0 D wakes A unlock\n"
			      "100 c0 A queued! c0\n"
			      "200 c0 D R > C work\n"
			      "300 c0 C S > A io\n"
			      "400 c0 A S > D read\n"
			      "410 c0 A in-group /user.slice\n"
			      "500 c0 D wakes A unlock\n"
			      "500 c0 A queued! c0\n"
			      "500 c0 D S > A lock\n"
			      "end 600\n";

static struct options all_waits(void)
{
	struct options o = script_options(0);

	o.tids = (struct id_list) { NULL, 0 };
	o.ended = true;
	return o;
}

static void add_regex(struct regex_list *l, const char *text)
{
	char why[100];

	assert_int_equal(regex_list_add(l, text, why, sizeof(why)), 0);
}

TEST(who_had_the_cpu_is_told_by_group)
{
	struct options o = all_waits();

	o.who_ran = true;
	o.depth = 0;
	o.parts = PART_RUNNABLE | PART_PREEMPTED;
	/* D is of A's own group, and has its name; C is of another, which says more. */
	expect_text(script_folded(service, &o), "A;lock;[runnable];D 100\n"
						"A;lock;[runnable];backup.service 100\n"
						"D;work;[preempted];A 100\n"
						"D;work;[preempted];backup.service 100\n");
}

TEST(waits_are_chosen_by_group)
{
	struct options o = all_waits();

	o.depth = 0;
	o.parts = PART_BLOCKED;
	/* A waits first in the service, and then in user.slice. */
	add_regex(&o.groups, "^shop");
	expect_text(script_folded(service, &o), "A;lock;[depth limit] 100\n"
						"A;read;[depth limit] 100\n");
	options_free(&o);
	o = all_waits();
	o.depth = 0;
	o.parts = PART_BLOCKED;
	add_regex(&o.groups, "user");
	expect_text(script_folded(service, &o), "");
	options_free(&o);
}

TEST(a_line_begins_with_who_waits)
{
	struct options o = all_waits();

	o.depth = 0;
	o.parts = PART_BLOCKED | PART_PREEMPTED;
	o.root = ROOT_CGROUP;
	expect_text(script_folded(service, &o), "shop.service;A;lock;[depth limit] 100\n"
						"shop.service;A;read;[depth limit] 100\n"
						"shop.service;D;work;[preempted] 200\n");
	o.root = ROOT_PROCESS;
	expect_text(script_folded(service, &o), "A;A;lock;[depth limit] 100\n"
						"A;A;read;[depth limit] 100\n"
						"D;D;work;[preempted] 200\n");
}

/* Traces without groups look as ever. */
TEST(nothing_is_said_of_groups_that_are_not_known)
{
	struct options o = all_waits();
	char *table, *csv;

	table = script_formatted(script_chain, &o, "threads");
	csv = script_formatted(script_chain, &o, "csv");
	assert_null(strstr(table, "GROUP"));
	assert_null(strstr(csv, "cgroup"));
	free(table);
	free(csv);
	table = script_formatted(service, &o, "threads");
	csv = script_formatted(service, &o, "csv");
	assert_non_null(strstr(table, "GROUP"));
	assert_non_null(strstr(table, "user.slice"));
	assert_non_null(strstr(csv, ",/system.slice/shop.service,shop.service\n"));
	free(table);
	free(csv);
	o.parts = PART_ALL;
	table = script_formatted(service, &o, "causes");
	if (!strstr(table, "backup.service"))
		fail_msg("causes do not name the group:\n%s", table);
	free(table);
}
