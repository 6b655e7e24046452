/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chainwire.h - what the BPF programs put into the ring buffers and chaincap takes out. Native
 * byte order: both ends are the same machine. Every record begins with struct wire_record.
 * Include <linux/types.h>, or something that gives __u32 and so on, before it.
 */
#pragma once

#define WIRE_STACK_MAX 127 /* kernel.perf_event_max_stack's default, and the log's limit */
#define WIRE_COMM_LEN 16
#define WIRE_PATH_LEN 128

enum wire_kind {
	WIRE_SWITCH,
	WIRE_WAKING,
	WIRE_WAKING_NEW,
	WIRE_FORK,
	WIRE_EXEC,
	WIRE_RENAME,
	WIRE_EXIT,
	WIRE_EVENT_KINDS, /* above: events of EVENTS blocks; below: of AUX_EVENTS blocks. */
	/* Events of the two sorts of blocks are counted and accounted for separately. */
	WIRE_CPU_SAMPLE = WIRE_EVENT_KINDS,
	WIRE_QUEUE,
	WIRE_THROTTLED,
	WIRE_WAITS_FOR, /* has no record of its own: it is the object of a WIRE_SWITCH */
	WIRE_DISK_REQUEST,
	WIRE_DISK_DONE,
	WIRE_READY,
	WIRE_INTERRUPTS,
	WIRE_STEAL,
	WIRE_REQUEST,
	WIRE_REQUEST_MORE,
	WIRE_REQUEST_OPEN,
	WIRE_PROBED,
	WIRE_PROBED_OPEN,
	WIRE_CONTEXT,
	WIRE_COUNTED_KINDS,
	WIRE_STACK = WIRE_COUNTED_KINDS,
	WIRE_LOST,
	WIRE_STACK_LAYOUT_SAMPLE,
	WIRE_COPY,
	WIRE_OBJECT,
	WIRE_KINDS,
};

struct wire_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u8 kind;     /* enum wire_kind */
	__u8 seq[3];   /* events: number on this CPU among those of its kind, modulo 2^24 */
	__u32 cpu;
};

/*
 * The BPF side assigns stack ids, from 1 on. An id stands for one list of frames; for user stacks,
 * for a list of frames in one address space. 0: there is no stack. An id with WIRE_STACK_ONCE is
 * valid for one event only: the next one of that kind on that CPU.
 */
#define WIRE_STACK_ONCE 0x80000000u
/* Other ids are assigned in turn, modulo this. */
#define WIRE_STACK_IDS 0x40000000u
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

struct wire_switch {
	struct wire_record r;
	__u32 prev, next;     /* tids; the recorder's own are 0 */
	__u32 kstack, ustack; /* prev's */
	__u32 state;	      /* prev's task state bits as the kernel has them; 0: runnable */
	__u32 object;	      /* what prev waits for, see struct wire_object; 0: not known */
};

struct wire_waking { /* also WIRE_WAKING_NEW */
	struct wire_record r;
	__u32 waker, target;  /* target: a tid, with WIRE_OFF_QUEUE */
	__u32 kstack, ustack; /* the waker's */
};

/* The target was off its run queue: the waking ends a sleep, even if its switch-out comes later. */
#define WIRE_OFF_QUEUE 0x80000000u

struct wire_fork {
	struct wire_record r;
	__u32 parent, child, child_tgid, pad;
	char name[WIRE_COMM_LEN];
};

struct wire_exec {
	struct wire_record r;
	__u32 tid, old_tid;
	char filename[WIRE_PATH_LEN];
};

struct wire_rename {
	struct wire_record r;
	__u32 tid, pad;
	char name[WIRE_COMM_LEN];
};

struct wire_of_thread { /* WIRE_EXIT; WIRE_THROTTLED: just preempted, its group's quota is used up
			 */
	struct wire_record r;
	__u32 tid, pad;
};

/* A thread that was running, and where; also WIRE_DISK_REQUEST: it asks a block device. */
struct wire_cpu_sample {
	struct wire_record r;
	__u32 tid, kstack, ustack, pad;
};

struct wire_queue { /* a thread is put on the run queue of a CPU */
	struct wire_record r;
	__u32 tid;
	__u32 place; /* CPU << 1, with 1 if that is part of waking it up */
};

enum wire_disk_op {
	WIRE_DISK_READ,
	WIRE_DISK_WRITE,
	WIRE_DISK_FLUSH,
	WIRE_DISK_DISCARD,
	WIRE_DISK_ZERO,
	WIRE_DISK_OTHER,
	WIRE_DISK_OPS,
};

#define WIRE_DISK_NAME 32

struct wire_disk_done { /* a block device has done what it was asked for */
	struct wire_record r;
	__u64 asked_ns;	 /* when its WIRE_DISK_REQUEST was, or it began; 0: not known */
	__u64 issued_ns; /* when the device got it; 0: not known */
	__u32 tid;	 /* who asked; 0: not known */
	__u32 op;	 /* enum wire_disk_op */
	__u32 bytes;
	__u32 pad;
	char disk[WIRE_DISK_NAME]; /* as the kernel calls the device that was asked */
};

struct wire_ready { /* right after a waking: which of several things ended the wait */
	struct wire_record r;
	__u32 tid;    /* the thread that was woken */
	__u32 object; /* see struct wire_object */
};

struct wire_stolen { /* right after a WIRE_SWITCH, at the same time */
	struct wire_record r;
	/*
	 * Of the time since the CPU's last such record: in interrupts and softirqs
	 * (WIRE_INTERRUPTS), or while the hypervisor ran something else (WIRE_STEAL).
	 */
	__u64 ns;
};

/* A request at a socket was answered; also WIRE_REQUEST_MORE and WIRE_REQUEST_OPEN. */
struct wire_request {
	struct wire_record r;
	__u64 connection; /* from 1 on; 0: a datagram socket's */
	__u64 arrival_ns; /* MORE: the first write of the answer */
	__u64 taken_ns;	  /* the read that got it */
	__u64 answer_ns;  /* the last write so far */
	__u64 bytes_read, bytes_written;
	__u32 reader, writer; /* threads; 0: not known */
	__u32 kstack, ustack; /* the writer's; 0: not taken */
	__u32 endpoint;	      /* see struct wire_object; 0: not known */
	__u32 flags;	      /* enum wire_request_flag, or-ed */
};

/*
 * A request of some length may get stacks (bpf/requests.h); of the others at most so many are told
 * in a second, on each CPU. Value of the map "request_accounts".
 */
#define WIRE_REQUEST_RATE 50000u

struct wire_request_account {
	__u64 second_ns; /* when the present second began, */
	__u64 told;	 /* requests that were told in it, or would have been */
	__u64 untold;	 /* those that were not, since the beginning */
	__u64 stacks_ns; /* when stacks were taken last, */
	__u64 took_ns;	 /* and how long that request took */
	__u64 busy;	 /* 1: a program is taking stacks */
};

/* The values are those of CHAINLOG_REQUEST_FIRST and so on. */
enum wire_request_flag {
	WIRE_REQUEST_FIRST = 1,	      /* of its connection */
	WIRE_REQUEST_PIPELINED = 2,   /* arrived before the answer of the one before it */
	WIRE_REQUEST_OLD = 4,	      /* its connection is older than the recording */
	WIRE_REQUEST_UNSENT = 8,      /* the answer was written, but not yet sent */
	WIRE_REQUEST_NO_ARRIVAL = 16, /* when it arrived is not known: as it was read */
	WIRE_REQUEST_PROBED = 32      /* it was found by probes, not at a socket */
};

/*
 * Requests that probes mark: the call of a function, or from one mark to another. A site is a place
 * in a file at which a probe is; its number is the cookie of the probe's attachment.
 */
#define WIRE_PROBE_SITES 256u
#define WIRE_PROBES 16u	    /* names that requests have */
#define WIRE_PROBE_NAME 32  /* of these, with the terminator */
#define WIRE_PROBE_LABEL 65 /* of one request, with the terminator */
#define WIRE_PROBES_OPEN (1u << 16)

enum wire_probe_act {
	WIRE_PROBE_CALL,   /* a function is entered */
	WIRE_PROBE_RETURN, /* and has returned */
	WIRE_PROBE_BEGIN,
	WIRE_PROBE_END,
};

/* Where a probe finds a number. */
enum wire_probe_source {
	WIRE_PROBE_NOTHING,
	WIRE_PROBE_CONSTANT, /* it is `number` */
	WIRE_PROBE_REGISTER,
	WIRE_PROBE_MEMORY, /* in user memory, at register + index register * scale + number */
};

struct wire_probe_value {
	__s64 number;
	__u16 reg;   /* of a register: its offset in struct pt_regs */
	__u16 index; /* likewise, if scale is not 0 */
	__u8 scale;
	__u8 source;	/* enum wire_probe_source */
	__u8 bytes;	/* 1, 2, 4 or 8 */
	__u8 is_signed; /* a shorter one is extended by its sign */
};

/* Value of the map "probe_sites". */
struct wire_probe_site {
	__u32 act;	/* enum wire_probe_act */
	__u32 request;	/* below WIRE_PROBES: which of the names it belongs to */
	__u32 by_id;	/* 1: id tells requests apart, on any threads of a process; 0: the thread */
	__u32 label_is; /* enum wire_probe_label */
	struct wire_probe_value id, label;
	char name[WIRE_PROBE_NAME];
};

/* What is kept of a label: a number, or the string at that address. */
enum wire_probe_label {
	WIRE_LABEL_NONE,
	WIRE_LABEL_SIGNED,
	WIRE_LABEL_UNSIGNED,
	WIRE_LABEL_STRING,
};

/* WIRE_PROBED: a request has ended; WIRE_PROBED_OPEN: it never will, or not in time. */
struct wire_probed {
	struct wire_request request;
	char name[WIRE_PROBE_NAME];
	__u64 number; /* the label, if that is a number */
	__u32 label_is, pad;
	char label[WIRE_PROBE_LABEL]; /* likewise, a string */
	char unused[7];
};

/* From now on, as far as is known, the thread works for this span, or for none. */
struct wire_context {
	struct wire_record r;
	__u64 trace[2]; /* W3C trace id, the upper half first; 0: none */
	__u64 span;	/* span id; 0: none */
	__u32 tid;
	__u32 route; /* see struct wire_object; 0: none */
};

/*
 * Where a process keeps the pointer to the context of a thread (OpenTelemetry's thread context): a
 * thread-local variable, by the ways in which compilers reach one. A slot is a place in the
 * process's memory that its dynamic linker fills in.
 */
enum wire_tls {
	WIRE_TLS_STATIC,      /* at `offset` from the thread pointer */
	WIRE_TLS_OFFSET_SLOT, /* likewise; the offset is in the slot */
	WIRE_TLS_MODULE_SLOT, /* the slot has a module's number, and the offset in its block */
	WIRE_TLS_DESCRIPTOR,  /* TLSDESC: the slot has a function and its argument: an offset as
				 of STATIC, or the address of what is in a MODULE_SLOT */
	WIRE_TLS_MODULE,      /* at `offset` in the block of `module` */
};

#define WIRE_NO_KEY 256u

/*
 * Value of the map "publishers", by process id. The BPF side changes the kinds with a slot into
 * the two others when the dynamic linker has filled in the slot.
 */
struct wire_publisher {
	__u64 slot; /* address */
	__u64 offset;
	__u64 module;
	__u32 tls;   /* enum wire_tls */
	__u32 route; /* index of the attribute that is the route; WIRE_NO_KEY: none is */
};

#define WIRE_PUBLISHERS (1u << 14)
#define WIRE_ROUTE_MAX 64u /* bytes; a longer one is cut */

struct wire_stack {
	struct wire_record r;
	__u32 id;
	__u32 tgid; /* whose user stack; 0: kernel stack */
	__u32 n;    /* frames, leaf first; WIRE_STACK_MAX: it may have been cut */
	__u32 end;  /* enum wire_stack_end */
	__u64 frames[WIRE_STACK_MAX];
};

/* Why a stack has no more frames. The values are those of enum chainlog_stack_end. */
enum wire_stack_end {
	WIRE_END_UNKNOWN,    /* not known: kernel stacks, and the kernel's own walks */
	WIRE_END_WHOLE,	     /* the outermost frame was reached */
	WIRE_END_DEPTH,	     /* there are more than WIRE_STACK_MAX */
	WIRE_END_UNREADABLE, /* the stack's memory could not be read */
	WIRE_END_NO_RULE,    /* no rule says where the caller's frame is */
	WIRE_END_GUESSED,    /* found by a frame pointer that may not be one, or ended by its 0 */
	WIRE_ENDS,
};

/* n events of this CPU and of one kind were lost, the first at r.time_ns. */
struct wire_lost {
	struct wire_record r;
	__u64 n;
	__u64 last_ns;
	__u32 event, pad; /* enum wire_kind */
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
 * stack, and adds rules for all of its addresses.
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
	WIRE_RULE_SIGNAL,    /* the kernel saved all registers on the stack */
	WIRE_RULE_END,	     /* the outermost frame */
	WIRE_RULE_NONE,	     /* the file has none for this address: follow the frame pointer */
	WIRE_RULE_NO_CODE,   /* no code is there: the frame that led here was not one */
	WIRE_RULE_HARD,	     /* a DWARF expression that no kind above covers */
	WIRE_RULE_ASK,	     /* only the collector can follow it */
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

static inline __u64 wire_rule_key(__u64 space, __u64 addr)
{
	__u64 h = (space ^ addr) * 0x9e3779b97f4a7c15ull;

	return h ^ h >> 32;
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
	__u64 top;	   /* for the BPF side alone: where the thread's stack ended last time */
	__u64 hash_before; /* likewise: the hash without the last frame */
	__u64 regs[WIRE_REGISTERS];
	__u64 frames[WIRE_STACK_MAX];
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

/*
 * What the BPF side keeps for each kind of event on each CPU (map "kinds"). Each kind has one
 * program, which does not nest on a CPU: since 6.1 the kernel ensures this, and where it does not,
 * a waking that interrupts another one is skipped and counted. So only that count needs to be
 * atomic. The collector copies these structs from all CPUs twice a second, so large things are in
 * struct workspace (bpf/stack.h).
 */
struct wire_kind_state {
	__u64 kind;    /* enum wire_kind, set with the first event */
	__u64 seen;    /* events, kept or lost */
	__u64 nested;  /* events that were skipped; they are not in seen */
	__u64 busy;    /* 1: a program is using this struct */
	__u64 pending; /* events of seen that found no room, and no WIRE_LOST record has reported */
	__u64 pending_first_ns, pending_last_ns;
	__u64 walked, known; /* kernel stacks walked, and recognized without a walk */
	/* --verify: stacks compared with a plain walk, and those that it contradicted. */
	__u64 verified, mismatches, verified_user, mismatches_user;
	__u64 unverified_user; /* stacks that a plain walk could not complete */
	/* Of the event that is being recorded: */
	__u64 fixed_point; /* address of the program's arguments */
	__u64 stack;	   /* address of the thread's kernel stack */
	__u64 interrupt;   /* 1: the kernel stack is that of an interrupt */
	__u64 root;	   /* --verify: tree_root, before the stack was looked for in the tree */
	__u64 hash;	   /* of the user stack, */
	__u64 tid;	   /* the thread that has it, */
	__u64 end;	   /* and enum wire_stack_end */
	/* In all: */
	__u64 ends[WIRE_ENDS]; /* user stacks by how they ended, without those in a WIRE_COPY */
	__u64 known_user;      /* those of them that were recognized without being unwound */
	__u64 woken_ns;	       /* when the collector was last woken for a WIRE_COPY */
};

/*
 * The table of the processes that the recorder started for itself: a process is at its place, or at
 * its place ^ 1.
 */
#define WIRE_HELPERS 4096

static inline __u32 wire_helper_place(__u32 tgid)
{
	return tgid & (WIRE_HELPERS - 1);
}

/*
 * What a thread waits for in a system call. Objects have ids, as stacks do: an object is sent when
 * it is new, and events carry its id. An equal key means the same object; the collector may give
 * the same name to several objects.
 */
enum wire_object_kind {
	/* The words in v[], and what is in path: */
	WIRE_OBJECT_FILE = 1, /* inode, device << 32 | generation, mode; path */
	WIRE_OBJECT_ANON,     /* of anon_inodefs: descriptor, its operations; path is its name */
	WIRE_OBJECT_PIPE,     /* inode, device << 32, 1: it has a path */
	WIRE_OBJECT_INET,     /* WIRE_INET_*, the peer's address (2 words), its own (2 words) */
	WIRE_OBJECT_UNIX,     /* inode, type; path is its own address, else the peer's */
	WIRE_OBJECT_SOCKET,   /* of another family: family | protocol << 8, inode */
	WIRE_OBJECT_FUTEX,    /* address, 1: shared, the thread that holds it (0: not known) */
	WIRE_OBJECT_CALL,     /* enum wire_call, and its argument */
	WIRE_OBJECT_ENDPOINT, /* of requests: as INET, own port only; unix: hash of its path; path
			       */
	WIRE_OBJECT_ROUTE,    /* two hashes of the text in path */
	WIRE_OBJECT_KINDS,
};

/* v[0] of WIRE_OBJECT_INET: bits 0-7 the family, 8-23 the protocol, and: */
#define WIRE_INET_LISTENS (1ull << 24)
#define WIRE_INET_PORT 32  /* own port, 16 bits */
#define WIRE_INET_DPORT 48 /* the peer's */

/*
 * v[1] of WIRE_OBJECT_CALL. WIRE_CALL_SLEEP: how long, in ns; WIRE_SLEEP_UNKNOWN: until a time of
 * another clock. WIRE_CALL_POLL and WIRE_CALL_SELECT: the number of descriptors, rounded to two
 * digits; 0: not known.
 */
#define WIRE_SLEEP_UNKNOWN (~0ull)

struct wire_object_key {
	__u16 kind; /* enum wire_object_kind */
	__u16 call; /* WIRE_CALL_POLL: the object is the only descriptor of a poll(); else 0 */
	__u32 tgid; /* where the meaning depends on the process; else 0 */
	__u64 v[5];
};

#define WIRE_OBJECT_PATH 512
#define WIRE_NAME_MAX 256 /* with its terminator */

struct wire_object {
	struct wire_record r;
	__u32 id;
	__u32 owner;	/* process of the thread that was seen waiting */
	__u32 peer;	/* process at the other end; 0: not known */
	__u32 path_len; /* bytes of path */
	__u32 whole;	/* 1: path begins at the root of the file system */
	__u16 shared;	/* futexes, 1: the mapping is shared */
	__u16 again;	/* likewise, 1: the mapping could not be asked for; will be sent again */
	__u64 offset;	/* likewise, in the file at path, if any; .bss lies beyond its end */
	__u64 inode;	/* likewise, of that file */
	struct wire_object_key key;
	/* Files: the names on the path, the last one first, each with a terminator. */
	char path[WIRE_OBJECT_PATH + WIRE_NAME_MAX];
};

/*
 * How to find the object of a system call in its arguments. An entry of the tables "calls", which
 * are indexed by the call's number, has this in bits 0-4, and in bits 5-6 the number of the
 * argument, from 0.
 */
enum wire_call {
	WIRE_CALL_NONE,
	WIRE_CALL_FD,	       /* a descriptor */
	WIRE_CALL_SOCKETCALL,  /* i386: the descriptor is the first word at the address */
	WIRE_CALL_EPOLL,       /* a descriptor of an epoll instance */
	WIRE_CALL_POLL,	       /* array of descriptors; the next argument is its length */
	WIRE_CALL_SELECT,      /* number of descriptors; their sets are the next arguments */
	WIRE_CALL_FUTEX,       /* address; the next argument is the operation */
	WIRE_CALL_FUTEX2,      /* address; flags as in futex_wait(): the fourth argument */
	WIRE_CALL_FUTEXES,     /* several */
	WIRE_CALL_CHILD,       /* process id, or 0 */
	WIRE_CALL_VFORK,       /* a child, until it has its own memory */
	WIRE_CALL_SLEEP,       /* address of a struct timespec */
	WIRE_CALL_SLEEP32,     /* the same with 32 bits each */
	WIRE_CALL_SLEEP_UNTIL, /* as clock_nanosleep(): clock, flags, address */
	WIRE_CALL_SIGNAL,
	WIRE_CALL_RING, /* io_uring_enter() */
	WIRE_CALL_AIO,
	WIRE_CALL_IPC, /* id of a System V semaphore set or message queue */
};

#define WIRE_CALLS 512u
#define WIRE_CALL(how, arg) (WIRE_CALL_##how | (arg) << 5)

/* A thread as the task iterator saw it. Reading the iterator gives whole structs. */
struct wire_thread {
	__u64 start_ns, seen_ns; /* CLOCK_MONOTONIC */
	__u32 tid, tgid;
	__u32 state; /* task state bits; 0: running or runnable */
	__u32 flags; /* WIRE_THREAD_* */
	char name[WIRE_COMM_LEN];
	__u32 n_kernel; /* frames of its kernel stack, leaf first; 0: running, or not readable */
	/*
	 * Id of its user stack; 0: it has none. The collector makes the WIRE_STACK record: it
	 * unwinds from regs, the registers with which the thread entered the kernel, and reads the
	 * stack's memory later. That memory is still of the same sleep if the number of context
	 * switches has not changed.
	 */
	__u32 ustack;
	__u32 object, pad;	    /* what it waits for; 0: not known */
	__u64 switches;		    /* voluntary and involuntary ones */
	__u64 space, look;	    /* as in struct wire_copy */
	__u64 regs[WIRE_REGISTERS]; /* likewise */
	__u64 frames[WIRE_STACK_MAX];
};
#define WIRE_THREAD_KTHREAD 1
#define WIRE_THREAD_ON_CPU 2
#define WIRE_THREAD_CUT 4 /* its kernel stack may have more frames */
