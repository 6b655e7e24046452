// SPDX-License-Identifier: GPL-2.0-or-later
/* The flight recorder: from the kernel side's records to the trace that is written of the last
 * while. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "flight/flight.h"
#include "flight_trace.h"

#define SECOND UINT64_C(1000000000)
#define START (100 * SECOND)

/* ---- a recorder without a kernel side ------------------------------------------------------ */

struct fixture {
	struct flight *flight;
	struct symbolizer *sym;
	uint32_t seq[2][WIRE_COUNTED_KINDS]; /* of each CPU's events, as the kernel counts them */
};

static struct fixture fixture;

static void begin(struct fixture *f, uint64_t window_ns, size_t max_bytes)
{
	struct flight_options o = { .window_ns = window_ns, .cpus = 2, .max_bytes = max_bytes };

	*f = (struct fixture) { 0 };
	assert_int_equal(flight_new(&f->flight, &o), 0);
	assert_int_equal(symbolizer_new(&f->sym, flight_encoder(f->flight), SYMBOLIZER_KERNEL), 0);
	assert_int_equal(flight_begin(f->flight, START, f->sym, NULL, NULL, NULL), 0);
}

static int setup(void **state)
{
	begin(&fixture, 10 * SECOND, 1 << 20);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	symbolizer_free(f->sym);
	flight_free(f->flight);
	return 0;
}

static void number(struct fixture *f, struct wire_record *r)
{
	uint32_t seq = ++f->seq[r->cpu][r->kind];

	r->seq[0] = (uint8_t)seq;
	r->seq[1] = (uint8_t)(seq >> 8);
	r->seq[2] = (uint8_t)(seq >> 16);
}

static void give_switch(struct fixture *f, uint64_t time_ns, uint32_t cpu, uint32_t prev,
			uint32_t next, uint32_t kstack)
{
	struct wire_switch s = {
		.r = { .time_ns = time_ns, .kind = WIRE_SWITCH, .cpu = cpu },
		.prev = prev,
		.next = next,
		.kstack = kstack,
		.state = 1,
	};

	number(f, &s.r);
	assert_int_equal(flight_record(f->flight, &s.r, sizeof(s)), 0);
}

static void give_rename(struct fixture *f, uint64_t time_ns, uint32_t tid, const char *name)
{
	struct wire_rename r = {
		.r = { .time_ns = time_ns, .kind = WIRE_RENAME },
		.tid = tid,
	};

	snprintf(r.name, sizeof(r.name), "%s", name);
	number(f, &r.r);
	assert_int_equal(flight_record(f->flight, &r.r, sizeof(r)), 0);
}

static void give_stack(struct fixture *f, uint64_t time_ns, uint32_t id, uint64_t addr)
{
	struct wire_stack s = {
		.r = { .time_ns = time_ns, .kind = WIRE_STACK },
		.id = id,
		.n = 2,
		.frames = { addr, addr + 1 },
	};

	assert_int_equal(flight_record(f->flight, &s.r, offsetof(struct wire_stack, frames) + 16),
			 0);
}

static void give_lost(struct fixture *f, uint64_t first_ns, uint64_t last_ns, uint32_t n)
{
	struct wire_lost l = {
		.r = { .time_ns = first_ns, .kind = WIRE_LOST },
		.n = n,
		.last_ns = last_ns,
	};

	f->seq[0][WIRE_SWITCH] += n;
	assert_int_equal(flight_record(f->flight, &l.r, sizeof(l)), 0);
}

static void give_sample(struct fixture *f, uint64_t time_ns, uint32_t tid, uint32_t kstack)
{
	struct wire_running s = {
		.r = { .time_ns = time_ns, .kind = WIRE_SAMPLE },
		.tid = tid,
		.kstack = kstack,
	};

	number(f, &s.r);
	assert_int_equal(flight_record(f->flight, &s.r, sizeof(s)), 0);
}

static void give_lost_samples(struct fixture *f, uint64_t first_ns, uint64_t last_ns, uint32_t n)
{
	struct wire_lost l = {
		.r = { .time_ns = first_ns, .kind = WIRE_LOST },
		.n = n,
		.last_ns = last_ns,
		.event = WIRE_SAMPLE,
	};

	f->seq[0][WIRE_SAMPLE] += n;
	assert_int_equal(flight_record(f->flight, &l.r, sizeof(l)), 0);
}

static void give_thread(struct fixture *f, uint32_t tid, const char *name, uint64_t addr)
{
	struct wire_thread t = {
		.start_ns = 1,
		.seen_ns = START,
		.tid = tid,
		.tgid = tid,
		.state = 1,
		.n_kernel = 1,
		.frames = { addr },
	};

	snprintf(t.name, sizeof(t.name), "%s", name);
	assert_int_equal(flight_thread(f->flight, &t), 0);
}

static void time_goes_on(struct fixture *f, uint64_t now_ns)
{
	assert_int_equal(flight_flush(f->flight, now_ns), 0);
	assert_int_equal(flight_forget(f->flight, now_ns), 0);
}

/* Ends the recorder's life. To be freed by forget_written(). */
static struct written *write_it(struct fixture *f, uint64_t now_ns)
{
	struct symbolizer_stats stats = { 0 };
	struct written *w = calloc(1, sizeof(*w));
	struct encoder *enc;

	assert_non_null(w);
	assert_int_equal(encoder_new(&enc, take_block, w), 0);
	assert_int_equal(flight_flush(f->flight, now_ns), 0);
	assert_int_equal(
		flight_dump(f->flight, enc, flight_from(f->flight, now_ns), now_ns, &stats), 0);
	encoder_free(enc);
	return w;
}

/* "time prev>next" of each switch, in seconds after START. */
static void expect_switches(const struct written *w, const char *expected)
{
	struct event_view v = { 0 };
	const struct event *ev;
	char got[2000] = "";

	assert_int_equal(event_view_refresh(&v, &w->events), 0);
	while ((ev = event_view_next(&v, UINT64_MAX)))
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.1f %u>%u",
			 got[0] ? ", " : "", (double)(ev->time_ns - START) / 1e9, ev->tid,
			 ev->other);
	assert_string_equal(got, expected);
	event_view_free(&v);
}

/* ---- the tests ----------------------------------------------------------------------------- */

TEST_IN(what_is_older_than_the_window_is_not_written, setup, teardown)
{
	struct fixture *f = *state;
	struct written *w;

	give_switch(f, START + 1 * SECOND, 0, 7, 8, 0);
	give_switch(f, START + 5 * SECOND, 1, 9, 7, 0);
	give_switch(f, START + 12 * SECOND, 0, 8, 9, 0);
	time_goes_on(f, START + 13 * SECOND);
	give_switch(f, START + 14 * SECOND, 1, 7, 8, 0);
	w = write_it(f, START + 14 * SECOND + SECOND / 2);
	expect_switches(w, "5.0 9>7, 12.0 8>9, 14.0 7>8");
	expect_accounts(w, 3, 0);
	assert_int_equal(w->end[CHAINLOG_END_TIME], START + 14 * SECOND + SECOND / 2);
	forget_written(w);
}

TEST_IN(what_is_later_than_the_trace_is_not_in_it, setup, teardown)
{
	struct symbolizer_stats stats = { 0 };
	struct fixture *f = *state;
	struct encoder *enc;
	struct written *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	assert_int_equal(encoder_new(&enc, take_block, w), 0);
	give_switch(f, START + 1 * SECOND, 0, 7, 8, 0);
	give_sample(f, START + 1 * SECOND, 7, 0);
	give_lost(f, START + 2 * SECOND, START + 3 * SECOND, 5);
	give_switch(f, START + 4 * SECOND, 1, 9, 7, 0);
	give_sample(f, START + 4 * SECOND, 7, 0);
	give_lost_samples(f, START + 4 * SECOND, START + 5 * SECOND, 6);
	give_lost(f, START + 5 * SECOND, START + 6 * SECOND, 7);
	assert_int_equal(flight_flush(f->flight, START + 7 * SECOND), 0);
	assert_int_equal(flight_dump(f->flight, enc, START, START + 4 * SECOND, &stats), 0);
	expect_accounts(w, 1, 5);
	assert_int_equal(w->end[CHAINLOG_END_TIME], START + 4 * SECOND);
	assert_int_equal(w->end[CHAINLOG_END_AUX_EVENTS], 1);
	assert_int_equal(w->end[CHAINLOG_END_AUX_LOST], 0);
	assert_int_equal(w->end[CHAINLOG_END_AUX_KERNEL], 1);
	encoder_free(enc);
	forget_written(w);
}

TEST_IN(where_one_trace_ends_the_next_one_begins, setup, teardown)
{
	struct fixture *f = *state;
	struct written *w;

	give_thread(f, 5, "five", 0x1000);
	give_switch(f, START + 1 * SECOND, 0, 7, 5, 0);
	give_switch(f, START + 4 * SECOND, 1, 9, 7, 0);
	assert_int_equal(flight_flush(f->flight, START + 5 * SECOND), 0);
	assert_int_equal(flight_cut(f->flight, START + 4 * SECOND), 0);
	w = write_it(f, START + 6 * SECOND);
	expect_switches(w, "4.0 9>7");
	expect_accounts(w, 1, 0);
	assert_int_equal(thread_in(w, 5)->flags, CHAINLOG_THREAD_RUNNING);
	assert_int_equal(thread_in(w, 5)->seen_ns, START + 4 * SECOND);
	forget_written(w);
}

TEST_IN(after_a_pause_it_begins_anew, setup, teardown)
{
	struct fixture *f = *state;
	struct written *w;

	give_thread(f, 5, "gone", 0x1000);
	give_thread(f, 6, "stays", 0x1000);
	give_switch(f, START + 1 * SECOND, 0, 5, 6, 0);
	give_lost(f, START + 2 * SECOND, START + 3 * SECOND, 5);
	/* Threads end and begin meanwhile, and nobody says so. */
	assert_int_equal(flight_flush(f->flight, START + 4 * SECOND), 0);
	assert_int_equal(flight_restart(f->flight, START + 60 * SECOND), 0);
	assert_false(flight_wants_listing(f->flight));
	give_thread(f, 6, "stays", 0x1000);
	give_thread(f, 8, "new", 0x1000);
	give_switch(f, START + 61 * SECOND, 0, 6, 8, 0);
	w = write_it(f, START + 62 * SECOND);
	expect_switches(w, "61.0 6>8");
	expect_accounts(w, 1, 0);
	assert_int_equal(w->n_threads, 2);
	assert_null(thread_in(w, 5));
	assert_non_null(thread_in(w, 6));
	assert_non_null(thread_in(w, 8));
	forget_written(w);
}

TEST_IN(samples_are_kept_with_accounts_of_their_own, setup, teardown)
{
	struct fixture *f = *state;
	struct event_view v = { 0 };
	const struct event *ev;
	struct written *w;

	give_stack(f, START, 1, 0x2000);
	give_sample(f, START + 1 * SECOND, 7, 1);
	give_lost_samples(f, START + 2 * SECOND, START + 3 * SECOND, 4);
	give_switch(f, START + 12 * SECOND, 0, 8, 9, 0);
	give_sample(f, START + 12 * SECOND, 8, 1);
	give_lost_samples(f, START + 12 * SECOND + 1, START + 12 * SECOND + 9, 3);
	time_goes_on(f, START + 13 * SECOND);
	w = write_it(f, START + 14 * SECOND);
	expect_accounts(w, 1, 0);
	assert_int_equal(w->n_stacks, 1);
	assert_int_equal(w->end[CHAINLOG_END_AUX_EVENTS], 2);
	assert_int_equal(w->end[CHAINLOG_END_AUX_LOST], 3);
	assert_int_equal(w->end[CHAINLOG_END_AUX_KERNEL], 4);
	assert_int_equal(event_view_refresh(&v, &w->events), 0);
	ev = event_view_next(&v, UINT64_MAX);
	assert_int_equal(ev->kind, CHAINLOG_SWITCH);
	ev = event_view_next(&v, UINT64_MAX);
	assert_int_equal(ev->kind, EVENT_SAMPLE);
	assert_int_equal(ev->tid, 8);
	assert_int_equal(ev->kstack, 1);
	ev = event_view_next(&v, UINT64_MAX);
	assert_int_equal(ev->kind, EVENT_AUX_LOST);
	assert_int_equal(ev->lost.n, 3);
	assert_null(event_view_next(&v, UINT64_MAX));
	event_view_free(&v);
	forget_written(w);
}

TEST_IN(threads_are_as_they_were_when_the_window_began, setup, teardown)
{
	struct fixture *f = *state;
	const struct listed *t;
	struct written *w;

	give_thread(f, 5, "sleeper", 0x1000);
	give_stack(f, START, 1, 0x2000);
	give_switch(f, START + 1 * SECOND, 0, 7, 8, 1);
	give_rename(f, START + 2 * SECOND, 7, "late");
	give_rename(f, START + 18 * SECOND, 7, "later");
	give_switch(f, START + 18 * SECOND, 0, 8, 7, 0);
	time_goes_on(f, START + 19 * SECOND);
	w = write_it(f, START + 20 * SECOND);
	assert_int_equal(w->n_threads, 3);
	t = thread_in(w, 5);
	assert_non_null(t);
	assert_int_equal(t->state, 'S');
	assert_int_equal(t->start_ns, 1);
	assert_int_equal(t->seen_ns, START + 10 * SECOND);
	assert_true(t->kstack && t->name);
	t = thread_in(w, 7);
	assert_int_equal(t->state, 'S');
	assert_true(t->kstack && t->name);
	t = thread_in(w, 8);
	assert_int_equal(t->flags, CHAINLOG_THREAD_RUNNING);
	assert_int_equal(t->kstack, 0);
	assert_int_equal(w->n_stacks, 2);
	forget_written(w);
}

TEST_IN(before_anything_is_forgotten_all_is_written, setup, teardown)
{
	struct fixture *f = *state;
	struct written *w;

	give_thread(f, 7, "sleeper", 0x1000);
	give_switch(f, START + 1, 0, 8, 7, 0);
	time_goes_on(f, START + SECOND);
	w = write_it(f, START + SECOND);
	assert_int_equal(thread_in(w, 7)->seen_ns, START);
	expect_accounts(w, 1, 0);
	forget_written(w);
}

TEST_IN(losses_are_accounted_for, setup, teardown)
{
	struct fixture *f = *state;
	struct written *w;

	give_switch(f, START + 1 * SECOND, 0, 7, 8, 0);
	give_lost(f, START + 2 * SECOND, START + 3 * SECOND, 40);
	give_switch(f, START + 4 * SECOND, 0, 7, 8, 0);
	give_switch(f, START + 9 * SECOND, 0, 8, 9, 0);
	give_lost(f, START + 11 * SECOND, START + 12 * SECOND, 5);
	time_goes_on(f, START + 15 * SECOND);
	/* This loss is told, but no event has come after it yet. */
	give_switch(f, START + 16 * SECOND, 0, 9, 7, 0);
	give_lost(f, START + 17 * SECOND, START + 17 * SECOND, 3);
	w = write_it(f, START + 18 * SECOND);
	expect_switches(w, "9.0 8>9, 16.0 9>7");
	expect_accounts(w, 2, 8);
	assert_int_equal(w->n_lost, 2);
	/* 7 went to sleep after the first loss, 8 came to its CPU after it. */
	assert_int_equal(thread_in(w, 7)->state, 'S');
	assert_int_equal(thread_in(w, 8)->flags, CHAINLOG_THREAD_RUNNING);
	forget_written(w);
}

TEST_IN(a_loss_makes_unknown_what_was_seen_last_before_it, setup, teardown)
{
	struct fixture *f = *state;
	const struct listed *t;
	struct written *w;

	give_thread(f, 5, "sleeper", 0x1000);
	give_switch(f, START + 1 * SECOND, 0, 7, 8, 0);
	give_lost(f, START + 2 * SECOND, START + 3 * SECOND, 40);
	give_switch(f, START + 4 * SECOND, 0, 8, 9, 0);
	time_goes_on(f, START + 15 * SECOND);
	w = write_it(f, START + 15 * SECOND);
	for (uint32_t tid = 5; tid <= 7; tid += 2) {
		t = thread_in(w, tid);
		assert_int_equal(t->state, 'R');
		assert_int_equal(t->flags, 0);
		assert_int_equal(t->kstack, 0);
	}
	assert_int_equal(thread_in(w, 8)->state, 'S');
	forget_written(w);
}

TEST_IN(an_event_that_is_silently_missing_shows_in_the_accounts, setup, teardown)
{
	struct fixture *f = *state;
	struct written *w;

	give_switch(f, START + 1 * SECOND, 0, 7, 8, 0);
	f->seq[0][WIRE_SWITCH]++;
	give_switch(f, START + 2 * SECOND, 0, 8, 9, 0);
	w = write_it(f, START + 3 * SECOND);
	assert_int_equal(w->end[CHAINLOG_END_EVENTS], 2);
	assert_int_equal(w->end[CHAINLOG_END_LOST], 0);
	assert_int_equal(w->end[CHAINLOG_END_KERNEL], 3);
	forget_written(w);
}

TEST_IN(numbers_of_events_may_wrap, setup, teardown)
{
	struct fixture *f = *state;
	struct written *w;

	give_switch(f, START + 1 * SECOND, 0, 7, 8, 0);
	give_lost(f, START + 1 * SECOND, START + 2 * SECOND, (1 << 24) - 3);
	for (int i = 0; i < 5; i++)
		give_switch(f, START + 3 * SECOND, 0, 8, 9, 0);
	w = write_it(f, START + 4 * SECOND);
	expect_accounts(w, 6, (1 << 24) - 3);
	forget_written(w);
}

TEST_IN(without_room_the_window_is_shorter, setup, teardown)
{
	struct fixture *f = *state;
	struct flight_counts counts;
	uint64_t now = START, from;
	struct written *w;

	for (int i = 0; i < 3000000; i++) {
		now += 2000;
		give_switch(f, now, (uint32_t)i & 1, 100 + (uint32_t)i % 3000, (uint32_t)i % 2999,
			    0);
		if (i % 20000 == 0)
			time_goes_on(f, now);
		if (i % 20000 == 1) {
			flight_counts(f->flight, &counts);
			assert_true(counts.bytes < 3 << 19);
		}
	}
	from = flight_from(f->flight, now);
	assert_true(from > START + SECOND && from < now - SECOND / 10);
	w = write_it(f, now);
	assert_true(w->end[CHAINLOG_END_EVENTS] > 50000);
	expect_accounts(w, w->end[CHAINLOG_END_EVENTS], 0);
	forget_written(w);
}

/* As the kernel side does with --flight: ids in turn, of which the last 98 thousand are good. */
TEST_IN(stacks_without_end_take_memory_for_the_window_only, setup, teardown)
{
	struct fixture *f = *state;
	struct flight_counts counts;
	uint64_t now = START;
	struct written *w;

	teardown(state);
	begin(f, SECOND, 64 << 20);
	for (uint32_t id = 1; id <= 1000000; id++) {
		now += 100000;
		give_stack(f, now, id, 0x100000u + 4 * (uint64_t)id);
		give_switch(f, now, 0, 7, 8, id);
		if (id % 5000)
			continue;
		time_goes_on(f, now);
		flight_counts(f->flight, &counts);
		/* 10000 stacks in the window, some 130000 that may be named again. */
		assert_true(counts.bytes < 60 << 20);
	}
	give_switch(f, now + 1, 0, 8, 7, 1000000 - 90000);
	w = write_it(f, now + 1);
	assert_int_equal(w->n_stacks, w->end[CHAINLOG_END_STACKS]);
	assert_true(w->n_stacks > 9900 && w->n_stacks < 10100);
	forget_written(w);
}

TEST_IN(a_stack_may_come_after_the_event_that_names_it, setup, teardown)
{
	struct fixture *f = *state;
	struct written *w;

	give_switch(f, START + 1, 0, 7, 8, 3);
	give_stack(f, START + 1, 3, 0x1000);
	give_switch(f, START + 2, 0, 7, 8, 4); /* this one never comes */
	w = write_it(f, START + SECOND);
	assert_int_equal(w->end[CHAINLOG_END_STACKS], 2);
	assert_int_equal(w->n_stacks, 1);
	forget_written(w);
}

#define STACK_BYTES(n) (offsetof(struct wire_stack, frames) + 8 * (n))

TEST_IN(records_that_are_none_are_refused, setup, teardown)
{
	struct fixture *f = *state;
	struct wire_switch s = { .r = { .kind = WIRE_SWITCH, .cpu = 2 } };
	struct wire_stack stack = { .r = { .kind = WIRE_STACK }, .id = 1, .n = 100 };

	assert_int_equal(flight_record(f->flight, &s.r, sizeof(s)), -EBADMSG);
	assert_int_equal(flight_record(f->flight, &s.r, sizeof(s.r)), -EBADMSG);
	assert_int_equal(flight_record(f->flight, &stack.r, STACK_BYTES(99)), -EBADMSG);
	s.r.kind = WIRE_KINDS;
	assert_int_equal(flight_record(f->flight, &s.r, sizeof(s)), -EBADMSG);
}

/* After a loss: a thread whose exit was lost is not there for ever, one whose fork was has a name.
 */
TEST_IN(a_listing_mends_what_a_loss_hid, setup, teardown)
{
	struct fixture *f = *state;
	struct written *w;

	give_thread(f, 5, "gone", 0x1000);
	give_thread(f, 6, "there", 0x1000);
	assert_false(flight_wants_listing(f->flight));
	give_lost(f, START + 1 * SECOND, START + 2 * SECOND, 4);
	give_switch(f, START + 3 * SECOND, 0, 8, 9, 0);
	assert_true(flight_wants_listing(f->flight));
	flight_listing(f->flight, START + 4 * SECOND);
	give_thread(f, 6, "there", 0x1000);
	give_thread(f, 8, "new", 0x1000);
	give_thread(f, 9, "new", 0x1000);
	time_goes_on(f, START + 13 * SECOND);
	time_goes_on(f, START + 15 * SECOND);
	w = write_it(f, START + 15 * SECOND);
	assert_null(thread_in(w, 5));
	assert_non_null(thread_in(w, 6));
	assert_int_equal(thread_in(w, 8)->tgid, 8);
	assert_true(thread_in(w, 8)->name);
	forget_written(w);
}
