/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack.h - gives a list of frames a small id: it is hashed, and sent only once. kernel_stack.h and
 * user_stack.h find the frames. Part of chaincap.bpf.c, whose maps and configuration it uses.
 */
#pragma once

/*
 * Stacks by the hash of their frames. When the map is full, a new stack is sent with each event,
 * under an id for that event only (WIRE_STACK_ONCE).
 */
MAP(stacks, HASH, 1 << 17, __u64, struct wire_known_stack);

/* Written for each new stack: apart from what is read for each event. */
__u32 last_stack_id __attribute__((aligned(64))) = 0;

/*
 * Recent stacks, by the low bits of the hash: cheaper to look up than the map of all. All CPUs
 * write it without a lock: a torn entry leaves nonzero upper bits in hash ^ tag.
 */
#define RECENT (1u << 14)

struct recent {
	__u64 hash, tag; /* tag: hash ^ id */
};

static struct recent recents[RECENT] TABLE;

#define BLOCK_WORDS 256 /* of 8 bytes */

/*
 * Memory in which the stacks of an event are put together: one for each CPU and stack_kind(). Like
 * struct wire_kind_state, it is used by one program at a time.
 */
struct workspace {
	struct wire_stack scratch;
	__u64 id;		  /* user_stack.h: id of a stack that is known; 0: it is not */
	__u64 block[BLOCK_WORDS]; /* copy of a piece of a kernel stack */
};

MAP(workspaces, PERCPU_ARRAY, STACK_KINDS, __u32, struct workspace);

static __always_inline struct workspace *workspace_of(__u32 kind)
{
	__u32 i = stack_kind(kind);

	return bpf_map_lookup_elem(&workspaces, &i);
}

/*
 * Loops are in global functions, which the verifier checks once, on their own. Inlined, each exit
 * of a loop would multiply the paths through the code after it, and loading would take seconds.
 */

/* Continues the hash over the first n frames. */
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

/* The kernel's own walk; returns the number of frames in s. */
static __always_inline __u32 walk(void *ctx, struct wire_stack *s, __u64 flags)
{
	long len = bpf_get_stack(ctx, s->frames, sizeof(s->frames), flags);

	return len < 8 ? 0 : (__u32)len / 8;
}

static __always_inline __u32 new_stack_id(void)
{
	return (__sync_fetch_and_add(&last_stack_id, 1) & (WIRE_STACK_IDS - 1)) + 1;
}

/*
 * A known stack's id in the lower half, and its check. 0: known is NULL, or has just become another
 * stack's value.
 */
static __always_inline __u64 known_word(const struct wire_known_stack *known, __u64 hash)
{
	__u64 word = known ? *(const volatile __u64 *)known : 0;

	return word >> 33 == hash >> 33 ? word : 0;
}

#define WORD_IS_SENT ((__u64)WIRE_SENT << 32)

/* Notes that its frames have been sent, unless the value is another one by now. */
static __always_inline void note_sent(struct wire_known_stack *known, __u64 word)
{
	if (known)
		__sync_val_compare_and_swap((__u64 *)known, word, word | WORD_IS_SENT);
}

/*
 * What the map has for the hash, with a new id if it had nothing; 0: it is full. *known: the value;
 * *fresh: the new id.
 */
static __always_inline __u64 known_or_new(__u64 hash, struct wire_known_stack **known, __u32 *fresh)
{
	struct wire_known_stack new = { .check = (hash >> 32) & ~WIRE_SENT };
	__u64 word;

	*known = bpf_map_lookup_elem(&stacks, &hash);
	word = known_word(*known, hash);
	if (word)
		return word;
	*fresh = new.id = new_stack_id();
	bpf_map_update_elem(&stacks, &hash, &new, BPF_NOEXIST);
	/* Another CPU may have been faster: its id is valid then. */
	*known = bpf_map_lookup_elem(&stacks, &hash);
	return known_word(*known, hash);
}

/*
 * The id of the n frames in w->scratch, which is sent if it is new. owner: the thread of a user
 * stack; NULL: a kernel stack. *found: the stack's value in the map, NULL if the map is full.
 */
static __always_inline __u32 id_of_frames(void *ring, struct wire_kind_state *k,
					  struct workspace *w, __u64 now, struct task_struct *owner,
					  __u32 n, __u64 hash, struct wire_known_stack **found)
{
	struct wire_stack *s = &w->scratch;
	__u32 id, fresh = 0;
	__u64 word = known_or_new(hash, found, &fresh);

	id = word ? (__u32)word : fresh | WIRE_STACK_ONCE;
	if (word & WORD_IS_SENT)
		return id;
	fill_record(&s->r, now, WIRE_STACK);
	s->id = id;
	s->tgid = owner ? owner->tgid : 0;
	s->n = n;
	s->end = owner		 ? (__u32)k->end
		 : n < max_stack ? CHAINLOG_STACK_UNKNOWN
				 : CHAINLOG_STACK_DEPTH;
	s->n_code = 0;
	s->is_32bit = owner && !user_registers(owner);
	if (find_code && owner && k->code)
		n = append_code(s, stack_kind((__u32)k->kind));
	/* Bounded here: the verifier of 6.1 loses the bounds of spilled values. */
	barrier_var(n);
	if (n > LENGTH(s->frames))
		n = LENGTH(s->frames);
	if (!bpf_ringbuf_output(ring, s, __builtin_offsetof(struct wire_stack, frames) + n * 8,
				BPF_RB_NO_WAKEUP) &&
	    word)
		note_sent(*found, word);
	return id;
}

/*
 * The id of the recent stack with this hash; 0 if there is none. Old ids are not used: the
 * collector deletes stacks to make room for new ones.
 */
static __always_inline __u32 recent_of(__u64 hash)
{
	struct recent *r = ELEMENT(recents, hash);
	__u64 tag;

	if (r->hash != hash)
		return 0;
	tag = *(volatile __u64 *)&r->tag ^ hash;
	if (!(tag >> 32) && tag &&
	    ((last_stack_id - (__u32)tag) & (WIRE_STACK_IDS - 1)) < WIRE_RECENT_IDS)
		return (__u32)tag;
	return 0;
}

static __always_inline void keep_recent(__u64 hash, __u32 id)
{
	struct recent *r = ELEMENT(recents, hash);

	*(volatile __u64 *)&r->hash = hash;
	*(volatile __u64 *)&r->tag = hash ^ id;
}

/* As id_of_frames(), but looks at the recent stacks first. */
static __always_inline __u32 recent_id(void *ring, struct wire_kind_state *k, struct workspace *w,
				       __u64 now, struct task_struct *owner, __u32 n, __u64 hash)
{
	__u32 id = recent_of(hash);
	struct wire_known_stack *known;

	if (id)
		return id;
	id = id_of_frames(ring, k, w, now, owner, n, hash, &known);
	if (known_word(known, hash) & WORD_IS_SENT)
		keep_recent(hash, id);
	return id;
}

/* ---- user stacks ---------------------------------------------------------------------------- */

/* Kernel threads, and workers of io_uring and vhost, which have an mm, but run no user code. */
static __always_inline bool is_worker(struct task_struct *t)
{
	__u32 workers = PF_KTHREAD | PF_IO_WORKER;

	if (bpf_core_field_exists(((struct kernel_clone_args *)0)->user_worker))
		workers |= PF_USER_WORKER;
	return OF(t, flags) & workers;
}

static __always_inline bool has_user_stack(struct task_struct *t)
{
	struct mm_struct *mm = OF(UNTRUSTED(task_struct, t), mm);

	/*
	 * A thread without an mm is exiting. In the middle of an exec, until start_code is set, the
	 * registers are still the old program's, whose memory is gone.
	 */
	return user_stacks && OF(t, pid) && mm && OF(mm, start_code) && !is_worker(t) &&
	       !is_recorder(OF(t, tgid));
}

/*
 * Identifies a process and its address space: in another one, addresses are other code. Of the
 * child of a vfork() it is not the parent's.
 */
static __always_inline __u64 space_of(struct task_struct *t)
{
	return mix(hash_seed ^ space_number(t), (__u64)OF(t, tgid) << 32);
}

/* The hash of the n native frames of a user stack, which were mixed into k->hash. */
static __always_inline __u64 native_hash(const struct wire_kind_state *k, __u32 n)
{
	return mix(mix(k->hash, n), k->end);
}

/* The key in recents and stacks of a user stack with that native_hash(). */
static __always_inline __u64 user_stack_hash(const struct wire_kind_state *k, __u64 native)
{
	return k->code ? mix(native, k->code) : native;
}
