// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "base/compare.h"
#include "base/keyed.h"
#include "common/xalloc.h"
#include "test.h"

static int by_key_and_value(const void *pa, const void *pb)
{
	const struct keyed *a = pa, *b = pb;

	return a->key != b->key ? compare_numbers(a->key, b->key)
				: compare_numbers(a->value, b->value);
}

static uint64_t next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 11;
}

/* Keys of so many bits, shifted; values count from 0, so a stable sort has them in order. */
static void check(size_t n, unsigned int bits, unsigned int shift)
{
	struct keyed *at = xmalloc((n + 1) * sizeof(*at)), *want = xmalloc((n + 1) * sizeof(*at));
	uint64_t state = n * 64 + bits;

	for (size_t i = 0; i < n; i++)
		at[i] = want[i] = (struct keyed) {
			(next(&state) & ((UINT64_C(1) << bits) - 1)) << shift | (shift ? 5 : 0), i
		};
	keyed_sort(at, n);
	if (n)
		qsort(want, n, sizeof(*want), by_key_and_value);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(at[i].key, want[i].key);
		assert_int_equal(at[i].value, want[i].value);
	}
	free(at);
	free(want);
}

TEST(sorted_as_by_comparing)
{
	static const size_t numbers[] = { 0, 1, 2, 31, 32, 33, 500, 4095, 4096, 20000 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (unsigned int bits = 1; bits <= 53; bits += 13) {
			check(numbers[i], bits, 0);
			check(numbers[i], bits, 11);
		}
}

/* Things with few keys, and an order among those that have the same. */
struct thing {
	uint32_t key, then;
};

static uint64_t key_of_thing(const void *thing)
{
	return ((const struct thing *)thing)->key;
}

static int by_then(const void *pa, const void *pb)
{
	return compare_numbers(((const struct thing *)pa)->then, ((const struct thing *)pb)->then);
}

TEST(equal_keys_are_compared_or_stay_in_order)
{
	struct thing at[300], again[300];
	uint64_t seed = 1;

	for (uint32_t i = 0; i < 300; i++)
		at[i] = again[i] = (struct thing) { (uint32_t)next(&seed) % 7, 300 - i };
	sort_by_key(at, 300, sizeof(*at), key_of_thing, by_then);
	sort_by_key(again, 300, sizeof(*again), key_of_thing, NULL);
	for (size_t i = 1; i < 300; i++) {
		assert_true(at[i - 1].key <= at[i].key && again[i - 1].key <= again[i].key);
		assert_true(at[i - 1].key < at[i].key || at[i - 1].then < at[i].then);
		assert_true(again[i - 1].key < again[i].key || again[i - 1].then > again[i].then);
	}
	/* They are in order of the key already. */
	sort_by_key(again, 300, sizeof(*again), key_of_thing, by_then);
	assert_memory_equal(at, again, sizeof(at));
}

TEST(keys_of_two_numbers_are_in_order_however_large)
{
	assert_true(key_of_two(1, UINT64_MAX) < key_of_two(2, 0));
	assert_true(key_of_two(1, 5) < key_of_two(1, 6));
	assert_true(key_of_two(UINT32_MAX, 0) <= key_of_two(UINT64_MAX, 0));
	assert_true(key_of_two(1u << 21, UINT64_MAX) < key_of_two(1u << 22, 0));
	assert_true(key_of_two((1u << 22) - 2, UINT64_MAX) < key_of_two((1u << 22) - 1, 0));
}
