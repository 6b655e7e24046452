// SPDX-License-Identifier: GPL-2.0-or-later
/* Who the threads are and what they do, event by event; and the waits that a trigger sees. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/encoder.h"
#include "flight/threads.h"
#include "flight/trigger.h"

static uint32_t count(const struct threads *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->list[i].tid != 0;
	return n;
}

static void switches(struct threads *t, uint64_t time_ns, uint32_t prev, char state, uint32_t next)
{
	struct chainlog_fields ev = {
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
	struct chainlog_fields ev = {
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

static void a_thread_sleeps_with_its_stacks_until_it_runs(void **state)
{
	struct threads t = { 0 };
	const struct thread_state *th;

	(void)state;
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

static void what_is_ready_or_was_woken_early_is_not_taken_to_sleep(void **state)
{
	struct threads t = { 0 };

	(void)state;
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

static void identity_follows_fork_rename_exec_and_exit(void **state)
{
	struct threads t = { 0 };
	const struct thread_state *th;

	(void)state;
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

static void what_a_loss_may_have_changed_is_not_certain(void **state)
{
	struct threads t = { 0 };

	(void)state;
	switches(&t, 10, 7, 'S', 8);
	switches(&t, 30, 8, 'S', 9);
	assert_true(threads_certain(&t, threads_find(&t, 7)));
	threads_lost(&t, 20);
	assert_false(threads_certain(&t, threads_find(&t, 7)));
	assert_true(threads_certain(&t, threads_find(&t, 8)));
	threads_free(&t);
}

static void what_happened_before_a_thread_was_listed_changes_nothing(void **state)
{
	struct threads t = { 0 };

	(void)state;
	threads_add(&t, &(struct thread_state) {
				.tid = 7, .last_ns = 100, .doing = THREAD_ASLEEP, .state = 'S' });
	switches(&t, 50, 0, 'R', 7);
	assert_int_equal(doing(&t, 7), THREAD_ASLEEP);
	switches(&t, 150, 0, 'R', 7);
	assert_int_equal(doing(&t, 7), THREAD_RUNNING);
	threads_free(&t);
}

static void a_table_of_many_threads_finds_each(void **state)
{
	struct threads t = { 0 };

	(void)state;
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

/* ---- triggers ------------------------------------------------------------------------------ */

#define MS 1000000u

struct fixture {
	struct event_window window;
	struct encoder *enc;
	struct trigger *trigger;
};

static void begin(struct fixture *f, uint64_t limit_ns, const char *comm)
{
	char why[64];

	*f = (struct fixture) { 0 };
	assert_int_equal(encoder_new(&f->enc, event_window_put, &f->window), 0);
	assert_int_equal(trigger_new(&f->trigger, limit_ns, comm, why, sizeof(why)), 0);
}

static void end(struct fixture *f)
{
	trigger_free(f->trigger);
	encoder_free(f->enc);
	event_window_free(&f->window);
}

static void thread_is_there(struct fixture *f, uint32_t tid, const char *name, uint32_t flags)
{
	struct thread_state t = { .tid = tid, .flags = flags, .doing = THREAD_RUNNING };

	snprintf(t.name, sizeof(t.name), "%s", name);
	assert_non_null(threads_add(trigger_threads(f->trigger), &t));
}

static void on_cpu(struct fixture *f, uint32_t cpu, uint64_t ms, uint32_t prev, char state,
		   uint32_t next)
{
	assert_int_equal(encoder_event(f->enc, &(struct chainlog_fields) { .time_ns = ms * MS,
									   .cpu = cpu,
									   .kind = CHAINLOG_SWITCH,
									   .tid = prev,
									   .state = state,
									   .other = next }),
			 0);
}

/* The wait that is seen in all that was put, in ms; 0: none. */
static uint64_t seen_ms(struct fixture *f, uint32_t *tid)
{
	struct id_pool names = { 0 }; /* of events: there are none here */
	struct trigger_wait wait = { 0 };

	assert_int_equal(encoder_flush(f->enc), 0);
	assert_int_equal(trigger_look(f->trigger, &f->window, &names, UINT64_MAX), 0);
	if (!trigger_take(f->trigger, &wait))
		return 0;
	*tid = wait.tid;
	return wait.wait_ns / MS;
}

static void a_wait_is_blocked_and_runnable_time_across_cpus(void **state)
{
	struct fixture f;
	uint32_t tid;

	(void)state;
	begin(&f, 500 * MS, NULL);
	/* Told by CPU, as rings are drained: the end of the wait before its beginning. */
	on_cpu(&f, 0, 900, 5, 'S', 7);
	on_cpu(&f, 1, 200, 7, 'S', 6);
	assert_int_equal(encoder_event(f.enc, &(struct chainlog_fields) { .time_ns = 300 * MS,
									  .cpu = 1,
									  .kind = CHAINLOG_WAKING,
									  .tid = 6,
									  .other = 7 }),
			 0);
	assert_int_equal(seen_ms(&f, &tid), 700);
	assert_int_equal(tid, 7);
	assert_int_equal(seen_ms(&f, &tid), 0);
	end(&f);
}

static void neither_preemption_nor_a_short_wait_nor_a_sleep_that_lasts_counts(void **state)
{
	struct fixture f;
	uint32_t tid;

	(void)state;
	begin(&f, 500 * MS, NULL);
	on_cpu(&f, 0, 100, 7, 'R', 8); /* preempted for 800 ms */
	on_cpu(&f, 0, 900, 8, 'S', 7);
	on_cpu(&f, 0, 1000, 7, 'S', 0); /* 500 ms: not longer */
	on_cpu(&f, 0, 1500, 0, 'R', 7);
	on_cpu(&f, 0, 1600, 7, 'S', 0); /* does not end */
	assert_int_equal(seen_ms(&f, &tid), 0);
	on_cpu(&f, 0, 2200, 0, 'R', 7);
	assert_int_equal(seen_ms(&f, &tid), 600);
	end(&f);
}

static void only_threads_with_the_name_count(void **state)
{
	struct fixture f;
	uint32_t tid;

	(void)state;
	begin(&f, 500 * MS, "^nginx");
	thread_is_there(&f, 7, "mysqld", 0);
	thread_is_there(&f, 8, "nginx-worker", 0);
	on_cpu(&f, 0, 100, 7, 'S', 0);
	on_cpu(&f, 1, 100, 8, 'S', 0);
	on_cpu(&f, 0, 1100, 0, 'R', 7);
	on_cpu(&f, 1, 900, 0, 'R', 8);
	assert_int_equal(seen_ms(&f, &tid), 800);
	assert_int_equal(tid, 8);
	end(&f);
}

static void kernel_threads_count_only_by_name(void **state)
{
	struct fixture f;
	uint32_t tid;

	(void)state;
	for (int named = 0; named < 2; named++) {
		begin(&f, 500 * MS, named ? "kworker" : NULL);
		thread_is_there(&f, 7, "kworker/0:1", CHAINLOG_THREAD_KTHREAD);
		on_cpu(&f, 0, 100, 7, 'I', 0);
		on_cpu(&f, 0, 900, 0, 'R', 7);
		assert_int_equal(seen_ms(&f, &tid), named ? 800 : 0);
		end(&f);
	}
}

static void a_wait_with_a_hole_in_it_is_not_trusted(void **state)
{
	struct fixture f;
	uint32_t tid;

	(void)state;
	begin(&f, 500 * MS, NULL);
	on_cpu(&f, 0, 100, 7, 'S', 0);
	threads_lost(trigger_threads(f.trigger), 300 * MS);
	on_cpu(&f, 0, 900, 0, 'R', 7);
	assert_int_equal(seen_ms(&f, &tid), 0);
	end(&f);
}

static void while_it_is_quiet_nothing_counts(void **state)
{
	struct fixture f;
	uint32_t tid;

	(void)state;
	begin(&f, 500 * MS, NULL);
	trigger_quiet(f.trigger, 1000 * MS);
	on_cpu(&f, 0, 100, 7, 'S', 0);
	on_cpu(&f, 0, 900, 0, 'R', 7);
	assert_int_equal(seen_ms(&f, &tid), 0);
	on_cpu(&f, 0, 950, 7, 'S', 0);
	on_cpu(&f, 0, 1600, 0, 'R', 7);
	assert_int_equal(seen_ms(&f, &tid), 650);
	end(&f);
}

static void a_bad_expression_is_refused_with_a_reason(void **state)
{
	struct trigger *t;
	char why[64] = "";

	(void)state;
	assert_int_equal(trigger_new(&t, MS, "[", why, sizeof(why)), -EINVAL);
	assert_true(strlen(why) > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_sleeps_with_its_stacks_until_it_runs),
		cmocka_unit_test(what_is_ready_or_was_woken_early_is_not_taken_to_sleep),
		cmocka_unit_test(identity_follows_fork_rename_exec_and_exit),
		cmocka_unit_test(what_a_loss_may_have_changed_is_not_certain),
		cmocka_unit_test(what_happened_before_a_thread_was_listed_changes_nothing),
		cmocka_unit_test(a_table_of_many_threads_finds_each),
		cmocka_unit_test(a_wait_is_blocked_and_runnable_time_across_cpus),
		cmocka_unit_test(neither_preemption_nor_a_short_wait_nor_a_sleep_that_lasts_counts),
		cmocka_unit_test(only_threads_with_the_name_count),
		cmocka_unit_test(kernel_threads_count_only_by_name),
		cmocka_unit_test(a_wait_with_a_hole_in_it_is_not_trusted),
		cmocka_unit_test(while_it_is_quiet_nothing_counts),
		cmocka_unit_test(a_bad_expression_is_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
