/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chainwire_stacks.h - stacks: as they are told, recognized without a walk, and unwound. Part of
 * chainwire.h.
 */
#pragma once

#include "chainwire_code.h"
#include "chainwire_record.h"

#define WIRE_STACK_MAX 127 /* kernel.perf_event_max_stack's default, and the log's limit */

/*
 * The BPF side assigns stack ids, from 1 on. An id stands for one list of frames; for user stacks,
 * for a list of frames in one address space. 0: there is no stack. An id with WIRE_STACK_ONCE is
 * valid for one event only: the next one of that kind on that CPU.
 */
#define WIRE_STACK_ONCE 0x80000000u
/* Other ids are assigned in turn, modulo this. */
#define WIRE_STACK_IDS 0x40000000u
/*
 * How many ids the map "plain_ids" has ready, where the BPF side cannot count them by itself: more
 * than programs that take one at the same time.
 */
#define WIRE_PLAIN_IDS 4096
/* This many of the newest ids are guaranteed to be still valid. */
#define WIRE_RECENT_IDS 0x10000u
/* A stack that was found without a walk; the bits below are the number of its layout. */
#define WIRE_STACK_LAYOUT 0x60000000u

/* The number of the layout in a stack id; 0: the id has none. */
static inline __u32 wire_layout(__u32 id)
{
	return (id & (WIRE_STACK_ONCE | WIRE_STACK_LAYOUT)) == WIRE_STACK_LAYOUT
		       ? id & ~WIRE_STACK_LAYOUT
		       : 0;
}

/*
 * Addresses in stacks are return addresses, which are looked up one byte lower: the call may be its
 * function's last instruction. The one of an instruction that was interrupted, by a signal, an
 * exception or a sample, is looked up as it is: it may be its function's first one. Such an
 * *exact* address has this bit inverted. In all others it is equal to bit 63.
 */
#define WIRE_EXACT (1ull << 62)

static inline int wire_is_exact(__u64 addr)
{
	return (int)((addr ^ addr << 1) >> 63);
}

/* The address itself. */
static inline __u64 wire_address(__u64 addr)
{
	return wire_is_exact(addr) ? addr ^ WIRE_EXACT : addr;
}

/* What, taken for a return address, is looked up by the same byte. */
static inline __u64 wire_as_return(__u64 addr)
{
	return wire_address(addr) + (__u64)wire_is_exact(addr);
}

/*
 * A frame of HotSpot's interpreter (Java) has its method in place of its address: of the JVM's
 * struct, which is at a multiple of 8, the address by 8; above it, if it is a caller, the lower
 * bits of the address of the bytecode that it is at, and that there are these; and
 * WIRE_JAVA_METHOD. Both lie in the frame, whose pointer leads to the caller's and to the return
 * address behind that: in words below. The caller's stack pointer lies there, too, as the arguments
 * of what is called by compiled code are moved.
 */
#define WIRE_JAVA_METHOD (1ull << 61)
#define WIRE_JAVA_HAS_BYTECODE (1ull << 60)
#define WIRE_JAVA_BYTECODE 0xffffull /* a method has fewer bytes of them */
#define WIRE_JAVA_BYTECODE_SHIFT 44
#define WIRE_JAVA_SP_AT 1u
#define WIRE_JAVA_METHOD_AT 3u
#define WIRE_JAVA_BYTECODE_AT 8u

static inline int wire_is_java_method(__u64 addr)
{
	return addr >> 61 == 1;
}

/* method: below 2^47. bytecode: its address; 0: not known */
static inline __u64 wire_java_frame(__u64 method, __u64 bytecode)
{
	return WIRE_JAVA_METHOD | method >> 3 | (bytecode ? WIRE_JAVA_HAS_BYTECODE : 0) |
	       (bytecode & WIRE_JAVA_BYTECODE) << WIRE_JAVA_BYTECODE_SHIFT;
}

static inline __u64 wire_java_method(__u64 frame)
{
	return (frame & ((1ull << WIRE_JAVA_BYTECODE_SHIFT) - 1)) << 3;
}

/* The lower bits of the bytecode's address; ~0: not known */
static inline __u32 wire_java_bytecode(__u64 frame)
{
	return frame & WIRE_JAVA_HAS_BYTECODE
		       ? (__u32)(frame >> WIRE_JAVA_BYTECODE_SHIFT & WIRE_JAVA_BYTECODE)
		       : ~0u;
}

struct wire_stack {
	struct wire_record r;
	__u32 id;
	__u32 tgid; /* whose user stack; 0: kernel stack */
	__u32 n;    /* frames, leaf first; WIRE_STACK_MAX: it may have been cut */
	__u32 end;  /* enum chainlog_stack_end */
	/*
	 * Of interpreted code: n_code frames, leaf first, which stand behind the n others; and the
	 * evaluator's addresses. n_code == WIRE_CODE_FRAMES: there may be more.
	 */
	__u32 n_code;
	__u32 is_32bit; /* 1: of 32-bit code, found by the kernel's walk */
	__u64 eval_start, eval_end;
	__u64 frames[WIRE_STACK_MAX + WIRE_CODE_FRAMES]; /* native ones: maybe WIRE_EXACT */
};

/*
 * Recognizing a kernel stack without walking it.
 *
 * The running code determines where a function's return address lies on the stack: the unwinder
 * goes from frame to frame by offsets that it looks up by return address. So if the slots in which
 * a walk found its return addresses hold the same addresses again, at the same distances from a
 * fixed point at the leaf end, then a walk would find the same stack again. The fixed point is the
 * tracepoint's argument array, which the kernel puts on the stack right where it calls the program.
 * There are two exceptions. System calls begin with a frame of random size
 * (randomize_kstack_offset): what lies on its root side, the entry code, is at a fixed distance
 * from the root end of the stack instead. And interrupts and softirqs run on a stack of the CPU's
 * own (x86-64): its last word, at a fixed distance from the fixed point, says where on the thread's
 * stack the rest begins.
 *
 * The BPF side sends samples of a stack that it walks often. The collector searches them for the
 * slots, and when only one way to assign slots is left, it adds the stack to the table "steps". If
 * a frame's address stays in several slots, it is looked for in all of them: one is the frame's.
 */
#define WIRE_LAYOUT_FRAMES 48  /* a longer stack is always walked */
#define WIRE_SAMPLE_WORDS 1024 /* a sample has at most this many words (8 bytes) of stacks */
#define WIRE_ROOT_WORDS 64     /* how far from the root end slots are looked for */

struct wire_layout_sample {
	struct wire_record r;
	__u64 hash;	 /* of the stack, its key in the map "stacks" */
	__u32 id, n;	 /* the stack's id; the number of its frames, all of which are here */
	__u32 event;	 /* the kind of event it was walked for */
	__u32 n_words;	 /* number of words, from the fixed point on */
	__u32 link;	 /* slot with the address of the words that follow it; 0: there is none */
	__u32 to_root;	 /* 1: the words reach the root end of the thread's stack */
	__u32 cut;	 /* 1: the frames of the interrupted code were cut off */
	__u32 interrupt; /* 1: the last frame is an interrupt's entry */
	__u64 frames[WIRE_LAYOUT_FRAMES];
	__u64 words[WIRE_SAMPLE_WORDS];
};

/*
 * The steps form a tree. A step stands for all stacks that begin with the same return addresses. It
 * says where the next return address lies, and that address leads to the next step. This is mostly
 * the step with the next number, which is good for the caches; the others are found by the map
 * "branches". The collector writes while programs read: it sets `live` last, and does not change a
 * live step.
 *
 * A full tree forgets the stacks that came least recently. For this there are two trees. Programs
 * follow the one whose root is in tree_root, which each program reads once. The collector copies
 * what is to be kept into the other tree, then sets tree_root to its root; it clears the old tree
 * when all programs that may still follow it have ended.
 */
enum wire_base {
	WIRE_FROM_LEAF, /* slot words above the fixed point */
	WIRE_FROM_ROOT, /* slot words below the end of the thread's stack */
	WIRE_FROM_LINK, /* slot words above the address that is in word `link` */
};

/*
 * Value of the table "steps", by number. A stack that was not cut is recognized only if its last
 * return address lies as far from the end of the thread's stack as before: an entry from user mode
 * does, and code that interrupts the kernel does not.
 */
struct wire_step {
	__u64 ret;   /* the return address that leads here */
	__u32 from;  /* number of the step that it leads from */
	__u32 live;  /* 0: the step must not be followed */
	__u32 stack; /* id of the stack that ends here; 0: none, the step has a slot */
	/*
	 * Where the next return address lies, see enum wire_base. If a stack ends here: words from
	 * its last return address to the end of the thread's stack; 0: any number.
	 */
	__u16 slot;
	__u16 link;	/* WIRE_FROM_LINK: words from the fixed point to the link */
	__u8 base;	/* enum wire_base */
	__u8 interrupt; /* if a stack ends here: 1: it is an interrupt's */
	__u8 pad[6];
};

/* The first step of each kind of event leads from the root of a tree; its `ret` is the kind. */
#define WIRE_TREES 2
#define WIRE_TREE_ROOT(tree) ((tree)*WIRE_STEPS)
/* As `ret`: the step with another slot, to be tried if what is in the first one leads nowhere. */
#define WIRE_STEP_ELSE (~0ull)

#define WIRE_LAYOUTS 8192     /* more than the stacks in the tree */
#define WIRE_STEPS (1u << 15) /* of one tree */

/*
 * The table "branches" has the numbers of those steps whose number is not the next one after that
 * of the step that leads to them, at one of two places: wire_branch() or wire_other_branch(). A
 * tree has as many places as steps, so the same bit tells the trees' steps and their places apart.
 */
#define WIRE_BRANCHES WIRE_STEPS

static inline __u32 wire_branch(__u32 from, __u64 ret)
{
	return (__u32)(((ret ^ (__u64)from << 40) * 0x9e3779b97f4a7c15ull) >> 49) |
	       (from & WIRE_STEPS);
}

static inline __u32 wire_other_branch(__u32 from, __u64 ret)
{
	return (__u32)(((ret ^ (__u64)from << 40) * 0xc2b2ae3d27d4eb4full) >> 49) |
	       (from & WIRE_STEPS);
}

/*
 * Interrupt entry code, from start to end. On a CPU's own stack the frames below it are the
 * interrupted thread's. They are cut off: otherwise interrupt stacks would almost never repeat.
 */
#define WIRE_ENTRIES 8

struct wire_range {
	__u64 start, end; /* 0: there is no such range, and none after it */
};

/*
 * Unwinding user stacks.
 *
 * Most programs are built without frame pointers. The file's call frame information says, for each
 * instruction of a function, where the caller's frame is. The collector looks up each address once,
 * by libdw, and puts the result as a rule into the table "rules", by address space and address. The
 * BPF side goes from frame to frame by one look-up each. If it meets an address without a rule, it
 * sends the registers and a copy of the stack (struct wire_copy); the collector completes that
 * stack, and adds rules for all of its addresses, and for the line of bytes around the first one.
 *
 * A return address is looked up one byte lower, within the call instruction, because the call may
 * be the last instruction of its function. The same is done for the leaf of a system call; an
 * interrupted instruction is looked up at its own address.
 *
 * A rule: its kind (bits 0 to 7), the offsets from the CFA at which the return address (8 to 15, in
 * words) and the caller's frame pointer (16 to 31, in bytes; 0: unchanged) are saved, and the CFA's
 * own offset (32 to 63, in bytes). The CFA is what the stack pointer is in the caller.
 *
 * On arm64 a call puts the return address into the link register. Most functions save it next to
 * the frame pointer, at the lower end of the frame, and point the frame pointer there. So a frame
 * pointer leads to the caller's frame pointer, but does not say what the stack pointer was. After
 * such a step the next frame is found by its frame pointer, whatever its CFA is counted from.
 */
enum wire_rule_kind {
	WIRE_RULE_UNKNOWN,   /* no rule in the map */
	WIRE_RULE_SP,	     /* CFA = sp + offset */
	WIRE_RULE_FP,	     /* CFA = fp + offset */
	WIRE_RULE_PLT,	     /* CFA = sp + 8; sp + 16 from byte `offset` of the 16-byte stub on */
	WIRE_RULE_REALIGNED, /* CFA = *(fp + offset); the caller's fp = *fp */
	WIRE_RULE_SAVED,     /* CFA = *(sp + offset) + 8; of fp if bit 0 of the offset is set */
	WIRE_RULE_SIGNAL,    /* the kernel saved all registers on the stack */
	WIRE_RULE_END,	     /* the outermost frame */
	WIRE_RULE_NONE,	     /* the file has none for this address: follow the frame pointer */
	WIRE_RULE_NO_CODE,   /* no code is there: the frame that led here was not one */
	WIRE_RULE_HARD,	     /* a DWARF expression that no kind above covers */
	WIRE_RULE_ASK,	     /* only the collector can follow it */
	WIRE_RULE_JAVA,	     /* a frame of HotSpot's interpreter, see WIRE_JAVA_METHOD */
	WIRE_RULE_GIVEN_UP, /* CFA = sp + offset; where it would return to is at sp + fp's offset */
};

/* arm64, in place of the return address's offset: it is in the link register, */
#define WIRE_RA_LINK 0
/* or in the word after the saved frame pointer. */
#define WIRE_RA_PAIR 1
/* As the link register's value: not known. */
#define WIRE_NO_LINK 1ull

/* cfa, fp: offsets in bytes; ra_words: of the return address, in words, or WIRE_RA_*. */
static inline __u64 wire_rule(enum wire_rule_kind kind, int cfa, int fp, int ra_words)
{
	return (__u64)kind | (__u64)(ra_words & 0xff) << 8 | (__u64)(fp & 0xffff) << 16 |
	       (__u64)(__u32)cfa << 32;
}

static inline int wire_rule_is_pair(__u64 rule)
{
	return (rule >> 8 & 0xff) == WIRE_RA_PAIR;
}

/*
 * A bucket of the table "rules". It is written without a lock while programs read: a rule counts
 * only if check ^ rule is its key, so a half-written one is not taken.
 */
#define WIRE_RULE_WAYS 4
#define WIRE_RULE_BUCKETS (1u << 15)

struct wire_rules {
	__u64 check[WIRE_RULE_WAYS];
	__u64 rule[WIRE_RULE_WAYS];
};

#define WIRE_GENERATIONS (1u << 15) /* a power of two */

/*
 * What is kept of processes whose stacks are copied, in table "copiers", by wire_copier(). cut:
 * stacks of process tgid that were cut since the collector asked last. Whoever shares the place is
 * not told apart; nobody can aim at another's place, as seed is the recording's own number.
 */
#define WIRE_COPIERS_SHIFT 14

struct wire_copier {
	__u64 at_ns; /* when a copy was sent last */
	__u32 tgid, cut;
};

static inline __u32 wire_copier(__u64 seed, __u32 tgid)
{
	return (__u32)((seed ^ tgid) * 0x9e3779b97f4a7c15ull >> (64 - WIRE_COPIERS_SHIFT));
}

static inline __u64 wire_rule_key(__u64 space, __u64 addr)
{
	__u64 h = (space ^ addr) * 0x9e3779b97f4a7c15ull;

	return h ^ h >> 32;
}

/*
 * A rule that holds for all of an aligned line of this many bytes has another key, which serves
 * each address in it: where samples interrupt a program it is rarely twice at the same one.
 */
#define WIRE_RULE_LINE 64u

static inline __u64 wire_rule_line_key(__u64 space, __u64 addr)
{
	return wire_rule_key(space, (addr & ~(__u64)(WIRE_RULE_LINE - 1)) | 1ull << 62);
}

static inline __u32 wire_rule_bucket(__u64 key)
{
	return (__u32)key & (WIRE_RULE_BUCKETS - 1);
}

/* --verify unwinds each stack: whether it would have been recognized without that. */
enum wire_known {
	WIRE_KNOWN_NOT,	     /* no */
	WIRE_KNOWN,	     /* yes, as the same stack */
	WIRE_KNOWN_AS_OTHER, /* yes, but as another stack: an error */
};

/* A stack that the BPF side cannot unwind to its end; sent right before its event. */
#define WIRE_COPY_WORDS 3072 /* of 8 bytes; the value of a per-CPU map has at most 32 KiB */
#define WIRE_REGISTERS 33    /* by DWARF's numbers, pc last; x86-64 has 17 */
/* These bits are set in the id of such a stack: it is valid for one event, too. */
#define WIRE_STACK_COPY (WIRE_STACK_ONCE | 0x40000000u)

struct wire_copy {
	struct wire_record r;
	__u32 id; /* 0: for no event, only to compare the frames with (--verify) */
	__u32 tgid, tid;
	__u32 sp_lost;	   /* 1: the stack pointer in regs is a lower bound only */
	__u32 n;	   /* frames found so far, at least the leaf */
	__u32 end;	   /* so far: UNKNOWN, or GUESSED; if id is 0, why there are no more */
	__u32 known;	   /* enum wire_known */
	__u32 last_rule;   /* --verify: kind of the rule with which the frames ended */
	__u64 switches;	   /* context switches of the thread, a current one included */
	__u64 sp;	   /* of the leaf */
	__u64 space;	   /* for wire_rule_key() */
	__u64 look;	   /* address that the last frame is looked up by */
	__u32 registers;   /* 1: all of that frame's are known; 0: stack and frame pointer only */
	__u32 len;	   /* bytes of words */
	__u64 base;	   /* address of words[0] */
	__u64 below;	   /* the word below the leaf, for WIRE_RULE_SAVED; 0: not known */
	__u64 top;	   /* for the BPF side alone: where the thread's stack ended last time */
	__u64 hash_before; /* likewise: the hash without the last frame */
	__u64 regs[WIRE_REGISTERS];
	__u64 frames[WIRE_STACK_MAX];	    /* as in struct wire_stack */
	__u64 n_code, eval_start, eval_end; /* as in struct wire_stack */
	__u64 code[WIRE_CODE_FRAMES];	    /* the frames of interpreted code */
	__u64 words[WIRE_COPY_WORDS];
};

/*
 * Value of the map "stacks", by the hash of the frames. The kernel reuses the memory of a deleted
 * or replaced value at once, perhaps while a program still looks at it. So programs read id and
 * check together, change them by comparing and exchanging both, and what they write in place
 * otherwise are only hints.
 */
struct wire_known_stack {
	__u32 id;
	__u32 check;  /* the hash's upper half, whose lowest bit is WIRE_SENT here */
	__u32 walks;  /* kernel stacks: how often it was walked because no steps led to it */
	__u32 layout; /* number of its layout, once steps lead to it; 0: none do */
};
#define WIRE_SENT 1u /* the record with its frames has been sent */
