/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ruby_code.h - what Ruby's interpreter has otherwise than others: the list of frames is an array,
 * which ends at a known address; a frame has a flag for its entry elsewhere; strings may have their
 * characters in them; and lines are found by a table of bits. Part of chaincap.bpf.c; the same as
 * collector/interpreters/walk_ruby.c.
 * Functions of their own, with what they read in maps: programs have little stack.
 */
#pragma once

/*
 * The current frame of the current thread; 0: it has none, or that is not known. *end: where the
 * array ends. w: three words.
 */
static __noinline __u64 ruby_frame(__u64 *w, struct wire_interpreter *in, __u64 *end)
{
	__u64 at = thread_variable(&in->variable, thread_pointer(bpf_get_current_task_btf()));

	/* vm_stack, vm_stack_size, cfp */
	if (!at || !read_words(w, 1, at) || !w[0] || !read_words(w, 3, w[0]))
		return 0;
	*end = w[0] + w[1] * 8;
	return w[2];
}

/* What ruby_string() leaves in w. */
enum { RUBY_DATA, RUBY_BYTES };

/*
 * Where the characters of a string are, and how many bytes they have: in w, of four words. False:
 * it is no string.
 */
static __noinline bool ruby_string(__u64 *w, const struct wire_interpreter *in, __u64 string)
{
	bool elsewhere;
	__u64 flags;

	if (!string || string & 7 || !read_words(w, 4, string) ||
	    (w[0] & WIRE_RUBY_TYPE) != WIRE_RUBY_STRING)
		return false;
	flags = w[0];
	elsewhere = flags & WIRE_RUBY_FLAG;
	w[RUBY_DATA] = elsewhere ? w[3] : string + in->ascii;
	w[RUBY_BYTES] =
		elsewhere || in->ascii == WIRE_RUBY_WITH_LENGTH ? w[2] : wire_ruby_bytes(flags);
	return true;
}

/* The string with a path: of an array of two, the first one. w: three words. */
static __noinline __u64 ruby_path(__u64 *w, __u64 value)
{
	if (!value || value & 7 || !read_words(w, 3, value))
		return 0;
	return (w[0] & (WIRE_RUBY_TYPE | WIRE_RUBY_FLAG)) == (WIRE_RUBY_ARRAY | WIRE_RUBY_FLAG)
		       ? w[2]
		       : value;
}

/* The first character of a string; 0: it has none. */
static __always_inline char ruby_begins(__u64 *w, const struct wire_interpreter *in, __u64 string)
{
	if (!ruby_string(w, in, string) || !w[RUBY_BYTES] ||
	    bpf_probe_read_user(w, 1, (void *)w[RUBY_DATA]))
		return 0;
	return *(char *)w;
}

static __always_inline __u32 bits_set(__u64 v)
{
	v -= v >> 1 & 0x5555555555555555;
	v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (__u32)(v * 0x0101010101010101 >> 56);
}

/* How many entries begin at or before a place in the code, by the table; 0: not known. */
static __always_inline __u32 ruby_rank(__u64 *w, __u64 table, __u32 place)
{
	__u32 bit, word;

	if (place < WIRE_RUBY_FIRST_PLACES)
		return read_words(w, 1, table + place / 9 * 8) ? w[0] >> (place % 9 * 7) & 0x7f : 0;
	place -= WIRE_RUBY_FIRST_PLACES;
	bit = place % 512;
	word = bit / 64;
	table += WIRE_RUBY_BLOCKS_AT + (__u64)(place / 512) * WIRE_RUBY_BLOCK_BYTES;
	if (!read_words(w, 2, table) || !read_words(w + 2, 1, table + 16 + word * 8))
		return 0;
	return (__u32)w[0] + (word ? w[1] >> ((word - 1) * 9) & 0x1ff : 0) +
	       bits_set(w[2] << (63 - bit % 64));
}

/*
 * The line of an instruction of the code at o; 0: not known. The instruction is the one after that
 * which is being executed.
 */
static __always_inline __u32 ruby_line(__u64 *w, const struct wire_interpreter *in, const char *o,
				       __u64 instruction)
{
	__u64 place = wire_ruby_place(CODE_WORD(o, in->bytecode), instruction);
	__u64 lines = CODE_WORD(o, in->lines), table;
	__u32 n = (__u32)CODE_WORD(o, in->lines + WIRE_RUBY_LINES_N), rank = 1;

	table = CODE_WORD(o, in->lines + WIRE_RUBY_LINES_TABLE);
	if (!lines || place >= WIRE_RUBY_PLACES)
		return 0;
	if (n != 1)
		rank = table ? ruby_rank(w, table, (__u32)place) : 0;
	if (!rank || rank > n ||
	    bpf_probe_read_user(w, sizeof(__u32), (void *)lines + (rank - 1ull) * in->line_bytes))
		return 0;
	return *(__u32 *)w;
}
