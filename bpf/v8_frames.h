/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * v8_frames.h - the frames of functions that V8 (Node.js) runs. Part of chaincap.bpf.c.
 *
 * They are native frames without call frame information: unwind.h lists where their frame pointers
 * are, and a layout (user_layout.h) has the same. Each has its function below it, which is
 * read from the copy of the stack. Functions are objects that move, and are made anew for each
 * call. So the hash does not have them, but what stays: the bytecodes of a function that is
 * interpreted, as all of them return to the same place, and of others where they return to.
 *
 * Bytecodes and compiled code move and are freed, too, but rarely: one frame is looked at now and
 * then. If its function is another one than before, all stacks of the process are named anew.
 */
#pragma once

struct v8_walk {
	const struct unwinding *u;
	struct code_chain *c;
	struct wire_interpreter *in;
};

/* Whether the words at and below a frame's pointer say that its function is interpreted. */
static __always_inline bool is_interpreted(const struct wire_copy *c, __u32 fp)
{
	__u64 offset;

	if (fp < WIRE_V8_OFFSET || fp >= WIRE_COPY_WORDS)
		return false;
	offset = c->words[fp - WIRE_V8_OFFSET];
	return v8_is_object(c->words[fp - WIRE_V8_BYTECODES]) && offset && !(__u32)offset &&
	       offset >> 32 < 1u << 24;
}

static long v8_frame(__u32 i, struct v8_walk *w)
{
	const struct wire_copy *copy = &w->u->c;
	struct code_chain *c = w->c;
	struct code_place *p;
	__u64 n = c->n, pc;
	__u32 fp, index;

	if (i >= WIRE_CODE_FRAMES || i >= w->u->n_fps || n >= WIRE_CODE_FRAMES)
		return 1;
	fp = w->u->fps[i] & 0xffff;
	index = w->u->fps[i] >> 16;
	pc = w->u->fp_pcs[i];
	if (fp < WIRE_V8_FUNCTION || fp >= WIRE_COPY_WORDS ||
	    !v8_is_object(copy->words[fp - WIRE_V8_CONTEXT]) ||
	    !v8_is_object(copy->words[fp - WIRE_V8_FUNCTION]))
		return 0;
	p = &c->at[n];
	p->instruction = copy->words[fp - WIRE_V8_FUNCTION];
	p->is_entry = index;
	p->code = pc;
	/* What is interpreted may be anywhere in its handlers when it is the leaf. */
	if ((!index || (pc & (CODE_PAGE - 1)) == w->in->v8.returns) && is_interpreted(copy, fp))
		p->code = copy->words[fp - WIRE_V8_BYTECODES];
	c->hash = mix(mix(c->hash, p->code), index);
	/* A leaf that begins or ends is there with its caller's frame. */
	if (!index)
		c->hash = mix(c->hash, p->instruction);
	c->n = n + 1;
	return 0;
}

LOOP(v8_frame, struct v8_walk, WIRE_CODE_FRAMES)

/* Finds the frames that are listed in u. Returns their hash; 0: there are none. */
__noinline __u64 find_v8_frames(const struct unwinding *u, __u32 which, __u64 space, __u64 seen)
{
	struct v8_walk w = { .u = u };
	struct code_walk names = { 0 };
	struct wire_interpreter *in;
	struct code_chain *c;
	__u32 i;

	if (!find_v8 || !u)
		return 0;
	w.c = c = bpf_map_lookup_elem(&code_chains, &which);
	w.in = in = interpreter_of(bpf_get_current_task_btf()->tgid);
	if (!c || !in)
		return 0;
	c->n = 0;
	c->hash = mix(space, in->v8.moved);
	loop_v8_frame(&w);
	if (!c->n)
		return 0;
	c->plain = c->hash;
	i = (__u32)(seen / LOOK_AT_ONE_OF % c->n);
	if (!(seen % LOOK_AT_ONE_OF) && is_changed(c, in, space, i)) {
		in->v8.moved = (in->v8.moved + 1) & 0xffff;
		c->hash = c->plain = mix(c->plain, in->v8.moved);
	}
	names.c = c;
	names.in = in;
	if (find_volatile(c, in))
		loop_hash_object(&names);
	return c->hash | 1;
}

/* ---- names ---------------------------------------------------------------------------------- */

static long learn_frame(__u32 i, struct v8_walk *w)
{
	const struct unwinding *u = w->u;
	__u32 fp;

	if (i >= WIRE_CODE_FRAMES || i >= u->n_fps)
		return 1;
	fp = u->fps[i] & 0xffff;
	if (!(u->fps[i] >> 16) || !is_interpreted(&u->c, fp) || fp < WIRE_V8_BYTECODES ||
	    fp >= WIRE_COPY_WORDS)
		return 0;
	if (v8_type(w->c, u->c.words[fp - WIRE_V8_BYTECODES]) != w->in->v8.bytecodes)
		return 0;
	w->in->v8.returns = (__u32)u->fp_pcs[i] & (CODE_PAGE - 1);
	return 1;
}

LOOP(learn_frame, struct v8_walk, WIRE_CODE_FRAMES)

/*
 * Learns by the first frame that is interpreted where all of these return to. Before the copy of
 * the stack is another one.
 */
__noinline int learn_v8(__u32 which)
{
	struct v8_walk w = { 0 };

	if (!find_v8)
		return 0;
	w.u = bpf_map_lookup_elem(&unwindings, &which);
	w.c = bpf_map_lookup_elem(&code_chains, &which);
	w.in = interpreter_of(bpf_get_current_task_btf()->tgid);
	if (w.u && w.c && w.in && w.c->is_v8 && !w.in->v8.returns)
		loop_learn_frame(&w);
	return 0;
}
