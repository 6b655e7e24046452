// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames of interpreted code and their code objects, in made memory; some of it lies. */
#define OWN_MAIN
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpreters/layout.h"
#include "interpreters/walk.h"

/* ---- memory ---------------------------------------------------------------------------------- */

#define BASE 0x10000u
#define BYTES 0x8000u

struct world {
	uint8_t memory[BYTES]; /* from BASE on; nothing else can be read */
	size_t used, reads, bytes_read;
	struct wire_interpreter in;
};

static bool read_memory(void *ctx, void *buf, size_t len, uint64_t addr)
{
	struct world *w = ctx;

	w->reads++;
	w->bytes_read += len;
	if (addr < BASE || addr - BASE > BYTES || len > BYTES - (addr - BASE))
		return false;
	memcpy(buf, w->memory + (addr - BASE), len);
	return true;
}

static struct walk_memory memory_of(struct world *w)
{
	return (struct walk_memory) { read_memory, w };
}

static uint64_t room_for(struct world *w, size_t len)
{
	uint64_t at = BASE + w->used;

	w->used += (len + 15) & ~15ull;
	assert_true(w->used <= BYTES);
	return at;
}

static void put(struct world *w, uint64_t at, const void *what, size_t len)
{
	if (at < BASE || len > BYTES || at - BASE > BYTES - len)
		abort();
	memcpy(w->memory + (at - BASE), what, len);
}

static void put64(struct world *w, uint64_t at, uint64_t v)
{
	put(w, at, &v, sizeof(v));
}

static void put32(struct world *w, uint64_t at, uint32_t v)
{
	put(w, at, &v, sizeof(v));
}

/* ---- Python's objects ------------------------------------------------------------------------ */

#define ASCII (1u << 6 | 1u << 5)
#define COMPACT (1u << 5)

/* A str of n characters of that width; state as CPython has it, without the width. */
static uint64_t put_str(struct world *w, const void *chars, size_t n, uint32_t width,
			uint32_t state)
{
	uint64_t at = room_for(w, 80 + n * width);

	put64(w, at + 16, n);
	put32(w, at + 32, state | width << 2);
	put(w, at + (state & 1u << 6 ? w->in.ascii : w->in.other), chars, n * width);
	return at;
}

static uint64_t put_ascii(struct world *w, const char *text)
{
	return put_str(w, text, strlen(text), 1, ASCII);
}

static uint64_t put_bytes(struct world *w, const void *data, size_t n)
{
	uint64_t at = room_for(w, 32 + n);

	put64(w, at + 16, n);
	put(w, at + 32, data, n);
	return at;
}

static uint64_t put_code(struct world *w, uint64_t name, uint64_t file, uint32_t line,
			 uint64_t lines)
{
	uint64_t at = room_for(w, WIRE_CODE_BYTES);

	put64(w, at + w->in.name, name);
	put64(w, at + w->in.file, file);
	put32(w, at + w->in.first_line, line);
	put64(w, at + w->in.lines, lines);
	return at;
}

/* A frame of Python, which is at that unit of its code. */
static uint64_t put_frame(struct world *w, uint64_t code, uint64_t previous, uint32_t unit,
			  bool is_entry)
{
	uint64_t at = room_for(w, WIRE_CODE_FRAME_BYTES);

	put64(w, at + w->in.code, code);
	put64(w, at + w->in.previous, previous);
	if (w->in.bytecode)
		put64(w, at + w->in.instruction, code + w->in.bytecode + unit * 2ull);
	else
		put32(w, at + w->in.instruction, w->in.version < 10 ? unit * 2 : unit);
	if (w->in.entry_mask)
		w->memory[at - BASE + w->in.entry] = is_entry ? w->in.entry_is : 0;
	return at;
}

#define THREAD (BASE + 0x1000u)
#define RUNTIME (BASE + 0x100u)
#define KEY 2u

static void begin(struct world *w, uint32_t language, uint32_t version)
{
	struct elfinterp e = {
		.language = language,
		.version = version,
		.state = RUNTIME,
		.eval_start = 1,
		.eval_end = 2,
	};

	memset(w, 0, sizeof(*w));
	assert_true(layout_find(&e, 0, &w->in));
	w->used = 0x2000;
}

/* The state of a thread whose current frame is that one. */
static void put_thread(struct world *w, uint64_t frame)
{
	uint64_t state = room_for(w, 256), cframe;

	put32(w, w->in.root, 1);
	put32(w, w->in.root + 4, KEY);
	put64(w, THREAD + 0x310 + KEY * 16 + 8, state);
	if (w->in.has_cframe) {
		cframe = room_for(w, 32);
		put64(w, state + w->in.current, cframe);
		put64(w, cframe + w->in.in_cframe, frame);
	} else {
		put64(w, state + w->in.current, frame);
	}
}

static uint32_t frames_of(struct world *w, struct walk_frame frames[WIRE_CODE_FRAMES])
{
	struct walk_memory m = memory_of(w);

	return walk_frames(&m, &w->in, THREAD, frames);
}

static bool describe(struct world *w, uint64_t code, struct wire_code *out)
{
	struct walk_memory m = memory_of(w);

	memset(out, 0xee, sizeof(*out));
	return walk_code(&m, &w->in, code, out);
}

/* ---- what is found --------------------------------------------------------------------------- */

TEST(python_of_each_version)
{
	static struct world w;
	struct walk_frame f[WIRE_CODE_FRAMES];
	uint64_t outer, inner, entry, frame;

	for (uint32_t version = 8; version < 13; version++) {
		begin(&w, WIRE_PYTHON, version);
		inner = put_code(&w, put_ascii(&w, "inner"), put_ascii(&w, "a.py"), 7, 0);
		outer = put_code(&w, put_ascii(&w, "outer"), put_ascii(&w, "a.py"), 3, 0);
		entry = put_frame(&w, outer, 0, 12, true);
		frame = put_frame(&w, outer, entry, 5, false);
		put_thread(&w, put_frame(&w, inner, frame, 9, false));
		assert_int_equal(frames_of(&w, f), 3);
		assert_int_equal(f[0].code, inner);
		assert_int_equal(f[0].place, 9);
		/* Before 3.11 each frame has a call of the evaluator of its own. */
		assert_int_equal(f[0].is_entry, version < 11);
		assert_int_equal(f[1].code, outer);
		assert_int_equal(f[1].place, 5);
		assert_true(f[2].is_entry);
		/* Since 3.12 the entry is not the program's. */
		assert_int_equal(f[2].code, version < 12 ? outer : 0);
		assert_int_equal(f[2].place, version < 12 ? 12 : 0);
	}
}

TEST(what_has_not_begun_has_the_largest_place)
{
	static struct world w;
	struct walk_frame f[WIRE_CODE_FRAMES];
	uint64_t code;

	for (uint32_t version = 9; version < 12; version++) {
		begin(&w, WIRE_PYTHON, version);
		code = put_code(&w, 0, 0, 1, 0);
		put_thread(&w, put_frame(&w, code, 0, UINT32_MAX, true));
		if (w.in.bytecode)
			put64(&w,
			      BASE + w.used - 256 - 32 - WIRE_CODE_FRAME_BYTES + w.in.instruction,
			      code + w.in.bytecode - 2);
		assert_int_equal(frames_of(&w, f), 1);
		assert_int_equal(wire_code_place(wire_code_frame(1, f[0].place, 0)),
				 (1u << WIRE_CODE_PLACE_BITS) - 1);
	}
}

TEST(texts_are_read_as_they_are)
{
	static const uint16_t two[] = { 'n', 0x4e2d, 'x' };
	static const uint32_t four[] = { 0x1f600, 'y' };
	static const uint8_t lines[] = { 1, 2, 3, 4, 5 };
	static struct world w;
	struct wire_code c;
	uint64_t at;

	begin(&w, WIRE_PYTHON, 11);
	at = put_code(&w, put_str(&w, two, 3, 2, COMPACT), put_ascii(&w, "/a/\x1b[2Jb.py"), 42,
		      put_bytes(&w, lines, sizeof(lines)));
	assert_true(describe(&w, at, &c));
	assert_int_equal(c.language, WIRE_PYTHON);
	assert_int_equal(c.version, 11);
	assert_int_equal(c.address, at);
	assert_int_equal(c.first_line, 42);
	assert_int_equal(c.name.width, 2);
	assert_int_equal(c.name.bytes, 6);
	assert_memory_equal(c.name.text, two, 6);
	/* Control characters are the readers' business. */
	assert_int_equal(c.file.bytes, 11);
	assert_memory_equal(c.file.text, "/a/\x1b[2Jb.py", 11);
	assert_int_equal(c.scope.bytes, 0);
	assert_int_equal(c.n_lines, sizeof(lines));
	assert_memory_equal(c.lines, lines, sizeof(lines));
	at = put_code(&w, put_str(&w, four, 2, 4, COMPACT), 0, 1, 0);
	assert_true(describe(&w, at, &c));
	assert_int_equal(c.name.width, 4);
	assert_memory_equal(c.name.text, four, 8);
	assert_int_equal(c.file.bytes, 0);
	assert_int_equal(c.n_lines, 0);
}

TEST(of_long_texts_the_best_part_is_kept)
{
	static struct world w;
	char name[1001], path[1001];
	struct wire_code c;
	uint64_t at;

	memset(name, 'n', 1000);
	memset(path, 'p', 1000);
	name[1000] = path[1000] = 0;
	name[0] = 'N';
	path[999] = 'P';
	begin(&w, WIRE_PYTHON, 12);
	at = put_code(&w, put_ascii(&w, name), put_ascii(&w, path), 1, 0);
	assert_true(describe(&w, at, &c));
	assert_int_equal(c.name.bytes, WIRE_CODE_TEXT);
	assert_int_equal(c.name.cut, 1);
	assert_int_equal(c.name.text[0], 'N');
	assert_int_equal(c.file.bytes, WIRE_CODE_TEXT);
	assert_int_equal(c.file.cut, 1);
	assert_int_equal(c.file.text[WIRE_CODE_TEXT - 1], 'P');
}

/* ---- PHP ------------------------------------------------------------------------------------- */

static uint64_t put_zend_string(struct world *w, const char *text)
{
	uint64_t at = room_for(w, 24 + strlen(text));

	put64(w, at + 16, strlen(text));
	put(w, at + 24, text, strlen(text));
	return at;
}

TEST(php_has_lines_and_classes)
{
	static struct world w;
	struct walk_frame f[WIRE_CODE_FRAMES];
	uint64_t user, internal, class, instruction, frame;
	struct wire_code c;

	begin(&w, WIRE_PHP, 8 << 8 | 2);
	class = room_for(&w, 64);
	put64(&w, class + w.in.in_scope, put_zend_string(&w, "Cart"));
	user = put_code(&w, put_zend_string(&w, "total"), put_zend_string(&w, "/shop.php"), 11, 0);
	w.memory[user - BASE] = 2;
	put64(&w, user + w.in.scope, class);
	internal = put_code(&w, put_zend_string(&w, "usleep"), 0x7777, 99, 0);
	w.memory[internal - BASE] = 1;
	put64(&w, internal + w.in.scope, 0);
	instruction = room_for(&w, 32);
	put32(&w, instruction + w.in.line, 14);
	frame = room_for(&w, WIRE_CODE_FRAME_BYTES);
	put64(&w, frame + w.in.code, user);
	put64(&w, frame + w.in.instruction, instruction);
	w.memory[frame - BASE + w.in.entry] = 0xff;
	put64(&w, w.in.root, room_for(&w, WIRE_CODE_FRAME_BYTES));
	put64(&w, BASE + w.used - WIRE_CODE_FRAME_BYTES + w.in.code, internal);
	put64(&w, BASE + w.used - WIRE_CODE_FRAME_BYTES + w.in.previous, frame);
	assert_int_equal(frames_of(&w, f), 2);
	assert_int_equal(f[0].code, internal);
	assert_int_equal(f[0].place, 0);
	assert_false(f[0].is_entry);
	assert_int_equal(f[1].code, user);
	assert_int_equal(f[1].place, 14);
	assert_true(f[1].is_entry);
	assert_true(describe(&w, user, &c));
	assert_memory_equal(c.name.text, "total", 5);
	assert_memory_equal(c.scope.text, "Cart", 4);
	assert_memory_equal(c.file.text, "/shop.php", 9);
	assert_int_equal(c.name.width, 0);
	assert_int_equal(c.first_line, 11);
	assert_true(describe(&w, internal, &c));
	assert_memory_equal(c.name.text, "usleep", 6);
	assert_int_equal(c.file.bytes, 0);
	assert_int_equal(c.first_line, 0);
}

/* ---- Ruby ------------------------------------------------------------------------------------ */

#define FINISH 0x20

/* A string with its characters in itself, or elsewhere. */
static uint64_t put_ruby_string(struct world *w, const char *text, bool elsewhere)
{
	uint64_t n = strlen(text), at = room_for(w, 64 + n), chars = at + w->in.ascii;

	put64(w, at, 5 | (elsewhere ? 1u << 13 : w->in.ascii == 16 ? n << 14 : 0));
	if (elsewhere || w->in.ascii == 24)
		put64(w, at + 16, n);
	if (elsewhere) {
		chars = at + 40;
		put64(w, at + 24, chars);
	}
	put(w, chars, text, n);
	return at;
}

/* Code of n instructions; every third one has another line, from 100 on. */
static uint64_t put_iseq(struct world *w, uint64_t name, uint64_t path, uint32_t n)
{
	uint64_t at = room_for(w, 48), body = room_for(w, 256), table = room_for(w, 400);
	uint64_t entries = room_for(w, (n + 2) / 3 * 12ull), words[50] = { 0 };

	for (uint32_t i = 0; i < 54; i++)
		words[i / 9] |= ((i / 3 + 1) & 0x7full) << (i % 9 * 7);
	for (uint32_t i = 54, rank = 18; i < n; i++) {
		uint32_t bit = (i - 54) % 512, block = 6 + (i - 54) / 512 * 10;

		if (!bit)
			words[block] = rank;
		if (bit % 64 == 0 && bit)
			words[block + 1] |= (rank - words[block]) << ((bit / 64 - 1) * 9);
		if (i % 3 == 0) {
			words[block + 2 + bit / 64] |= 1ull << (bit % 64);
			rank++;
		}
	}
	put(w, table, words, sizeof(words));
	for (uint32_t i = 0; i < (n + 2) / 3; i++)
		put32(w, entries + i * w->in.line_bytes, 100 + i);
	put64(w, at + w->in.body, body);
	put32(w, body, WIRE_RUBY_METHOD);
	put32(w, body + 4, n);
	put64(w, body + w->in.bytecode, 0x5000000);
	put64(w, body + w->in.name, name);
	put64(w, body + w->in.file, path);
	put64(w, body + w->in.lines, entries);
	put32(w, body + w->in.lines + WIRE_RUBY_LINES_N, (n + 2) / 3);
	put64(w, body + w->in.lines + WIRE_RUBY_LINES_TABLE, table);
	return at;
}

/* Fills in a frame of the array; code 0: of a function in C. */
static void put_control_frame(struct world *w, uint64_t at, uint64_t code, uint32_t place,
			      uint32_t flags)
{
	uint64_t environment = room_for(w, 16);

	put64(w, at + w->in.instruction, code ? 0x5000000 + place * 8ull : 0);
	put64(w, at + w->in.code, code);
	put64(w, at + w->in.entry, environment);
	put64(w, environment, flags);
}

/* A thread with n frames in an array; returns where the first one is. */
static uint64_t put_ruby_thread(struct world *w, uint32_t n)
{
	uint64_t context = room_for(w, 64), bytes = (uint64_t)n * w->in.stride;
	uint64_t at = room_for(w, bytes);

	put64(w, THREAD - 64, context);
	put64(w, context, at);
	put64(w, context + 8, bytes / 8);
	put64(w, context + 16, at);
	return at;
}

static void begin_ruby(struct world *w, uint32_t minor)
{
	struct elfinterp e = {
		.language = WIRE_RUBY,
		.version = 3 << 8 | minor,
		.eval_end = 1,
		.variable = { .tls = WIRE_TLS_STATIC, .offset = (uint64_t)-64 },
	};

	memset(w, 0, sizeof(*w));
	assert_true(layout_find(&e, 0, &w->in));
	w->used = 0x2000;
}

TEST(ruby_of_each_version)
{
	static struct world w;
	struct walk_frame f[WIRE_CODE_FRAMES];
	uint64_t outer, inner, at;
	struct wire_code c;

	for (uint32_t minor = 0; minor < 5; minor++) {
		begin_ruby(&w, minor);
		inner = put_iseq(&w, put_ruby_string(&w, "inner", false),
				 put_ruby_string(&w, "/a/path/of/some/length.rb", true), 600);
		outer = put_iseq(&w, put_ruby_string(&w, "block in outer", true), 0, 30);
		at = put_ruby_thread(&w, 5);
		put_control_frame(&w, at, 0, 0, 0x80);
		put_control_frame(&w, at + w.in.stride, inner, 10, 0);
		put_control_frame(&w, at + 2 * w.in.stride, outer, 0, FINISH);
		put_control_frame(&w, at + 3 * w.in.stride, inner, 591, FINISH);
		put_control_frame(&w, at + 4 * w.in.stride, 0, 0, 0xa0);
		assert_int_equal(frames_of(&w, f), 3);
		assert_int_equal(f[0].code, inner);
		assert_int_equal(f[0].place, 103); /* of the one before */
		assert_false(f[0].is_entry);
		assert_int_equal(f[1].code, outer);
		assert_int_equal(f[1].place, 100);
		assert_true(f[1].is_entry);
		assert_int_equal(f[2].place, 100 + 590 / 3);
		assert_true(f[2].is_entry);
		assert_true(describe(&w, inner, &c));
		assert_int_equal(c.name.bytes, 5);
		assert_memory_equal(c.name.text, "inner", 5);
		assert_memory_equal(c.file.text, "/a/path/of/some/length.rb", 25);
		assert_int_equal(c.n_lines, 0);
		assert_true(describe(&w, outer, &c));
		assert_memory_equal(c.name.text, "block in outer", 14);
		assert_int_equal(c.file.bytes, 0);
	}
}

TEST(each_place_of_ruby_has_its_line)
{
	static struct world w;
	struct walk_frame f[WIRE_CODE_FRAMES];
	uint64_t code, at;

	begin_ruby(&w, 1);
	code = put_iseq(&w, 0, 0, 1500);
	at = put_ruby_thread(&w, 1);
	for (uint32_t i = 0; i < 1500; i++) {
		put64(&w, at + w.in.instruction, 0x5000000 + (i + 1) * 8ull);
		put64(&w, at + w.in.code, code);
		assert_int_equal(frames_of(&w, f), 1);
		assert_int_equal(f[0].place, 100 + i / 3);
	}
	/* Behind its end it is not this code. */
	put64(&w, at + w.in.instruction, 0x5000000 + 1501 * 8ull);
	assert_int_equal(frames_of(&w, f), 1);
	assert_int_equal(f[0].code, 0);
	put64(&w, at + w.in.instruction, 0x5000000 - 8);
	assert_int_equal(frames_of(&w, f), 1);
	assert_int_equal(f[0].code, 0);
}

TEST(arrays_end)
{
	static struct world w;
	struct walk_frame f[WIRE_CODE_FRAMES];
	uint64_t at, context, code;

	begin_ruby(&w, 1);
	code = put_iseq(&w, 0, 0, 30);
	at = put_ruby_thread(&w, 200);
	memcpy(&context, w.memory + (THREAD - 64 - BASE), 8);
	for (uint32_t i = 0; i < 200; i++)
		put_control_frame(&w, at + i * w.in.stride, 0, 0, 0);
	assert_int_equal(frames_of(&w, f), 0);
	assert_true(w.reads <= 2 * WIRE_CODE_FRAMES + 10);
	for (uint32_t i = 0; i < 200; i++)
		put64(&w, at + i * w.in.stride + w.in.code, code);
	for (uint32_t i = 0; i < 200; i++)
		put64(&w, at + i * w.in.stride + w.in.instruction, 0x5000008);
	assert_int_equal(frames_of(&w, f), WIRE_CODE_FRAMES);
	/* It says that it is without an end, or that it has one before its beginning. */
	put64(&w, context + 8, UINT64_MAX / 16);
	assert_int_equal(frames_of(&w, f), WIRE_CODE_FRAMES);
	put64(&w, context + 8, 0);
	assert_int_equal(frames_of(&w, f), 0);
	put64(&w, context + 8, 7);
	assert_int_equal(frames_of(&w, f), 1);
	put64(&w, context + 16, BASE + BYTES);
	assert_int_equal(frames_of(&w, f), 0);
}

/* ---- what lies ------------------------------------------------------------------------------- */

TEST(loops_end)
{
	static struct world w;
	struct walk_frame f[WIRE_CODE_FRAMES];
	uint64_t code, a, b;

	begin(&w, WIRE_PYTHON, 11);
	code = put_code(&w, 0, 0, 1, 0);
	a = put_frame(&w, code, 0, 1, false);
	b = put_frame(&w, code, a, 1, false);
	put64(&w, a + w.in.previous, b);
	put_thread(&w, b);
	assert_int_equal(frames_of(&w, f), WIRE_CODE_FRAMES);
	assert_true(w.reads <= WIRE_CODE_FRAMES + 10);
	put64(&w, a + w.in.previous, a);
	assert_int_equal(frames_of(&w, f), WIRE_CODE_FRAMES);
}

TEST(wild_pointers_end_the_list)
{
	static const uint64_t wild[] = {
		1,	    8,		BASE - 8,	BASE + BYTES - 8,   BASE + BYTES,
		1ull << 63, UINT64_MAX, UINT64_MAX - 7, 0xffff800000000000u
	};
	static struct world w;
	struct walk_frame f[WIRE_CODE_FRAMES];
	uint64_t code, frame;
	struct wire_code c;

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		begin(&w, WIRE_PYTHON, 11);
		code = put_code(&w, wild[i], wild[i], 1, wild[i]);
		frame = put_frame(&w, code, wild[i], 1, false);
		put_thread(&w, frame);
		assert_int_equal(frames_of(&w, f), 1);
		assert_true(describe(&w, code, &c));
		assert_int_equal(c.name.bytes, 0);
		assert_int_equal(c.file.bytes, 0);
		assert_int_equal(c.n_lines, 0);
		assert_false(describe(&w, wild[i], &c));
		put_thread(&w, wild[i]);
		assert_int_equal(frames_of(&w, f), 0);
		begin(&w, WIRE_PYTHON, 11);
		put64(&w, THREAD + 0x310 + KEY * 16 + 8, wild[i]);
		put32(&w, w.in.root, 1);
		put32(&w, w.in.root + 4, KEY);
		assert_int_equal(frames_of(&w, f), 0);
	}
}

TEST(keys_are_bounded)
{
	static struct world w;
	struct walk_frame f[WIRE_CODE_FRAMES];

	begin(&w, WIRE_PYTHON, 11);
	put_thread(&w, put_frame(&w, put_code(&w, 0, 0, 1, 0), 0, 1, true));
	assert_int_equal(frames_of(&w, f), 1);
	put32(&w, w.in.root + 4, 32);
	assert_int_equal(frames_of(&w, f), 0);
	put32(&w, w.in.root + 4, UINT32_MAX);
	assert_int_equal(frames_of(&w, f), 0);
	put32(&w, w.in.root + 4, KEY);
	put32(&w, w.in.root, 0); /* no key yet */
	assert_int_equal(frames_of(&w, f), 0);
}

TEST(huge_lengths_are_cut)
{
	static const uint64_t huge[] = { 1000,	     1u << 20,	1ull << 32,
					 1ull << 62, INT64_MAX, UINT64_MAX };
	static struct world w;
	struct wire_code c;
	uint64_t name, lines, code;

	for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) {
		begin(&w, WIRE_PYTHON, 11);
		name = put_ascii(&w, "name");
		lines = put_bytes(&w, "x", 1);
		code = put_code(&w, name, name, 1, lines);
		put64(&w, name + 16, huge[i]);
		put64(&w, lines + 16, huge[i]);
		assert_true(describe(&w, code, &c));
		assert_true(c.name.bytes <= WIRE_CODE_TEXT && c.file.bytes <= WIRE_CODE_TEXT);
		assert_true(c.n_lines <= WIRE_CODE_LINES);
		assert_int_equal(c.name.cut, 1);
		assert_true(w.bytes_read < 20000);
	}
}

/* Characters of no width, and those that are elsewhere. */
TEST(strange_strings_are_left_out)
{
	static const uint32_t states[] = {
		0,	 COMPACT,   COMPACT | 3u << 2, COMPACT | 5u << 2, COMPACT | 7u << 2,
		1u << 2, UINT32_MAX
	};
	static struct world w;
	struct wire_code c;
	uint64_t name;

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		begin(&w, WIRE_PYTHON, 11);
		name = put_ascii(&w, "name");
		put32(&w, name + 32, states[i]);
		assert_true(describe(&w, put_code(&w, name, 0, 1, 0), &c));
		assert_int_equal(c.name.bytes, 0);
	}
}

/* Memory full of addresses in itself, and of others. */
TEST(any_memory_is_survived)
{
	static struct world w;
	struct walk_frame f[WIRE_CODE_FRAMES];
	struct wire_code c;
	uint32_t found = 0;

	srand(1);
	for (int round = 0; round < 3000; round++) {
		if (round % 4)
			begin(&w, WIRE_PYTHON, 8 + (uint32_t)rand() % 5);
		else if (round % 8)
			begin(&w, WIRE_PHP, 8 << 8 | 2);
		else
			begin_ruby(&w, (uint32_t)rand() % 5);
		for (size_t at = 0; at < BYTES; at += 8) {
			uint64_t v = (uint64_t)rand() << 32 | (uint32_t)rand();

			if (rand() % 8)
				v = BASE + v % BYTES / 8 * 8;
			memcpy(w.memory + at, &v, sizeof(v));
		}
		if (w.in.language != WIRE_RUBY)
			put32(&w, w.in.root, 1);
		if (w.in.language == WIRE_PYTHON)
			put32(&w, w.in.root + 4, (uint32_t)rand() % 32);
		uint32_t n = frames_of(&w, f);

		assert_true(n <= WIRE_CODE_FRAMES);
		found += n;
		for (uint32_t i = 0; i < n; i++) {
			if (!describe(&w, f[i].code, &c))
				continue;
			assert_true(c.name.bytes <= WIRE_CODE_TEXT);
			assert_true(c.file.bytes <= WIRE_CODE_TEXT);
			assert_true(c.scope.bytes <= WIRE_CODE_TEXT);
			assert_true(c.n_lines <= WIRE_CODE_LINES);
		}
		assert_true(w.reads < 30 * WIRE_CODE_FRAMES);
	}
	assert_true(found > 3000);
}

int main(void)
{
#if !defined(__x86_64__)
	print_message("needs x86-64: elsewhere Python's threads have no frames\n");
	return 0;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
