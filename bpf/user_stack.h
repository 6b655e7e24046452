/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_stack.h - the id of the current thread's user stack, whose frames unwind.h finds. Part of
 * chaincap.bpf.c.
 */
#pragma once

/*
 * What follows are functions that the programs themselves call, one after the other, as all those
 * that call each other have 512 bytes of stack together.
 */

static __always_inline void count_end(struct wire_kind_state *k)
{
	if (k->end < CHAINLOG_STACK_ENDS)
		k->ends[k->end]++;
}

/* Finds the frames of interpreted code of the current thread: k->code is their hash, or V8_CODE. */
__noinline int find_user_code(struct wire_kind_state *k)
{
	struct task_struct *owner = bpf_get_current_task_btf();

	if (k && may_have_code(owner->tgid) && user_registers(owner))
		k->code = find_code_frames(stack_kind((__u32)k->kind), space_of(owner), k->seen);
	return 0;
}

/*
 * Names the code of the n user frames of the current thread, whose hash is in k->hash. Returns the
 * id of their stack, if it is a recent one: then nothing has been named; else 0.
 */
__noinline __u32 name_user_code(struct wire_kind_state *k, __u64 now, __u32 n)
{
	__u32 id;

	if (!find_code || !k || !k->code)
		return 0;
	if (k->end != UNWIND_ASK) {
		id = recent_of(user_stack_hash(k, native_hash(k, n)));
		if (id) {
			count_end(k);
			return id;
		}
		learn_v8(stack_kind((__u32)k->kind));
	}
	k->code = name_code_frames(stack_kind((__u32)k->kind), space_of(bpf_get_current_task_btf()),
				   now, k->code);
	return 0;
}

/* The id of the n user frames of the current thread, with code that has been named. */
__noinline __u32 user_frames_id(struct wire_kind_state *k, struct workspace *w, __u64 now, __u32 n)
{
	void *ring = this_ring();

	if (!k || !w || !ring)
		return 0;
	count_end(k);
	return recent_id(ring, k, w, now, bpf_get_current_task_btf(), n,
			 user_stack_hash(k, native_hash(k, n)));
}

/*
 * Finds the user frames of the current thread, and begins with its space in k->hash. Returns how
 * many frames there are in w->scratch; 0 without an id in w->id: there are none, or only the
 * kernel's own walk finds them.
 */
__noinline __u32 find_user_frames(struct wire_kind_state *k, struct workspace *w)
{
	struct task_struct *owner = bpf_get_current_task_btf();
	struct pt_regs *regs = user_registers(owner);
	__u32 id = 0, n;
	__u64 space;

	if (!k || !w)
		return 0;
	space = space_of(owner);
	k->tid = owner->pid;
	k->hash = stack_space(owner, space);
	k->end = CHAINLOG_STACK_UNKNOWN;
	w->id = 0;
	if (!regs)
		return 0;
	n = unwind_user(k, w, (__u32)k->kind, owner, regs, space, 0, &id);
	w->id = id;
	return n;
}

/* As wants_copy(), of the current thread. */
__noinline bool wants_user_copy(struct wire_kind_state *k, __u64 now)
{
	void *ring = this_ring();

	return k && ring && wants_copy(ring, k, now, bpf_get_current_task_btf());
}

/* As send_copy(), of the current thread; or, with --verify, send_check(), if no copy is needed. */
__noinline __u32 send_user_frames(struct wire_kind_state *k, struct workspace *w, __u64 now)
{
	struct task_struct *owner = bpf_get_current_task_btf();
	struct pt_regs *regs = user_registers(owner);
	void *ring = this_ring();

	if (!k || !w || !ring || !regs)
		return 0;
	if (k->end == UNWIND_ASK)
		return send_copy(ring, k, w, now, owner, regs);
	if (verify)
		send_check(ring, k, w, now, owner, regs);
	return 0;
}

/*
 * Finds the user frames of the current thread, whose code is 32-bit, by the kernel's walk: it
 * follows frame pointers, which that code may not have. Returns how many there are in w->scratch.
 */
static __always_inline __u32 walk_user_frames(void *ctx, struct wire_kind_state *k,
					      struct workspace *w)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u32 n = walk(ctx, &w->scratch, BPF_F_USER_STACK);

	if (n && call_number(regs) < 0)
		w->scratch.frames[0] ^= WIRE_EXACT;
	k->end = CHAINLOG_STACK_GUESSED;
	k->hash = hash_frames(&w->scratch, k->hash, n);
	return n;
}

/* What the collector needs to unwind a thread that is not running. */
static __always_inline void list_user_stack(struct wire_thread *t, struct task_struct *task)
{
	struct pt_regs *regs = has_user_stack(task) ? user_registers(task) : NULL;

	if (!regs)
		return;
	t->space = rule_space(task, space_of(task));
	t->look = leaf_look(regs);
	t->thread_pointer = thread_pointer(task);
	copy_registers(t->regs, regs);
	t->ustack = new_stack_id();
}

/*
 * The id of the user stack of the current thread; 0 if it has none. interrupted: ctx is of what
 * interrupted the user code.
 */
static __always_inline __u32 user_stack_id(void *ctx, struct wire_kind_state *k,
					   struct workspace *w, __u64 now, bool interrupted)
{
	__u32 n, id = 0;

	if (PLAIN)
		return plain_user_stack_id(ctx, k, w, now, interrupted);
	k->code = 0;
	if (find_code)
		find_user_code(k);
	n = find_user_frames(k, w);
	if (w->id)
		return w->id;
	if (n && k->end == UNWIND_ASK && wants_user_copy(k, now)) {
		if (find_code)
			name_user_code(k, now, n);
		id = send_user_frames(k, w, now);
	} else if (n && verify) {
		send_user_frames(k, w, now);
	}
	if (id)
		return id;
	if (!n)
		n = walk_user_frames(ctx, k, w);
	if (n && find_code)
		id = name_user_code(k, now, n);
	if (id)
		return id;
	return n ? user_frames_id(k, w, now, n) : 0;
}
