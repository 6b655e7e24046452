/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_layout.h - recognizes a user stack that was unwound before, without unwinding it; but not in
 * older.bpf.c, which has no room for it. Part of chaincap.bpf.c.
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
#pragma once

#define USER_LAYOUTS (1u << 12)
#define USER_LAYOUT_WORDS 46 /* a stack that needs more is always unwound */
/* Flag of a slot: its word is a frame pointer. */
#define USER_LAYOUT_FP 0x8000u
/* Likewise, of a frame for which there is no rule. */
#define USER_LAYOUT_NO_RULE 0x4000u

#define BY_FP 128u

/* Eight cache lines; what is looked at first is in the first one. */
struct user_layout {
	__u64 key;	  /* address space, leaf, and how far its stack reaches */
	__u64 hash;	  /* the stack's hash in the table of recent stacks */
	__u64 leaf_fp;	  /* the frame pointer at the leaf, less base, if a frame was found by it */
	__u64 no_fp_sp;	  /* of no_fp: the stack pointer, less base */
	__u32 top;	  /* where it ended, as in tops, less base */
	__u32 version;	  /* odd while it is written */
	__u16 no_fp_slot; /* of no_fp: its place (see fp_slot), in a frame */
	__u8 no_fp;	  /* enum fp_nature, if the stack ends for that: of the word */
	__u8 by_fp; /* a frame was found by leaf_fp: 1, or if it has no rule BY_FP with its index */
	__u16 end;  /* enum chainlog_stack_end */
	__u16 n;    /* words */
	__u16 slots[USER_LAYOUT_WORDS + 2]; /* words from base, the leaf's stack pointer */
	__u64 words[USER_LAYOUT_WORDS];	    /* what they hold; frame pointers less base */
};

_Static_assert(sizeof(struct user_layout) == 512, "entries begin where cache lines do");

/*
 * An entry is at the place of its key's low bits, or of these with the last bit inverted;
 * preferably at the first place, which is tried first.
 */
static struct user_layout user_layouts[USER_LAYOUTS] TABLE;

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

static struct user_fork user_forks[USER_FORKS] TABLE;

/* Whether a register can be the frame pointer of a frame with a given stack pointer. */
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
	__u64 pgd;     /* of a thread that sleeps: its page tables; 0: of the current one */
	__u32 unfit;   /* a layout cannot describe it */
	__u32 fp_slot; /* where the frame pointer was saved, or */
#define FP_OF_LEAF WIRE_COPY_WORDS
#define FP_LISTED (WIRE_COPY_WORDS + 1)
	/*
	 * For V8: frames without a rule. Of each where in the copy its frame pointer leads to, its
	 * index in the upper half, and its address.
	 */
	__u32 is_v8, n_fps;
	__u32 index, by_fp; /* as a layout is read */
	__u64 method;	    /* of a frame of HotSpot's interpreter */
	__u64 pc;
	__u32 fps[WIRE_CODE_FRAMES];
	__u64 fp_pcs[WIRE_CODE_FRAMES];
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
	u->layout.n = (__u16)(n + 1);
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

/* For V8: the frame with that index has no rule, and that frame pointer, less base. */
static __always_inline void list_v8_fp(struct unwinding *u, __u32 index, __u64 pc, __u64 fp)
{
	__u32 n = u->n_fps;

	barrier_var(n);
	if (n >= WIRE_CODE_FRAMES || fp >= u->c.len || (fp & 7))
		return;
	u->fps[n] = (__u32)(fp / 8) | index << 16;
	u->fp_pcs[n] = pc;
	u->n_fps = n + 1;
}

/*
 * Lists the frame pointer, by which a frame is found. no_rule: only as there is no rule for it.
 */
static __always_inline void list_fp(struct unwinding *u, bool no_rule)
{
	__u64 fp = u->c.regs[DWARF_FP] - u->c.base;
	__u32 index = u->c.n - 1;

	if (u->fp_slot == FP_LISTED)
		return;
	if (no_rule && u->is_v8)
		list_v8_fp(u, index, u->c.look + 1, fp);
	if (u->fp_slot == FP_OF_LEAF) {
		u->layout.by_fp = no_rule ? (__u8)(BY_FP | index) : 1;
		u->layout.leaf_fp = fp;
	} else {
		list_word(u, u->fp_slot | USER_LAYOUT_FP | (no_rule ? USER_LAYOUT_NO_RULE : 0), fp);
	}
	u->fp_slot = FP_LISTED;
}

/* Lists that the frame pointer is none in the last frame, and of what nature it is. */
static __always_inline void list_no_fp(struct unwinding *u, __u32 nature)
{
	if (u->fp_slot == FP_LISTED) /* its value is known */
		return;
	u->layout.no_fp = (__u8)nature;
	u->layout.no_fp_slot = (__u16)u->fp_slot;
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
	__u32 at = find_fork(&u->layout, other);
	struct user_fork *f = ELEMENT(user_forks, u->layout.key);

	barrier_var(at);
	if (at >= USER_LAYOUT_WORDS)
		return;
	f->slot = u->layout.slots[at];
	f->key = u->layout.key;
	u->layout.key = mix(u->layout.key, u->layout.words[at]);
}

/* The first or the second place (way 0 or 1) of a layout with this key. */
static __always_inline struct user_layout *layout_at(__u64 key, __u32 way)
{
	return ELEMENT(user_layouts, key ^ way);
}

/* The place for the layout of the stack with this hash: its own, a free one, or another stack's. */
static __always_inline struct user_layout *layout_place(__u64 key, __u64 hash)
{
	struct user_layout *first = layout_at(key, 0), *second = layout_at(key, 1);

	if (!first->key || (first->key == key && first->hash == hash))
		return first;
	if (!second->key || (second->key == key && second->hash == hash))
		return second;
	return hash >> 40 & 1 ? second : first;
}

/*
 * Keeps the layout of the stack just unwound, which has this hash in the table of recent stacks,
 * and ended at this top.
 */
static __always_inline void keep_layout(struct unwinding *u, __u64 hash, __u32 end, __u64 top)
{
	struct user_layout *l;
	__u32 version;

	for (__u32 way = 0; way < 2; way++) {
		l = layout_at(u->layout.key, way);
		if (l->key == u->layout.key && l->hash != hash) {
			add_fork(u, l);
			break;
		}
	}
	l = layout_place(u->layout.key, hash);
	version = *(volatile __u32 *)&l->version;
	if ((version & 1) ||
	    __sync_val_compare_and_swap(&l->version, version, version + 1) != version)
		return;
	l->key = u->layout.key;
	l->hash = hash;
	l->top = (__u32)(top - u->c.base);
	l->leaf_fp = u->layout.leaf_fp;
	l->by_fp = u->layout.by_fp;
	l->no_fp = u->layout.no_fp;
	l->no_fp_slot = u->layout.no_fp_slot;
	l->no_fp_sp = u->layout.no_fp_sp;
	l->end = (__u16)end;
	l->n = u->layout.n;
	__builtin_memcpy(l->slots, u->layout.slots, sizeof(l->slots));
	__builtin_memcpy(l->words, u->layout.words, sizeof(l->words));
	/* A full barrier, which an atomic addition whose result is not used is not. */
	__sync_val_compare_and_swap(&l->version, version + 1, version + 2);
}

/* ---- before a stack is unwound ------------------------------------------------------------- */

/* The word at a layout's slot, as a layout has it. False: the copy does not reach so far. */
static __always_inline bool layout_word(const struct wire_copy *c, __u32 slot, __u64 *word)
{
	__u32 at = slot & ~(USER_LAYOUT_FP | USER_LAYOUT_NO_RULE);

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

struct fp_walk {
	struct unwinding *u;
	const struct user_layout *l;
};

static long list_v8_word(__u32 i, struct fp_walk *w)
{
	const struct user_layout *l = w->l;
	struct unwinding *u = w->u;

	if (u->by_fp == (BY_FP | u->index)) {
		list_v8_fp(u, u->index, u->pc, l->leaf_fp);
		u->by_fp = 0;
	}
	if (i >= USER_LAYOUT_WORDS || i >= l->n)
		return 1;
	if (!(l->slots[i] & USER_LAYOUT_FP)) {
		u->index++;
		u->pc = l->words[i];
	} else if (l->slots[i] & USER_LAYOUT_NO_RULE) {
		list_v8_fp(u, u->index, u->pc, l->words[i]);
	}
	return 0;
}

LOOP(list_v8_word, struct fp_walk, USER_LAYOUT_WORDS + 1)

/* For V8: lists the frames without a rule as they were listed when the layout was made. */
__noinline int list_v8_fps(struct unwinding *u, const struct user_layout *l)
{
	struct fp_walk w = { u, l };

	if (!u || !l)
		return 0;
	u->pc = u->c.look + 1;
	u->index = 0;
	u->by_fp = l->by_fp;
	u->n_fps = 0;
	loop_list_v8_word(&w);
	return 0;
}

/* The key with the words by which stacks that have it are told apart. */
__noinline __u64 refined_key(const struct wire_copy *c, __u64 key)
{
	if (!c)
		return key;
	for (__u32 i = 0; i < USER_FORKS_DEEP; i++) {
		const struct user_fork *f = ELEMENT(user_forks, key);
		__u64 word;

		if (f->key != key || !layout_word(c, (__u32)f->slot, &word))
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
 * The hash of the stack whose leaf and copy are in u, and in *end and *top why and where it ends; 0
 * if no layout fits. A layout that changes meanwhile (version) is not used.
 */
static __always_inline __u64 hash_by_layout(struct unwinding *u, __u32 *end, __u64 *top)
{
	__u64 key = u->layout.key, fp = u->c.regs[DWARF_FP] - u->c.base, hash;
	struct user_layout *l;
	__u32 version;

	for (__u32 way = 0; way < 2; way++) {
		l = layout_at(key, way);
		if (*(volatile __u64 *)&l->key != key)
			continue;
		version = read_in_order(&l->version);
		if ((version & 1) || *(volatile __u64 *)&l->key != key ||
		    (l->by_fp && l->leaf_fp != fp) || !has_words(l, &u->c) || !ends_alike(l, &u->c))
			continue;
		if (u->is_v8)
			list_v8_fps(u, l);
		hash = l->hash;
		*end = l->end;
		*top = u->c.base + l->top;
		if (read_in_order(&l->version) == version)
			return hash;
	}
	return 0;
}
