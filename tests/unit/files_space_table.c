// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files/space_table.h"

/* Images are never looked into: any address will do. */
static struct image *image(uint32_t id)
{
	static char images[3000001];

	return (struct image *)(void *)&images[id];
}

static uint32_t parts_in(const struct space_table *t)
{
	uint32_t parts = 0;

	for (uint32_t i = 0; i < t->n; i++)
		parts += t->parts[i] != NULL;
	return parts;
}

/* As in hours: each id is put in once, and taken out later; a few stay. */
static void parts_without_images_are_freed(void **state)
{
	struct space_table t = { .n = 0 };
	uint32_t found = 0;

	(void)state;
	for (uint32_t id = 1; id <= 3000000; id++) {
		assert_true(space_table_put(&t, id, image(id)));
		assert_ptr_equal(space_table_get(&t, id), image(id));
		if (id > 1000 && (id - 1000) % 1000000)
			space_table_remove(&t, id - 1000);
		if (id % 1000 == 0)
			assert_in_range(parts_in(&t), 1, 6);
	}
	for (uint32_t id = 1; (id = space_table_next(&t, id)); id++)
		found++;
	assert_int_equal(found, 1002);
	assert_null(space_table_get(&t, 2000001 - 1001));
	assert_ptr_equal(space_table_get(&t, 1000000), image(1000000));
	assert_null(space_table_get(&t, 1u << 31));
	space_table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_without_images_are_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
