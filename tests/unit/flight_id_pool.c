// SPDX-License-Identifier: GPL-2.0-or-later
/* Strings under ids that are given anew. */
#include <stdio.h>
#include <string.h>

#include "test.h"

#include "flight/id_pool.h"

static uint32_t id_of(struct id_pool *p, const char *s, uint64_t now_ns)
{
	return id_pool_get(p, s, strlen(s), now_ns, NULL);
}

static void expect_key(const struct id_pool *p, uint32_t id, const char *expected)
{
	size_t len;
	const char *key = id_pool_key(p, id, &len);

	assert_non_null(key);
	assert_int_equal(len, strlen(expected));
	assert_memory_equal(key, expected, len);
}

TEST(equal_strings_have_one_id)
{
	struct id_pool p = { 0 };
	bool is_new;

	assert_int_equal(id_pool_get(&p, "futex", 5, 10, &is_new), 1);
	assert_true(is_new);
	assert_int_equal(id_pool_get(&p, "pipe", 4, 11, &is_new), 2);
	assert_int_equal(id_pool_get(&p, "futex", 5, 12, &is_new), 1);
	assert_false(is_new);
	expect_key(&p, 1, "futex");
	expect_key(&p, 2, "pipe");
	assert_int_equal(p.items[0].used_ns, 12);
	id_pool_touch(&p, 1, 7);
	assert_int_equal(p.items[0].used_ns, 12);
	assert_int_equal(id_pool_get(&p, "", 0, 13, NULL), 3);
	id_pool_free(&p);
}

TEST(a_dropped_string_gives_its_id_back)
{
	struct id_pool p = { 0 };
	uint32_t second;

	id_of(&p, "one", 1);
	second = id_of(&p, "two", 1);
	id_of(&p, "three", 1);
	id_pool_drop(&p, second);
	assert_false(id_pool_has(&p, second));
	assert_int_equal(id_of(&p, "four", 2), second);
	assert_int_equal(id_of(&p, "two", 2), 4);
	expect_key(&p, second, "four");
	id_pool_free(&p);
}

TEST(a_reserved_id_gets_its_string_later)
{
	struct id_pool p = { 0 };
	uint32_t id = id_pool_reserve(&p, 5);
	size_t len;

	assert_true(id_pool_has(&p, id));
	assert_null(id_pool_key(&p, id, &len));
	assert_true(id_pool_define(&p, id, "late", 4));
	expect_key(&p, id, "late");
	assert_true(id_pool_define(&p, id, "again", 5));
	expect_key(&p, id, "late");
	id_pool_drop(&p, id);
	assert_int_equal(p.bytes, 0);
	id_pool_free(&p);
}

TEST(memory_follows_what_is_kept)
{
	struct id_pool p = { 0 };
	char s[32];

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 5000; i++) {
			snprintf(s, sizeof(s), "%d.%d", round, i);
			assert_true(id_of(&p, s, (uint64_t)round));
		}
		/* Two rounds are kept. */
		for (uint32_t id = 1; id <= p.n; id++)
			if (id_pool_has(&p, id) && p.items[id - 1].used_ns + 1 < (uint64_t)round)
				id_pool_drop(&p, id);
		assert_true(p.n <= 15000);
		assert_true(p.bytes <= 10000 * id_pool_item_bytes(8));
	}
	for (int i = 0; i < 5000; i++) {
		snprintf(s, sizeof(s), "49.%d", i);
		expect_key(&p, id_of(&p, s, 50), s);
	}
	for (uint32_t id = 1; id <= p.n; id++)
		id_pool_drop(&p, id);
	assert_int_equal(p.bytes, 0);
	id_pool_free(&p);
}
