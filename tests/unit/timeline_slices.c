// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Timelines that several threads build, in slices of time, are those that one thread builds: of
 * random schedules and of recorded traces (TRACES, LAWS_TRACES: see synth_many.h).
 */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_many.h"
#include "timeline/timeline.h"

static size_t joined; /* slices of all traces */

static struct timelines *timelines_by(const struct trace *t, const char *threads, const char *slice)
{
	struct timelines *tl;

	setenv("CHAINWALK_THREADS", threads, 1);
	setenv("CHAINWALK_SLICE", slice, 1);
	assert_int_equal(timelines_new(&tl, t), 0);
	unsetenv("CHAINWALK_THREADS");
	unsetenv("CHAINWALK_SLICE");
	return tl;
}

/* Ids of pairs may be others. */
static void expect_pair(const struct timelines *a, uint32_t of_a, const struct timelines *b,
			uint32_t of_b)
{
	struct stack_pair x = timelines_pair(a, of_a), y = timelines_pair(b, of_b);

	assert_int_equal(x.kstack, y.kstack);
	assert_int_equal(x.ustack, y.ustack);
	assert_int_equal(x.object, y.object);
	assert_int_equal(x.ready, y.ready);
	assert_int_equal(x.request, y.request);
	assert_int_equal(x.of_client, y.of_client);
}

/* As expect_pair(), of who woke; the numbers of timers of TCP may be others, too. */
static void expect_waker(const struct timelines *a, const struct wait *x, const struct timelines *b,
			 const struct wait *y)
{
	struct stack_pair of_x = timelines_pair(a, x->waker_stack);
	struct stack_pair of_y = timelines_pair(b, y->waker_stack);
	const struct tcp_timer *t = timelines_tcp_timer(a, x), *u = timelines_tcp_timer(b, y);

	assert_int_equal(of_x.kstack, of_y.kstack);
	assert_int_equal(of_x.ustack, of_y.ustack);
	assert_int_equal(of_x.request, of_y.request);
	assert_int_equal(of_x.not_sent, of_y.not_sent);
	assert_int_equal(!t, !u);
	if (!t)
		return;
	assert_int_equal(t->since_ns, u->since_ns);
	assert_int_equal(t->at_ns, u->at_ns);
	assert_int_equal(t->which, u->which);
}

static void expect_wait(const struct timelines *a, const struct wait *x, const struct timelines *b,
			const struct wait *y)
{
	assert_int_equal(x->out_ns, y->out_ns);
	assert_int_equal(x->wake_ns, y->wake_ns);
	assert_int_equal(x->in_ns, y->in_ns);
	assert_int_equal(x->flags, y->flags);
	assert_int_equal(x->kind, y->kind);
	assert_int_equal(x->state, y->state);
	assert_int_equal(x->waker, y->waker);
	assert_int_equal(x->woke_before, y->woke_before);
	assert_int_equal(wait_throttled(x), wait_throttled(y));
	expect_pair(a, x->stack, b, y->stack);
	if (x->waker == THREAD_NONE)
		return;
	assert_int_equal(x->waker_at, y->waker_at);
	expect_waker(a, x, b, y);
}

static void expect_thread(const struct timelines *a, const struct timelines *b, uint32_t i)
{
	const struct thread *x = timelines_thread(a, i), *y = timelines_thread(b, i);

	assert_int_equal(x->tid, y->tid);
	assert_int_equal(x->tgid, y->tgid);
	assert_int_equal(x->own_id, y->own_id);
	assert_int_equal(x->flags, y->flags);
	assert_int_equal(x->name, y->name);
	assert_int_equal(x->parent, y->parent);
	assert_int_equal(x->begin_ns, y->begin_ns);
	assert_int_equal(x->end_ns, y->end_ns);
	expect_pair(a, x->exit_stack, b, y->exit_stack);
	assert_int_equal(x->renames, y->renames);
	for (uint32_t k = 1; k <= x->renames; k++)
		assert_int_equal(timelines_nth_name(a, i, k), timelines_nth_name(b, i, k));
	assert_int_equal(x->n_waits, y->n_waits);
	for (uint32_t k = 0; k < x->n_waits; k++)
		expect_wait(a, &x->waits[k], b, &y->waits[k]);
}

#define EXPECT_ARRAY(x, y, n_x, n_y)                                     \
	do {                                                             \
		assert_int_equal(n_x, n_y);                              \
		if (n_x)                                                 \
			assert_memory_equal(x, y, (n_x) * sizeof(*(x))); \
	} while (0)

static void expect_rest(const struct timelines *a, const struct timelines *b)
{
	assert_int_equal(a->samples.n, b->samples.n);
	for (size_t i = 0; i < a->samples.n; i++) {
		assert_int_equal(a->samples.at[i].ns, b->samples.at[i].ns);
		assert_int_equal(a->samples.at[i].thread, b->samples.at[i].thread);
		expect_pair(a, a->samples.at[i].pair, b, b->samples.at[i].pair);
	}
	assert_int_equal(a->disk_requests.n, b->disk_requests.n);
	for (size_t i = 0; i < a->disk_requests.n; i++) {
		assert_int_equal(a->disk_requests.at[i].thread, b->disk_requests.at[i].thread);
		assert_int_equal(a->disk_requests.at[i].done_ns, b->disk_requests.at[i].done_ns);
		expect_pair(a, a->disk_requests.at[i].pair, b, b->disk_requests.at[i].pair);
	}
	assert_int_equal(a->requests.n, b->requests.n);
	for (size_t i = 0; i < a->requests.n; i++) {
		struct request x = a->requests.at[i], y = b->requests.at[i];

		expect_pair(a, x.pair, b, y.pair);
		x.pair = y.pair = 0;
		assert_memory_equal(&x, &y, sizeof(x));
	}
	EXPECT_ARRAY(a->lock_holders.at, b->lock_holders.at, a->lock_holders.n, b->lock_holders.n);
	EXPECT_ARRAY(a->streams.at, b->streams.at, a->streams.n, b->streams.n);
	EXPECT_ARRAY(a->groups.moves, b->groups.moves, a->groups.n_moves, b->groups.n_moves);
	assert_int_equal(a->untraced.switches, b->untraced.switches);
	assert_int_equal(a->recorder_ns, b->recorder_ns);
	assert_int_equal(a->steal_ns, b->steal_ns);
	assert_int_equal(a->end_ns, b->end_ns);
}

static void check_slices(const struct trace *t, const char *name, void *arg)
{
	static const char *const ways[][2] = {
		{ "2", "8" }, { "3", "25" }, { "8", "60" }, { "3", "200" }
	};
	struct timelines *one = timelines_by(t, "1", "8");

	(void)name;
	(void)arg;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct timelines *several = timelines_by(t, ways[i][0], ways[i][1]);

		assert_int_equal(timelines_threads(one), timelines_threads(several));
		assert_int_equal(timelines_clients_end(one), timelines_clients_end(several));
		for (uint32_t k = 0; k < timelines_clients_end(one); k++)
			expect_thread(one, several, k);
		expect_rest(one, several);
		joined += several->slices;
		timelines_free(several);
	}
	timelines_free(one);
}

TEST(of_random_schedules)
{
	joined = 0;
	on_schedules(SCHEDULE_WHOLE, check_slices);
	on_schedules_with_tries(SCHEDULE_WHOLE, check_slices);
	printf("%zu slices were joined\n", joined);
	/* Not only odd ones. */
	assert_true(joined > schedules_to_try());
}

TEST(of_random_schedules_with_losses)
{
	on_schedules(SCHEDULE_LOSSY, check_slices);
	on_schedules(SCHEDULE_DAMAGED, check_slices);
}

TEST(of_light_schedules)
{
	joined = 0;
	on_light_schedules(SCHEDULE_WHOLE, check_slices);
	printf("%zu slices were joined\n", joined);
	assert_true(joined > schedules_to_try());
}

TEST(of_recorded_traces)
{
	joined = 0;
	on_recorded(check_slices, NULL);
	printf("%zu slices were joined\n", joined);
	assert_true(joined);
}
