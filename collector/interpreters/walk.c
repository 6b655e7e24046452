// SPDX-License-Identifier: GPL-2.0-or-later
#include "walk.h"

#include <string.h>

#include "walk_ruby.h"

static bool read_word(const struct walk_memory *m, uint64_t *to, uint64_t at)
{
	return m->read(m->ctx, to, sizeof(*to), at);
}

static uint64_t word_in(const char *from, uint16_t at)
{
	uint64_t word;

	memcpy(&word, from + at, sizeof(word));
	return word;
}

static uint32_t half_in(const char *from, uint16_t at)
{
	uint32_t half;

	memcpy(&half, from + at, sizeof(half));
	return half;
}

/* Whether what is read of frames and code objects fits. */
static bool is_sane(const struct wire_interpreter *in)
{
	return in->frame_bytes <= WIRE_CODE_FRAME_BYTES && in->code_bytes <= WIRE_CODE_BYTES;
}

/* ---- frames --------------------------------------------------------------------------------- */

/* The address of the state that a Python thread has; 0: it has none, or that is not known. */
static uint64_t python_thread(const struct walk_memory *m, const struct wire_interpreter *in,
			      uint64_t thread_pointer)
{
#if defined(__x86_64__)
	uint64_t tss, value;
	uint32_t key;

	/* Whether there is a key yet, and the key. */
	if (!read_word(m, &tss, in->root) || !(uint32_t)tss)
		return 0;
	key = (uint32_t)(tss >> 32);
	if (key >= WIRE_SPECIFIC_KEYS ||
	    !read_word(m, &value, thread_pointer + WIRE_SPECIFIC_AT + key * 16ull + 8))
		return 0;
	return value;
#else
	(void)m;
	(void)in;
	(void)thread_pointer;
	return 0;
#endif
}

static uint64_t current_frame(const struct walk_memory *m, const struct wire_interpreter *in,
			      uint64_t thread_pointer, uint64_t *end)
{
	uint64_t at = in->root, frame;

	if (in->language == WIRE_RUBY)
		return ruby_frame(m, in, thread_pointer, end);
	if (in->language == WIRE_PYTHON) {
		at = python_thread(m, in, thread_pointer);
		if (!at)
			return 0;
		at += in->current;
		if (in->has_cframe) {
			if (!read_word(m, &at, at) || !at)
				return 0;
			at += in->in_cframe;
		}
	}
	return read_word(m, &frame, at) ? frame : 0;
}

static uint64_t php_line(const struct walk_memory *m, const struct wire_interpreter *in,
			 uint64_t function, uint64_t instruction)
{
	uint32_t line = 0;
	uint8_t type;

	if (!m->read(m->ctx, &type, sizeof(type), function) || type == WIRE_PHP_INTERNAL ||
	    !m->read(m->ctx, &line, sizeof(line), instruction + in->line))
		return 0;
	return line;
}

static uint64_t place_in(const struct walk_memory *m, const struct wire_interpreter *in,
			 uint64_t code, uint64_t instruction)
{
	if (in->language == WIRE_PHP)
		return php_line(m, in, code, instruction);
	if (in->bytecode)
		return (instruction - code - in->bytecode) >> 1;
	/* Since 3.10 it counts units of two bytes, before that bytes; -1: it has not begun. */
	return in->version < 10 ? (uint64_t)((int32_t)instruction >> 1) : (uint32_t)instruction;
}

/* Fills in a frame of Ruby's, which is in b; false: it is that of a function in C. */
static bool ruby_code(const struct walk_memory *m, const struct wire_interpreter *in, const char *b,
		      struct walk_frame *f)
{
	uint64_t instruction = word_in(b, in->instruction);
	uint8_t flags = 0;

	*f = (struct walk_frame) { .code = word_in(b, in->code) };
	if (!f->code || !instruction)
		return false;
	if (m->read(m->ctx, &flags, sizeof(flags), word_in(b, in->entry)))
		f->is_entry = (flags & in->entry_mask) == in->entry_is;
	if (!ruby_line(m, in, f->code, instruction, &f->place))
		f->code = 0;
	return true;
}

/* The array of Ruby's frames; those of functions in C are in it as well. */
static uint32_t walk_array(const struct walk_memory *m, const struct wire_interpreter *in,
			   uint64_t at, uint64_t end, struct walk_frame frames[WIRE_CODE_FRAMES])
{
	char b[WIRE_CODE_FRAME_BYTES];
	uint32_t n = 0;

	for (uint32_t i = 0; i < 2 * WIRE_CODE_FRAMES && n < WIRE_CODE_FRAMES; i++) {
		if (!at || at & 7 || at >= end || end - at < in->frame_bytes ||
		    !m->read(m->ctx, b, in->frame_bytes, at))
			break;
		n += ruby_code(m, in, b, &frames[n]);
		at += in->stride;
	}
	return n;
}

uint32_t walk_frames(const struct walk_memory *m, const struct wire_interpreter *in,
		     uint64_t thread_pointer, struct walk_frame frames[WIRE_CODE_FRAMES])
{
	uint64_t end = 0, at = is_sane(in) ? current_frame(m, in, thread_pointer, &end) : 0;
	char b[WIRE_CODE_FRAME_BYTES];
	uint32_t n;

	if (in->stride)
		return walk_array(m, in, at, end, frames);
	for (n = 0; n < WIRE_CODE_FRAMES && at && !(at & 7); n++) {
		struct walk_frame *f = &frames[n];

		if (!m->read(m->ctx, b, in->frame_bytes, at))
			break;
		at = word_in(b, in->previous);
		f->is_entry = ((uint8_t)b[in->entry] & in->entry_mask) == in->entry_is;
		f->code = f->is_entry && in->shim ? 0 : word_in(b, in->code) & ~1ull;
		f->place = f->code ? place_in(m, in, f->code, word_in(b, in->instruction)) : 0;
		f->pad = 0;
	}
	return n;
}

/* ---- code objects --------------------------------------------------------------------------- */

/* The width of a Python string's characters, and where they begin; false: they are elsewhere. */
static bool python_text(const struct walk_memory *m, const struct wire_interpreter *in,
			uint64_t string, uint64_t *data, uint32_t *width)
{
	uint32_t state;

	if (!m->read(m->ctx, &state, sizeof(state), string + WIRE_TEXT_STATE_AT))
		return false;
	*width = state >> 2 & 7;
	*data = string + (state & 64 ? in->ascii : in->other);
	return state & 32 && (*width == 1 || *width == 2 || *width == 4);
}

static void read_text(const struct walk_memory *m, const struct wire_interpreter *in,
		      uint64_t string, bool is_path, struct wire_code_text *t)
{
	uint64_t chars, skip = 0, data = string + in->ascii, most = WIRE_CODE_TEXT;
	uint32_t width = 0;

	*t = (struct wire_code_text) { .bytes = 0 };
	if (in->language == WIRE_RUBY) {
		if (!ruby_string(m, in, string, &data, &chars))
			return;
	} else if (!string || !read_word(m, &chars, string + WIRE_LENGTH_AT) ||
		   (in->language == WIRE_PYTHON && !python_text(m, in, string, &data, &width))) {
		return;
	}
	t->width = (__u8)width;
	if (!width)
		width = 1;
	most /= width;
	t->cut = chars > most;
	if (chars > most) {
		skip = is_path ? chars - most : 0;
		chars = most;
	}
	if (m->read(m->ctx, t->text, chars * width, data + skip * width))
		t->bytes = (__u16)(chars * width);
}

static void read_lines(const struct walk_memory *m, uint64_t bytes_object, struct wire_code *out)
{
	uint64_t n;

	if (!bytes_object || !read_word(m, &n, bytes_object + WIRE_LENGTH_AT))
		return;
	if (n > WIRE_CODE_LINES)
		n = WIRE_CODE_LINES;
	if (m->read(m->ctx, out->lines, n, bytes_object + WIRE_BYTES_AT))
		out->n_lines = (__u32)n;
}

bool walk_code(const struct walk_memory *m, const struct wire_interpreter *in, uint64_t code,
	       struct wire_code *out)
{
	uint64_t scope, fields = in->body ? ruby_body(m, in, code) : code;
	char o[WIRE_CODE_BYTES];

	if (!is_sane(in) || !fields || !m->read(m->ctx, o, in->code_bytes, fields))
		return false;
	out->language = in->language;
	out->version = in->version;
	out->first_line = half_in(o, in->first_line);
	out->n_lines = 0;
	out->address = code;
	out->file = out->scope = (struct wire_code_text) { .bytes = 0 };
	read_text(m, in, word_in(o, in->name), false, &out->name);
	if (in->language == WIRE_PYTHON) {
		read_text(m, in, word_in(o, in->file), true, &out->file);
		read_lines(m, word_in(o, in->lines), out);
		return true;
	}
	if (in->language == WIRE_RUBY) {
		read_text(m, in, ruby_path(m, word_in(o, in->file)), true, &out->file);
		if (!out->name.bytes)
			ruby_name(half_in(o, 0), &out->name);
		return true;
	}
	scope = word_in(o, in->scope);
	if (scope && read_word(m, &scope, scope + in->in_scope))
		read_text(m, in, scope, false, &out->scope);
	if (o[0] != WIRE_PHP_INTERNAL)
		read_text(m, in, word_in(o, in->file), true, &out->file);
	else
		out->first_line = 0;
	return true;
}
