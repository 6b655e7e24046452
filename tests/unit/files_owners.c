// SPDX-License-Identifier: GPL-2.0-or-later
/* Room and turns are shared among owners, whatever each of them has. */

#include "test.h"

#include "files/owners.h"

static uint64_t take_all(struct owners *o, uint32_t i, uint64_t max)
{
	uint64_t n = 0;

	while (owners_take(o, i, 1, max))
		n++;
	return n;
}

TEST(room_is_left_for_who_comes_later)
{
	static struct owners o;
	uint32_t first = owners_find(&o, 7), second;

	assert_int_equal(take_all(&o, first, 1000), 500);
	second = owners_find(&o, 8);
	assert_true(first != second);
	assert_int_equal(owners_find(&o, 7), first);
	assert_int_equal(take_all(&o, second, 1000), 250);
	assert_int_equal(o.held, 750);
	owners_give(&o, first, 450);
	assert_true(take_all(&o, second, 1000) > 200);
}

/* Somebody with thousands of things has one turn after the other, as who has a few. */
TEST(who_had_least_time_is_next)
{
	static struct owners o;
	uint32_t many = owners_find(&o, 1), few, next;
	unsigned int turns[2] = { 0 };

	assert_false(owners_next(&o, &next));
	owners_add(&o, many, 5000);
	for (unsigned int i = 0; i < 100; i++) {
		assert_true(owners_next(&o, &next));
		owners_spend(&o, next, 10);
	}
	/* Who comes later has not saved up the time that others have had before. */
	few = owners_find(&o, 2);
	owners_add(&o, few, 5);
	for (unsigned int i = 0; i < 100; i++) {
		assert_true(owners_next(&o, &next));
		turns[next == few]++;
		owners_spend(&o, next, 10);
	}
	assert_in_range(turns[0], 49, 51);
	/* One whose things take longer has fewer turns. */
	turns[0] = turns[1] = 0;
	for (unsigned int i = 0; i < 110; i++) {
		assert_true(owners_next(&o, &next));
		turns[next == few]++;
		owners_spend(&o, next, next == few ? 10 : 100);
	}
	assert_in_range(turns[0], 9, 11);
	owners_give(&o, few, 5);
	owners_spend(&o, few, 1000000);
	assert_true(owners_next(&o, &next));
	assert_int_equal(next, many);
}

TEST(places_are_used_again)
{
	static struct owners o;
	uint32_t held = owners_find(&o, 1);

	owners_add(&o, held, 1);
	for (uint64_t key = 2; key < 10 * OWNERS_MAX; key++) {
		uint32_t i = owners_find(&o, key);

		assert_true(i != held && i < OWNERS_MAX);
		owners_add(&o, i, 1);
		owners_give(&o, i, 1);
	}
	assert_true(o.n <= 3);
	/* More than are told apart share a place. */
	for (uint64_t key = 2; key < 2 * OWNERS_MAX; key++)
		owners_add(&o, owners_find(&o, key), 1);
	assert_int_equal(owners_find(&o, 5 * OWNERS_MAX), OWNERS_MAX - 1);
	assert_int_equal(owners_find(&o, 1), held);
}
