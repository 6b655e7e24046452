// SPDX-License-Identifier: GPL-2.0-or-later
/* Ids for strings (include/common/intern.h): what they promise of the bytes. */
#include "test.h"
#include <stdio.h>
#include <string.h>

#include "common/intern.h"

#define MANY 50000

static uint32_t number(struct intern *t, unsigned int i)
{
	char text[16];

	return intern_id(t, text, (size_t)snprintf(text, sizeof(text), "%u", i), NULL);
}

/* Texts are taken by pointer while others are made. */
TEST(bytes_stay_where_they_are)
{
	struct intern t = { .n = 0 };
	static const char *at[MANY];
	char text[16];

	for (unsigned int i = 0; i < MANY; i++)
		at[i] = intern_text(&t, number(&t, i));
	for (unsigned int i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "%u", i);
		assert_ptr_equal(intern_text(&t, i + 1), at[i]);
		assert_string_equal(at[i], text);
		assert_int_equal(number(&t, i), i + 1);
	}
	intern_free(&t);
}

TEST(a_text_of_the_table_may_be_given_to_it)
{
	struct intern t = { .n = 0 };

	for (unsigned int i = 0; i < MANY; i++)
		assert_int_equal(intern_id(&t, intern_text(&t, number(&t, i)) + 1, 1, NULL),
				 intern_id(&t, intern_text(&t, number(&t, i)) + 1, 1, NULL));
	intern_free(&t);
}

TEST(a_cleared_table_begins_anew)
{
	struct intern t = { .n = 0 };
	size_t len;

	for (int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < MANY; i++)
			assert_int_equal(number(&t, MANY - i), i + 1);
		assert_memory_equal(intern_bytes(&t, 1, &len), "50000", 6);
		assert_int_equal(len, 5);
		assert_int_equal(intern_find(&t, "0", 1), 0);
		intern_clear(&t);
		assert_int_equal(t.n_bytes, 0);
		assert_int_equal(intern_find(&t, "1", 1), 0);
		assert_string_equal(intern_text(&t, 1), "");
	}
	intern_free(&t);
}

TEST(long_and_empty_ones)
{
	static char text[100000];
	struct intern t = { .n = 0 };
	size_t len;

	memset(text, 'x', sizeof(text));
	for (size_t n = 0; n <= sizeof(text); n += 997) {
		uint32_t id = intern_id(&t, text, n, NULL);

		assert_memory_equal(intern_bytes(&t, id, &len), text, n);
		assert_int_equal(len, n);
		assert_int_equal(intern_text(&t, id)[n], 0);
		assert_int_equal(intern_find(&t, text, n), id);
	}
	intern_free(&t);
}
