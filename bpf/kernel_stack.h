/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_stack.h - the id of the current thread's kernel stack. A stack that was seen before is
 * recognized without a walk; chainwire_stacks.h explains how, and why that is exact. older.bpf.c
 * has no room for the tables of that: the kernel walks each stack. Part of chaincap.bpf.c.
 */
#pragma once

#define STACK_PAGE 4096u

#if !OLDER
/* Both are written by the collector. */
struct wire_step steps[WIRE_TREES * WIRE_STEPS] TABLE;
__u64 branches[WIRE_TREES * WIRE_BRANCHES] TABLE;
#endif

/* The root of the tree to follow; written by the collector. */
volatile __u32 tree_root = WIRE_TREE_ROOT(0);

/* The size of a thread's stack, bytes; found before anything is attached. */
volatile __u64 stack_size = 16 << 10;
/* Of the registers that user code had when it entered the kernel, from a stack's begin; 0: not
 * known. */
volatile __u64 registers_offset = 0;

/* Interrupt entry code; written by the collector before anything is attached. */
struct wire_range entries[WIRE_ENTRIES] = {};

/* Bytes up to the end of the page: at least these can be read of a CPU's own stack. */
static __always_inline __u32 rest_of_page(__u64 addr)
{
	return (STACK_PAGE - ((__u32)addr & (STACK_PAGE - 1))) & ~7u;
}

#if !OLDER
/*
 * The word at addr. Reads it in place if the kernel has the cast; else from w->block, which has the
 * first `copied` words from leaf on, or by a call.
 */
static __always_inline __u64 word_at(const struct workspace *w, __u64 addr, __u64 leaf,
				     __u32 copied)
{
	__u64 word = 0, at = (addr - leaf) / 8;

	if (CAN_CAST)
		return CAST(rb_node, addr)->__rb_parent_color;
	if (at < copied)
		return w->block[at & (BLOCK_WORDS - 1)];
	bpf_probe_read_kernel(&word, sizeof(word), (void *)addr);
	return word;
}

/* The step with the number no, if the return address ret leads to it from `from`; else NULL. */
static __always_inline const struct wire_step *step_of(__u32 no, __u32 from, __u64 ret)
{
	const struct wire_step *s = ELEMENT(steps, no);

	return s->ret == ret && s->from == from && *(volatile __u32 *)&s->live ? s : NULL;
}

/* The step to which ret leads from *from, or NULL. *from becomes its number. */
static __always_inline const struct wire_step *next_step(__u32 *from, __u64 ret)
{
	__u32 no = *from + 1;
	const struct wire_step *s = step_of(no, *from, ret);

	if (!s) {
		no = (__u32)*ELEMENT(branches, wire_branch(*from, ret));
		s = step_of(no, *from, ret);
	}
	if (!s) {
		no = (__u32)*ELEMENT(branches, wire_other_branch(*from, ret));
		s = step_of(no, *from, ret);
	}
	if (s)
		*from = no;
	return s;
}

/* The word that mostly comes after this step. */
static __always_inline __u64 usual_word(__u32 from)
{
	return ELEMENT(steps, from + 1)->ret;
}

/*
 * Follows the tree of steps. Returns the id of the stack if all its return addresses are in their
 * known slots, else 0. copied: number of words in w->block. kept: words below this address are
 * overwritten by now. They were calls of this program, as in all stacks of the kind.
 */
__noinline __u32 follow_steps(struct wire_kind_state *k, const struct workspace *w, __u32 kind,
			      __u32 copied, __u64 kept)
{
	__u64 word = kind, leaf, stack, addr = 0;
	__u32 from = tree_root;
	const struct wire_step *s;

	if (!k || !w)
		return 0;
	leaf = k->fixed_point;
	stack = k->stack;
	for (__u32 i = 0; i < WIRE_LAYOUT_FRAMES + 16; i++) {
		s = next_step(&from, word);
		if (!s && word == WIRE_STEP_ELSE)
			break;
		if (!s) {
			word = WIRE_STEP_ELSE;
			continue;
		}
		if (s->stack) {
			if (!s->slot || addr == stack + STACK_SIZE - s->slot * 8) {
				k->interrupt = s->interrupt;
				return s->stack;
			}
			word = WIRE_STEP_ELSE;
			continue;
		}
		addr = leaf + s->slot * 8;
		if (s->base == WIRE_FROM_ROOT) {
			addr = stack + STACK_SIZE - s->slot * 8;
		} else if (s->base == WIRE_FROM_LINK) {
			addr = word_at(w, leaf + s->link * 8, leaf, copied) + s->slot * 8;
			if (addr - stack >= STACK_SIZE)
				addr = leaf; /* which holds no return address */
		}
		if (LIGHT && addr < kept)
			word = usual_word(from);
		else
			word = PLAIN_KERNEL(word_at(w, addr, leaf, copied));
	}
	return 0;
}

/*
 * The id of the kernel stack if it is recognized without a walk, else 0. depth: bytes from the base
 * of the thread's stack to the fixed point; STACK_SIZE or more if that is on another stack.
 */
static __always_inline __u32 known_stack(struct wire_kind_state *k, struct workspace *w, __u32 kind,
					 __u64 depth)
{
	__u32 len = 0;

	if (!CAN_CAST) {
		len = depth < STACK_SIZE ? STACK_SIZE - (__u32)depth : rest_of_page(k->fixed_point);
		if (len > sizeof(w->block))
			len = sizeof(w->block);
		if (bpf_probe_read_kernel(w->block, len, (void *)k->fixed_point))
			len = 0;
	}
	return follow_steps(k, w, kind, len / 8, 0);
}
#else
static __always_inline __u32 known_stack(struct wire_kind_state *k, struct workspace *w, __u32 kind,
					 __u64 depth)
{
	(void)k, (void)w, (void)kind, (void)depth;
	return 0;
}

static __always_inline __u32 follow_steps(struct wire_kind_state *k, const struct workspace *w,
					  __u32 kind, __u32 copied, __u64 kept)
{
	(void)k, (void)w, (void)kind, (void)copied, (void)kept;
	return 0;
}
#endif

__noinline int is_entry(__u64 ret)
{
	for (__u32 i = 0; i < WIRE_ENTRIES; i++) {
		/* A return address may be just past the last byte. */
		if (ret > entries[i].start && ret <= entries[i].end)
			return 1;
	}
	return 0;
}

/* How many of n frames are left when the interrupted code is cut off. */
__noinline __u32 cut_at_entry(const struct wire_stack *s, __u32 n)
{
	if (!s)
		return 0;
	for (__u32 i = 0; i < WIRE_STACK_MAX; i++) {
		if (i >= n)
			break;
		if (is_entry(s->frames[i]))
			return i + 1;
	}
	return n;
}

/*
 * Sends a sample of the stack just walked, so that the collector learns the slots of its return
 * addresses: its words from the fixed point on. If that is on a CPU's own stack, which ends with
 * its page, the last word there is an address in the thread's stack, whose words follow.
 */
static __always_inline void send_sample(void *ring, const struct wire_kind_state *k,
					const struct workspace *w, __u64 now, __u32 kind,
					__u64 hash, __u64 depth, __u32 id, __u32 n, bool cut)
{
	__u64 from = k->fixed_point;
	__u32 own = 0, len;
	struct wire_layout_sample *s = bpf_ringbuf_reserve(ring, sizeof(*s), 0);

	if (!s)
		return;
	fill_record(&s->r, now, WIRE_STACK_LAYOUT_SAMPLE);
	s->hash = hash;
	s->id = id;
	s->n = n;
	s->event = kind;
	s->n_words = 0;
	s->link = 0;
	s->to_root = 1;
	s->cut = cut;
	s->interrupt = (__u32)k->interrupt;
	__builtin_memcpy(s->frames, w->scratch.frames, sizeof(s->frames));
	if (depth >= STACK_SIZE) {
		own = rest_of_page(from);
		barrier_var(own);
		if (own > STACK_PAGE || own < 8 ||
		    bpf_probe_read_kernel(s->words, own, (void *)from))
			goto out;
		if (bpf_probe_read_kernel(&from, sizeof(from), (void *)from + own - 8))
			goto out;
		depth = from - k->stack;
		if (depth >= STACK_SIZE)
			goto out;
		s->link = own / 8 - 1;
	}
	len = (STACK_SIZE - (__u32)depth) & ~7u;
	if (len > sizeof(s->words) / 2) {
		len = sizeof(s->words) / 2;
		s->to_root = 0;
	}
	/* Bounded again here: the verifier of 6.1 loses the bounds of spilled values. */
	barrier_var(len);
	barrier_var(own);
	if (len > sizeof(s->words) / 2 || own > sizeof(s->words) / 2)
		goto out;
	if (!bpf_probe_read_kernel((void *)s->words + own, len, (void *)from))
		s->n_words = (own + len) / 8;
out:
	bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
}

/*
 * Samples walks 2, 3, 4, 8, 16 ... 65536, 131072, 196608 ...: skips rare stacks, and backs off. A
 * light recording walks few, so it learns from each.
 */
static __always_inline bool wants_sample(__u32 walks)
{
	return walks == 3 || (LIGHT && walks <= 16) || (walks >= 2 && !(walks & (walks - 1))) ||
	       (walks >= 1u << 16 && !(walks & 0xffff));
}

/*
 * The id of the kernel stack whose `all` frames were just walked, 0 if it has none. quick: the id
 * by which it was found without a walk, if that is to be verified. Sets k->interrupt.
 */
__noinline __u32 walked_stack_id(struct wire_kind_state *k, struct workspace *w, __u64 now,
				 __u32 all, __u32 quick)
{
	__u32 n = all, last, id, kind;
	struct wire_known_stack *known;
	void *ring = this_ring();
	__u64 depth, hash;

	if (!k || !w || !ring)
		return 0;
	kind = (__u32)k->kind;
	depth = k->fixed_point - k->stack;
	if (depth >= STACK_SIZE)
		n = cut_at_entry(&w->scratch, n);
	k->interrupt = 0;
	if (!n)
		return 0;
	/* The mask is for the verifier of 6.1, which loses the bounds of n. */
	last = n - 1;
	barrier_var(last);
	k->interrupt = (__u64)is_entry(w->scratch.frames[last & WIRE_STACK_MAX]);
	hash = hash_frames(&w->scratch, n, n);
	id = id_of_frames(ring, k, w, now, NULL, n, hash, &known);
	if (quick) {
		k->known++;
		k->verified++;
		/*
		 * When the collector forgets stacks, the one just found may have lost its id and
		 * got a new one in the map. The collector changes the root before that.
		 */
		if (id != quick && tree_root == k->root)
			k->mismatches++;
		return id;
	}
	k->walked++;
	if (!OLDER && known && n <= WIRE_LAYOUT_FRAMES &&
	    (OWN_STACK_HAS_LINK || depth < STACK_SIZE) && wants_sample(++known->walks))
		send_sample(ring, k, w, now, kind, hash, depth, id, n, n < all);
	return id;
}

/* The id of the current thread's kernel stack, 0 if it has none. Sets k->interrupt. */
static __always_inline __u32 kernel_stack_id(void *ctx, struct wire_kind_state *k,
					     struct workspace *w, __u64 now, __u32 kind,
					     struct task_struct *task)
{
	__u64 depth;
	__u32 quick;

	if (PLAIN)
		return plain_stack_id(ctx, this_ring(), w, now, NULL, 0, false);
	/* To the verifier, a pointer read back from memory is a number. */
	*(void *volatile *)&k->fixed_point = ctx;
	*(void *volatile *)&k->stack = task->stack;
	depth = *(volatile __u64 *)&k->fixed_point - *(volatile __u64 *)&k->stack;
	if (verify)
		k->root = tree_root;
	quick = known_stack(k, w, kind, depth);
	if (quick && !verify) {
		k->known++;
		return quick;
	}
	return walked_stack_id(k, w, now, walk(ctx, &w->scratch, 0), quick);
}

/*
 * The id of the kernel stack with which a thread sleeps; 0: it is not recognized, or the thread
 * still runs. leaf: where the fixed point was when it went off its CPU.
 */
static __always_inline __u32 sleeping_kernel_stack(struct wire_kind_state *k, struct workspace *w,
						   struct task_struct *task, __u64 leaf)
{
	__u64 kept;

	if (!kernel_stacks || !leaf || OF(task, on_cpu))
		return 0;
	barrier();
	kept = kept_stack(task);
	k->fixed_point = leaf;
	*(void *volatile *)&k->stack = OF(task, stack);
	if (leaf - k->stack >= STACK_SIZE || kept - leaf >= STACK_PAGE)
		return 0;
	return follow_steps(k, w, WIRE_SWITCH, 0, kept);
}

/*
 * The id of a kernel stack that is walked each time, in place of kernel_stack_id(): where a sample
 * is taken changes too much for the tree of steps, and requests are few. interrupted: ctx is of
 * what interrupted the leaf.
 */
static __always_inline __u32 walked_kernel_stack(void *ctx, void *ring, struct wire_kind_state *k,
						 struct workspace *w, __u64 now, bool interrupted)
{
	__u32 n;

	if (PLAIN)
		return plain_stack_id(ctx, ring, w, now, NULL, 0, interrupted);
	n = walk(ctx, &w->scratch, 0);
	if (!n)
		return 0;
	if (interrupted)
		w->scratch.frames[0] ^= WIRE_EXACT;
	return recent_id(ring, k, w, now, NULL, n, hash_frames(&w->scratch, n, n));
}

/*
 * Finds stack_size: a thread's registers are at the end of its stack (task_pt_regs()), with at most
 * two words behind them (x86-64's TOP_OF_KERNEL_STACK_PADDING). The size of a page does not tell
 * it: on arm64 it also depends on VMAP_STACK and KASAN. Run by the collector, as a thread of the
 * kernel may have its registers elsewhere: the idle threads of all CPUs but the first have.
 */
SEC("raw_tp")
int find_stack_size(void *ctx)
{
	struct task_struct *task = current_task();
	__u64 end;

	(void)ctx;
	/* As in kernel_stack_id(). */
	*(void *volatile *)&stack_size = (void *)bpf_task_pt_regs((void *)task);
	registers_offset = stack_size - (__u64)OF(task, stack);
	end = stack_size + bpf_core_type_size(struct pt_regs) + 16;
	stack_size = (end - (__u64)OF(task, stack)) & ~1023ull;
	return 0;
}
