/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * v8_code.h - what functions V8 (Node.js) runs, by its objects. Part of chaincap.bpf.c;
 * v8_frames.h finds the frames.
 *
 * Global functions, each of which is verified once, with what they read in c->words: programs have
 * little stack.
 */
#pragma once

static __always_inline bool v8_is_object(__u64 word)
{
	return (word & WIRE_V8_TAGS) == WIRE_V8_TAG;
}

/* The type of an object; -1: it is none. It changes c->words[0]. */
__noinline int v8_type(struct code_chain *c, __u64 object)
{
	__u64 *w;

	if (!c)
		return -1;
	w = c->words;
	if (!v8_is_object(object) || !read_words(w, 1, object - WIRE_V8_TAG) ||
	    !v8_is_object(w[0]) || !read_words(w, 1, w[0] - WIRE_V8_TAG + (WIRE_V8_TYPE_AT & ~7u)))
		return -1;
	return w[0] >> 32 & 0xffff;
}

static __always_inline bool v8_is_text(int type)
{
	return type >= 0 && type < (int)WIRE_V8_STRINGS;
}

/* What a ScopeInfo says of its function. */
static __always_inline void read_v8_scope(struct code_chain *c, __u64 scope)
{
	__u64 at = scope - WIRE_V8_TAG, inferred = 0, *w = c->words;
	struct v8_function *f = &c->v8;
	__u32 flags, locals;

	if (!read_words(w, 3, at + WIRE_V8_SCOPE_FLAGS))
		return;
	flags = (__u32)(w[0] >> 32);
	locals = (__u32)(w[2] >> 32);
	if (locals >= WIRE_V8_LOCALS_MAX)
		return;
	/* A name, or one table of all names; and what each is. */
	at += WIRE_V8_SCOPE_REST +
	      8ull * (locals < WIRE_V8_INLINE_LOCALS ? 2 * locals : 1 + locals) +
	      (flags & WIRE_V8_FLAG_CLASS ? 8 : 0);
	if (!read_words(w, 4, at))
		return;
	if (flags & WIRE_V8_FLAG_NAME) {
		f->name = w[0];
		w[0] = w[2];
		w[1] = w[3];
	}
	if (flags & WIRE_V8_FLAG_INFERRED) {
		inferred = w[0];
		w[0] = w[1];
	}
	f->start = w[0] & 0xffffffff ? ~0ull : w[0] >> 32;
	if (!f->name || (read_words(w, 1, f->name - WIRE_V8_TAG + WIRE_V8_LENGTH) && !(w[0] >> 32)))
		f->name = inferred;
}

/*
 * Finds out what function that is, into c->v8. Returns a hash of what tells it from others; 0: it
 * is no function.
 */
__noinline __u64 read_v8_function(struct code_chain *c, const struct wire_interpreter *in,
				  __u64 function)
{
	__u64 script, name, hash, *w;
	struct v8_function *f;
	int type;

	if (!c || !in)
		return 0;
	f = &c->v8;
	w = c->words;
	f->name = f->script = f->id = 0;
	f->start = ~0ull;
	if (!read_words(w, 1, function - WIRE_V8_TAG + WIRE_V8_IN_FUNCTION))
		return 0;
	f->shared = w[0];
	if (v8_type(c, f->shared) != in->v8.shared || !read_words(w, 5, f->shared - WIRE_V8_TAG))
		return 0;
	name = w[WIRE_V8_NAME / 8];
	script = w[WIRE_V8_SCRIPT / 8];
	type = v8_type(c, name);
	if (type == in->v8.scope)
		read_v8_scope(c, name);
	else if (v8_is_text(type))
		f->name = name;
	if (v8_type(c, script) == in->v8.script &&
	    read_words(w, 1, script - WIRE_V8_TAG + WIRE_V8_SCRIPT_ID)) {
		f->script = script;
		f->id = w[0];
	}
	/* With the length is a string's own hash, which a name has. */
	hash = mix(mix(1, f->id), f->start);
	if (!v8_is_text(v8_type(c, f->name)))
		f->name = 0;
	else if (read_words(w, 1, f->name - WIRE_V8_TAG + WIRE_V8_LENGTH))
		hash = mix(hash, w[0]);
	/* Each thread numbers its scripts. */
	if (f->script && read_words(w, 1, f->script - WIRE_V8_TAG + WIRE_V8_SCRIPT_NAME) &&
	    v8_is_text(v8_type(c, w[0])) &&
	    read_words(w, 1, f->script - WIRE_V8_TAG + WIRE_V8_SCRIPT_NAME) &&
	    read_words(w, 1, w[0] - WIRE_V8_TAG + WIRE_V8_LENGTH))
		hash = mix(hash, w[0] >> 32);
	return hash | 1;
}

/* What v8_string() leaves in c->words. */
enum { V8_DATA, V8_CHARS, V8_WIDTH };

#define V8_HOPS 4 /* from a string to one that has its characters */

/* Where a string's characters are, how many, and how wide. 0: it is no string, or too odd. */
__noinline int v8_string(struct code_chain *c, __u64 string)
{
	__u64 chars = ~0ull, skip = 0, *w;
	int type;

	if (!c)
		return 0;
	w = c->words;
	for (int i = 0; i < V8_HOPS; i++) {
		type = v8_type(c, string);
		if (!v8_is_text(type) || !read_words(w, 3, string - WIRE_V8_TAG + WIRE_V8_LENGTH))
			return 0;
		if (w[0] >> 32 < chars)
			chars = w[0] >> 32;
		switch (type & WIRE_V8_STRING_KIND) {
		case WIRE_V8_FLAT:
		case WIRE_V8_EXTERNAL:
			w[V8_DATA] = string - WIRE_V8_TAG + WIRE_V8_CHARS;
			/* Behind the pointer to what holds the characters. */
			if ((type & WIRE_V8_STRING_KIND) == WIRE_V8_EXTERNAL)
				w[V8_DATA] = w[2];
			w[V8_WIDTH] = type & WIRE_V8_ONE_BYTE ? 1 : 2;
			w[V8_DATA] += skip * w[V8_WIDTH];
			w[V8_CHARS] = chars;
			return 1;
		case WIRE_V8_SLICED:
			skip += w[2] >> 32;
			break;
		case WIRE_V8_CONS: /* which begins with the whole string, once it was read */
		case WIRE_V8_THIN:
			break;
		default:
			return 0;
		}
		string = w[1];
	}
	return 0;
}

/* ---- lines ---------------------------------------------------------------------------------- */

#define V8_STEP 32u /* bytes in which lines are counted at a time */
#if OLDER
#define V8_STEPS LOOP_STEPS
#else
#define V8_STEPS (WIRE_V8_SOURCE_BYTES / V8_STEP)
#endif

/*
 * How many characters in a word's first left bytes are the end of a line; left may be below 0, or
 * beyond the word. Without a branch, each of which is verified both ways.
 */
static __always_inline __u64 lines_in(const struct v8_lines *l, __u64 word, __s64 left)
{
	__u64 differs = word ^ l->ones * '\n', low = ~l->high, ends;
	__u64 none = (__u64)(left >> 63), all = (__u64)((7 - left) >> 63);

	/* The highest bit of each character that is zero. */
	ends = ~(((differs & low) + low) | differs | low);
	ends &= ((((1ull << (left & 7) * 8) - 1) & ~none) | all);
	return (ends >> ((l->width * 8 - 1) & 63)) * l->ones >> ((64 - l->width * 8) & 63);
}

static long count_lines(__u32 i, struct code_walk *w)
{
	struct code_chain *c = w->c;
	struct v8_lines *l = &c->lines;
	__u64 left = l->left;
	const __u64 *words;
	__u32 len;

	if (!left)
		return 1;
	if (!(i % (CODE_BLOCK / V8_STEP))) {
		len = left < CODE_BLOCK ? (__u32)left : CODE_BLOCK;
		barrier_var(len);
		if (len > CODE_BLOCK || bpf_probe_read_user(c->block, len, (void *)l->at))
			return 1;
		l->at += len;
	}
	words = (const __u64 *)(c->block + (i * V8_STEP & (CODE_BLOCK - 1)));
#pragma unroll
	for (int k = 0; k < (int)(V8_STEP / 8); k++)
		l->n += lines_in(l, words[k], (__s64)left - 8 * k);
	l->left = left < V8_STEP ? 0 : left - V8_STEP;
	return 0;
}

LOOP(count_lines, struct code_walk, V8_STEPS)

/* The line in which the function in c->v8 begins, from 1 on; 0: not known. */
__noinline __u64 v8_line(struct code_chain *c)
{
	struct code_walk w = { .c = c };
	struct v8_lines *l;
	__u64 script, *words;

	if (!c || !c->v8.script || c->v8.start == ~0ull)
		return 0;
	l = &c->lines;
	words = c->words;
	script = c->v8.script - WIRE_V8_TAG;
	if (!read_words(words, 1, script + WIRE_V8_SCRIPT_LINE))
		return 0;
	l->n = words[0] >> 32;
	if (!read_words(words, 1, script + WIRE_V8_SCRIPT_SOURCE) || !v8_string(c, words[0]) ||
	    c->v8.start > words[V8_CHARS])
		return 0;
	l->width = words[V8_WIDTH] == 2 ? 2 : 1;
	l->ones = l->width == 2 ? 0x0001000100010001 : 0x0101010101010101;
	l->high = l->ones << (l->width == 2 ? 15 : 7);
	l->at = words[V8_DATA];
	l->left = c->v8.start * l->width;
	if (l->left > WIRE_V8_SOURCE_BYTES || l->left > l->budget)
		return 0;
	l->budget -= l->left;
	loop_count_lines(&w);
	return l->left || l->n > (1u << WIRE_CODE_PLACE_BITS) - 2 ? 0 : l->n + 1;
}
