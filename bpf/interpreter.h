/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * interpreter.h - the frames of interpreted code of the current thread; chainwire_code.h explains
 * how they are found. Part of chaincap.bpf.c.
 *
 * They are read from the interpreter's own structs while the thread cannot change them. The
 * addresses of code objects and instructions are hashed, and the hash becomes a part of the user
 * stack's: a stack that is known costs no more than this walk. Only of a new stack the code objects
 * themselves are read, given ids, and sent.
 *
 * The address of a code object that was freed may become another one's. Code that is likely to be
 * freed (that of a module's body, or of no file) is therefore read each time, and what is read is a
 * part of the hash. Of other code one object is read now and then: if it is another one than
 * before, all code of the process is read each time from then on.
 */
#pragma once

/* Record frames of interpreted code: a bit for each enum wire_language. Set before loading. */
const volatile __u32 find_code = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_INTERPRETERS);
	__uint(map_flags, AS_NEEDED);
	__type(key, __u32);
	__type(value, struct wire_interpreter);
} interpreters SEC(".maps");

/*
 * By the low bits of the process id: 1 if a process with these may be in the map. Written by the
 * collector. Others' events do not look further.
 */
__u8 interpreted[WIRE_INTERPRETED] TABLE;

/* Which code object is at an address; and what it had in it. */
struct code_key {
	__u64 address, space;
};

struct known_code {
	__u32 id;
	__u16 is_volatile; /* 1: it is likely to be freed */
	__u16 moved;	   /* V8: in->v8.moved then */
	__u64 hash;
	__u64 line; /* V8: where it begins; 0: not known */
};

/* The collector empties it in time. No LRU: samples may come while the list of that is locked. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_CODES);
	__uint(map_flags, AS_NEEDED);
	__type(key, struct code_key);
	__type(value, struct known_code);
} codes SEC(".maps");

/*
 * By the low bits of its id: a code object that this CPU has sent. In one element: each one more
 * takes the kernel an allocation at the start. A value has at most 32 KiB.
 */
struct sent_codes {
	__u32 ids[8192];
};

MAP(codes_sent, PERCPU_ARRAY, 1, __u32, struct sent_codes);

__u32 last_code_id = 0;

/*
 * Chains of frames with volatile code, by the low bits of their hashes; frames has a bit for each
 * frame whose code is volatile. An entry that another one has taken is made anew when the stack,
 * which is unknown then, is looked at. All CPUs write it without a lock: of a torn entry the check
 * is wrong.
 */
#define VOLATILE_CHAINS (1u << 12)
#define VOLATILE_WORDS ((WIRE_CODE_FRAMES + 63) / 64)

struct volatile_chain {
	__u64 check; /* hash, with the words of frames mixed in */
	__u64 frames[VOLATILE_WORDS];
};

static struct volatile_chain volatile_chains[VOLATILE_CHAINS] TABLE;

#define CODE_PAGE 4096u
#define CODE_BLOCK 2048u /* bytes that are read at once: frames lie close to each other */

#define TEXT_WORDS 7 /* that are hashed, from the length on: Python's with their own hash */

/* What names a function of V8; pointers as they are in objects, 0: there is none. */
struct v8_function {
	__u64 shared, name, script, id, start; /* start: where in the script; -1: not known */
	__u64 line;			       /* likewise; 0: not known */
};

/* Lines that are being counted. */
struct v8_lines {
	__u64 at, left; /* what is not counted yet: address, bytes */
	__u64 n;
	__u64 width, ones,
		high; /* of a character, in bytes; its lowest and highest bits in a word */
	__u64 budget; /* bytes that may be counted yet for this stack */
};

struct code_place {
	__u64 code, instruction; /* V8: what tells it from others, and the function */
	__u64 is_entry; /* RUBY: an address, until it is named; V8: index of the native frame */
};

/* Of the event that is being recorded, by stack_kind(). */
struct code_chain {
	__u64 n;    /* frames; 0: there are none */
	__u64 next; /* address of the next one; 0: there are no more */
	__u64 end;  /* RUBY: of the array that they are in */
	__u64 hash; /* so far */
	__u64 space, now;
	__u64 reread[VOLATILE_WORDS]; /* a bit for each frame whose code is volatile */
	__u64 plain;		      /* their hash, without what volatile code has in it */
	struct code_place at[WIRE_CODE_FRAMES];
	__u64 frames[WIRE_CODE_FRAMES]; /* as in a stack (wire_code_frame()) */
	__u64 base, len;		/* of what is in block: address, bytes */
	char block[2 * CODE_BLOCK];
	char object[2 * WIRE_CODE_BYTES];
	__u64 text[TEXT_WORDS];
	__u64 words[6]; /* for ruby_code.h and v8_code.h */
	struct v8_function v8;
	struct v8_lines lines;
	struct code_key key; /* of the code that is looked up, and what is known of it */
	struct known_code named;
	__u32 is_v8, is_torn; /* is_torn: V8's objects are being moved */
	struct wire_code record;
};

MAP(code_chains, PERCPU_ARRAY, STACK_KINDS, __u32, struct code_chain);

/* All else is in the chain: programs have little stack. */
struct code_walk {
	struct code_chain *c;
	struct wire_interpreter *in;
};

#define FIELD_OF(from, offset, limit, type) (*(type *)((from) + ((offset) & ((limit)-1))))
#define CODE_WORD(object, offset) FIELD_OF(object, offset, WIRE_CODE_BYTES, __u64)

#include "ruby_code.h"
#include "v8_code.h"

/* Not even verified if the language is not wanted. */
static __always_inline bool is_in(const struct wire_interpreter *in, __u32 language)
{
	return (find_code & 1u << language) && in->language == language;
}

static __always_inline bool may_have_code(__u32 tgid)
{
	return find_code && *ELEMENT(interpreted, tgid);
}

static __always_inline struct wire_interpreter *interpreter_of(__u32 tgid)
{
	return may_have_code(tgid) ? bpf_map_lookup_elem(&interpreters, &tgid) : NULL;
}

/* Process child begins with its parent's memory; the collector hears of it later. */
static __always_inline void inherit_interpreter(__u32 parent, __u32 child)
{
	struct wire_interpreter *in = interpreter_of(parent);

	if (!in)
		return;
	if (bpf_map_update_elem(&interpreters, &child, in, BPF_ANY))
		leave_out(CHAINLOG_LEFT_PROCESSES);
	*ELEMENT(interpreted, child) = 1;
	in = bpf_map_lookup_elem(&interpreters, &child);
	if (in)
		in->is_inherited = 1;
}

/*
 * An exec ends: what was inherited is gone with the memory. What the collector has told may already
 * be of the new program, which is mapped before that; else the collector forgets it soon.
 */
static __always_inline void disinherit_interpreter(__u32 tgid)
{
	struct wire_interpreter *in = interpreter_of(tgid);

	if (in && in->is_inherited)
		bpf_map_delete_elem(&interpreters, &tgid);
}

/* ---- from the thread to its current frame --------------------------------------------------- */

/* The address of the state that a Python thread has; 0: it has none, or that is not known. */
static __always_inline __u64 python_thread(struct wire_interpreter *in, struct task_struct *task)
{
	__u64 tss, value = 0;
	__u32 key = in->key;

	/* On other architectures the block is elsewhere. */
	if (HAS_LINK_REGISTER)
		return 0;
	if (!key) {
		/* Whether there is a key yet, and the key. */
		if (!read_words(&tss, 1, in->root) || !(__u32)tss)
			return 0;
		key = (__u32)(tss >> 32) + 1;
		in->key = key;
	}
	if (key > WIRE_SPECIFIC_KEYS ||
	    !read_words(&value, 1, thread_pointer(task) + WIRE_SPECIFIC_AT + (key - 1) * 16ull + 8))
		return 0;
	/* The runtime may have begun anew, with another one. */
	if (!value)
		in->key = 0;
	return value;
}

static __always_inline __u64 current_frame(struct code_chain *c, struct wire_interpreter *in,
					   struct task_struct *task)
{
	__u64 at = in->root, frame = 0;

	if (is_in(in, WIRE_RUBY))
		return ruby_frame(c->words, in, &c->end);
	if (in->language == WIRE_PYTHON) {
		at = python_thread(in, task);
		if (!at)
			return 0;
		at += in->current;
		if (in->has_cframe) {
			if (!read_words(&at, 1, at) || !at)
				return 0;
			at += in->in_cframe;
		}
	}
	return read_words(&frame, 1, at) ? frame : 0;
}

/* ---- from frame to frame -------------------------------------------------------------------- */

/*
 * Reads a block with the frame in it, which ends there: the next ones mostly lie below. The page
 * before the frame may be unmapped. In an array it begins there, and ends with it at the latest.
 */
static __always_inline bool read_block(struct code_chain *c, __u64 frame, __u32 bytes,
				       bool is_array)
{
	__u64 base = frame + bytes - CODE_BLOCK;
	__u32 len;

	if (base < (frame & ~(__u64)(CODE_PAGE - 1)))
		base = frame & ~(__u64)(CODE_PAGE - 1);
	if (is_array)
		base = frame;
	len = (__u32)(frame + bytes - base);
	if (is_array)
		len = c->end - frame < CODE_BLOCK ? (__u32)(c->end - frame) : CODE_BLOCK;
	c->len = 0;
	/* Bounded here: the verifier of 6.1 loses the bounds of spilled values. */
	barrier_var(len);
	if (len > CODE_BLOCK || bpf_probe_read_user(c->block, len, (void *)base))
		return false;
	c->base = base;
	c->len = len;
	return true;
}

static long code_step(__u32 i, struct code_walk *w)
{
	const struct wire_interpreter *in = w->in;
	__u32 bytes = in->frame_bytes & (2 * WIRE_CODE_FRAME_BYTES - 1), at;
	struct code_chain *c = w->c;
	__u64 frame = c->next, n = c->n, instruction;
	bool is_array = in->stride;
	struct code_place *p;
	const char *b;

	(void)i;
	if (!frame || frame & 7 || n >= WIRE_CODE_FRAMES ||
	    (is_array && (frame >= c->end || c->end - frame < bytes)))
		return 1;
	if ((frame < c->base || frame - c->base + bytes > c->len) &&
	    !read_block(c, frame, bytes, is_array))
		return 1;
	at = (__u32)(frame - c->base);
	barrier_var(at);
	b = c->block + (at & (CODE_BLOCK - 1));
	p = &c->at[n];
	p->code = FIELD_OF(b, in->code, WIRE_CODE_FRAME_BYTES, __u64) & ~1ull;
	instruction = FIELD_OF(b, in->instruction, WIRE_CODE_FRAME_BYTES, __u64);
	p->instruction = in->bytecode || in->line ? instruction : (__u32)instruction;
	if (is_array) {
		p->is_entry = FIELD_OF(b, in->entry, WIRE_CODE_FRAME_BYTES, __u64);
		c->next = frame + in->stride;
		/* A function in C. */
		if (!p->code || !instruction)
			return 0;
		c->hash = mix(mix(c->hash, p->code), instruction);
		c->n = n + 1;
		return 0;
	}
	p->is_entry = (FIELD_OF(b, in->entry, WIRE_CODE_FRAME_BYTES, __u8) & in->entry_mask) ==
		      in->entry_is;
	c->hash = mix(mix(c->hash, p->code + p->is_entry), p->instruction);
	c->next = FIELD_OF(b, in->previous, WIRE_CODE_FRAME_BYTES, __u64);
	c->n = n + 1;
	return 0;
}

/* Those of functions in C, which are in the array as well, do not count. */
LOOP(code_step, struct code_walk, 2 * WIRE_CODE_FRAMES)

/* ---- code objects --------------------------------------------------------------------------- */

/* The hash of a string's length and first characters. */
static __always_inline __u64 hash_text(struct code_chain *c, __u64 hash, __u64 string)
{
	hash = mix(hash, string);
	if (!string || !read_words(c->text, TEXT_WORDS, string + WIRE_LENGTH_AT))
		return hash;
#pragma unroll
	for (int i = 0; i < TEXT_WORDS; i++)
		hash = mix(hash, c->text[i]);
	return hash;
}

/* The same of a string of Ruby's. */
static __always_inline __u64 hash_ruby_text(struct code_chain *c, const struct wire_interpreter *in,
					    __u64 hash, __u64 string)
{
	__u64 bytes;
	__u32 n;

	hash = mix(hash, string);
	if (!ruby_string(c->words, in, string))
		return hash;
	__builtin_memset(c->text, 0, sizeof(c->text));
	bytes = c->words[RUBY_BYTES];
	n = bytes < sizeof(c->text) ? (__u32)bytes : sizeof(c->text);
	barrier_var(n);
	if (n > sizeof(c->text) || bpf_probe_read_user(c->text, n, (void *)c->words[RUBY_DATA]))
		return hash;
	hash = mix(hash, bytes);
#pragma unroll
	for (int i = 0; i < TEXT_WORDS; i++)
		hash = mix(hash, c->text[i]);
	return hash;
}

/*
 * Reads the object at that address into c->object, and returns a hash of what names it: another
 * object may have its strings where this one had them.
 */
static __noinline __u64 read_object(struct code_chain *c, const struct wire_interpreter *in,
				    const struct code_place *p)
{
	__u64 hash = 1, address = p->code;
	__u32 bytes = in->code_bytes;
	const char *o = c->object;

	if (is_in(in, WIRE_V8))
		return read_v8_function(c, in, p->instruction);
	if (in->body && address && !read_words(&address, 1, address + in->body))
		return 0;
	barrier_var(bytes);
	if (!address || bytes > WIRE_CODE_BYTES ||
	    bpf_probe_read_user(c->object, bytes, (void *)address))
		return 0;
	if (is_in(in, WIRE_RUBY)) {
		hash = mix(hash, CODE_WORD(o, in->bytecode));
		hash = hash_ruby_text(c, in, hash, CODE_WORD(o, in->name));
		hash = hash_ruby_text(c, in, hash, ruby_path(c->words, CODE_WORD(o, in->file)));
		return mix(hash, FIELD_OF(o, in->first_line, WIRE_CODE_BYTES, __u32)) | 1;
	}
	hash = hash_text(c, hash, FIELD_OF(o, in->name, WIRE_CODE_BYTES, __u64));
	hash = hash_text(c, hash, FIELD_OF(o, in->file, WIRE_CODE_BYTES, __u64));
	hash = mix(hash, FIELD_OF(o, in->first_line, WIRE_CODE_BYTES, __u32));
	return mix(hash, FIELD_OF(o, in->lines, WIRE_CODE_BYTES, __u64)) | 1;
}

static long hash_object(__u32 i, struct code_walk *w)
{
	struct code_chain *c = w->c;

	if (i >= WIRE_CODE_FRAMES || i >= c->n)
		return 1;
	if (c->reread[i / 64] >> (i & 63) & 1)
		c->hash = mix(c->hash, read_object(c, w->in, &c->at[i]));
	return 0;
}

LOOP(hash_object, struct code_walk, WIRE_CODE_FRAMES)

/* Whether the code object of frame i is another one than the last time. */
static __noinline bool is_changed(struct code_chain *c, const struct wire_interpreter *in,
				  __u64 space, __u32 i)
{
	struct known_code *known;
	__u64 hash;

	if (i >= WIRE_CODE_FRAMES)
		return false;
	c->key.space = space;
	c->key.address = c->at[i].code;
	known = bpf_map_lookup_elem(&codes, &c->key);
	if (!known || known->is_volatile || known->moved != in->v8.moved)
		return false;
	hash = read_object(c, in, &c->at[i]);
	/* V8: objects are just being moved; and in the leaf, which any function may call. */
	if (is_in(in, WIRE_V8) && (!hash || !c->at[i].is_entry))
		return false;
	return known->hash != hash;
}

static __always_inline __u64 check_of(const struct code_chain *c, const __u64 *frames)
{
	return mix(mix(c->plain, frames[0]), frames[VOLATILE_WORDS - 1]);
}

/* Fills in c->reread. False: no frame's code is volatile, as far as is known. */
static __always_inline bool find_volatile(struct code_chain *c, const struct wire_interpreter *in)
{
	const struct volatile_chain *v = ELEMENT(volatile_chains, c->plain);

	_Static_assert(VOLATILE_WORDS == 2, "the words that are copied");
	if (in->is_volatile) {
		c->reread[0] = c->reread[1] = ~0ull;
		return true;
	}
	if (!*(volatile __u64 *)&v->check)
		return false;
	c->reread[0] = *(volatile __u64 *)&v->frames[0];
	c->reread[1] = *(volatile __u64 *)&v->frames[1];
	return check_of(c, c->reread) == v->check;
}

/* Of how many events one looks at a code object of a process whose code is not volatile. */
#define LOOK_AT_ONE_OF 16

/* In place of a hash, which is odd: frames are to be found by the native ones. */
#define V8_CODE 2
#define find_v8 (find_code & 1u << WIRE_V8)

/*
 * Finds the frames of interpreted code of the current thread. Returns their hash; 0: it has none.
 * space: space_of() it.
 */
__noinline __u64 find_code_frames(__u32 which, __u64 space, __u64 seen)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_interpreter *in;
	struct code_walk w = { 0 };
	struct code_chain *c;

	if (!find_code)
		return 0;
	w.c = c = bpf_map_lookup_elem(&code_chains, &which);
	if (!c)
		return 0;
	c->n = 0;
	in = interpreter_of(task->tgid);
	if (!in)
		return 0;
	c->is_v8 = is_in(in, WIRE_V8);
	if (c->is_v8)
		return V8_CODE;
	w.in = in;
	c->next = current_frame(c, in, task);
	if (!c->next)
		return 0;
	c->hash = space;
	c->base = c->len = 0;
	loop_code_step(&w);
	if (!c->n)
		return 0;
	c->plain = c->hash;
	if (!(seen % LOOK_AT_ONE_OF) && !in->is_volatile)
		in->is_volatile = is_changed(c, in, space, (__u32)(seen / LOOK_AT_ONE_OF % c->n));
	if (find_volatile(c, in))
		loop_hash_object(&w);
	return c->hash | 1;
}
