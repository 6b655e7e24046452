// SPDX-License-Identifier: GPL-2.0-or-later
/* When recordings begin that are repeated by the clock, whatever the clock does. */

#include "test.h"

#include "schedule.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
/* 2026-11-28 10:59:00 UTC: a multiple of a minute, as all minutes are. */
#define NOON (UINT64_C(1795863540) * SECOND)
/* CLOCK_MONOTONIC began at another time. */
#define UP (1234 * SECOND + 567)

static void expect_next(const struct schedule *s, uint64_t wall_ns, uint64_t now_ns)
{
	assert_int_equal(s->at_wall_ns, wall_ns);
	assert_int_equal(s->at_ns, now_ns);
}

TEST(it_begins_at_the_next_multiple)
{
	struct schedule s;

	schedule_begin(&s, MINUTE, NOON + 17 * SECOND, UP);
	expect_next(&s, NOON + MINUTE, UP + 43 * SECOND);
	schedule_begin(&s, MINUTE, NOON - 1, UP);
	expect_next(&s, NOON, UP + 1);
	/* On it is after it: what has begun does not begin. */
	schedule_begin(&s, MINUTE, NOON, UP);
	expect_next(&s, NOON + MINUTE, UP + MINUTE);
	/* Multiples of what divides no minute line up between machines as well. */
	schedule_begin(&s, 7 * SECOND, NOON, UP);
	assert_int_equal(s.at_wall_ns % (7 * SECOND), 0);
	assert_true(s.at_wall_ns > NOON && s.at_wall_ns <= NOON + 7 * SECOND);
}

TEST(one_follows_the_other)
{
	struct schedule s;

	schedule_begin(&s, MINUTE, NOON + SECOND, UP);
	assert_false(schedule_look(&s, NOON + MINUTE - MS, UP + 59 * SECOND - MS));
	expect_next(&s, NOON + MINUTE, UP + 59 * SECOND);
	/* A little late. */
	assert_false(schedule_look(&s, NOON + MINUTE + 3 * MS, UP + 59 * SECOND + 3 * MS));
	expect_next(&s, NOON + MINUTE, UP + 59 * SECOND);
	schedule_next(&s, NOON + MINUTE + 4 * MS, UP + 59 * SECOND + 4 * MS);
	expect_next(&s, NOON + 2 * MINUTE, UP + 119 * SECOND);
	assert_int_equal(s.missed, 0);
}

TEST(a_slewed_clock_moves_the_beginning)
{
	struct schedule s;

	schedule_begin(&s, MINUTE, NOON, UP);
	/* In 50 s the clock has lost 20 ms. */
	assert_false(schedule_look(&s, NOON + 50 * SECOND - 20 * MS, UP + 50 * SECOND));
	expect_next(&s, NOON + MINUTE, UP + MINUTE + 20 * MS);
}

TEST(the_same_one_does_not_come_twice)
{
	struct schedule s;

	schedule_begin(&s, MINUTE, NOON, UP);
	/* Taken at its time by CLOCK_MONOTONIC, but the clock was put back by 2 ms just then. */
	schedule_next(&s, NOON + MINUTE - 2 * MS, UP + MINUTE);
	expect_next(&s, NOON + 2 * MINUTE, UP + 2 * MINUTE + 2 * MS);
	assert_false(schedule_look(&s, NOON + MINUTE - 1 * MS, UP + MINUTE + MS));
	expect_next(&s, NOON + 2 * MINUTE, UP + 2 * MINUTE + 2 * MS);
}

TEST(put_forward_the_clock_skips_some)
{
	struct schedule s;

	schedule_begin(&s, MINUTE, NOON, UP);
	assert_true(schedule_look(&s, NOON + 3600 * SECOND + 30 * SECOND, UP + 10 * SECOND));
	expect_next(&s, NOON + 3600 * SECOND + MINUTE, UP + 40 * SECOND);
	assert_int_equal(s.missed, 60);
	assert_false(schedule_look(&s, NOON + 3600 * SECOND + 31 * SECOND, UP + 11 * SECOND));
	assert_int_equal(s.missed, 60);
}

TEST(put_forward_by_less_the_beginning_is_sooner)
{
	struct schedule s;

	schedule_begin(&s, MINUTE, NOON, UP);
	assert_false(schedule_look(&s, NOON + 40 * SECOND, UP + 10 * SECOND));
	expect_next(&s, NOON + MINUTE, UP + 30 * SECOND);
}

TEST(put_back_the_clock_comes_to_old_times_again)
{
	struct schedule s;

	schedule_begin(&s, MINUTE, NOON, UP);
	/* By an hour, to be noticed at once: nobody waits for an hour. */
	assert_true(schedule_look(&s, NOON - 3600 * SECOND + 10 * SECOND, UP + 10 * SECOND));
	expect_next(&s, NOON - 3600 * SECOND + MINUTE, UP + MINUTE);
	assert_int_equal(s.missed, 0);
	/* After a beginning, too. */
	schedule_next(&s, NOON - 7200 * SECOND + 5 * SECOND, UP + MINUTE);
	expect_next(&s, NOON - 7200 * SECOND + MINUTE, UP + MINUTE + 55 * SECOND);
}

TEST(a_machine_that_slept_missed_some)
{
	struct schedule s;

	schedule_begin(&s, MINUTE, NOON, UP);
	/* CLOCK_MONOTONIC stood still meanwhile. */
	assert_true(schedule_look(&s, NOON + 10 * MINUTE + 5 * SECOND, UP + 20 * SECOND));
	expect_next(&s, NOON + 11 * MINUTE, UP + 75 * SECOND);
	assert_int_equal(s.missed, 10);
}

TEST(short_periods_are_missed_sooner)
{
	struct schedule s;

	schedule_begin(&s, SECOND, NOON, UP);
	assert_false(schedule_look(&s, NOON + SECOND + 400 * MS, UP + SECOND + 400 * MS));
	assert_true(schedule_look(&s, NOON + SECOND + 600 * MS, UP + SECOND + 600 * MS));
	expect_next(&s, NOON + 2 * SECOND, UP + 2 * SECOND);
	assert_int_equal(s.missed, 1);
}
