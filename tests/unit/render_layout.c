// SPDX-License-Identifier: GPL-2.0-or-later
// Merging and layout: folded lines in, frames out. Expected frames are written as one dot for each
// level of depth, the name, and [start end).
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "input_queue.h"
#include "folded.h"
#include "layout.h"
#include "palette.h"
#include "sums.h"
#include "tree.h"

#define REVERSE 1
#define IN_ORDER 2
#define DIFF 4
#define GONE 8

/* Lay out the lines with these counts kept in any case and this limit of frames, and compare. */
static void check(const char *const *lines, unsigned flags, double shown, uint32_t most,
		  const char *want)
{
	char got[4096];
	size_t n = 0;
	struct layout l;
	struct input_queue queue;
	struct tree t;

	assert_int_equal(tree_init(&t), 0);
	assert_int_equal(input_queue_open(&queue, &t, flags & REVERSE), 0);
	t.in_order = flags & IN_ORDER;
	t.diff = flags & DIFF;
	for (; *lines; lines++) {
		struct folded_line f;

		assert_int_equal(folded_parse(*lines, *lines + strlen(*lines), &f), FOLDED_OK);
		assert_int_equal(input_queue_add(&queue, f.stack, t.diff ? f.len : f.one_len,
						 f.count, f.before),
				 0);
	}
	assert_int_equal(input_queue_close(&queue), 0);
	if (flags & GONE)
		assert_int_equal(diff_add_gone(&t), 0);
	assert_int_equal(tree_finish(&t), 0);
	assert_int_equal(layout_tree(&l, &t, shown, most), 0);
	for (uint32_t i = 0; i < l.n; i++) {
		const struct frame *f = &l.frame[i];

		n += (size_t)snprintf(got + n, sizeof(got) - n, "%.*s%.*s[%g %g)", (int)f->depth,
				      "..........", (int)name_len(&t.names, f->name),
				      name_str(&t.names, f->name), f->start, f->start + f->total);
		if (t.diff)
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%+g/%+g", l.delta[i].self,
					      l.delta[i].total);
		n += (size_t)snprintf(got + n, sizeof(got) - n, "\n");
	}
	layout_free(&l);
	tree_free(&t);
	assert_string_equal(got, want);
}

#define LINES(...) ((const char *const[]) { __VA_ARGS__, NULL })
#define ALL UINT32_MAX
#define NONE 1e300 /* so many counts are shown */

TEST(stacks_merge_from_the_root)
{
	check(LINES("a;b;c 3", "a;b;d 2", "a;b 1", "e 4"), 0, 0, ALL,
	      "all[0 10)\n"
	      ".a[0 6)\n"
	      "..b[0 6)\n"
	      "...c[1 4)\n"
	      "...d[4 6)\n"
	      ".e[6 10)\n");
}

TEST(the_same_stack_twice_adds_up)
{
	check(LINES("a;b 1", "x 1", "a;b 1", "a;b;c 1", "a;b 1"), 0, 0, ALL,
	      "all[0 5)\n"
	      ".a[0 4)\n"
	      "..b[0 4)\n"
	      "...c[3 4)\n"
	      ".x[4 5)\n");
}

TEST(a_node_can_be_split_anywhere)
{
	check(LINES("a;b;c;d;e 1", "a;b;c;d;f 2", "a;b;x 4", "a 8", "a;b;c;d 16"), 0, 0, ALL,
	      "all[0 31)\n"
	      ".a[0 31)\n"
	      "..b[8 31)\n"
	      "...c[8 27)\n"
	      "....d[8 27)\n"
	      ".....e[24 25)\n"
	      ".....f[25 27)\n"
	      "...x[27 31)\n");
}

TEST(siblings_are_in_the_order_of_sorted_lines)
{
	/* In sorted lines, foo1;x precedes foo;x, as `1` is less than `;`, but foo 1 precedes foo1.
	 */
	check(LINES("foo;x 1", "foo1;x 1", "b 1", "B 1"), 0, 0, ALL,
	      "all[0 4)\n"
	      ".B[0 1)\n"
	      ".b[1 2)\n"
	      ".foo1[2 3)\n"
	      "..x[2 3)\n"
	      ".foo[3 4)\n"
	      "..x[3 4)\n");
	check(LINES("foo1 1", "foo 1"), 0, 0, ALL,
	      "all[0 2)\n"
	      ".foo[0 1)\n"
	      ".foo1[1 2)\n");
}

TEST(the_widest_callee_of_a_chain_comes_first)
{
	check(LINES("a;b;--;w 1", "a;c;--;w;x 2", "a;c;--;w;y 3", "b 9", "0 1"), 0, 0, ALL,
	      "all[0 16)\n"
	      ".b[0 9)\n"
	      ".a[9 15)\n"
	      "..c[9 14)\n"
	      "...--[9 14)\n"
	      "....w[9 14)\n"
	      ".....y[9 12)\n"
	      ".....x[12 14)\n"
	      "..b[14 15)\n"
	      "...--[14 15)\n"
	      "....w[14 15)\n"
	      ".0[15 16)\n");
}

TEST(empty_names_are_dropped_only_at_the_end)
{
	check(LINES("a;;b;; 1", " 2"), 0, 0, ALL,
	      "all[0 3)\n"
	      ".a[2 3)\n"
	      "..[2 3)\n"
	      "...b[2 3)\n");
}

TEST(reverse_merges_from_the_leaves)
{
	check(LINES("a;b;c 3", "d;c 2"), REVERSE, 0, ALL,
	      "all[0 5)\n"
	      ".c[0 5)\n"
	      "..b[0 3)\n"
	      "...a[0 3)\n"
	      "..d[3 5)\n");
}

TEST(a_flame_chart_keeps_the_order_of_the_lines)
{
	check(LINES("b;x 1", "b;y 1", "a 1", "b;x 1", "b 1", "b;x 1"), IN_ORDER, 0, ALL,
	      "all[0 6)\n"
	      ".b[0 2)\n"
	      "..x[0 1)\n"
	      "..y[1 2)\n"
	      ".a[2 3)\n"
	      ".b[3 6)\n"
	      "..x[3 4)\n"
	      "..x[5 6)\n");
}

TEST(differences_are_summed_up_the_tree)
{
	check(LINES("a;b 1 3", "a;c 5 1", "a 2 2"), DIFF, 0, ALL,
	      "all[0 6)+0/-2\n"
	      ".a[0 6)+0/-2\n"
	      "..b[2 5)+2/+2\n"
	      "..c[5 6)-4/-4\n");
}

TEST(stacks_that_only_the_first_input_has_get_a_region)
{
	check(LINES("a;b 1 3", "a;c;d 5 0"), DIFF | GONE, 0, ALL,
	      "all[0 8)+0/-3\n"
	      ".[only before][0 5)+0/+0\n"
	      "..a[0 5)+0/+0\n"
	      "...c[0 5)+0/+0\n"
	      "....d[0 5)+0/+0\n"
	      ".a[5 8)+0/-3\n"
	      "..b[5 8)+2/+2\n"
	      "..c[8 8)+0/-5\n"
	      "...d[8 8)-5/-5\n");
}

TEST(an_input_may_have_frames_named_like_the_region)
{
	check(LINES("a;b;d 1 0", "[only before];a;b;c 2 0"), DIFF | GONE, 0, ALL,
	      "all[0 3)+0/-3\n"
	      ".[only before][0 3)+0/-2\n"
	      "..[only before][0 2)+0/+0\n"
	      "...a[0 2)+0/+0\n"
	      "....b[0 2)+0/+0\n"
	      ".....c[0 2)+0/+0\n"
	      "..a[2 3)+0/-2\n"
	      "...b[2 3)+0/-2\n"
	      "....c[2 2)-2/-2\n"
	      "....d[2 3)+0/+0\n"
	      ".a[3 3)+0/-1\n"
	      "..b[3 3)+0/-1\n"
	      "...d[3 3)-1/-1\n");
}

TEST(frames_that_are_shown_are_kept_beyond_the_limit)
{
	check(LINES("a;x 1", "a;y;z 9", "b 1"), 0, 2, 1,
	      "all[0 11)\n"
	      ".a[0 10)\n"
	      "..y[1 10)\n"
	      "...z[1 10)\n");
}

TEST(the_widest_frames_are_kept_up_to_the_limit)
{
	check(LINES("a;x 1", "a;y;z 90", "b 1", "c 2"), 0, NONE, 4,
	      "all[0 94)\n"
	      ".a[0 91)\n"
	      "..y[1 91)\n"
	      "...z[1 91)\n");
}

/* At the limit equally wide frames are cut one by one, also within a stack. */
TEST(of_equally_wide_frames_the_first_ones_are_kept)
{
	check(LINES("a;b;c;d 5", "e 5"), 0, NONE, 3,
	      "all[0 10)\n"
	      ".a[0 5)\n"
	      "..b[0 5)\n");
	check(LINES("a;b;c;d 5"), 0, NONE, 3,
	      "all[0 5)\n"
	      ".a[0 5)\n"
	      "..b[0 5)\n");
	check(LINES("e 5", "a;b 5", "c;d;f 5", "g 1"), 0, NONE, 5,
	      "all[0 16)\n"
	      ".a[0 5)\n"
	      "..b[0 5)\n"
	      ".c[5 10)\n"
	      "..d[5 10)\n");
	/* of a difference, by the larger side */
	check(LINES("a 1 9", "b 9 1", "c 2 2", "d 9 0"), DIFF, NONE, 3,
	      "all[0 12)+0/-9\n"
	      ".a[0 9)+8/+8\n"
	      ".b[9 10)-8/-8\n");
}

/* The tree of these lines, finished. */
static void make_tree(struct tree *t, const char *const *lines, bool diff)
{
	struct input_queue queue;

	assert_int_equal(tree_init(t), 0);
	assert_int_equal(input_queue_open(&queue, t, false), 0);
	t->diff = diff;
	for (; *lines; lines++) {
		struct folded_line f;

		assert_int_equal(folded_parse(*lines, *lines + strlen(*lines), &f), FOLDED_OK);
		assert_int_equal(input_queue_add(&queue, f.stack, diff ? f.len : f.one_len, f.count,
						 f.before),
				 0);
	}
	assert_int_equal(input_queue_close(&queue), 0);
	assert_int_equal(tree_finish(t), 0);
}

TEST(what_is_left_out_is_counted_and_is_nobodys_own)
{
	struct layout l;
	struct tree t;

	make_tree(&t, LINES("a;b;x;y 3", "a;c;x 2", "a 4", "e;f;g;h 1"), false);
	assert_int_equal(layout_tree(&l, &t, NONE, 3), 0);
	/* all 10, a 9, b 3; without x y below b, c x, e f g h: eight */
	assert_int_equal(l.n, 3);
	assert_int_equal(l.left_out, 8);
	assert_float_equal(l.frame[0].own, 0, 0);
	assert_float_equal(l.frame[1].own, 4, 0);
	assert_float_equal(l.frame[2].own, 0, 0);
	assert_int_equal(l.rests, 3);
	assert_int_equal(l.rest[0].frame, 0);
	assert_float_equal(l.rest[0].total, 1, 0);
	assert_int_equal(l.rest[1].frame, 1);
	assert_float_equal(l.rest[1].total, 2, 0);
	assert_int_equal(l.rest[2].frame, 2);
	assert_float_equal(l.rest[2].total, 3, 0);
	layout_free(&l);
	tree_free(&t);
}

static void assert_sums(const struct sums *s, struct tree *t, const char *name, double own,
			double total, double before_own, double before_total)
{
	uint32_t id;

	assert_int_equal(name_table_add(&t->names, name, strlen(name), &id), 0);
	assert_float_equal(s->name[id].own, own, 0);
	assert_float_equal(s->name[id].total, total, 0);
	assert_float_equal(s->name[id].before_own, before_own, 0);
	assert_float_equal(s->name[id].before_total, before_total, 0);
	assert_int_equal(s->name[id].place > 0, total + before_total > 0);
}

TEST(sums_by_name_count_nested_frames_once)
{
	struct sums s;
	struct tree t;

	make_tree(&t, LINES("a;b;a;x 3", "a;c;x 2", "x 4", "b;--;a 1"), false);
	assert_int_equal(sums_fill(&s, &t), 0);
	assert_int_equal(s.names, 4);
	assert_sums(&s, &t, "a", 1, 6, 0, 0);
	assert_sums(&s, &t, "b", 0, 4, 0, 0);
	assert_sums(&s, &t, "c", 0, 2, 0, 0);
	assert_sums(&s, &t, "x", 9, 9, 0, 0);
	assert_sums(&s, &t, "--", 0, 0, 0, 0);
	assert_sums(&s, &t, "all", 0, 0, 0, 0);
	sums_free(&s);
	tree_free(&t);
	make_tree(&t, LINES("a;b 3 1", "a;b;b 2 2", "b 0 4"), true);
	assert_int_equal(sums_fill(&s, &t), 0);
	assert_sums(&s, &t, "a", 0, 3, 0, 5);
	assert_sums(&s, &t, "b", 7, 7, 5, 5);
	sums_free(&s);
	tree_free(&t);
}

/* Of more names than are listed those with the greatest counts are, whatever their order was. */
TEST(the_greatest_sums_are_listed)
{
	enum { NAMES = 3 * SUMS_LISTED };
	struct input_queue queue;
	struct sums s;
	struct tree t;

	assert_int_equal(tree_init(&t), 0);
	assert_int_equal(input_queue_open(&queue, &t, false), 0);
	for (int i = 0; i < NAMES; i++) {
		char line[64];
		int count = i * 7919 % NAMES + 1; /* 7919 is prime: each count once */
		int n = snprintf(line, sizeof(line), "caller%d;f%d", count, count);

		assert_int_equal(input_queue_add(&queue, line, (size_t)n, count, 0), 0);
	}
	assert_int_equal(input_queue_close(&queue), 0);
	assert_int_equal(tree_finish(&t), 0);
	assert_int_equal(sums_fill(&s, &t), 0);
	assert_int_equal(s.names, 2 * NAMES);
	/* by own counts f15000 ... f10001; by total ones half as many of both kinds, half of them
	 * listed */
	assert_int_equal(s.listed, SUMS_LISTED + SUMS_LISTED / 2);
	for (uint32_t i = 0; i < t.names.names.n; i++) {
		const char *name = name_str(&t.names, i);
		bool caller = *name == 'c';
		long count = strtol(name + (caller ? 6 : 1), NULL, 10);
		long most = NAMES - (caller ? SUMS_LISTED / 2 : SUMS_LISTED);

		if (i == t.label[0])
			continue;
		assert_int_equal(s.name[i].place > 0, count > most);
		if (!caller && count > most)
			assert_int_equal(s.name[i].place, NAMES - count + 1);
	}
	sums_free(&s);
	tree_free(&t);
}

/* A function that is called as an end is: only what is at the end, or carries no further waker, is
 * one. */
TEST(ends_are_known_by_where_they_stand)
{
	static const struct {
		const char *name;
		bool ends;
	} want[] = {
		{ "all", false },	{ "A", false },		{ "[unknown]", false },
		{ "[running]", false }, { "f", false },		{ "--", false },
		{ "[timer]", false },	{ "B", false },		{ "[running]", true },
		{ "s", false },		{ "[unknown]", false },
	};
	struct layout l;
	struct tree t;

	make_tree(&t, LINES("A;[unknown];[running];f;--;[timer];B;[running];s;[unknown] 5"), false);
	assert_int_equal(layout_tree(&l, &t, 0, ALL), 0);
	assert_int_equal(l.n, sizeof(want) / sizeof(*want));
	for (uint32_t i = 0; i < l.n; i++) {
		const struct frame *f = &l.frame[i];
		const char *name = name_str(&t.names, f->name);
		size_t len = name_len(&t.names, f->name);

		assert_int_equal(len, strlen(want[i].name));
		assert_memory_equal(name, want[i].name, len);
		assert_int_equal(palette_is_end(palette_ramp(palette_find("chain"), name, len),
						(enum layout_part)f->part, f->leaf, f->last),
				 want[i].ends);
	}
	layout_free(&l);
	/* what is left out is above a frame as well */
	assert_int_equal(layout_tree(&l, &t, NONE, 3), 0);
	assert_int_equal(l.n, 3);
	assert_false(l.frame[2].leaf);
	assert_false(l.frame[2].last);
	layout_free(&l);
	tree_free(&t);
}

TEST(links_are_counted_by_their_delimiters)
{
	struct layout l;
	struct input_queue queue;
	struct tree t;

	assert_int_equal(tree_init(&t), 0);
	assert_int_equal(input_queue_open(&queue, &t, false), 0);
	assert_int_equal(input_queue_add(&queue, "A;f;--;w;B;--;w;C;[running]", 27, 5, 0), 0);
	assert_int_equal(input_queue_close(&queue), 0);
	assert_true(t.chain);
	assert_int_equal(tree_finish(&t), 0);
	assert_int_equal(layout_tree(&l, &t, 0, ALL), 0);
	assert_int_equal(l.n, 10);
	assert_int_equal(l.max_link, 2);
	assert_int_equal(l.frame[2].link, 0); /* f */
	assert_int_equal(l.frame[3].link, 1); /* -- */
	assert_int_equal(l.frame[5].link, 1); /* B */
	assert_int_equal(l.frame[9].link, 2); /* [running] */
	layout_free(&l);
	tree_free(&t);
}

/* Compares the counts by name with sums that the test makes line by line. */
TEST(a_large_tree_has_the_sums_of_its_lines)
{
	enum { STACKS = 20000, NAMES = 50 };
	double want[NAMES] = { 0 }, got[NAMES] = { 0 }, total = 0;
	unsigned rnd = 1;
	struct layout l;
	struct input_queue queue;
	struct tree t;

	assert_int_equal(tree_init(&t), 0);
	assert_int_equal(input_queue_open(&queue, &t, false), 0);
	for (int s = 0; s < STACKS; s++) {
		char line[256];
		size_t n = 0;
		bool seen[NAMES] = { false };
		unsigned depth;

		rnd = rnd * 1103515245 + 12345;
		depth = 1 + (rnd >> 16) % 12;
		for (unsigned d = 0; d < depth; d++) {
			unsigned name;

			rnd = rnd * 1103515245 + 12345;
			/* few names near the root, so that stacks share frames */
			name = (rnd >> 16) % (d < 2 ? 3 : NAMES);
			n += (size_t)sprintf(line + n, "%sf%u", d ? ";" : "", name);
			if (!seen[name])
				want[name] += s % 7;
			seen[name] = true;
		}
		assert_int_equal(input_queue_add(&queue, line, n, s % 7, 0), 0);
		total += s % 7;
	}
	assert_true(queue.started); /* enough lines for both threads */
	assert_int_equal(input_queue_close(&queue), 0);
	assert_int_equal(tree_finish(&t), 0);
	assert_int_equal(layout_tree(&l, &t, 0, ALL), 0);
	assert_float_equal(l.total, total, 0);
	for (uint32_t i = 1; i < l.n; i++) {
		const struct frame *f = &l.frame[i], *up = &l.frame[f->parent];
		unsigned name = (unsigned)strtoul(name_str(&t.names, f->name) + 1, NULL, 10);
		bool nested = false;

		assert_true(f->start >= up->start && f->start + f->total <= up->start + up->total);
		assert_int_equal(f->depth, up->depth + 1);
		for (uint32_t p = f->parent; p; p = l.frame[p].parent)
			nested |= l.frame[p].name == f->name;
		if (!nested)
			got[name] += f->total;
	}
	for (int i = 0; i < NAMES; i++)
		assert_float_equal(got[i], want[i], 0);
	layout_free(&l);
	tree_free(&t);
}
