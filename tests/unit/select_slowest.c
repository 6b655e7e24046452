// SPDX-License-Identifier: GPL-2.0-or-later
/* Which requests are the slowest: chain-semantics, section 19. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

#include "select/endpoint_requests.h"

#define MOST 1200

/* So many of requests that took so long, in this order, are the slowest. */
static size_t slowest_of(const uint64_t *took_ns, size_t n)
{
	struct wait *waits = calloc(n, sizeof(*waits));
	struct chosen_wait *at = calloc(n, sizeof(*at));
	struct requests_taken of;

	assert_non_null(waits);
	assert_non_null(at);
	for (size_t i = 0; i < n; i++) {
		waits[i].out_ns = 1000 + i;
		waits[i].in_ns = waits[i].out_ns + took_ns[i];
		at[i].wait = &waits[i];
	}
	of = requests_slowest((struct requests_taken) { at, n });
	assert_ptr_equal(of.at + of.n, at + n);
	free(waits);
	free(at);
	return of.n;
}

/* So many are, of `all`: the last ones took these, the others 10. */
#define SLOWEST(all, ...)                               \
	slowest_with(all, (uint64_t[]) { __VA_ARGS__ }, \
		     sizeof((uint64_t[]) { __VA_ARGS__ }) / sizeof(uint64_t))

static size_t slowest_with(size_t all, const uint64_t *slow, size_t n)
{
	static uint64_t took_ns[MOST];

	for (size_t i = 0; i < all; i++)
		took_ns[i] = i < all - n ? 10 : slow[i - (all - n)];
	return slowest_of(took_ns, all);
}

static void a_hundredth_and_up_to_five_that_are_half_as_slow(void **state)
{
	(void)state;
	assert_int_equal(SLOWEST(200, 206, 206, 206, 206, 206, 206, 400), 5);
	assert_int_equal(SLOWEST(200, 210, 210, 410), 3); /* half of 400 beyond the median */
	assert_int_equal(SLOWEST(200, 209, 209, 410), 2);
	assert_int_equal(SLOWEST(199, 209, 209, 410), 1);	   /* one bad one alone */
	assert_int_equal(SLOWEST(30, 400, 400, 400, 400, 400), 3); /* a tenth */
	assert_int_equal(SLOWEST(9, 400, 400, 400), 1);
	assert_int_equal(SLOWEST(1, 10), 1);
	assert_int_equal(SLOWEST(50, 10), 1); /* nobody is slow */
	assert_int_equal(SLOWEST(1200, 400, 400), 12);
}

/* The same rule, asked of each number: n are enough, and no fewer are. */
static void the_rule_holds_for_random_requests(void **state)
{
	static uint64_t took_ns[MOST];

	(void)state;
	srand(54);
	for (int round = 0; round < 3000; round++) {
		size_t n = 1 + (size_t)rand() % (round % 3 ? 120 : MOST), median, least, want = 0;
		uint64_t most_ns;

		for (size_t i = 0, at = 0; i < n; i++)
			took_ns[i] = at += (size_t)rand() % (rand() % 8 ? 3 : 90);
		median = took_ns[(n + 1) / 2 - 1];
		most_ns = took_ns[n - 1] - median;
		least = n < 100 ? 1 : n / 100;
		for (size_t i = 0; i < n; i++) {
			size_t rank = n - i; /* 1: the slowest one */
			uint64_t over_ns = took_ns[i] > median ? took_ns[i] - median : 0;

			want += rank <= least ||
				(rank <= 5 && 10 * rank <= n && over_ns && 2 * over_ns >= most_ns);
		}
		assert_int_equal(slowest_of(took_ns, n), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hundredth_and_up_to_five_that_are_half_as_slow),
		cmocka_unit_test(the_rule_holds_for_random_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
