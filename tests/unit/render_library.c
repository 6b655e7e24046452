// SPDX-License-Identifier: GPL-2.0-or-later
// The renderer as other programs link it: include/flamegraph.h.
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/flamegraph.h"

/* The document of these pieces of folded lines, which the caller frees; NULL: see *err. */
static char *document(const struct flamegraph_options *o, const char *const *piece, int *err)
{
	struct flamegraph *g;
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	assert_non_null(f);
	*err = flamegraph_new(&g, o);
	for (; !*err && *piece; piece++)
		*err = flamegraph_add(g, *piece, strlen(*piece));
	if (!*err)
		*err = flamegraph_write(g, f);
	flamegraph_free(g);
	fclose(f);
	if (!*err)
		return out;
	assert_string_equal(out, "");
	free(out);
	return NULL;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in: %.400s", part, text);
}

#define PIECES(...) ((const char *const[]) { __VA_ARGS__, NULL })

/* The text of the element of slices. */
static void assert_slices(const char *svg, const char *want)
{
	char element[200];

	snprintf(element, sizeof(element), "<metadata id=\"fg-slices\">%s</metadata>", want);
	assert_has(svg, element);
}

TEST(slices_say_which_part_of_a_frame_is_of_which_time)
{
	struct flamegraph_options o = { .slices = 3, .slice_factor = 0.5 };
	const char *all = "a;b 10\na;b;c 4\nd 3\n", *first = "a;b 8\nd 6\n";
	const char *last = "a;b 12\na;b;c 8\na;b;x;y 2\n";
	struct flamegraph *g;
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	assert_int_equal(flamegraph_new(&g, &o), 0);
	assert_int_equal(flamegraph_add(g, all, strlen(all)), 0);
	assert_int_equal(flamegraph_add_slice(g, first, strlen(first), 0), 0);
	assert_int_equal(flamegraph_add_slice(g, last, strlen(last), 2), 0);
	assert_int_equal(flamegraph_add_slice(g, last, strlen(last), 3), -EINVAL);
	assert_int_equal(flamegraph_add(g, all, strlen(all)), -EINVAL);
	assert_int_equal(flamegraph_write(g, f), 0);
	assert_int_equal(flamegraph_write(g, f), -EINVAL);
	flamegraph_free(g);
	fclose(f);
	/* all a b c d. b: 8 of slice 0, 14 of slice 2, with what has no frame; c: 8 of 2; d: 6 of 0
	 */
	assert_slices(out, "CCAICOBBCIBBAG");
	assert_has(out, "data-slices=\"3\" data-slice-factor=\"0.5\"");
	free(out);
}

TEST(slices_go_with_frames_that_are_left_out)
{
	struct flamegraph_options o = { .slices = 2, .max_frames = 3, .minwidth = 20 };
	struct flamegraph *g;
	char text[400] = "a 100\n", *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	for (int i = 0; i < 9; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "a;b%d;c 1\n", i);
	assert_int_equal(flamegraph_new(&g, &o), 0);
	assert_int_equal(flamegraph_add(g, text, strlen(text)), 0);
	assert_int_equal(flamegraph_add_slice(g, text, strlen(text), 1), 0);
	assert_int_equal(flamegraph_write(g, f), 0);
	flamegraph_free(g);
	fclose(f);
	/* all, a, what it has besides b0, b0, what it has besides: 100 are a's, 8 and 1 the others'
	 */
	assert_slices(out, "BBBkDBBBICBBB");
	free(out);
}

TEST(lines_in_pieces_make_one_document)
{
	struct flamegraph_options o = { .title = "T" };
	char *one, *two;
	int err;

	one = document(&o, PIECES("a;b 1\na;c 2\nd 3\n"), &err);
	assert_int_equal(err, 0);
	assert_memory_equal(one, "<?xml", 5);
	assert_has(one, "<title>c (2 samples, 33.3 %)</title>");
	assert_has(one, "</svg>\n");
	two = document(&o, PIECES("a;b 1", "a;c 2\n", "", "d 3"), &err);
	assert_int_equal(err, 0);
	assert_string_equal(one, two);
	free(one);
	free(two);
}

TEST(options_take_effect)
{
	struct flamegraph_options o = {
		.title = "A & B",
		.subtitle = "sub",
		.countname = "ns",
		.colors = "chain",
		.bgcolors = "#123456",
		.width = 500,
		.height = 20,
		.inverted = true,
		.embedded = true,
	};
	char *svg;
	int err;

	svg = document(&o, PIECES("A;f;--;w;B;[running] 2000\n"), &err);
	assert_int_equal(err, 0);
	assert_memory_equal(svg, "<svg class=\"flamegraph\"", 23);
	assert_has(svg, "<title>A &amp; B</title>");
	assert_has(svg, ">sub</text>");
	assert_has(svg, "<title>w (2.00 µs, 100 %)</title>");
	assert_has(svg, "width=\"500\"");
	assert_has(svg, "height=\"19\"");
	assert_has(svg, "#123456");
	assert_null(strstr(svg, "<meta xmlns"));
	free(svg);
}

/* The second graph of a page: its own keys, and no name that another one's ids could give it. */
TEST(a_page_can_have_several_graphs)
{
	struct flamegraph_options o = { .title = "A & B", .embedded = true, .keys = "two." };
	char *svg;
	int err;

	svg = document(&o, PIECES("a 1\n"), &err);
	assert_int_equal(err, 0);
	assert_has(svg, " aria-label=\"A &amp; B\"");
	assert_null(strstr(svg, "aria-labelledby"));
	assert_has(svg, " data-keys=\"two.\"");
	free(svg);
}

TEST(invalid_options_are_rejected)
{
	static const struct flamegraph_options bad[] = {
		{ .colors = "pink" }, { .bgcolors = "pink" }, { .width = 12 },
		{ .height = 1e9 },    { .fontsize = 0.5 },
	};
	int err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_null(document(&bad[i], PIECES("a 1"), &err));
		assert_int_equal(err, -EINVAL);
	}
	assert_null(document(&(struct flamegraph_options) { 0 }, PIECES("a 0\nb\n"), &err));
	assert_int_equal(err, -ENODATA);
}

TEST(invalid_lines_are_counted)
{
	struct flamegraph *g;

	assert_int_equal(flamegraph_new(&g, &(struct flamegraph_options) { 0 }), 0);
	assert_int_equal(flamegraph_add(g, "a 1\nb\n\nc -1\n", 12), 0);
	assert_int_equal(flamegraph_bad_lines(g), 2);
	flamegraph_free(g);
}

/* The colour that a frame has in a document is the one that the library tells. */
TEST(colours_are_those_of_the_picture)
{
	static const char *const names[] = { "[running]", "[runnable]", "[throttled]", "[timer]",
					     "[network]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char line[64], color[32];
		char *text;
		int err;

		snprintf(line, sizeof(line), "a;b;--;%s 100\n", names[i]);
		snprintf(color, sizeof(color), "fill=\"#%06x\"", flamegraph_frame_color(names[i]));
		text = document(&(struct flamegraph_options) { .colors = "chain" }, PIECES(line),
				&err);
		assert_non_null(text);
		if (!strstr(text, color))
			fail_msg("%s: no %s", names[i], color);
		free(text);
	}
	assert_int_equal(flamegraph_frame_color("[disk]"),
			 flamegraph_frame_color("[disk vda read]"));
	assert_int_not_equal(flamegraph_frame_color("[disk]"), flamegraph_frame_color("[timer]"));
}
