/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_stack.h - the current thread's user stack, walked by frame pointers as the kernel would,
 * but with fewer looks at the thread's memory. Part of chaincap.bpf.c.
 */
#ifndef BPF_USER_STACK_H
#define BPF_USER_STACK_H

#define USER64_CS 0x33 /* __USER_CS of x86-64; 32-bit code has another one */

static __always_inline bool has_user_stack(struct task_struct *t)
{
	__u32 workers = PF_KTHREAD | PF_IO_WORKER;

	if (bpf_core_field_exists(((struct kernel_clone_args *)0)->user_worker))
		workers |= PF_USER_WORKER;
	/*
	 * Without an address space it is exiting; workers of io_uring and of vhost have one, but no
	 * user part.
	 */
	return user_stacks && t->pid && t->mm && !(t->flags & workers) &&
	       (__u32)t->tgid != self_tgid;
}

#if defined(__TARGET_ARCH_x86)
/*
 * From the first frame to the last it was so many bytes the last times, by thread: to be read in
 * one go, as each look at user memory costs as much as reading some hundred bytes. Only a hint.
 */
#define SPANS (1u << 15)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SPANS);
	__type(key, __u32);
	__type(value, __u32);
} spans SEC(".maps");

#define USER_END 0x7ffffffff000UL /* of the addresses that user code has, with 4-level tables */
#define USER_BEGIN 4096UL
#define FRAME 16u /* bytes: the next frame's address, and a return address */

/*
 * By frame pointers, as perf_callchain_user() does; but a frame lies above the one that it called,
 * so a pointer to anywhere else is none: it was code without frame pointers that left it there.
 * Following it would give frames that are none, and mostly a page fault, which costs more than all
 * the rest. Returns how many frames s got, the first of them the instruction at ip; their hash,
 * which was begun in k->hash, is there.
 */
__noinline __u32 walk_frame_pointers(struct wire_kind_state *k, struct wire_stack *s, __u64 ip,
				     __u64 sp, __u64 fp)
{
	__u32 *span, slot, i;
	__u64 first = fp, hash;

	if (!k || !s)
		return 0;
	slot = k->tid & (SPANS - 1);
	span = bpf_map_lookup_elem(&spans, &slot);
	if (!span)
		return 0;
	hash = mix(k->hash, ip);
	s->frames[0] = ip;
	k->block_at = fp;
	k->block_len = 0;
	if (fp >= sp && fp < USER_END && !(fp & 7)) {
		__u32 len = *span;

		if (len > sizeof(k->block))
			len = sizeof(k->block);
		if (!bpf_probe_read_user(k->block, len, (void *)fp))
			k->block_len = len;
	}
	/* What is kept in memory is not followed by the verifier, for whom it would be too much. */
	for (i = 1; i < WIRE_STACK_MAX; i++) {
		__u64 ret;

		if (fp < sp || fp >= USER_END || (fp & 7))
			break;
		if (fp - k->block_at + FRAME > k->block_len) {
			if (bpf_probe_read_user(k->block, FRAME, (void *)fp))
				break;
			k->block_at = fp;
			k->block_len = FRAME;
		}
		slot = (__u32)(fp - k->block_at) / 8;
		sp = fp + FRAME;
		fp = k->block[slot & (WIRE_BLOCK_WORDS - 1)];
		ret = k->block[(slot + 1) & (WIRE_BLOCK_WORDS - 1)];
		s->frames[i] = ret;
		hash = mix(hash, ret);
		/* No return address: what comes now is none either. */
		if (ret < USER_BEGIN || ret >= USER_END)
			fp = 0;
	}
	k->hash = hash;
	if (i > 1) {
		__u64 is = sp - first;

		if (is > sizeof(k->block))
			is = sizeof(k->block);
		if (is < *span)
			is = *span - (*span - is) / 8;
		*span = ((__u32)is + 7) & ~7u;
	}
	return i;
}

/* 0 where the kernel walks in another way (32-bit code). */
static __always_inline __u32 walk_user(struct wire_kind_state *k, struct wire_stack *s,
				       struct task_struct *task)
{
	struct pt_regs *regs;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return 0;
	regs = (void *)bpf_task_pt_regs(task);
	if ((regs->cs & 0xffff) != USER64_CS)
		return 0;
	return walk_frame_pointers(k, s, regs->ip, regs->sp, regs->bp);
}
#else
static __always_inline __u32 walk_user(struct wire_kind_state *k, struct wire_stack *s,
				       struct task_struct *task)
{
	return 0;
}
#endif

/* Compares with a plain walk the n frames that were found without one. */
static __always_inline void verify_user(void *ctx, struct wire_kind_state *k, __u64 space,
					struct task_struct *owner, __u32 n)
{
	__u64 hash = k->hash;
	__u32 m = walk(ctx, &k->check, BPF_F_USER_STACK);

	/* The plain walk may go on into what are no frames. */
	k->verified_user++;
	if (m >= n && hash_frames(&k->check, space, n) == hash)
		return;
	/* Unless another thread is writing to where this one's pointers lead. */
	k->hash = space;
	m = walk_user(k, &k->check, owner);
	if (m == n && k->hash == hash)
		k->mismatches_user++;
	k->hash = hash;
}

/* The user stack of the current thread, owner; 0 if it has none. */
static __always_inline __u32 user_stack_id(void *ctx, void *ring, struct wire_kind_state *k,
					   __u64 now, struct task_struct *owner)
{
	__u64 space;
	__u32 n;

	/* A user stack means something in its address space only: process, and exec. */
	space = mix((__u64)owner->tgid << 32 ^ owner->self_exec_id,
		    owner->group_leader->start_time);
	k->tid = owner->pid;
	k->hash = space;
	n = walk_user(k, &k->scratch, owner);
	if (n) {
		if (verify)
			verify_user(ctx, k, space, owner, n);
	} else {
		n = walk(ctx, &k->scratch, BPF_F_USER_STACK);
		if (!n)
			return 0;
		k->hash = hash_frames(&k->scratch, space, n);
	}
	return recent_id(ring, k, now, owner, n, mix(k->hash, n));
}

#endif /* BPF_USER_STACK_H */
