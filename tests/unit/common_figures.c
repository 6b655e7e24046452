// SPDX-License-Identifier: GPL-2.0-or-later
#include "test.h"

#include "common/figures.h"

static void time_is(double ns, const char *want)
{
	char out[FIGURE_LEN];

	figure_time(out, ns);
	assert_string_equal(out, want);
}

static void percent_is(double percent, const char *want)
{
	char out[FIGURE_LEN];

	figure_percent(out, percent);
	assert_string_equal(out, want);
}

TEST(times_have_three_digits)
{
	time_is(0, "0");
	time_is(1, "1 ns");
	time_is(0.5, "0.50 ns");
	time_is(999, "999 ns");
	time_is(1000, "1.00 µs");
	time_is(12345, "12.3 µs");
	time_is(999400, "999 µs");
	time_is(999600, "1.00 ms");
	time_is(1e6, "1.00 ms");
	time_is(9.995e6, "10.0 ms");
	time_is(99.95e6, "100 ms");
	time_is(7.481e9, "7.48 s");
	time_is(86400e9, "86400 s");
	time_is(-5.2e9, "-5.20 s");
}

TEST(percentages_have_three_digits)
{
	percent_is(0, "0 %");
	percent_is(0.001, "<0.01 %");
	percent_is(0.62, "0.62 %");
	percent_is(9.994, "9.99 %");
	percent_is(35.34, "35.3 %");
	percent_is(99.94, "99.9 %");
	percent_is(100, "100 %");
	percent_is(1234, "1234 %");
}
