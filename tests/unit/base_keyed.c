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
