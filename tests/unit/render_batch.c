// SPDX-License-Identifier: GPL-2.0-or-later
// From text to the tree: interning names, splitting stacks, sorting large batches.
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "input_queue.h"
#include "layout.h"
#include "name_table.h"

/* ---- names ---- */

TEST(names_that_differ_in_one_byte_are_distinct)
{
	char text[2 * 100 + 1], other[100];
	struct split s = { 0 };
	struct name_table ns;

	assert_int_equal(name_table_init(&ns), 0);
	for (size_t len = 1; len < 100; len++) {
		memset(text, 'n', len);
		text[len] = ';';
		memset(text + len + 1, 'n', len);
		/* one name twice */
		assert_int_equal(split_stack(&s, &ns, text, 2 * len + 1), 0);
		assert_int_equal(s.depth, 2);
		assert_int_equal(s.id[0], s.id[1]);
		assert_int_equal(name_len(&ns, s.id[0]), len);
		for (size_t at = 0; at < len; at++) { /* another name that differs in one byte */
			uint32_t id;

			memcpy(other, text, len);
			other[at] = 'm';
			memcpy(text + len + 1, other, len);
			assert_int_equal(split_stack(&s, &ns, text, 2 * len + 1), 0);
			assert_int_not_equal(s.id[0], s.id[1]);
			assert_memory_equal(name_str(&ns, s.id[1]), other, len);
			assert_int_equal(name_table_add(&ns, other, len, &id), 0);
			assert_int_equal(id, s.id[1]);
		}
	}
	split_free(&s);
	name_table_free(&ns);
}

TEST(zero_bytes_and_bytes_near_semicolon_are_part_of_names)
{
	static const char text[] = "a;a\0;a\0\0;;a;\xbb;\x3a;\x3c;a";
	struct split s = { 0 };
	struct name_table ns;

	assert_int_equal(name_table_init(&ns), 0);
	assert_int_equal(split_stack(&s, &ns, text, sizeof(text) - 1), 0);
	assert_int_equal(s.depth, 9);
	for (uint32_t i = 0; i < 9; i++)
		for (uint32_t k = 0; k < i; k++) {
			bool same = (i == 4 && !k) || (i == 8 && (!k || k == 4));

			assert_int_equal(s.id[i] == s.id[k], same);
		}
	split_free(&s);
	name_table_free(&ns);
}

TEST(a_stack_is_split_right_after_any_other)
{
	static const char *const stacks[] = { "main;work;sum", "main;work;su", "main;work",
					      "main;workers",  "ma",	       "",
					      "main;work;sum", "main;;sum" };
	struct split s = { 0 };
	struct name_table ns;

	assert_int_equal(name_table_init(&ns), 0);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		char got[64] = "";

		assert_int_equal(split_stack(&s, &ns, stacks[i], strlen(stacks[i])), 0);
		for (uint32_t d = 0; d < s.depth; d++) {
			if (d)
				strcat(got, ";");
			strncat(got, name_str(&ns, s.id[d]), name_len(&ns, s.id[d]));
		}
		assert_string_equal(got, stacks[i]);
	}
	split_free(&s);
	name_table_free(&ns);
}

/* ---- sorting ---- */

static uint32_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

static int compare(const struct batch *b, uint32_t x, uint32_t y)
{
	const struct batch_line *lx = &b->line[x], *ly = &b->line[y];

	for (uint32_t i = 0; i < lx->n && i < ly->n; i++)
		if (b->id[lx->at + i] != b->id[ly->at + i])
			return b->id[lx->at + i] < b->id[ly->at + i] ? -1 : 1;
	return (lx->n > ly->n) - (lx->n < ly->n);
}

/* Sort lines of up to `depth` of `names` names: each line comes once, and none before a lesser. */
static void check_order(uint32_t lines, uint32_t depth, uint32_t names)
{
	struct batch *b;
	uint32_t *order;
	bool *seen = calloc(lines, sizeof(*seen));

	assert_int_equal(batch_new(&b, lines), 0);
	assert_non_null(seen);
	for (uint32_t i = 0; i < lines; i++) {
		uint32_t id[64], n = below(depth + 1);

		for (uint32_t d = 0; d < n; d++)
			id[d] = below(names);
		assert_int_equal(batch_add(b, id, n, 0, false, 1, 0), 0);
	}
	assert_int_equal(batch_order(b, &order), 0);
	for (uint32_t i = 0; i < lines; i++) {
		assert_false(seen[order[i]]);
		seen[order[i]] = true;
		if (i && compare(b, order[i - 1], order[i]) > 0)
			fail_msg("line %u stands before line %u", order[i - 1], order[i]);
	}
	free(order);
	free(seen);
	batch_free(b);
}

TEST(lines_are_sorted_by_name_ids)
{
	seed = 1;
	check_order(1, 5, 5);
	check_order(12, 5, 2);
	check_order(13, 5, 2);
	check_order(1000, 1, 1);  /* equal, or empty */
	check_order(1000, 60, 1); /* of different lengths only */
	check_order(3000, 60, 2);
	check_order(3000, 8, 1000);
	check_order(3000, 3, UINT32_MAX / 2);
}

/* ---- the tree of many unsorted lines ---- */

#define LINES 100000 /* several batches, which are sorted */

static char *synth_line(uint32_t i, char *buf)
{
	char *p = buf;

	seed = i * 2654435761u;
	for (uint32_t d = 3 + below(20); d; d--)
		p += sprintf(p, "f%u;", below(4));
	return p;
}

static void draw_lines(struct layout *l, struct tree *t, bool together, bool in_order)
{
	char buf[256];

	assert_int_equal(tree_init(t), 0);
	t->in_order = in_order;
	if (together) {
		struct input_queue f;

		assert_int_equal(input_queue_open(&f, t, false), 0);
		for (uint32_t i = 0; i < LINES; i++)
			assert_int_equal(input_queue_add(&f, buf,
							 (size_t)(synth_line(i, buf) - buf), i, 0),
					 0);
		assert_int_equal(input_queue_close(&f), 0);
	} else {
		struct split s = { 0 };

		for (uint32_t i = 0; i < LINES; i++) {
			size_t len = (size_t)(synth_line(i, buf) - buf);

			assert_int_equal(split_stack(&s, &t->names, buf, len), 0);
			assert_int_equal(tree_add_path(t, s.id, s.depth, i, 0), 0);
		}
		split_free(&s);
	}
	assert_int_equal(tree_finish(t), 0);
	assert_int_equal(layout_tree(l, t, 0, UINT32_MAX), 0);
}

TEST(batches_give_the_frames_of_lines_added_one_by_one)
{
	for (int in_order = 0; in_order < 2; in_order++) {
		struct layout one, many;
		struct tree t1, t2;

		draw_lines(&one, &t1, false, in_order);
		draw_lines(&many, &t2, true, in_order);
		assert_int_equal(one.n, many.n);
		assert_memory_equal(one.frame, many.frame, one.n * sizeof(*one.frame));
		layout_free(&one);
		layout_free(&many);
		tree_free(&t1);
		tree_free(&t2);
	}
}
