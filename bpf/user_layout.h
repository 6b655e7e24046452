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
 */
#ifndef BPF_USER_LAYOUT_H
#define BPF_USER_LAYOUT_H

#define USER_LAYOUTS (1u << 12)
#define USER_LAYOUT_WORDS 48 /* a stack that needs more is always unwound */
/* Flag of a slot: its word is a frame pointer. */
#define USER_LAYOUT_FP 0x8000u

struct user_layout {
	__u64 key;			/* address space, leaf, and how far its stack reaches */
	__u64 hash;			/* the stack's hash in the table of recent stacks */
	__u64 leaf_fp;			/* the frame pointer at the leaf, less base, */
	__u32 by_fp;			/* if a frame was found by it */
	__u32 version;			/* odd while it is written */
	__u32 end;			/* enum wire_stack_end */
	__u32 n;			/* words */
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

/* Keeps the layout of the stack just unwound, which has this hash in the table of recent stacks. */
static __always_inline void keep_layout(const struct unwinding *u, __u64 hash, __u32 end)
{
	__u32 slot = ((__u32)u->layout.key ^ (__u32)(hash >> 40 & 1)) & (USER_LAYOUTS - 1);
	struct user_layout *l = bpf_map_lookup_elem(&user_layouts, &slot);
	__u32 version;

	if (!l || u->unfit)
		return;
	version = *(volatile __u32 *)&l->version;
	if ((version & 1) ||
	    __sync_val_compare_and_swap(&l->version, version, version + 1) != version)
		return;
	l->key = u->layout.key;
	l->hash = hash;
	l->leaf_fp = u->layout.leaf_fp;
	l->by_fp = u->layout.by_fp;
	l->end = end;
	l->n = u->layout.n;
	__builtin_memcpy(l->slots, u->layout.slots, sizeof(l->slots));
	__builtin_memcpy(l->words, u->layout.words, sizeof(l->words));
	__sync_fetch_and_add(&l->version, 1);
}

/* ---- before a stack is unwound ------------------------------------------------------------- */

/* Whether the copy has all words of the layout. */
__noinline int has_words(const struct user_layout *l, const struct wire_copy *c)
{
	__u64 word;
	__u32 slot;

	if (!l || !c)
		return 0;
	for (__u32 i = 0; i < USER_LAYOUT_WORDS; i++) {
		if (i >= l->n)
			break;
		slot = l->slots[i] & ~USER_LAYOUT_FP;
		if (slot >= WIRE_COPY_WORDS || slot * 8 >= c->len)
			return 0;
		word = c->words[slot];
		word = l->slots[i] & USER_LAYOUT_FP ? word - c->base : PLAIN_USER(word);
		if (word != l->words[i])
			return 0;
	}
	return 1;
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
		    !has_words(l, &u->c))
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
