/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack.h - the stack of the current thread as a small id: walked, hashed, and sent once. Kernel
 * stacks that are what they were are known again without a walk (chainwire.h says how); user
 * stacks are walked here, by the frame pointers as the kernel would. Part of chaincap.bpf.c, whose
 * maps and configuration it uses.
 */
#ifndef BPF_STACK_H
#define BPF_STACK_H

#define STACK_SIZE (16u << 10) /* THREAD_SIZE on x86-64; where it is more, stacks are walked */
#define USER64_CS 0x33	       /* __USER_CS of x86-64; 32-bit code has another one */

/*
 * Stacks by the hash of their frames. When it is full, new stacks are sent each time, under an id
 * for that one event (WIRE_STACK_ONCE).
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 17);
	__type(key, __u64);
	__type(value, struct wire_known_stack);
} stacks SEC(".maps");

__u32 last_stack_id = 0;

/* Written by the collector. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_LAYOUTS);
	__type(key, __u32);
	__type(value, struct wire_layout);
} layouts SEC(".maps");

/* The layouts that a thread had last, for each kind: hints, which are checked before believed. */
#define HINTS (1u << 16)

struct hint {
	__u32 last, before;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HINTS);
	__type(key, __u32);
	__type(value, struct hint);
} hints SEC(".maps");

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/*
 * Loops stand in global functions, which the verifier checks once and by themselves: inlined, each
 * of their ways out would multiply the ways through all that follows, and loading take seconds.
 */

/* Goes on from hash over the first n frames. */
__noinline __u64 hash_frames(const struct wire_stack *s, __u64 hash, __u32 n)
{
	if (!s)
		return 0;
	for (__u32 i = 0; i < WIRE_STACK_MAX; i++) {
		if (i >= n)
			break;
		hash = mix(hash, s->frames[i]);
	}
	return hash;
}

/* Walks plainly; returns the number of frames in s. */
static __always_inline __u32 walk(void *ctx, struct wire_stack *s, __u64 flags)
{
	long len = bpf_get_stack(ctx, s->frames, sizeof(s->frames), flags);

	return len < 8 ? 0 : (__u32)len / 8;
}

/*
 * The id of the n frames in the kind's scratch record, which is sent if nobody has sent it yet.
 * owner: whose user stack; NULL: a kernel stack. *found: what is known of it, NULL if the map is
 * full.
 */
static __always_inline __u32 id_of_frames(void *ring, struct wire_kind_state *k, __u64 now,
					  struct task_struct *owner, __u32 n, __u64 hash,
					  struct wire_known_stack **found)
{
	struct wire_known_stack *known, fresh = {};
	struct wire_stack *s = &k->scratch;
	__u32 id;

	known = bpf_map_lookup_elem(&stacks, &hash);
	*found = known;
	if (known && known->sent)
		return known->id;
	if (!known) {
		fresh.id = __sync_fetch_and_add(&last_stack_id, 1) + 1;
		bpf_map_update_elem(&stacks, &hash, &fresh, BPF_NOEXIST);
		/* Another CPU may have been faster; then its id counts. */
		known = bpf_map_lookup_elem(&stacks, &hash);
		*found = known;
	}
	id = known ? known->id : fresh.id | WIRE_STACK_ONCE;
	fill_record(&s->r, now, WIRE_STACK);
	s->id = id;
	s->tgid = owner ? owner->tgid : 0;
	s->n = n;
	s->pad = 0;
	if (n > WIRE_STACK_MAX)
		n = WIRE_STACK_MAX;
	if (bpf_ringbuf_output(ring, s, __builtin_offsetof(struct wire_stack, frames) + n * 8,
			       BPF_RB_NO_WAKEUP))
		k->stacks_unsent++;
	else if (known)
		known->sent = 1;
	return id;
}

/* ---- kernel stacks ------------------------------------------------------------------------- */

/*
 * Where the program's arguments lie in the thread's kernel stack, in bytes from its base; not
 * below STACK_SIZE if that is not where they are (interrupts have stacks of their own).
 */
static __always_inline __u64 fixed_point_depth(void *ctx, struct wire_kind_state *k,
					       struct task_struct *task)
{
	/* A pointer that has been through memory is a number to the verifier. */
	*(void *volatile *)&k->fixed_point = ctx;
	return *(volatile __u64 *)&k->fixed_point - (__u64)task->stack;
}

/* 1 if every slot of the layout holds its return address. */
__noinline int holds_layout(const struct wire_region *region, const struct wire_layout *l)
{
	if (!region || !l)
		return 0;
	for (__u32 i = 0; i < WIRE_LAYOUT_FRAMES; i++) {
		if (i >= l->n)
			break;
		if (region->words[l->slot[i] & (2 * WIRE_LEAF_WORDS - 1)] != l->ret[i])
			return 0;
	}
	return 1;
}

/* The id of the stack that layout number no is of, if that is the stack; 0 if it is another. */
static __always_inline __u32 known_stack_id(struct wire_kind_state *k, struct task_struct *task,
					    __u64 depth, __u32 no)
{
	struct wire_layout *l = no ? bpf_map_lookup_elem(&layouts, &no) : NULL;
	__u32 leaf_len, root_len;

	if (!l)
		return 0;
	leaf_len = l->leaf_words * 8;
	root_len = l->root_words * 8;
	if (leaf_len > WIRE_LEAF_WORDS * 8 || leaf_len > STACK_SIZE - depth ||
	    root_len > WIRE_ROOT_WORDS * 8 || root_len > STACK_SIZE - depth)
		return 0;
	if (bpf_probe_read_kernel(k->region.words, leaf_len, (void *)k->fixed_point))
		return 0;
	if (root_len && bpf_probe_read_kernel(k->region.words + WIRE_LEAF_WORDS, root_len,
					      (void *)task->stack + STACK_SIZE - root_len))
		return 0;
	return holds_layout(&k->region, l) ? l->id : 0;
}

/* Sends what the collector needs to learn the layout of the stack just walked. */
static __always_inline void send_sample(void *ring, struct wire_kind_state *k, __u64 now,
					__u64 hash, __u64 depth, __u32 id, __u32 n)
{
	__u32 len = (STACK_SIZE - (__u32)depth) & ~7u;
	struct wire_sample *s;

	if (len > sizeof(s->words))
		return;
	s = bpf_ringbuf_reserve(ring, sizeof(*s), 0);
	if (!s)
		return;
	fill_record(&s->r, now, WIRE_SAMPLE);
	s->hash = hash;
	s->id = id;
	s->n = n;
	s->pad = 0;
	s->n_words = len / 8;
	__builtin_memcpy(s->frames, k->scratch.frames, sizeof(s->frames));
	/* Bounded again right here: the verifier of 6.1 forgets bounds of what was spilled. */
	barrier_var(len);
	if (len > sizeof(s->words) || bpf_probe_read_kernel(s->words, len, (void *)k->fixed_point))
		s->n_words = 0;
	bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
}

/* A sample of the 4th walk, the 8th, 16th ...: not of what is rare, and more if it takes more. */
static __always_inline bool wants_sample(__u32 walks)
{
	return walks >= 4 && walks <= 1u << 16 && !(walks & (walks - 1));
}

/* The current thread's kernel stack; 0 if it has none. */
static __always_inline __u32 kernel_stack_id(void *ctx, void *ring, struct wire_kind_state *k,
					     __u64 now, __u32 kind, struct task_struct *task)
{
	__u64 depth = fixed_point_depth(ctx, k, task), hash;
	__u32 n, id, quick = 0, slot;
	struct wire_known_stack *known;
	struct hint *hint = NULL;

	if (depth < STACK_SIZE) {
		slot = (__u32)(mix(kind, (__u32)task->pid) >> 40) & (HINTS - 1);
		hint = bpf_map_lookup_elem(&hints, &slot);
	}
	if (hint) {
		quick = known_stack_id(k, task, depth, hint->last);
		if (!quick) {
			quick = known_stack_id(k, task, depth, hint->before);
			if (quick) {
				slot = hint->last;
				hint->last = hint->before;
				hint->before = slot;
			}
		}
		if (quick && !verify) {
			k->known++;
			return quick;
		}
	}
	n = walk(ctx, &k->scratch, 0);
	if (!n)
		return 0;
	hash = hash_frames(&k->scratch, n, n);
	id = id_of_frames(ring, k, now, NULL, n, hash, &known);
	if (quick) {
		k->known++;
		k->verified++;
		if (id != quick)
			k->mismatches++;
		return id;
	}
	k->walked++;
	if (!hint || !known)
		return id;
	if (known->layout) {
		hint->before = hint->last;
		hint->last = known->layout;
	} else if (n <= WIRE_LAYOUT_FRAMES && wants_sample(++known->walks)) {
		send_sample(ring, k, now, hash, depth, id, n);
	}
	return id;
}

/* ---- user stacks --------------------------------------------------------------------------- */

static __always_inline bool has_user_stack(struct task_struct *t)
{
	/* Without an address space it is exiting; io_uring's workers have one, but no user part. */
	return user_stacks && t->pid && t->mm && !(t->flags & (PF_KTHREAD | PF_IO_WORKER)) &&
	       (__u32)t->tgid != self_tgid;
}

#if defined(__TARGET_ARCH_x86)
struct user_frame {
	__u64 next, ret;
};

#define USER_END 0x7ffffffff000UL /* of the addresses that user code has, with 4-level tables */

/*
 * By frame pointers, as perf_callchain_user() does; but a frame lies above the one that it called,
 * so a pointer to anywhere else is none: it was code without frame pointers that left it there.
 * Following it would give frames that are none, and mostly a page fault, which costs more than all
 * the rest. Returns how many frames s got, the first of them the instruction at ip.
 */
__noinline __u32 walk_frame_pointers(struct wire_stack *s, __u64 ip, __u64 sp, __u64 fp)
{
	struct user_frame f;
	__u32 i;

	if (!s)
		return 0;
	s->frames[0] = ip;
	for (i = 1; i < WIRE_STACK_MAX; i++) {
		if (fp < sp || fp >= USER_END || (fp & 7))
			break;
		if (bpf_probe_read_user(&f, sizeof(f), (void *)fp))
			break;
		s->frames[i] = f.ret;
		sp = fp + sizeof(f);
		fp = f.next;
	}
	return i;
}

/* 0 where the kernel walks in another way (32-bit code). */
static __always_inline __u32 walk_user(struct wire_stack *s, struct task_struct *task)
{
	struct pt_regs *regs;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return 0;
	regs = (void *)bpf_task_pt_regs(task);
	if ((regs->cs & 0xffff) != USER64_CS)
		return 0;
	return walk_frame_pointers(s, regs->ip, regs->sp, regs->bp);
}
#else
static __always_inline __u32 walk_user(struct wire_stack *s, struct task_struct *task)
{
	return 0;
}
#endif

/* The user stack of the current thread, owner; 0 if it has none. */
static __always_inline __u32 user_stack_id(void *ctx, void *ring, struct wire_kind_state *k,
					   __u64 now, struct task_struct *owner)
{
	struct wire_known_stack *known;
	__u64 space, hash;
	__u32 n, quick;

	quick = n = walk_user(&k->scratch, owner);
	if (!n)
		n = walk(ctx, &k->scratch, BPF_F_USER_STACK);
	if (!n)
		return 0;
	/* A user stack means something in its address space only: process, and exec. */
	space = mix(mix(n, (__u64)owner->tgid << 32 ^ owner->self_exec_id),
		    owner->group_leader->start_time);
	hash = hash_frames(&k->scratch, space, n);
	if (verify && quick) {
		__u32 m = walk(ctx, &k->check, BPF_F_USER_STACK);

		/* The plain walk may go on into what are no frames. */
		k->verified_user++;
		if (m < n || hash_frames(&k->check, space, n) != hash) {
			/* Unless another thread is writing to where this one's pointers lead. */
			m = walk_user(&k->check, owner);
			if (m == n && hash_frames(&k->check, space, n) == hash)
				k->mismatches_user++;
		}
	}
	return id_of_frames(ring, k, now, owner, n, hash, &known);
}

#endif /* BPF_STACK_H */
