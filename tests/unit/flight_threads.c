// SPDX-License-Identifier: GPL-2.0-or-later
/* Who the threads are and what they do, event by event. */

#include "test.h"

#include "flight/threads.h"

static uint32_t count(const struct threads *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->list[i].tid != 0;
	return n;
}

static void switches(struct threads *t, uint64_t time_ns, uint32_t prev, char state, uint32_t next)
{
	struct event ev = {
		.time_ns = time_ns,
		.kind = CHAINLOG_SWITCH,
		.state = state,
		.tid = prev,
		.other = next,
		.kstack = 100 + prev,
		.ustack = 200 + prev,
	};

	assert_int_equal(threads_event(t, &ev, ""), 0);
}

static void happens(struct threads *t, uint64_t time_ns, enum chainlog_event kind, uint32_t tid,
		    uint32_t other, const char *name)
{
	struct event ev = {
		.time_ns = time_ns,
		.kind = (uint8_t)kind,
		.tid = tid,
		.other = other,
		.tgid = kind == CHAINLOG_FORK ? other : 0,
	};

	assert_int_equal(threads_event(t, &ev, name), 0);
}

static enum thread_doing doing(const struct threads *t, uint32_t tid)
{
	const struct thread_state *th = threads_find(t, tid);

	assert_non_null(th);
	return th->doing;
}

TEST(a_thread_sleeps_with_its_stacks_until_it_runs)
{
	struct threads t = { 0 };
	const struct thread_state *th;

	switches(&t, 10, 0, 'R', 7);
	assert_int_equal(doing(&t, 7), THREAD_RUNNING);
	switches(&t, 20, 7, 'D', 8);
	th = threads_find(&t, 7);
	assert_int_equal(th->doing, THREAD_ASLEEP);
	assert_int_equal(th->state, 'D');
	assert_int_equal(th->out_ns, 20);
	assert_int_equal(th->kstack, 107);
	assert_int_equal(th->ustack, 207);
	happens(&t, 30, CHAINLOG_WAKING, 8, 7, "");
	assert_int_equal(doing(&t, 7), THREAD_WOKEN);
	switches(&t, 40, 8, 'S', 7);
	assert_int_equal(doing(&t, 7), THREAD_RUNNING);
	assert_int_equal(threads_find(&t, 7)->kstack, 0);
	assert_null(threads_find(&t, 0));
	threads_free(&t);
}

TEST(what_is_ready_or_was_woken_early_is_not_taken_to_sleep)
{
	struct threads t = { 0 };

	switches(&t, 10, 0, 'R', 7);
	switches(&t, 20, 7, 'R', 8);
	assert_int_equal(doing(&t, 7), THREAD_UNKNOWN);
	switches(&t, 30, 8, 'S', 7);
	happens(&t, 35, CHAINLOG_WAKING, 9, 7, "");
	assert_int_equal(doing(&t, 7), THREAD_RUNNING);
	switches(&t, 40, 7, 'S', 0);
	assert_int_equal(doing(&t, 7), THREAD_WOKEN);
	threads_free(&t);
}

TEST(identity_follows_fork_rename_exec_and_exit)
{
	struct threads t = { 0 };
	const struct thread_state *th;

	threads_add(&t, &(struct thread_state) { .tid = 2, .flags = CHAINLOG_THREAD_KTHREAD });
	happens(&t, 10, CHAINLOG_FORK, 2, 50, "kworker");
	th = threads_find(&t, 50);
	assert_string_equal(th->name, "kworker");
	assert_int_equal(th->tgid, 50);
	assert_int_equal(th->start_ns, 10);
	assert_int_equal(th->flags, CHAINLOG_THREAD_KTHREAD);
	happens(&t, 20, CHAINLOG_RENAME, 50, 0, "a name that is much too long");
	assert_string_equal(threads_find(&t, 50)->name, "a name that is ");
	/* 51 does not lead its process, 50; by exec it becomes 50. */
	happens(&t, 30, CHAINLOG_FORK, 50, 51, "heir");
	happens(&t, 40, CHAINLOG_EXEC, 50, 51, "");
	assert_null(threads_find(&t, 51));
	assert_string_equal(threads_find(&t, 50)->name, "heir");
	switches(&t, 50, 50, 'X', 0);
	assert_null(threads_find(&t, 50));
	assert_int_equal(count(&t), 1);
	threads_free(&t);
}

TEST(what_a_loss_may_have_changed_is_not_certain)
{
	struct threads t = { 0 };

	switches(&t, 10, 7, 'S', 8);
	switches(&t, 30, 8, 'S', 9);
	assert_true(threads_certain(&t, threads_find(&t, 7)));
	threads_lost(&t, 20);
	assert_false(threads_certain(&t, threads_find(&t, 7)));
	assert_true(threads_certain(&t, threads_find(&t, 8)));
	threads_free(&t);
}

TEST(what_happened_before_a_thread_was_listed_changes_nothing)
{
	struct threads t = { 0 };

	threads_add(&t, &(struct thread_state) {
				.tid = 7, .last_ns = 100, .doing = THREAD_ASLEEP, .state = 'S' });
	switches(&t, 50, 0, 'R', 7);
	assert_int_equal(doing(&t, 7), THREAD_ASLEEP);
	switches(&t, 150, 0, 'R', 7);
	assert_int_equal(doing(&t, 7), THREAD_RUNNING);
	threads_free(&t);
}

TEST(a_table_of_many_threads_finds_each)
{
	struct threads t = { 0 };

	for (uint32_t tid = 1; tid <= 50000; tid++)
		switches(&t, tid, 0, 'R', tid);
	for (uint32_t tid = 1; tid <= 50000; tid += 2)
		threads_remove(&t, tid);
	assert_int_equal(count(&t), 25000);
	for (uint32_t tid = 1; tid <= 50000; tid++)
		assert_int_equal(threads_find(&t, tid) != NULL, !(tid & 1));
	for (uint32_t tid = 100000; tid < 125000; tid++)
		switches(&t, tid, 0, 'R', tid);
	assert_int_equal(t.n, 50000);
	threads_free(&t);
}

static void is_moved(struct threads *t, uint64_t time_ns, uint32_t tid, uint32_t group,
		     bool process)
{
	struct event ev = {
		.time_ns = time_ns,
		.kind = EVENT_GROUP,
		.tid = tid,
		.group = { group, process },
	};

	assert_int_equal(threads_event(t, &ev, ""), 0);
}

static uint32_t group_of(const struct threads *t, uint32_t tid)
{
	assert_non_null(threads_find(t, tid));
	return threads_find(t, tid)->group;
}

TEST(threads_are_in_their_parents_group_until_they_are_moved)
{
	struct threads t = { 0 };

	assert_non_null(
		threads_add(&t, &(struct thread_state) { .tid = 7, .tgid = 7, .group = 1 }));
	assert_non_null(
		threads_add(&t, &(struct thread_state) { .tid = 8, .tgid = 7, .group = 1 }));
	happens(&t, 10, CHAINLOG_FORK, 7, 9, "child");
	assert_int_equal(group_of(&t, 9), 1);
	is_moved(&t, 20, 8, 2, false);
	assert_int_equal(group_of(&t, 7), 1);
	assert_int_equal(group_of(&t, 8), 2);
	is_moved(&t, 30, 7, 3, true);
	assert_int_equal(group_of(&t, 7), 3);
	assert_int_equal(group_of(&t, 8), 3);
	assert_int_equal(group_of(&t, 9), 1);
	/* Of a thread that is not known: nothing. */
	is_moved(&t, 40, 99, 4, true);
	assert_null(threads_find(&t, 99));
	/* Moves of other threads are missing, from 50 to 60: whose, is not known. */
	assert_int_equal(threads_event(&t,
				       &(struct event) { .time_ns = 50,
							 .kind = EVENT_AUX_LOST,
							 .other = CHAINLOG_GROUP,
							 .lost = { 1, 60 } },
				       ""),
			 0);
	assert_int_equal(group_of(&t, 9), 0);
	is_moved(&t, 60, 9, 1, false);
	assert_int_equal(group_of(&t, 9), 0);
	is_moved(&t, 61, 9, 1, false);
	is_moved(&t, 61, 7, 3, true);
	threads_rename_group(&t, 3, 5);
	assert_int_equal(group_of(&t, 8), 5);
	assert_int_equal(group_of(&t, 9), 1);
	threads_free(&t);
}
