// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of mappings: what is found is what a search of all finds, and takes few steps. */
#include "test.h"

#include <stdlib.h>

#include "files/map_list.h"

#define PAGE 4096u

/* The same by looking at all. */
static const struct mapping *naive(const struct map_list *l, uint64_t addr, uint64_t time_ns,
				   const struct mapping **later)
{
	*later = NULL;
	for (uint32_t k = l->n; k--;) {
		const struct mapping *m = &l->list[k];

		if (addr < m->start || addr >= m->end)
			continue;
		if (m->time_ns <= time_ns)
			return m;
		*later = m;
	}
	return NULL;
}

static bool is_any(const void *ctx, const struct mapping *m)
{
	(void)ctx;
	(void)m;
	return true;
}

static bool naive_any(const struct map_list *l, uint64_t start, uint64_t end)
{
	for (uint32_t k = 0; k < l->n; k++)
		if (l->list[k].start < end && l->list[k].end > start)
			return true;
	return false;
}

TEST(a_search_finds_what_looking_at_all_finds)
{
	srand(33);
	for (int round = 0; round < 20; round++) {
		struct map_list *l = calloc(1, sizeof(*l));
		int pages = 20 << rand() % 8, length = 1 + rand() % 30;

		for (int i = 0; i < 2000; i++) {
			uint64_t start = (uint64_t)(rand() % pages) * PAGE, at, time;
			const struct mapping *later, *want_later, *want, *got;
			struct mapping m = { .start = start, .time_ns = (uint64_t)i * 10 };

			m.end = start + (uint64_t)(1 + rand() % length) * PAGE;
			assert_true(map_list_add(l, &m));
			at = (uint64_t)(rand() % (pages + length)) * PAGE + PAGE / 2;
			time = (uint64_t)(rand() % (i * 10 + 20));
			want = naive(l, at, time, &want_later);
			got = map_list_find(l, at, time, &later);
			assert_ptr_equal(got, want);
			if (!want)
				assert_ptr_equal(later, want_later);
			assert_int_equal(map_list_any(l, at, at + 3 * PAGE, time, is_any, NULL),
					 naive_any(l, at, at + 3 * PAGE));
		}
		map_list_free(l);
	}
}

TEST(of_many_mappings_few_are_looked_at)
{
	struct map_list *l = calloc(1, sizeof(*l));
	const struct mapping *later;

	for (uint64_t i = 0; i < 65536; i++)
		assert_true(map_list_add(l, &(struct mapping) { .start = i * PAGE,
								.end = i * PAGE + PAGE }));
	assert_non_null(map_list_find(l, PAGE, 1, &later));
	l->steps = 0;
	for (uint64_t i = 0; i < 1000000; i++)
		assert_non_null(map_list_find(l, i % 65536 * PAGE, 1, &later));
	assert_int_equal(l->steps, 0);
	map_list_free(l);
}

/* For some seconds nothing is found in a list whose mappings all overlap, if it is asked much. */
TEST(what_takes_too_long_is_given_up)
{
	struct map_list *l = calloc(1, sizeof(*l));
	const struct mapping *later;
	uint64_t asked = 0;

	for (uint64_t i = 0; i < 65536; i++)
		assert_true(map_list_add(l, &(struct mapping) { .end = (i + 1) * PAGE }));
	while (map_list_find(l, 1, 1, &later))
		asked++;
	assert_in_range(asked, 100, 10000);
	assert_true(map_list_is_exhausted(l, 1));
	assert_non_null(map_list_find(l, 1, 6000000000, &later));
	map_list_free(l);
}
