// SPDX-License-Identifier: GPL-2.0-or-later
/* What is told of interpreted code becomes functions, files and lines; and its frames find their
 * place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "events/code_map.h"

static struct code_map *new_map(void)
{
	struct code_map *m;

	assert_int_equal(code_map_new(&m), 0);
	return m;
}

static void set_text(struct wire_code_text *t, const void *bytes, size_t n, uint8_t width)
{
	t->bytes = (uint16_t)n;
	t->width = width;
	t->cut = 0;
	memcpy(t->text, bytes, n);
}

/* A record of Python 3.version, whose function begins in line `first`. */
static struct wire_code *new_code(uint32_t id, uint32_t version, uint32_t first)
{
	struct wire_code *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->r.kind = WIRE_CODE;
	r->id = id;
	r->language = WIRE_PYTHON;
	r->version = version;
	r->first_line = first;
	set_text(&r->name, "Feed.mirror", 11, 1);
	set_text(&r->file, "/srv/feed.py", 12, 1);
	return r;
}

static int take(struct code_map *m, const struct wire_code *r)
{
	return code_map_take(m, r, offsetof(struct wire_code, lines) + r->n_lines);
}

static struct code_location find(const struct code_map *m, uint32_t id, uint64_t place)
{
	return code_map_find(m, wire_code_frame(id, place, 0));
}

/* ---- lines --------------------------------------------------------------------------------- */

/*
 * The tables of one function, as each version's compiler made them, and the line of each unit of
 * two bytes by the interpreter's own account (co_lines(), or dis.findlinestarts() where there is
 * none); 0: none.
 */
static const struct {
	uint32_t version;
	uint32_t n_lines;
	const char *lines;
	uint32_t n;
	uint16_t line[100];
} tables[] = {
	/* clang-format off */
		{
			8, 36,
			"\x00\x02\x02\x01\x06\xfe\x04\x03\x08\x01\x04\x02\x04\x01\x02\xff\x06\x02\x02\x01"
			"\x04\x01\x02\xff\x08\x02\x0e\x01\x06\x7f\x00\x4a\x02\x02\x02\xfe",
			42,
			{ 3, 4, 4, 4, 2, 2, 5, 5, 5, 5, 6, 6, 8, 8, 9, 8, 8, 8, 10, 11, 11, 12, 11, 11, 11, 11, 13, 13, 13, 13, 13, 13, 13, 14, 14, 14, 215, 217, 215, 215, 215, 215 },
		},
		{
			10, 40,
			"\x02\x02\x06\x01\x04\xfe\x08\x03\x04\x01\x04\x02\x02\x01\x04\xff\x02\x80\x02\x02"
			"\x04\x01\x02\x01\x08\xff\x0c\x02\x04\x01\x02\xff\x00\x7f\x02\x4b\x02\x02\x08\xfe",
			41,
			{ 3, 4, 4, 4, 2, 2, 5, 5, 5, 5, 6, 6, 8, 8, 9, 8, 8, 0, 10, 11, 11, 12, 11, 11, 11, 11, 13, 13, 13, 13, 13, 13, 14, 14, 13, 215, 217, 215, 215, 215, 215 },
		},
		{
			11, 169,
			"\x80\x00\xe0\x08\x09\xd8\x08\x09\x88\x41\x89\x05\xf0\x05\x02\x09\x0f\x80\x41\xf0"
			"\x06\x00\x0e\x0f\xf0\x00\x04\x05\x15\xf0\x00\x04\x05\x15\x88\x01\xd8\x0b\x0c\xf0"
			"\x00\x03\x09\x15\xe5\x0c\x11\x90\x21\xd8\x12\x13\xf1\x03\x01\x0d\x15\xf4\x00\x01"
			"\x0d\x15\xf0\x00\x01\x0d\x15\xf8\xf0\x04\x04\x05\x0d\xd8\x0f\x10\x8f\x73\x8a\x73"
			"\xd8\x0e\x0f\xf0\x03\x00\x10\x13\xf1\x00\x01\x10\x11\xf4\x00\x01\x10\x11\xf0\x00"
			"\x01\x09\x11\xf8\xe5\x0b\x0c\xf0\x00\x01\x05\x0d\xf0\x00\x01\x05\x0d\xf0\x00\x01"
			"\x05\x0d\xd8\x08\x0c\x88\x04\xf0\x03\x01\x05\x0d\xf8\xf8\xf8\xf5\x54\x06\x00\x05"
			"\x06\xe0\x02\x03\xf1\x05\x02\x05\x05\xf4\x00\x02\x05\x05\xf0\x00\x02\x05\x05\xf0"
			"\x00\x02\x05\x05\xf0\x00\x02\x05\x05",
			87,
			{ 1, 3, 4, 4, 4, 4, 2, 2, 5, 5, 5, 5, 6, 6, 8, 8, 8, 8, 8, 8, 8, 9, 8, 8, 8, 8, 8, 8, 8, 8, 0, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 12, 11, 11, 11, 11, 11, 11, 11, 11, 11, 0, 13, 13, 13, 13, 13, 13, 13, 13, 13, 14, 14, 13, 0, 0, 0, 215, 215, 215, 215, 215, 215, 217, 215, 215, 215, 215, 215, 215, 215, 215, 215, 215 },
		},
		{
			13, 111,
			"\x80\x00\xe0\x08\x09\xd8\x08\x09\x88\x41\x89\x05\xf0\x05\x02\x09\x0f\x80\x41\xf3"
			"\x06\x00\x0e\x0f\x88\x01\xdf\x0b\x0c\x88\x31\xe4\x0c\x11\x90\x21\xd8\x12\x13\xf6"
			"\x03\x01\x0d\x15\xf1\x07\x00\x0e\x0f\xf0\x0a\x04\x05\x0d\xd8\x0f\x10\x8f\x73\x89"
			"\x73\xd8\x0e\x0f\xf0\x03\x00\x10\x13\xf0\x00\x01\x10\x11\xf0\x00\x01\x09\x11\xf8"
			"\xe4\x0b\x0c\xf3\x00\x01\x05\x0d\xd9\x08\x0c\xf0\x03\x01\x05\x0d\xfa\xf4\x54\x06"
			"\x00\x05\x06\xe0\x02\x03\xf5\x05\x02\x05\x05",
			82,
			{ 1, 3, 4, 4, 4, 4, 2, 2, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 8, 8, 8, 8, 8, 8, 9, 8, 8, 8, 8, 8, 8, 8, 5, 5, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 12, 11, 11, 11, 0, 13, 13, 13, 13, 13, 13, 13, 13, 13, 14, 14, 13, 0, 0, 0, 215, 215, 215, 215, 215, 217, 215, 215, 215, 215, 215, 215 },
		},
	/* clang-format on */
};

TEST(lines_are_those_of_each_version)
{
	struct code_map *m = new_map();

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct wire_code *r = new_code((uint32_t)i + 1, tables[i].version, 2);

		/* Lines count from the first one. */
		r->n_lines = tables[i].n_lines;
		memcpy(r->lines, tables[i].lines, r->n_lines);
		assert_int_equal(take(m, r), 0);
		for (uint32_t unit = 0; unit < tables[i].n; unit++) {
			uint32_t line = tables[i].line[unit];

			assert_int_equal(find(m, (uint32_t)i + 1, unit).line, line ? line + 1 : 2);
		}
		free(r);
	}
	code_map_free(m);
}

TEST(any_table_is_read_within_its_bounds)
{
	struct code_map *m = new_map();
	uint32_t id = 0;

	srand(1);
	for (int i = 0; i < 3000; i++) {
		static const uint32_t versions[] = { 8, 10, 11, 13 };
		struct wire_code *r = new_code(++id, versions[i % 4], (uint32_t)rand());

		r->n_lines = (uint32_t)rand() % 64;
		for (uint32_t k = 0; k < r->n_lines; k++)
			r->lines[k] = (char)rand();
		assert_int_equal(take(m, r), 0);
		for (int k = 0; k < 20; k++)
			(void)find(m, id, (uint64_t)rand() << (rand() % 20));
		free(r);
	}
	code_map_free(m);
}

/* ---- names --------------------------------------------------------------------------------- */

TEST(texts_of_all_widths_become_utf8)
{
	static const uint16_t wide[] = { 0x66, 0xe9, 0x4e2d };
	static const uint32_t wider[] = { 0x1f40d, 0x2f, 0x110000 };
	struct wire_code *r = new_code(1, 11, 7);
	struct code_map *m = new_map();

	assert_int_equal(take(m, r), 0);
	assert_string_equal(find(m, 1, 0).function, "Feed.mirror");
	assert_string_equal(find(m, 1, 0).file, "/srv/feed.py");
	assert_int_equal(find(m, 1, 0).line, 7);
	r->id = 2;
	set_text(&r->name, "f\xe9", 2, 1);
	assert_int_equal(take(m, r), 0);
	assert_string_equal(find(m, 2, 0).function, "f\xc3\xa9");
	r->id = 3;
	set_text(&r->name, wide, sizeof(wide), 2);
	set_text(&r->file, wider, sizeof(wider), 4);
	r->file.cut = 1;
	assert_int_equal(take(m, r), 0);
	assert_string_equal(find(m, 3, 0).function, "f\xc3\xa9\xe4\xb8\xad");
	assert_string_equal(find(m, 3, 0).file, "...\xf0\x9f\x90\x8d/\xef\xbf\xbd");
	free(r);
	code_map_free(m);
}

TEST(methods_of_php_have_their_class)
{
	struct wire_code *r = new_code(1, 0x802, 0);
	struct code_map *m = new_map();

	r->language = WIRE_PHP;
	set_text(&r->name, "save", 4, 0);
	set_text(&r->scope, "App\\Cart", 8, 0);
	assert_int_equal(take(m, r), 0);
	assert_string_equal(find(m, 1, 31).function, "App\\Cart::save");
	assert_int_equal(find(m, 1, 31).line, 31);
	r->id = 2;
	r->name.bytes = r->scope.bytes = 0;
	assert_int_equal(take(m, r), 0);
	assert_string_equal(find(m, 2, 0).function, "<main>");
	free(r);
	code_map_free(m);
}

TEST(what_is_not_known_has_no_name)
{
	struct code_map *m = new_map();
	struct wire_code *r = new_code(5, 11, 1);

	assert_string_equal(find(m, 5, 0).function, "");
	assert_false(find(m, 5, 0).is_hidden);
	assert_true(find(m, 0, 0).is_hidden); /* an entry that is no code of the program */
	assert_int_equal(take(m, r), 0);
	/* Its place is another one's now: */
	r->id = 5 + (1u << 16);
	assert_int_equal(take(m, r), 0);
	assert_string_equal(find(m, 5, 0).function, "");
	assert_string_equal(find(m, r->id, 0).function, "Feed.mirror");
	/* The collector's own ids are apart. */
	r->id = WIRE_CODE_IDS + 5;
	set_text(&r->name, "own", 3, 1);
	assert_int_equal(take(m, r), 0);
	assert_string_equal(find(m, r->id, 0).function, "own");
	set_text(&r->file, "__init__", 8, 1);
	r->id = 6;
	assert_int_equal(take(m, r), 0);
	assert_true(find(m, 6, 0).is_hidden);
	free(r);
	code_map_free(m);
}

TEST(records_that_are_none_are_refused)
{
	struct wire_code *r = new_code(1, 11, 1);
	struct code_map *m = new_map();

	assert_int_equal(code_map_take(m, r, offsetof(struct wire_code, lines) - 1), -EBADMSG);
	r->n_lines = 10;
	assert_int_equal(code_map_take(m, r, offsetof(struct wire_code, lines) + 9), -EBADMSG);
	r->n_lines = WIRE_CODE_LINES + 1;
	assert_int_equal(code_map_take(m, r, sizeof(*r) + 1), -EBADMSG);
	r->n_lines = 0;
	r->id = 0;
	assert_int_equal(take(m, r), -EBADMSG);
	r->id = 1;
	r->name.bytes = 65535;
	r->name.width = 3;
	assert_int_equal(take(m, r), 0);
	assert_string_equal(find(m, 1, 0).function, "");
	free(r);
	code_map_free(m);
}

/* ---- stacks -------------------------------------------------------------------------------- */

/*
 * Of a text, leaf first, native frames before a space and frames of interpreted code behind it: E
 * is the evaluator, another capital letter a native frame; of the small letters, one behind which a
 * dot stands is an entry. Compares the order, cut at 127 frames and marked by '!'.
 */
static void expect_order(const char *stack, bool whole, const char *expected)
{
	__u64 frames[WIRE_STACK_MAX + WIRE_CODE_FRAMES];
	char letters[WIRE_STACK_MAX + WIRE_CODE_FRAMES], got[300];
	struct code_stack s = {
		.frames = frames, .eval_start = 0x1000, .eval_end = 0x2000, .whole = whole
	};
	uint16_t order[WIRE_STACK_MAX];
	uint32_t n = 0, len;
	bool cut;

	for (const char *p = stack; *p; p++) {
		if (*p == ' ') {
			s.n = n;
			continue;
		}
		if (*p == '.') {
			frames[n - 1] |= WIRE_CODE_ENTRY;
			continue;
		}
		frames[n] = *p >= 'a' ? WIRE_CODE_TAG : *p == 'E' ? 0x2000 : 0x2001;
		letters[n++] = *p;
	}
	s.n_code = n - s.n;
	len = code_stack_order(&s, order, &cut);
	assert_in_range(len, 0, WIRE_STACK_MAX);
	for (uint32_t i = 0; i < len; i++)
		got[i] = letters[order[i]];
	strcpy(got + len, cut ? "!" : "");
	assert_string_equal(got, expected);
}

TEST(code_stands_where_its_evaluator_does)
{
	expect_order("LME ", true, "LME");
	expect_order("LEMEN abc.d.", true, "LabcEMdEN");
	expect_order("LE a.", true, "LaE");
	/* Before 3.11 each call of the evaluator runs one frame. */
	expect_order("EEE a.b.c.", true, "aEbEcE");
}

TEST(an_evaluator_that_begins_has_no_code_yet)
{
	expect_order("LEMEN abc.", true, "LEMabcEN");
	/* Where the root was not reached, nothing is known but the order from the leaf on. */
	expect_order("LEME a.", false, "LaEME");
}

TEST(code_without_its_evaluator_keeps_its_order)
{
	/* A part of the evaluator has another place. */
	expect_order("LCME a.b.", true, "LCMabE");
	/* The native stack was cut. */
	expect_order("LE a.b.cd.", false, "LaEbcd");
	/* There is more code than is kept. */
	expect_order("LEME ab.c", true, "LabEMcE");
}

TEST(code_of_v8_stands_before_the_native_frame_that_it_says)
{
	__u64 frames[] = { 0x10,
			   0x20,
			   0x30,
			   0x40,
			   wire_code_frame(1, 1, 0),
			   wire_code_frame(2, 3, 0),
			   wire_code_frame(3, 4, 0) };
	struct code_stack s = { .frames = frames, .n = 4, .n_code = 3, .whole = true };
	static const uint16_t expected[] = { 0, 4, 1, 2, 5, 3 };
	uint16_t order[WIRE_STACK_MAX];
	bool cut;

	/* Of what is behind the native ones, which were cut, the place is not known. */
	assert_int_equal(code_stack_order(&s, order, &cut), 6);
	assert_memory_equal(order, expected, sizeof(expected));
	assert_false(cut);
}

TEST(code_is_kept_where_a_stack_is_too_long)
{
	char stack[400], expected[200], *p = stack, *q = expected;

	/* 40 times: two native frames, the evaluator, and one frame: 160. */
	for (int i = 0; i < 40; i++)
		p = stpcpy(p, "NME");
	*p++ = ' ';
	for (int i = 0; i < 40; i++)
		p = stpcpy(p, "a.");
	q = stpcpy(q, "NM");
	for (int i = 0; i < 40; i++)
		q = stpcpy(q, "aE");
	strcpy(q, "!");
	expect_order(stack, true, expected);
	/* 96 frames of code by as many evaluators. */
	p = stack;
	q = stpcpy(expected, "");
	for (int i = 0; i < 96; i++)
		*p++ = 'E';
	*p++ = ' ';
	for (int i = 0; i < 96; i++) {
		p = stpcpy(p, "a.");
		*q++ = 'a';
	}
	strcpy(q, "!");
	expect_order(stack, false, expected);
}
