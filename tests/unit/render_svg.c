// SPDX-License-Identifier: GPL-2.0-or-later
// Text, numbers and colours of the document.
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "palette.h"
#include "svg.h"

static char *text(const char *p, size_t len)
{
	static char *out;
	size_t n;
	FILE *f;

	free(out);
	out = NULL;
	f = open_memstream(&out, &n);
	assert_non_null(f);
	svg_text(f, p, len);
	fclose(f);
	return out;
}

TEST(markup_is_escaped)
{
	static const char s[] = "<a b=\"c\" d='e'>&amp;]]>";

	assert_string_equal(text(s, sizeof(s) - 1),
			    "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;]]&gt;");
}

TEST(control_characters_become_their_pictures)
{
	assert_string_equal(text("a\0b\x1b\t\x7f\r", 7), "a\u2400b\u241b\u2409\u2421\u240d");
}

TEST(broken_utf8_becomes_replacement_characters)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "\xff", "\ufffd" },
		{ "a\xc3(", "a\ufffd(" },			    /* truncated */
		{ "\xc0\xaf", "\ufffd\ufffd" },			    /* overlong */
		{ "\xe0\x80\xaf", "\ufffd\ufffd\ufffd" },	    /* overlong */
		{ "\xed\xa0\x80", "\ufffd\ufffd\ufffd" },	    /* a surrogate */
		{ "\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd" }, /* above U+10FFFF */
		{ "\xf0\x9f\x94", "\ufffd" },			    /* truncated at the end */
		{ "\xef\xbf\xbe", "\ufffd" }, /* U+FFFE is not allowed in XML */
		{ "\xe2\x98\x83\xf0\x9f\x94\xa5", "\u2603\U0001f525" }, /* valid */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(text(cases[i].in, strlen(cases[i].in)), cases[i].out);
}

static void fixed(double v, const char *want)
{
	char out[SVG_FIXED_LEN + 1];

	*svg_put_fixed(out, v) = 0;
	assert_string_equal(out, want);
}

static void vlq(uint64_t v, const char *want)
{
	char out[SVG_VLQ_LEN + 1];

	*svg_put_vlq(out, v) = 0;
	assert_string_equal(out, want);
}

TEST(coordinates_have_one_decimal_at_most)
{
	fixed(0, "0");
	fixed(12, "12");
	fixed(3.14159, "3.1");
	fixed(0.96, "1");
	fixed(0.5, ".5");
	fixed(-0.14, "-.1");
	fixed(-10.25, "-10.3");
	fixed(1180, "1180");
	fixed(-9e17, "-900000000000000000");
}

TEST(numbers_are_in_base_64)
{
	vlq(0, "A");
	vlq(31, "f");
	vlq(32, "gB");
	vlq(1000, "of"); /* 8 + 32 * 31 */
	vlq((UINT64_C(1) << 53) - 1, "----------H");
	vlq(UINT64_MAX, "------------P");
}

static void count(double v, const char *want)
{
	char out[SVG_COUNT_LEN];

	svg_count(out, v);
	assert_string_equal(out, want);
}

TEST(counts_have_commas)
{
	count(0, "0");
	count(999, "999");
	count(1000, "1,000");
	count(1234567, "1,234,567");
	count(-1234, "-1,234");
	count(0.25, "0.25");
	count(12.5, "12.50");
	count(1234.56, "1,235");
	count(1e60, "1e+60");
}

TEST(palettes_map_names_to_ramps)
{
	static const struct {
		const char *palette, *frame;
		enum ramp ramp;
	} cases[] = {
		{ "hot", "main", RAMP_HOT },
		{ "hot", "--", RAMP_STACK_DELIM },
		{ "java", "-", RAMP_PART_DELIM },
		{ "java", "Ljava/lang/Thread:.run", RAMP_GREEN },
		{ "java", "org/x/Y", RAMP_GREEN },
		{ "java", "foo_[j]", RAMP_GREEN },
		{ "java", "foo_[i]", RAMP_AQUA },
		{ "java", "JavaThread::run", RAMP_YELLOW },
		{ "java", "sys_read_[k]", RAMP_ORANGE },
		{ "java", "read", RAMP_RED },
		{ "js", "LazyCompile:~main /a/b.js:1_[j]", RAMP_GREEN },
		{ "js", "Builtin:A_[j]", RAMP_AQUA },
		{ "js", "/a/b.js", RAMP_GREEN },
		{ "js", "v8::f", RAMP_YELLOW },
		{ "perl", "Perl_pp", RAMP_GREEN },
		{ "perl", "read", RAMP_RED },
		{ "wakeup", "x", RAMP_AQUA },
		{ "chain", "main", RAMP_BY_LINK },
		{ "chain", "ttwu_[w]", RAMP_LINK_1 },
		{ "chain", "[interrupt]", RAMP_INTERRUPT },
		{ "chain", "[not woken]", RAMP_NOT_WOKEN },
		{ "chain", "[unknown stack]", RAMP_BY_LINK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct palette *p = palette_find(cases[i].palette);

		assert_non_null(p);
		if (palette_ramp(p, cases[i].frame, strlen(cases[i].frame)) != cases[i].ramp)
			fail_msg("%s: '%s' is on another ramp", cases[i].palette, cases[i].frame);
	}
	assert_null(palette_find("nothing"));
}

TEST(a_name_has_the_same_shade_everywhere)
{
	assert_int_equal(palette_shade("read_[k]", 8), palette_shade("read", 4));
	for (char name[] = "a"; *name <= 'z'; ++*name)
		assert_true(palette_shade(name, 1) < PALETTE_SHADES);
}

TEST(each_link_has_a_shade_of_its_own)
{
	for (uint32_t a = 0; a <= PALETTE_LINKS; a++)
		for (uint32_t b = a + 1; b <= PALETTE_LINKS; b++)
			for (unsigned s = 0; s < PALETTE_SHADES; s++)
				assert_int_not_equal(palette_rgb(palette_link_ramp(a), s),
						     palette_rgb(palette_link_ramp(b), s));
}

TEST(backgrounds_are_names_or_rgb_values)
{
	uint32_t top, bottom;

	assert_true(palette_background("blue", &top, &bottom));
	assert_true(palette_background("#12aBfF", &top, &bottom));
	assert_int_equal(top, 0x12abff);
	assert_int_equal(bottom, 0x12abff);
	assert_false(palette_background("#12345", &top, &bottom));
	assert_false(palette_background("#12345g", &top, &bottom));
	assert_false(palette_background("pink", &top, &bottom));
}
