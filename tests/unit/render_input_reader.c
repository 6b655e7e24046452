// SPDX-License-Identifier: GPL-2.0-or-later
// All lines decide whether lines have one count or two.
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "input_reader.h"
#include "layout.h"

#define LINES(...) ((const char *const[]) { __VA_ARGS__, NULL })

/* Frames as "NAME total", of a difference "NAME total delta", separated by "; ". */
static void check(const char *const *lines, enum input_counts counts, size_t held_max,
		  const char *want)
{
	struct tree t;
	struct input_reader in;
	struct layout l;
	char got[2048] = "";
	size_t n = 0;

	assert_int_equal(tree_init(&t), 0);
	assert_int_equal(input_reader_open(&in, &t, false, counts), 0);
	if (held_max)
		in.held_max = held_max;
	for (; *lines; lines++) {
		struct folded_line line;

		assert_int_equal(folded_parse(*lines, *lines + strlen(*lines), &line), FOLDED_OK);
		assert_int_equal(input_reader_line(&in, &line), 0);
	}
	assert_int_equal(input_reader_close(&in), 0);
	assert_int_equal(tree_finish(&t), 0);
	assert_int_equal(layout_tree(&l, &t, 0, 1000), 0);
	for (uint32_t i = 1; i < l.n; i++) {
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%.*s %g", i > 1 ? "; " : "",
				      (int)name_len(&t.names, l.frame[i].name),
				      name_str(&t.names, l.frame[i].name), l.frame[i].total);
		if (t.diff)
			n += (size_t)snprintf(got + n, sizeof(got) - n, " %+g", l.delta[i].total);
	}
	assert_string_equal(got, want);
	layout_free(&l);
	tree_free(&t);
}

TEST(a_name_that_ends_in_a_number_makes_no_difference)
{
	check(LINES("GC Thread 1 5", "main;work 90", "main 5"), COUNTS_ASK, 0,
	      "GC Thread 1 5; main 95; work 90");
	check(LINES("main 5", "main;work 90", "GC Thread 1 5"), COUNTS_ASK, 0,
	      "GC Thread 1 5; main 95; work 90");
}

TEST(one_line_with_one_count_keeps_the_differences_of_the_others)
{
	check(LINES("a;b 10", "a;c 5 10", "a;d 8 2"), COUNTS_ASK, 0,
	      "a 22 -1; b 10 +0; c 10 +5; d 2 -6");
	check(LINES("a;c 5 10", "a;d 8 2", "a;b 10"), COUNTS_ASK, 0,
	      "a 22 -1; b 10 +0; c 10 +5; d 2 -6");
}

TEST(the_caller_can_decide)
{
	check(LINES("a 1 5", "b 2 6"), COUNTS_ONE, 0, "a 1 5; b 2 6");
	check(LINES("a 1 5", "b 6", "c 7"), COUNTS_TWO, 0, "a 5 +4; b 6 +0; c 7 +0");
}

/* Of more than the limit the lines so far decide, and nothing is lost. */
TEST(a_limit_holds_for_what_is_kept)
{
	check(LINES("a 1 5", "b 2 6", "c 3 7", "d 8"), COUNTS_ASK, 1,
	      "a 5 +4; b 6 +4; c 7 +4; d 8 +0");
	check(LINES("x 1", "y 2", "a 1 5", "b 2 6"), COUNTS_ASK, 1, "a 1 5; b 2 6; x 1; y 2");
}
