// SPDX-License-Identifier: GPL-2.0-or-later
#include "walk_ruby.h"

#include <string.h>

static bool read_word(const struct walk_memory *m, uint64_t *to, uint64_t at)
{
	return m->read(m->ctx, to, sizeof(*to), at);
}

static uint64_t word_in(const char *from, uint32_t at)
{
	uint64_t word;

	memcpy(&word, from + (at & (WIRE_CODE_BYTES - 1)), sizeof(word));
	return word;
}

/* ---- the thread's variable ------------------------------------------------------------------- */

static uint64_t in_module(const struct walk_memory *m, uint64_t thread, uint64_t module,
			  uint64_t offset)
{
	uint64_t modules, n, block;

	if (!read_word(m, &modules, thread + WIRE_MODULES_AT) ||
	    !read_word(m, &n, modules - WIRE_MODULE_SIZE) || !module || module > n ||
	    !read_word(m, &block, modules + module * WIRE_MODULE_SIZE) || !block || !~block)
		return 0;
	return block + offset;
}

/* The address of a thread's variable; 0: not known. */
static uint64_t thread_variable(const struct walk_memory *m, const struct wire_variable *v,
				uint64_t thread)
{
	uint64_t slot[2] = { 0 };

	if (v->tls == WIRE_TLS_STATIC)
		return thread + v->offset;
	if (!m->read(m->ctx, slot, v->tls == WIRE_TLS_OFFSET_SLOT ? 8 : 16, v->slot) || !slot[0])
		return 0;
	if (v->tls == WIRE_TLS_OFFSET_SLOT)
		return thread + slot[0];
	/* An offset from the thread pointer, which is far less than an address. */
	if (v->tls == WIRE_TLS_DESCRIPTOR) {
		if (slot[1] + (1u << 20) < 2u << 20)
			return thread + slot[1];
		if (!m->read(m->ctx, slot, sizeof(slot), slot[1]))
			return 0;
	}
	return in_module(m, thread, slot[0], slot[1]);
}

uint64_t ruby_frame(const struct walk_memory *m, const struct wire_interpreter *in,
		    uint64_t thread_pointer, uint64_t *end)
{
	uint64_t at = thread_variable(m, &in->variable, thread_pointer), context, words[3];

	/* vm_stack, vm_stack_size, cfp */
	if (!at || !read_word(m, &context, at) || !context ||
	    !m->read(m->ctx, words, sizeof(words), context))
		return 0;
	*end = words[0] + words[1] * 8;
	return words[2];
}

/* ---- values -----------------------------------------------------------------------------------
 */

bool ruby_string(const struct walk_memory *m, const struct wire_interpreter *in, uint64_t string,
		 uint64_t *data, uint64_t *bytes)
{
	bool elsewhere;
	uint64_t w[4];

	if (!string || string & 7 || !m->read(m->ctx, w, sizeof(w), string) ||
	    (w[0] & WIRE_RUBY_TYPE) != WIRE_RUBY_STRING)
		return false;
	elsewhere = w[0] & WIRE_RUBY_FLAG;
	*data = elsewhere ? w[3] : string + in->ascii;
	*bytes = elsewhere || in->ascii == WIRE_RUBY_WITH_LENGTH ? w[2] : wire_ruby_bytes(w[0]);
	return true;
}

uint64_t ruby_path(const struct walk_memory *m, uint64_t value)
{
	uint64_t w[3];

	if (!value || value & 7 || !m->read(m->ctx, w, sizeof(w), value))
		return 0;
	return (w[0] & (WIRE_RUBY_TYPE | WIRE_RUBY_FLAG)) == (WIRE_RUBY_ARRAY | WIRE_RUBY_FLAG)
		       ? w[2]
		       : value;
}

void ruby_name(uint32_t kind, struct wire_code_text *name)
{
	const char *text = kind == WIRE_RUBY_MAIN  ? "<main>"
			   : kind == WIRE_RUBY_TOP ? "<top (required)>"
						   : "";

	name->bytes = (__u16)strlen(text);
	memcpy(name->text, text, name->bytes);
}

uint64_t ruby_body(const struct walk_memory *m, const struct wire_interpreter *in, uint64_t code)
{
	uint64_t body;

	return read_word(m, &body, code + in->body) ? body : 0;
}

/* ---- lines ------------------------------------------------------------------------------------
 */

/* How many entries begin at or before a place in the code, by the table; 0: not known. */
static uint32_t rank_of(const struct walk_memory *m, uint64_t table, uint32_t place)
{
	uint32_t block, bit, word;
	uint64_t w[2], bits;

	if (place < WIRE_RUBY_FIRST_PLACES)
		return read_word(m, w, table + place / 9 * 8)
			       ? (uint32_t)(w[0] >> (place % 9 * 7) & 0x7f)
			       : 0;
	block = (place - WIRE_RUBY_FIRST_PLACES) / 512;
	bit = (place - WIRE_RUBY_FIRST_PLACES) % 512;
	word = bit / 64;
	table += WIRE_RUBY_BLOCKS_AT + (uint64_t)block * WIRE_RUBY_BLOCK_BYTES;
	if (!m->read(m->ctx, w, sizeof(w), table) || !read_word(m, &bits, table + 16 + word * 8))
		return 0;
	return (uint32_t)w[0] + (word ? (uint32_t)(w[1] >> ((word - 1) * 9)) & 0x1ff : 0) +
	       (uint32_t)__builtin_popcountll(bits << (63 - bit % 64));
}

bool ruby_line(const struct walk_memory *m, const struct wire_interpreter *in, uint64_t code,
	       uint64_t instruction, uint64_t *line)
{
	uint64_t body = ruby_body(m, in, code), first, place, lines, n, table;
	uint32_t rank = 1, found = 0;
	char o[WIRE_CODE_BYTES + 8];

	*line = 0;
	if (!body || !m->read(m->ctx, o, in->code_bytes, body))
		return false;
	first = word_in(o, in->bytecode);
	if (instruction - first > (word_in(o, 0) >> 32) * 8)
		return false;
	place = wire_ruby_place(first, instruction);
	lines = word_in(o, in->lines);
	n = (uint32_t)word_in(o, in->lines + WIRE_RUBY_LINES_N);
	if (!n) /* what the interpreter begins with */
		return false;
	table = word_in(o, in->lines + WIRE_RUBY_LINES_TABLE);
	if (!lines || place >= WIRE_RUBY_PLACES)
		return true;
	if (n != 1)
		rank = table ? rank_of(m, table, (uint32_t)place) : 0;
	if (rank && rank <= n &&
	    m->read(m->ctx, &found, sizeof(found), lines + (rank - 1ull) * in->line_bytes))
		*line = found;
	return true;
}
