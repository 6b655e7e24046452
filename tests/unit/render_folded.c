// SPDX-License-Identifier: GPL-2.0-or-later
// Parsing folded lines: stacks, counts, invalid lines.
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "folded.h"

static struct folded_line line;

static enum folded_err parse(const char *s)
{
	return folded_parse(s, s + strlen(s), &line);
}

static void expect(const char *s, const char *stack, double count)
{
	assert_int_equal(parse(s), FOLDED_OK);
	assert_int_equal(line.one_len, strlen(stack));
	assert_memory_equal(line.stack, stack, line.one_len);
	assert_float_equal(line.count, count, 1e-9);
}

TEST(a_line_is_a_stack_a_blank_and_a_count)
{
	expect("a;b;c 31", "a;b;c", 31);
	expect("a;b c;d 7", "a;b c;d", 7);
	expect("a\t7", "a", 7);
	expect("a;b 5\r", "a;b", 5);
	expect("a;b 5  ", "a;b", 5);
	expect("a;  5", "a; ", 5);
	expect(" 5", "", 5);
	expect("a 18446744073709551615", "a", 18446744073709551615.0);
}

TEST(counts_may_have_a_point)
{
	expect("a 1.5", "a", 1.5);
	assert_int_equal(line.decimals, 1);
	expect("a 2.", "a", 2);
	assert_int_equal(line.decimals, 0);
	expect("a 0.00250", "a", 0.0025);
	assert_int_equal(line.decimals, 4);
}

TEST(invalid_counts_are_rejected)
{
	static const struct {
		const char *line;
		enum folded_err err;
	} bad[] = {
		{ "", FOLDED_EMPTY },
		{ " \t\r", FOLDED_EMPTY },
		{ "a;b", FOLDED_NO_COUNT },
		{ "a;b5", FOLDED_NO_COUNT },
		{ "a;b x5", FOLDED_NO_COUNT },
		{ "a;b 5x", FOLDED_NO_COUNT },
		{ "a e5", FOLDED_NO_COUNT },
		{ "a 1e", FOLDED_NO_COUNT },
		{ "a 1e1234", FOLDED_NO_COUNT },
		{ "a 1e20", FOLDED_TOO_BIG },
		{ "a -1e-7", FOLDED_NEGATIVE },
		{ "a .5", FOLDED_NO_COUNT },
		{ "a 1.2.3", FOLDED_NO_COUNT },
		{ "a .", FOLDED_NO_COUNT },
		{ "5", FOLDED_NO_COUNT },
		{ "a +5", FOLDED_NO_COUNT },
		{ "a -5", FOLDED_NEGATIVE },
		{ "a 18446744073709551616", FOLDED_TOO_BIG },
		{ "a 99999999999999999999999999999999", FOLDED_TOO_BIG },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (parse(bad[i].line) != bad[i].err)
			fail_msg("'%s': %s, not: %s", bad[i].line,
				 folded_strerror(parse(bad[i].line)), folded_strerror(bad[i].err));
}

TEST(two_counts_are_before_and_after)
{
	assert_int_equal(parse("a;b 3 5"), FOLDED_OK);
	assert_true(line.two);
	assert_float_equal(line.before, 3, 0);
	assert_float_equal(line.count, 5, 0);
	assert_int_equal(line.len, 3);
	expect("a;b 3 5", "a;b 3", 5);
	assert_int_equal(parse("a;b 5"), FOLDED_OK);
	assert_false(line.two);
	assert_int_equal(parse("GC Thread 1.5 5"), FOLDED_OK);
	assert_int_equal(line.decimals, 0);
	assert_int_equal(line.decimals_before, 1);
}

TEST(counts_may_have_an_exponent)
{
	expect("a 1e-7", "a", 1e-7);
	assert_int_equal(line.decimals, 7);
	expect("a 2.5E+3", "a", 2500);
	assert_int_equal(line.decimals, 0);
	expect("a 1.25e1", "a", 12.5);
	assert_int_equal(line.decimals, 1);
	expect("a;b1e5 3", "a;b1e5", 3);
}

/* ---- whole files ---- */

struct seen {
	char text[512];
	int limit; /* stop after this many lines; 0: never */
};

static int on_line(void *ctx, const struct folded_line *l)
{
	struct seen *s = ctx;
	size_t n = strlen(s->text);

	snprintf(s->text + n, sizeof(s->text) - n, "%.*s=%g/%g ", (int)(l->len > 20 ? 20 : l->len),
		 l->stack, l->before, l->count);
	return s->limit && !--s->limit ? -7 : 0;
}

static int on_bad(void *ctx, uint64_t no, enum folded_err err)
{
	struct seen *s = ctx;
	size_t n = strlen(s->text);

	snprintf(s->text + n, sizeof(s->text) - n, "bad:%d:%d ", (int)no, (int)err);
	return 0;
}

static int read_text(const char *text, size_t len, struct folded_stats *st, struct seen *s)
{
	FILE *f = tmpfile();
	int ret;

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	rewind(f);
	memset(st, 0, sizeof(*st));
	ret = folded_read(fileno(f), st, on_line, on_bad, s);
	fclose(f);
	return ret;
}

TEST(bad_lines_are_numbered_and_the_rest_is_read)
{
	static const char text[] = "a 1\n\nb\nc 2\nd -3\ne 4";
	struct folded_stats st;
	struct seen s = { .limit = 0 };

	assert_int_equal(read_text(text, strlen(text), &st, &s), 0);
	assert_string_equal(s.text, "a=0/1 bad:3:2 c=0/2 bad:5:3 e=0/4 ");
	assert_int_equal(st.good, 3);
	assert_int_equal(st.bad, 2);
	assert_int_equal(st.lines, 6);
}

TEST(a_byte_order_mark_belongs_to_no_name)
{
	static const char text[] = "\xef\xbb\xbf"
				   "a 1\n\xef\xbb\xbf"
				   "b 2\n";
	struct folded_stats st;
	struct seen s = { .limit = 0 };

	assert_int_equal(read_text(text, strlen(text), &st, &s), 0);
	assert_string_equal(s.text, "a=0/1 \xef\xbb\xbf"
				    "b=0/2 ");
}

TEST(a_line_may_be_longer_than_any_buffer)
{
	static char text[5 << 20];
	struct folded_stats st;
	struct seen s = { .limit = 0 };

	memset(text, 'x', sizeof(text));
	memcpy(text + sizeof(text) - 8, " 12\na 3\n", 8);
	assert_int_equal(read_text(text, sizeof(text), &st, &s), 0);
	assert_string_equal(s.text, "xxxxxxxxxxxxxxxxxxxx=0/12 a=0/3 ");
}

TEST(a_callback_can_stop_the_reading)
{
	static const char text[] = "a 1\nb 2\nc 3\n";
	struct folded_stats st;
	struct seen s = { .limit = 2 };

	assert_int_equal(read_text(text, strlen(text), &st, &s), -7);
	assert_string_equal(s.text, "a=0/1 b=0/2 ");
}

TEST(a_file_that_cannot_be_read_is_an_error)
{
	struct folded_stats st = { 0 };
	struct seen s = { .limit = 0 };

	assert_true(folded_read(-1, &st, on_line, on_bad, &s) < 0);
}
