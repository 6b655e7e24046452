// SPDX-License-Identifier: GPL-2.0-or-later
/* Which processes have an interpreter as they map files, fork, exec and end; and what may lie. */
#include <unistd.h>

#include "test.h"

#include <string.h>

#include "interpreters/interpreters.h"
#include "interpreters/layout.h"

/* ---- layouts --------------------------------------------------------------------------------- */

/* As a file of that version says it; 3.13 with the beginning of its table of offsets. */
static struct reader_parts python(uint32_t minor)
{
	static const uint64_t offsets[] = {
		/* cookie, version, free-threaded, runtime */
		0,
		0x030d00f0,
		0,
		0,
		0,
		632,
		/* interpreter */
		0,
		0,
		0,
		7344,
		0,
		0,
		0,
		0,
		16,
		7752,
		0,
		7768,
		7760,
		/* thread */
		0,
		0,
		8,
		16,
		72,
		152,
		160,
		0,
		0,
		/* frame */
		80,
		8,
		0,
		56,
		72,
		70,
		/* code */
		0,
		112,
		120,
		128,
		136,
		68,
		52,
		96,
		104,
		200,
		/* object, type, tuple, list, dict, float, int */
		16,
		8,
		0,
		24,
		88,
		168,
		32,
		24,
		16,
		40,
		24,
		16,
		48,
		32,
		40,
		24,
		16,
		32,
		16,
		24,
		/* bytes, str */
		40,
		16,
		32,
		64,
		32,
		16,
		40,
	};
	struct reader_parts p = {
		.has_interpreter = 1,
		.interpreter = {
			.language = WIRE_PYTHON,
			.version = minor,
			.state = 0x500000,
			.eval_start = 0x1000,
			.eval_end = 0x9000,
		},
	};

	if (minor >= 13)
		memcpy(p.interpreter.offsets, offsets, sizeof(offsets));
	return p;
}

TEST(each_version_has_a_layout)
{
	struct wire_interpreter at;

	for (uint32_t minor = 0; minor < 40; minor++) {
		struct reader_parts p = python(minor);
		bool expected = minor >= 8 && minor <= 13;

		if (layout_find(&p.interpreter, 0x10000, &at) != expected)
			fail_msg("Python 3.%u: expected %d", minor, expected);
		if (!expected)
			continue;
		assert_true(at.root > 0x510000 && at.root < 0x520000);
		assert_int_equal(at.eval_start, 0x11000);
		assert_int_equal(at.eval_end, 0x19000);
		assert_int_equal(at.in_interpreter, 16);
		assert_int_equal(!at.gil, minor >= 12);
		assert_int_equal(at.frame_bytes, minor < 10   ? 112
						 : minor < 11 ? 104
						 : minor < 12 ? 76
							      : 78);
		assert_int_equal(at.code_bytes, minor < 11 ? 128 : 144);
		assert_int_equal(!at.bytecode, minor < 11);
		assert_int_equal(at.other, at.ascii + (minor < 12 ? 24 : 16));
	}
}

TEST(a_table_of_offsets_says_where_all_is)
{
	struct reader_parts p = python(13);
	struct wire_interpreter at;

	assert_true(layout_find(&p.interpreter, 0, &at));
	assert_int_equal(at.gil_at, 7760);
	assert_int_equal(at.thread_id, 160);
	assert_int_equal(at.current, 72);
	assert_int_equal(at.code, 0);
	assert_int_equal(at.previous, 8);
	assert_int_equal(at.instruction, 56);
	assert_int_equal(at.entry, 70);
	assert_int_equal(at.name, 128);
	assert_int_equal(at.file, 112);
	assert_int_equal(at.first_line, 68);
	assert_int_equal(at.lines, 136);
	assert_int_equal(at.bytecode, 200);
	assert_int_equal(at.ascii, 40);
}

/* Each word of the table is replaced by each of these. */
TEST(wild_offsets_are_refused)
{
	static const uint64_t wild[] = { 0x7fff,     0x8000,	 0x10000,	 0x10008,
					 UINT32_MAX, 1ull << 32, UINT64_MAX - 7, UINT64_MAX };
	struct wire_interpreter at;
	uint32_t refused = 0;

	for (size_t word = 1; word < ELFINTERP_OFFSETS; word++) {
		for (size_t k = 0; k < sizeof(wild) / sizeof(wild[0]); k++) {
			struct reader_parts p = python(13);

			p.interpreter.offsets[word] = wild[k];
			if (!layout_find(&p.interpreter, 0, &at)) {
				refused++;
				continue;
			}
			assert_true(at.frame_bytes <= WIRE_CODE_FRAME_BYTES);
			assert_true(at.code_bytes <= WIRE_CODE_BYTES);
			assert_true(at.code <= WIRE_CODE_FRAME_BYTES - 8);
			assert_true(at.previous <= WIRE_CODE_FRAME_BYTES - 8);
			assert_true(at.instruction <= WIRE_CODE_FRAME_BYTES - 8);
			assert_true(at.entry <= WIRE_CODE_FRAME_BYTES - 8);
			assert_true(at.bytecode <= WIRE_CODE_BYTES - 8);
			assert_true(at.name <= WIRE_CODE_BYTES - 8);
			assert_true(at.file <= WIRE_CODE_BYTES - 8);
			assert_true(at.lines <= WIRE_CODE_BYTES - 8);
			assert_true(at.first_line <= WIRE_CODE_BYTES - 8);
		}
	}
	assert_true(refused > 100);
}

TEST(other_builds_are_left_alone)
{
	struct reader_parts p = python(13);
	struct wire_interpreter at;

	p.interpreter.offsets[2] = 1; /* free-threaded */
	assert_false(layout_find(&p.interpreter, 0, &at));
	p = python(13);
	p.interpreter.offsets[1] = 0x030e00f0; /* not the version that Py_Version says */
	assert_false(layout_find(&p.interpreter, 0, &at));
	p = python(13);
	memset(p.interpreter.offsets, 0, sizeof(p.interpreter.offsets));
	assert_false(layout_find(&p.interpreter, 0, &at));
	p = python(11);
	p.interpreter.eval_end = p.interpreter.eval_start;
	assert_false(layout_find(&p.interpreter, 0, &at));
	p = python(11);
	p.interpreter.eval_end = UINT64_MAX; /* the bias makes it less than the start */
	assert_false(layout_find(&p.interpreter, 0x10000, &at));
	p = python(11);
	p.interpreter.language = 77;
	assert_false(layout_find(&p.interpreter, 0, &at));
	p = python(11);
	p.interpreter.language = WIRE_PHP;
	assert_false(layout_find(&p.interpreter, 0, &at));
	p.interpreter.version = 8 << 8 | 2;
	assert_true(layout_find(&p.interpreter, 0, &at));
}

/* ---- processes ------------------------------------------------------------------------------- */

#define TGIDS 64u

struct told {
	uint64_t root[TGIDS]; /* 0: none */
	unsigned int n;
};

static void tell(void *ctx, uint32_t tgid, const struct wire_interpreter *at)
{
	struct told *t = ctx;

	assert_true(tgid < TGIDS);
	t->root[tgid] = at ? at->root : 0;
	t->n++;
}

static struct interpreters *new_of(uint32_t languages, struct told *t)
{
	struct interpreters *i;

	memset(t, 0, sizeof(*t));
	assert_int_equal(interpreters_new(&i, languages, tell, t), 0);
	return i;
}

TEST(children_have_what_their_parent_has)
{
	const struct mapped_files_user *u = &interpreters_user;
	struct reader_parts p = python(11);
	struct interpreters *i;
	struct told t;

	i = new_of(1u << WIRE_PYTHON, &t);
	u->mapped(i, 20, 0x1000, &p);
	assert_int_equal(t.root[20], 0x501000 + 592);
	u->forked(i, 10, 20);
	u->forked(i, 30, 10);
	u->forked(i, 31, 11); /* whose parent has none */
	assert_int_equal(t.root[10], t.root[20]);
	assert_int_equal(t.root[30], t.root[20]);
	assert_int_equal(t.root[31], 0);
	u->gone(i, 20); /* an exec, or its end */
	assert_int_equal(t.root[20], 0);
	assert_null(interpreters_of(i, 20));
	assert_int_equal(interpreters_of(i, 10)->root, t.root[10]);
	assert_int_equal(interpreters_of(i, 30)->root, t.root[30]);
	u->gone(i, 31);
	assert_int_equal(t.n, 4); /* nothing is told of those without one */
	/* After the exec it is mapped elsewhere. */
	u->mapped(i, 20, 0x2000, &p);
	assert_int_equal(t.root[20], 0x502000 + 592);
	assert_int_equal(interpreters_count(i).of[WIRE_PYTHON], 4);
	interpreters_free(i);
}

TEST(the_first_file_counts)
{
	struct reader_parts p = python(11), other = { .has_context = 1 };
	struct interpreters *i;
	struct told t;

	i = new_of(1u << WIRE_PYTHON, &t);
	interpreters_user.mapped(i, 5, 0, &other);
	assert_int_equal(t.n, 0);
	interpreters_user.mapped(i, 5, 0x1000, &p);
	interpreters_user.mapped(i, 5, 0x2000, &p);
	assert_int_equal(t.root[5], 0x501000 + 592);
	assert_int_equal(t.n, 1);
	interpreters_free(i);
}

TEST(languages_are_chosen)
{
	struct reader_parts p = python(11), php = python(0), next = python(39);
	struct interpreters *i;
	struct told t;

	php.interpreter.language = WIRE_PHP;
	php.interpreter.version = 8 << 8 | 2;
	i = new_of(1u << WIRE_PHP, &t);
	interpreters_user.mapped(i, 5, 0, &p);
	interpreters_user.mapped(i, 6, 0, &next);
	assert_int_equal(interpreters_count(i).unknown, 0);
	assert_int_equal(t.n, 0);
	interpreters_user.mapped(i, 7, 0, &php);
	assert_true(t.root[7]);
	interpreters_free(i);
	i = new_of(1u << WIRE_PYTHON, &t);
	interpreters_user.mapped(i, 7, 0, &php);
	interpreters_user.mapped(i, 6, 0, &next);
	assert_int_equal(t.n, 0);
	assert_int_equal(interpreters_count(i).unknown, 1);
	assert_int_equal(interpreters_count(i).unknown_version, 39);
	interpreters_free(i);
}

/* No process has such an id; all of these are one owner's. */
#define NOBODY 0x40000000u

static void count(void *ctx, uint32_t tgid, const struct wire_interpreter *at)
{
	struct told *t = ctx;

	(void)tgid;
	t->n += at != NULL;
}

TEST(an_owner_leaves_room)
{
	struct reader_parts p = python(11);
	struct interpreters *i;
	struct told t = { 0 };

	assert_int_equal(interpreters_new(&i, 1u << WIRE_PYTHON, count, &t), 0);
	interpreters_user.mapped(i, NOBODY, 0, &p);
	for (uint32_t k = 1; k < WIRE_INTERPRETERS + 10; k++)
		interpreters_user.forked(i, NOBODY + k, NOBODY);
	/* Those that have one are not added again. */
	interpreters_user.forked(i, NOBODY + 1, NOBODY);
	assert_int_equal(t.n, WIRE_INTERPRETERS / 2);
	assert_int_equal(interpreters_count(i).of[WIRE_PYTHON], t.n);
	assert_int_equal(interpreters_count(i).left_out, WIRE_INTERPRETERS / 2 + 10);
	interpreters_user.mapped(i, (uint32_t)getpid(), 0, &p);
	assert_non_null(interpreters_of(i, (uint32_t)getpid()));
	for (uint32_t k = 0; k < 10; k++)
		interpreters_user.gone(i, NOBODY + k);
	interpreters_user.mapped(i, NOBODY, 0, &p);
	assert_non_null(interpreters_of(i, NOBODY));
	interpreters_free(i);
}
