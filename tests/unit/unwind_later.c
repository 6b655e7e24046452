// SPDX-License-Identifier: GPL-2.0-or-later
/* The queue of copied stacks that wait for a rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/later.h"

static size_t copy_of(struct wire_copy *c, uint32_t id, uint32_t words)
{
	*c = (struct wire_copy) { .id = id, .tid = 7, .n = 1, .len = words * 8 };
	for (uint32_t i = 0; i < words; i++)
		c->words[i] = id + i;
	return offsetof(struct wire_copy, words) + c->len;
}

static uint32_t first_id(const struct later *l)
{
	size_t len;
	const struct wire_copy *c = later_first(l, &len);

	return c ? c->id : 0;
}

static void records_come_in_their_order(void **state)
{
	static struct wire_copy c;
	struct later *l = later_new();
	const struct wire_copy *first;
	size_t len;

	(void)state;
	assert_non_null(l);
	assert_null(later_first(l, &len));
	for (uint32_t id = 1; id <= 3; id++) {
		size_t n = copy_of(&c, id, id);

		assert_true(later_add(l, &c, n));
	}
	assert_int_equal(later_left(l), 3);
	later_rotate(l); /* 2 3 1 */
	first = later_first(l, &len);
	assert_int_equal(first->id, 2);
	assert_int_equal(first->tid, 0);
	/* There is no such thread, so no more is read of it. */
	assert_int_equal(first->len, 16);
	assert_true(len >= offsetof(struct wire_copy, words) + 16);
	assert_int_equal(first->words[1], 3);
	later_drop(l);
	later_drop(l);
	assert_int_equal(first_id(l), 1);
	later_rotate(l);
	assert_int_equal(first_id(l), 1);
	later_drop(l);
	assert_int_equal(later_left(l), 0);
	assert_true(later_add(l, &c, copy_of(&c, 9, 1)));
	assert_int_equal(first_id(l), 9);
	later_free(l);
	later_free(NULL);
}

static void it_is_bounded(void **state)
{
	static struct wire_copy c;
	struct later *l = later_new();
	size_t len = copy_of(&c, 1, WIRE_COPY_WORDS), n = 0;

	(void)state;
	assert_non_null(l);
	while (later_add(l, &c, len))
		n++;
	assert_true(n * len <= LATER_MAX_BYTES && (n + 2) * len > LATER_MAX_BYTES);
	later_drop(l);
	assert_true(later_add(l, &c, len));
	assert_false(later_add(l, &c, len));
	later_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_in_their_order),
		cmocka_unit_test(it_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
