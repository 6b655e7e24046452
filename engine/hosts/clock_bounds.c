// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock_bounds.h"

/* a, which is known to hold ns away, holds here less exactly. */
static int64_t lower(int64_t low_ns, uint64_t ns)
{
	int64_t drift = (int64_t)(ns / CLOCK_DRIFT) + 1;

	return low_ns < INT64_MIN + drift ? INT64_MIN : low_ns - drift;
}

static int64_t higher(int64_t high_ns, uint64_t ns)
{
	int64_t drift = (int64_t)(ns / CLOCK_DRIFT) + 1;

	return high_ns > INT64_MAX - drift ? INT64_MAX : high_ns + drift;
}

/* Makes b as narrow as its neighbour allows. */
static void narrow(struct clock_bound *b, const struct clock_bound *by)
{
	uint64_t ns = b->at_ns > by->at_ns ? b->at_ns - by->at_ns : by->at_ns - b->at_ns;
	int64_t low = lower(by->low_ns, ns), high = higher(by->high_ns, ns);

	if (by->low_ns != INT64_MIN && low > b->low_ns)
		b->low_ns = low;
	if (by->high_ns != INT64_MAX && high < b->high_ns)
		b->high_ns = high;
}

void clock_bounds_tighten(struct clock_bound *b, size_t n)
{
	for (size_t i = 1; i < n; i++)
		narrow(&b[i], &b[i - 1]);
	for (size_t i = n; i-- > 1;)
		narrow(&b[i - 1], &b[i]);
}
