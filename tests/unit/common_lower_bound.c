// SPDX-License-Identifier: GPL-2.0-or-later
/* Binary search (include/common/lower_bound.h): from any guess on the same place is found. */
#include "test.h"

#include "common/lower_bound.h"

#define MOST 40

/* Numbers 2, 4, ...: the search is for as many as are below any number, also between these. */
TEST(any_guess_finds_the_same)
{
	for (size_t n = 0; n <= MOST; n++)
		for (size_t number = 0; number <= 2 * MOST + 3; number++)
			for (size_t guess = 0; guess <= MOST + 2; guess++) {
				size_t want = LOWER_BOUND(i, n, 2 * (i + 1) < number);
				size_t got = LOWER_BOUND_NEAR(i, n, guess, 2 * (i + 1) < number);

				assert_int_equal(got, want);
			}
}

/* What is near is found with few questions, however many there are. */
TEST(a_near_guess_asks_little)
{
	size_t n = 1000000, place = 500000;

	for (size_t guess = place - 4; guess <= place + 4; guess++) {
		size_t asked = 0;

		assert_int_equal(LOWER_BOUND_NEAR(i, n, guess, (asked++, i < place)), place);
		assert_in_range(asked, 1, 12);
	}
}
