/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_layout.h - recognizes a user stack that was unwound before, without unwinding it. Part of
 * chaincap.bpf.c.
 *
 * The rule for an address is constant. So the frames depend only on the leaf's registers and on the
 * words of the stack that unwinding reads: return addresses, and those saved frame pointers by
 * which it finds a frame later. A layout lists these words. If the leaf and all the words are the
 * same, so are the frames. Frame pointers are kept as distances from the stack pointer, so that one
 * layout serves all threads of a process.
 *
 * Where a file has no rule, the stack ends if the register cannot be a frame pointer. Code that a
 * program generates may have any data in it, another value each time: of such a value a layout has
 * only what it cannot be.
 */
#ifndef BPF_USER_LAYOUT_H
#define BPF_USER_LAYOUT_H

#define USER_LAYOUTS (1u << 12)
#define USER_LAYOUT_WORDS 48 /* a stack that needs more is always unwound */
/* Flag of a slot: its word is a frame pointer. */
#define USER_LAYOUT_FP 0x8000u

struct user_layout {
	__u64 key;	  /* address space, leaf, and how far its stack reaches */
	__u64 hash;	  /* the stack's hash in the table of recent stacks */
	__u64 leaf_fp;	  /* the frame pointer at the leaf, less base, */
	__u32 by_fp;	  /* if a frame was found by it */
	__u32 no_fp;	  /* enum fp_nature, if the stack ends for that: of the word */
	__u32 no_fp_slot; /* at this place (see fp_slot), in a frame */
	__u64 no_fp_sp;	  /* with this stack pointer, less base */
	__u32 version;	  /* odd while it is written */
	__u32 end;	  /* enum wire_stack_end */
	__u32 n;	  /* words */
	__u16 slots[USER_LAYOUT_WORDS]; /* words from base, the leaf's stack pointer */
	__u64 words[USER_LAYOUT_WORDS]; /* what they hold; frame pointers less base */
};

/* By the low bits of the key, or these with the last bit inverted. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, USER_LAYOUTS);
	__type(key, __u32);
	__type(value, struct user_layout);
} user_layouts SEC(".maps");

/*
 * Stacks with the same key that differ: in the word at this slot. What is there is added to the
 * key. A process that generates code in each of its threads has hundreds of stacks with one leaf
 * and one length. By the low bits of the key.
 */
struct user_fork {
	__u64 key, slot;
};

#define USER_FORKS (1u << 12)
#define USER_FORKS_DEEP 4 /* of one key */
#define NO_FORK USER_LAYOUT_WORDS

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, USER_FORKS);
	__type(key, __u32);
	__type(value, struct user_fork);
} user_forks SEC(".maps");

/* What a register is that is to be the frame pointer in a frame with this stack pointer. */
enum fp_nature {
	FP_MAY_BE,
	FP_ZERO, /* by the ABI, the outermost frame's */
	FP_NONE,
};

static __always_inline __u32 fp_nature(__u64 fp, __u64 sp)
{
	if (!fp)
		return FP_ZERO;
	return fp < sp || fp >= USER_END || (fp & 7) ? FP_NONE : FP_MAY_BE;
}

/* A stack being unwound. */
struct unwinding {
	struct wire_copy c;
	struct user_layout layout; /* words read so far */
	__u32 unfit;		   /* a layout cannot describe it */
	__u32 fp_slot;		   /* where the frame pointer was saved, or */
#define FP_OF_LEAF WIRE_COPY_WORDS
#define FP_LISTED (WIRE_COPY_WORDS + 1)
};

/* ---- while a stack is unwound -------------------------------------------------------------- */

static __always_inline void begin_layout(struct unwinding *u, __u64 key)
{
	u->layout.key = key;
	u->layout.by_fp = 0;
	u->layout.no_fp = FP_MAY_BE;
	u->layout.n = 0;
	u->fp_slot = FP_OF_LEAF;
	u->unfit = 0;
}

static __always_inline void list_word(struct unwinding *u, __u32 slot, __u64 word)
{
	__u32 n = u->layout.n;

	barrier_var(n);
	if (n >= USER_LAYOUT_WORDS) {
		u->unfit = 1;
		return;
	}
	u->layout.slots[n] = (__u16)slot;
	u->layout.words[n] = word;
	u->layout.n = n + 1;
}

/* The slot of the word at addr. If the copy does not have it: FP_LISTED, and the stack is unfit. */
static __always_inline __u32 slot_of(struct unwinding *u, __u64 addr)
{
	__u64 at = addr - u->c.base;

	if (at < u->c.len && !(at & 7) && at / 8 < WIRE_COPY_WORDS)
		return (__u32)(at / 8);
	u->unfit = 1;
	return FP_LISTED;
}

/* Lists the frame pointer, by which a frame is found. */
static __always_inline void list_fp(struct unwinding *u)
{
	__u64 fp = u->c.regs[DWARF_FP] - u->c.base;

	if (u->fp_slot == FP_OF_LEAF) {
		u->layout.by_fp = 1;
		u->layout.leaf_fp = fp;
	} else if (u->fp_slot != FP_LISTED) {
		list_word(u, u->fp_slot | USER_LAYOUT_FP, fp);
	}
	u->fp_slot = FP_LISTED;
}

/* Lists that the frame pointer is none in the last frame, and of what nature it is. */
static __always_inline void list_no_fp(struct unwinding *u, __u32 nature)
{
	if (u->fp_slot == FP_LISTED) /* its value is known */
		return;
	u->layout.no_fp = nature;
	u->layout.no_fp_slot = u->fp_slot;
	u->layout.no_fp_sp = u->c.regs[DWARF_SP] - u->c.base;
}

/*
 * Where in the lists the return addresses at one slot differ; NO_FORK: nowhere. Frame pointers are
 * as many as there are values.
 */
__noinline __u32 find_fork(const struct user_layout *a, const struct user_layout *b)
{
	if (!a || !b)
		return NO_FORK;
	for (__u32 i = 0; i < USER_LAYOUT_WORDS; i++) {
		if (i >= a->n || i >= b->n || a->slots[i] != b->slots[i])
			break;
		if (a->words[i] != b->words[i] && !(a->slots[i] & USER_LAYOUT_FP))
			return i;
	}
	return NO_FORK;
}

/* Another stack has the key, too: from now on it is refined by a word in which they differ. */
static __always_inline void add_fork(struct unwinding *u, const struct user_layout *other)
{
	__u32 at = find_fork(&u->layout, other), place = (__u32)u->layout.key & (USER_FORKS - 1);
	struct user_fork *f = bpf_map_lookup_elem(&user_forks, &place);

	barrier_var(at);
	if (!f || at >= USER_LAYOUT_WORDS)
		return;
	f->slot = u->layout.slots[at];
	f->key = u->layout.key;
	u->layout.key = mix(u->layout.key, u->layout.words[at]);
}

static __always_inline struct user_layout *layout_place(__u64 key, __u64 hash)
{
	__u32 slot = ((__u32)key ^ (__u32)(hash >> 40 & 1)) & (USER_LAYOUTS - 1);

	return bpf_map_lookup_elem(&user_layouts, &slot);
}

/* Keeps the layout of the stack just unwound, which has this hash in the table of recent stacks. */
static __always_inline void keep_layout(struct unwinding *u, __u64 hash, __u32 end)
{
	struct user_layout *l = layout_place(u->layout.key, hash);
	__u32 version;

	if (l && l->key == u->layout.key && l->hash != hash) {
		add_fork(u, l);
		l = layout_place(u->layout.key, hash);
	}
	if (!l)
		return;
	version = *(volatile __u32 *)&l->version;
	if ((version & 1) ||
	    __sync_val_compare_and_swap(&l->version, version, version + 1) != version)
		return;
	l->key = u->layout.key;
	l->hash = hash;
	l->leaf_fp = u->layout.leaf_fp;
	l->by_fp = u->layout.by_fp;
	l->no_fp = u->layout.no_fp;
	l->no_fp_slot = u->layout.no_fp_slot;
	l->no_fp_sp = u->layout.no_fp_sp;
	l->end = end;
	l->n = u->layout.n;
	__builtin_memcpy(l->slots, u->layout.slots, sizeof(l->slots));
	__builtin_memcpy(l->words, u->layout.words, sizeof(l->words));
	__sync_fetch_and_add(&l->version, 1);
}

/* ---- before a stack is unwound ------------------------------------------------------------- */

/* The word at a layout's slot, as a layout has it. False: the copy does not reach so far. */
static __always_inline bool layout_word(const struct wire_copy *c, __u32 slot, __u64 *word)
{
	__u32 at = slot & ~USER_LAYOUT_FP;

	if (at >= WIRE_COPY_WORDS || at * 8 >= c->len)
		return false;
	*word = slot & USER_LAYOUT_FP ? c->words[at] - c->base : PLAIN_USER(c->words[at]);
	return true;
}

/* Whether the copy has all words of the layout. */
__noinline int has_words(const struct user_layout *l, const struct wire_copy *c)
{
	__u64 word;

	if (!l || !c)
		return 0;
	for (__u32 i = 0; i < USER_LAYOUT_WORDS; i++) {
		if (i >= l->n)
			break;
		if (!layout_word(c, l->slots[i], &word) || word != l->words[i])
			return 0;
	}
	return 1;
}

/* The key with the words by which stacks that have it are told apart. */
__noinline __u64 refined_key(const struct wire_copy *c, __u64 key)
{
	if (!c)
		return key;
	for (__u32 i = 0; i < USER_FORKS_DEEP; i++) {
		__u32 place = (__u32)key & (USER_FORKS - 1);
		const struct user_fork *f = bpf_map_lookup_elem(&user_forks, &place);
		__u64 word;

		if (!f || f->key != key || !layout_word(c, (__u32)f->slot, &word))
			break;
		key = mix(key, word);
	}
	return key;
}

/* Whether the layout's last frame has no frame pointer here, either. */
static __always_inline bool ends_alike(const struct user_layout *l, const struct wire_copy *c)
{
	__u32 slot = l->no_fp_slot;
	__u64 fp = c->regs[DWARF_FP];

	if (l->no_fp == FP_MAY_BE)
		return true;
	if (slot != FP_OF_LEAF) {
		if (slot >= WIRE_COPY_WORDS || slot * 8 >= c->len)
			return false;
		fp = c->words[slot];
	}
	return fp_nature(fp, c->base + l->no_fp_sp) == l->no_fp;
}

/*
 * The hash of the stack whose leaf and copy are in u, and in *end why it ends; 0 if no layout fits.
 * A layout that changes meanwhile (version) is not used.
 */
static __always_inline __u64 hash_by_layout(const struct unwinding *u, __u32 *end)
{
	__u64 key = u->layout.key, fp = u->c.regs[DWARF_FP] - u->c.base, hash;
	__u32 slot = (__u32)key & (USER_LAYOUTS - 1), version;
	const struct user_layout *l;

	for (__u32 way = 0; way < 2; way++, slot ^= 1) {
		l = bpf_map_lookup_elem(&user_layouts, &slot);
		if (!l)
			return 0;
		version = *(volatile __u32 *)&l->version;
		if (l->key != key || (version & 1) || (l->by_fp && l->leaf_fp != fp) ||
		    !has_words(l, &u->c) || !ends_alike(l, &u->c))
			continue;
		hash = l->hash;
		*end = l->end;
		barrier();
		if (*(volatile __u32 *)&l->version == version)
			return hash;
	}
	return 0;
}

#endif /* BPF_USER_LAYOUT_H */
