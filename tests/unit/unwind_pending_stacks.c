// SPDX-License-Identifier: GPL-2.0-or-later
/* The queue of copied stacks that wait for a rule. */

#include "test.h"

#include "unwind/pending_stacks.h"

static size_t copy_of(struct wire_copy *c, uint32_t id, uint32_t words)
{
	*c = (struct wire_copy) { .id = id, .tid = 7, .n = 1, .len = words * 8 };
	for (uint32_t i = 0; i < words; i++)
		c->words[i] = id + i;
	return offsetof(struct wire_copy, words) + c->len;
}

static uint32_t first_id(const struct pending_stacks *l)
{
	size_t len;
	const struct wire_copy *c = pending_stacks_first(l, &len);

	return c ? c->id : 0;
}

TEST(records_come_in_their_order)
{
	static struct wire_copy c;
	struct pending_stacks *l;
	const struct wire_copy *first;
	size_t len;

	assert_int_equal(pending_stacks_new(&l), 0);
	assert_non_null(l);
	assert_null(pending_stacks_first(l, &len));
	for (uint32_t id = 1; id <= 3; id++) {
		size_t n = copy_of(&c, id, id);

		assert_true(pending_stacks_add(l, &c, n, 0));
	}
	assert_int_equal(pending_stacks_left(l), 3);
	pending_stacks_rotate(l); /* 2 3 1 */
	first = pending_stacks_first(l, &len);
	assert_int_equal(first->id, 2);
	assert_int_equal(first->tid, 0);
	/* There is no such thread, so no more is read of it. */
	assert_int_equal(first->len, 16);
	assert_true(len >= offsetof(struct wire_copy, words) + 16);
	assert_int_equal(first->words[1], 3);
	pending_stacks_drop(l);
	pending_stacks_drop(l);
	assert_int_equal(first_id(l), 1);
	pending_stacks_rotate(l);
	assert_int_equal(first_id(l), 1);
	pending_stacks_drop(l);
	assert_int_equal(pending_stacks_left(l), 0);
	assert_true(pending_stacks_add(l, &c, copy_of(&c, 9, 1), 0));
	assert_int_equal(first_id(l), 9);
	pending_stacks_free(l);
	pending_stacks_free(NULL);
}

TEST(it_is_bounded)
{
	static struct wire_copy c;
	struct pending_stacks *l;
	size_t len = copy_of(&c, 1, WIRE_COPY_WORDS), n = 0;

	assert_int_equal(pending_stacks_new(&l), 0);
	assert_non_null(l);
	while (pending_stacks_add(l, &c, len, 0))
		n++;
	assert_true(2 * n * len <= PENDING_STACKS_MAX_BYTES &&
		    2 * (n + 2) * len > PENDING_STACKS_MAX_BYTES);
	pending_stacks_drop(l);
	assert_true(pending_stacks_add(l, &c, len, 0));
	assert_false(pending_stacks_add(l, &c, len, 0));
	pending_stacks_free(l);
}

/* Short ones, of which no more can be read as nobody sleeps there, take no more than they are. */
TEST(it_has_room_for_short_ones)
{
	static struct wire_copy c;
	struct pending_stacks *l;
	size_t len = copy_of(&c, 1, 128), n = 0;

	c.tid = 0;
	assert_int_equal(pending_stacks_new(&l), 0);
	while (n < 4096 && pending_stacks_add(l, &c, len, 0))
		n++;
	assert_int_equal(n, 4096);
	pending_stacks_free(l);
}

/* Whoever has as many as he likes, others' stacks find room. */
TEST(owners_share_it)
{
	static struct wire_copy c;
	struct pending_stacks *l;
	size_t len = copy_of(&c, 1, WIRE_COPY_WORDS), n[3] = { 0 };

	assert_int_equal(pending_stacks_new(&l), 0);
	for (uint64_t owner = 0; owner < 3; owner++)
		while (pending_stacks_add(l, &c, len, owner))
			n[owner]++;
	assert_in_range(n[1], n[0] / 2 - 2, n[0] / 2 + 1);
	assert_in_range(n[2], n[1] / 2 - 2, n[1] / 2 + 1);
	/* As much as the first one gives up. */
	for (size_t i = 0; i < n[0]; i++)
		pending_stacks_drop(l);
	while (pending_stacks_add(l, &c, len, 2))
		n[2]++;
	assert_true(n[2] > n[1]);
	pending_stacks_free(l);
}
