/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_stack.h - the id of the current thread's user stack. unwind.h finds the frames, or with
 * --no-unwind frame_pointers.h. Part of chaincap.bpf.c.
 */
#ifndef BPF_USER_STACK_H
#define BPF_USER_STACK_H

/* Kernel threads, and workers of io_uring and vhost, which have an mm, but run no user code. */
static __always_inline bool is_worker(struct task_struct *t)
{
	__u32 workers = PF_KTHREAD | PF_IO_WORKER;

	if (bpf_core_field_exists(((struct kernel_clone_args *)0)->user_worker))
		workers |= PF_USER_WORKER;
	return t->flags & workers;
}

static __always_inline bool has_user_stack(struct task_struct *t)
{
	struct mm_struct *mm = UNTRUSTED(task_struct, t)->mm;

	/*
	 * A thread without an mm is exiting. In the middle of an exec, until start_code is set, the
	 * registers are still the old program's, whose memory is gone.
	 */
	return user_stacks && t->pid && mm && mm->start_code && !is_worker(t) &&
	       !is_recorder(t->tgid);
}

/*
 * Identifies a process and its address space: in another one, addresses are other code. Of the
 * child of a vfork() it is not the parent's.
 */
static __always_inline __u64 space_of(struct task_struct *t)
{
	return mix(space_number(t), (__u64)t->tgid << 32);
}

/* The key in recents and stacks of a user stack whose n frames were mixed into k->hash. */
static __always_inline __u64 user_stack_hash(const struct wire_kind_state *k, __u32 n)
{
	return mix(mix(k->hash, n), k->end);
}

#include "frame_pointers.h"
#include "unwind.h"

/* Compares the n frames that were found by frame pointers with the kernel's own walk. */
static __always_inline void verify_user(void *ctx, struct wire_kind_state *k, struct workspace *w,
					struct task_struct *owner, __u32 n)
{
	struct pt_regs *regs = user_registers(owner);
	__u64 hash = k->hash, space = space_of(owner);
	__u32 m;

	if (!regs)
		return;
	m = walk(ctx, &w->check, BPF_F_USER_STACK);
	/* The kernel's walk may continue into false frames. */
	k->verified_user++;
	if (m >= n && hash_frames(&w->check, space, n) == hash)
		return;
	/* No mismatch if a second walk differs, too: another thread is writing to the memory. */
	k->hash = space;
	m = walk_frame_pointers(k, w, &w->check, regs);
	if (m == n && k->hash == hash)
		k->mismatches_user++;
	k->hash = hash;
}

/* The id of the n user frames of the current thread, whose hash is in k->hash. */
__noinline __u32 user_frames_id(struct wire_kind_state *k, struct workspace *w, __u64 now, __u32 n)
{
	void *ring = this_ring();

	if (!k || !w || !ring)
		return 0;
	if (k->end < WIRE_ENDS)
		k->ends[k->end]++;
	return recent_id(ring, k, w, now, bpf_get_current_task_btf(), n, user_stack_hash(k, n));
}

/*
 * Finds the user frames of the current thread, and begins with its space in k->hash. Returns how
 * many frames there are in w->scratch; 0 without an id in w->id: there are none, or only the
 * kernel's own walk finds them.
 */
__noinline __u32 find_user_frames(struct wire_kind_state *k, struct workspace *w, __u64 now)
{
	struct task_struct *owner = bpf_get_current_task_btf();
	struct pt_regs *regs = user_registers(owner);
	void *ring = this_ring();
	__u32 id = 0, n;
	__u64 space;

	if (!k || !w || !ring)
		return 0;
	space = space_of(owner);
	k->tid = owner->pid;
	k->hash = space;
	k->end = WIRE_END_UNKNOWN;
	w->id = 0;
	if (!regs)
		return 0;
	if (!unwinding)
		return walk_frame_pointers(k, w, &w->scratch, regs);
	n = unwind_user(ring, k, w, (__u32)k->kind, now, owner, regs, space, &id);
	w->id = id;
	return n;
}

/* What the collector needs to unwind a thread that is not running. */
static __always_inline void list_user_stack(struct wire_thread *t, struct task_struct *task)
{
	struct pt_regs *regs = unwinding && has_user_stack(task) ? user_registers(task) : NULL;

	if (!regs)
		return;
	t->space = rule_space(task, space_of(task));
	t->look = leaf_look(regs);
	copy_registers(t->regs, regs);
	t->ustack = new_stack_id();
}

/* The id of the user stack of the current thread, owner; 0 if it has none. */
static __always_inline __u32 user_stack_id(void *ctx, struct wire_kind_state *k,
					   struct workspace *w, __u64 now,
					   struct task_struct *owner)
{
	__u32 n = find_user_frames(k, w, now), id;

	if (w->id)
		return w->id;
	if (!n) {
		n = walk(ctx, &w->scratch, BPF_F_USER_STACK);
		if (!n)
			return 0;
		k->hash = hash_frames(&w->scratch, k->hash, n);
		return user_frames_id(k, w, now, n);
	}
	id = user_frames_id(k, w, now, n);
	if (verify && !unwinding)
		verify_user(ctx, k, w, owner, n);
	return id;
}

#endif /* BPF_USER_STACK_H */
