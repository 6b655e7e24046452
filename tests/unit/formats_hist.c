// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=hist: how long waits were. */
#include "test.h"
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

static void gives(const char *script, const struct options *o, const char *expected)
{
	expect_text(script_formatted(script, o, "hist"), expected);
}

TEST(lengths_by_powers_of_two)
{
	struct options o;

	options_init(&o);
	gives(script_lengths, &o,
	      "        msecs                  : count     distribution\n"
	      "        0.000 -> 0.001         : 1        |********************                    "
	      "|\n"
	      "        0.002 -> 0.003         : 2        "
	      "|****************************************|\n"
	      "        0.004 -> 0.007         : 0        |                                        "
	      "|\n"
	      "        0.008 -> 0.015         : 1        |********************                    "
	      "|\n");
	o.parts = PART_BLOCKED; /* the second wait is 1 us asleep */
	gives(script_lengths, &o,
	      "        msecs                  : count     distribution\n"
	      "        0.000 -> 0.001         : 2        "
	      "|****************************************|\n"
	      "        0.002 -> 0.003         : 1        |********************                    "
	      "|\n"
	      "        0.004 -> 0.007         : 0        |                                        "
	      "|\n"
	      "        0.008 -> 0.015         : 1        |********************                    "
	      "|\n");
	o.min_wait_ns = 1000000;
	gives(script_lengths, &o, "");
}

TEST(lengths_are_whole_where_the_window_cuts)
{
	struct options o;

	options_init(&o);
	o.from_ns = 31500; /* in A's wait of 3 us, of which it leaves 1.5 */
	o.to_ns = 41000;   /* in B's wait of 9 us, of which it leaves 1 */
	gives(script_lengths, &o,
	      "        msecs                  : count     distribution\n"
	      "        0.000 -> 0.001         : 0        |                                        "
	      "|\n"
	      "        0.002 -> 0.003         : 1        "
	      "|****************************************|\n"
	      "        0.004 -> 0.007         : 0        |                                        "
	      "|\n"
	      "        0.008 -> 0.015         : 1        "
	      "|****************************************|\n");
}

TEST(lengths_by_name_and_in_ns)
{
	struct options o;

	options_init(&o);
	o.by_name = true;
	gives(script_lengths, &o,
	      "name = B\n"
	      "        msecs                  : count     distribution\n"
	      "        0.000 -> 0.001         : 0        |                                        "
	      "|\n"
	      "        0.002 -> 0.003         : 0        |                                        "
	      "|\n"
	      "        0.004 -> 0.007         : 0        |                                        "
	      "|\n"
	      "        0.008 -> 0.015         : 1        "
	      "|****************************************|\n"
	      "\n"
	      "name = A\n"
	      "        msecs                  : count     distribution\n"
	      "        0.000 -> 0.001         : 1        |********************                    "
	      "|\n"
	      "        0.002 -> 0.003         : 2        "
	      "|****************************************|\n");
	o.top = 1;
	gives(script_lengths, &o,
	      "name = B\n"
	      "        msecs                  : count     distribution\n"
	      "        0.000 -> 0.001         : 0        |                                        "
	      "|\n"
	      "        0.002 -> 0.003         : 0        |                                        "
	      "|\n"
	      "        0.004 -> 0.007         : 0        |                                        "
	      "|\n"
	      "        0.008 -> 0.015         : 1        "
	      "|****************************************|\n"
	      "\n"
	      "name = [other]\n"
	      "        msecs                  : count     distribution\n"
	      "        0.000 -> 0.001         : 1        |********************                    "
	      "|\n"
	      "        0.002 -> 0.003         : 2        "
	      "|****************************************|\n");
	o.unit = UNIT_NS;
	o.max_wait_ns = 1999;
	gives(script_lengths, &o,
	      "name = A\n"
	      "     nsecs               : count     distribution\n"
	      "         0 -> 1          : 0        |                                        |\n"
	      "         2 -> 3          : 0        |                                        |\n"
	      "         4 -> 7          : 0        |                                        |\n"
	      "         8 -> 15         : 0        |                                        |\n"
	      "        16 -> 31         : 0        |                                        |\n"
	      "        32 -> 63         : 0        |                                        |\n"
	      "        64 -> 127        : 0        |                                        |\n"
	      "       128 -> 255        : 0        |                                        |\n"
	      "       256 -> 511        : 0        |                                        |\n"
	      "       512 -> 1023       : 0        |                                        |\n"
	      "      1024 -> 2047       : 1        |****************************************|\n");
}

TEST(numbers_of_more_than_ten_digits)
{
	struct options o = script_options(101);
	char *text, *last;

	o.unit = UNIT_NS;
	text = script_formatted("0 c0 - R > A\n1 c0 A S > - a\nend 5000001\n", &o, "hist");
	assert_memory_equal(text, "               nsecs                         : count", 52);
	last = strstr(text, "          4294967296 -> 8589934591           : 1        "
			    "|********************|\n");
	assert_non_null(last);
	assert_null(strchr(strchr(last, '\n') + 1, '\n'));
	free(text);
}

TEST(lengths_in_the_unit_of_tables_or_the_one_that_is_asked_for)
{
	struct options o = script_options(101);
	char *text;

	text = script_formatted("0 c0 - R > A\n1 c0 A S > - a\nend 2000001\n", &o, "hist");
	assert_memory_equal(text, "        msecs                  : count", 38);
	assert_non_null(strstr(text, "\n    1 048.576 -> 2 097.151     : 1        |*****"));
	free(text);
	o.given |= GIVEN_UNIT;
	text = script_formatted("0 c0 - R > A\n1 c0 A S > - a\nend 2000001\n", &o, "hist");
	assert_memory_equal(text, "     usecs               : count", 32);
	assert_non_null(strstr(text, "\n   1048576 -> 2097151    : 1        |*****"));
	free(text);
}
