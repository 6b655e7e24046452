/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ruby_code.h - what Ruby's interpreter has otherwise than others: the list of frames is an array,
 * which ends at a known address; a frame has a flag for its entry elsewhere; strings may have their
 * characters in them; and lines are found by a table of bits. Part of chaincap.bpf.c; the same as
 * collector/interpreters/walk_ruby.c.
 */
#pragma once

/*
 * The current frame of the thread; 0: it has none, or that is not known. *end: where the array
 * ends.
 */
static __always_inline __u64 ruby_frame(struct wire_interpreter *in, struct task_struct *task,
					__u64 *end)
{
	__u64 at = thread_variable(&in->variable, thread_pointer(task)), context, words[3];

	/* vm_stack, vm_stack_size, cfp */
	if (!at || !read_words(&context, 1, at) || !context || !read_words(words, 3, context))
		return 0;
	*end = words[0] + words[1] * 8;
	return words[2];
}

/* Where the characters of a string are, and how many bytes they have; false: it is no string. */
static __always_inline bool ruby_string(const struct wire_interpreter *in, __u64 string,
					__u64 *data, __u64 *bytes)
{
	bool elsewhere;
	__u64 w[4];

	if (!string || string & 7 || !read_words(w, 4, string) ||
	    (w[0] & WIRE_RUBY_TYPE) != WIRE_RUBY_STRING)
		return false;
	elsewhere = w[0] & WIRE_RUBY_FLAG;
	*data = elsewhere ? w[3] : string + in->ascii;
	*bytes = elsewhere || in->ascii == WIRE_RUBY_WITH_LENGTH ? w[2] : wire_ruby_bytes(w[0]);
	return true;
}

/* The string with a path: of an array of two, the first one. */
static __always_inline __u64 ruby_path(__u64 value)
{
	__u64 w[3];

	if (!value || value & 7 || !read_words(w, 3, value))
		return 0;
	return (w[0] & (WIRE_RUBY_TYPE | WIRE_RUBY_FLAG)) == (WIRE_RUBY_ARRAY | WIRE_RUBY_FLAG)
		       ? w[2]
		       : value;
}

/* The first character of a string; 0: it has none. */
static __always_inline char ruby_begins(const struct wire_interpreter *in, __u64 string)
{
	__u64 data, bytes;
	char first = 0;

	if (ruby_string(in, string, &data, &bytes) && bytes)
		bpf_probe_read_user(&first, sizeof(first), (void *)data);
	return first;
}

static __always_inline __u32 bits_set(__u64 v)
{
	v -= v >> 1 & 0x5555555555555555;
	v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (__u32)(v * 0x0101010101010101 >> 56);
}

/* How many entries begin at or before a place in the code, by the table; 0: not known. */
static __always_inline __u32 ruby_rank(__u64 table, __u32 place)
{
	__u32 block, bit, word;
	__u64 w[2], bits;

	if (place < WIRE_RUBY_FIRST_PLACES)
		return read_words(w, 1, table + place / 9 * 8) ? w[0] >> (place % 9 * 7) & 0x7f : 0;
	block = (place - WIRE_RUBY_FIRST_PLACES) / 512;
	bit = (place - WIRE_RUBY_FIRST_PLACES) % 512;
	word = bit / 64;
	table += WIRE_RUBY_BLOCKS_AT + (__u64)block * WIRE_RUBY_BLOCK_BYTES;
	if (!read_words(w, 2, table) || !read_words(&bits, 1, table + 16 + word * 8))
		return 0;
	return (__u32)w[0] + (word ? w[1] >> ((word - 1) * 9) & 0x1ff : 0) +
	       bits_set(bits << (63 - bit % 64));
}

/*
 * The line of an instruction of the code at o; 0: not known. The instruction is the one after that
 * which is being executed.
 */
static __always_inline __u32 ruby_line(const struct wire_interpreter *in, const char *o,
				       __u64 instruction)
{
	__u64 place = wire_ruby_place(CODE_WORD(o, in->bytecode), instruction), lines, w[2];
	__u32 rank = 1, line = 0;

	lines = CODE_WORD(o, in->lines);
	w[0] = CODE_WORD(o, in->lines + WIRE_RUBY_LINES_N) & 0xffffffff;
	w[1] = CODE_WORD(o, in->lines + WIRE_RUBY_LINES_TABLE);
	if (!lines || place >= WIRE_RUBY_PLACES)
		return 0;
	if (w[0] != 1)
		rank = w[1] ? ruby_rank(w[1], (__u32)place) : 0;
	if (!rank || rank > w[0])
		return 0;
	bpf_probe_read_user(&line, sizeof(line), (void *)lines + (rank - 1ull) * in->line_bytes);
	return line;
}
