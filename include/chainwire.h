/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chainwire.h - what the BPF programs put into the ring buffers and chaincap takes out. Native
 * byte order: both ends are the same machine. Every record begins with struct wire_record.
 * Include <linux/types.h>, or something that gives __u32 and so on, before it.
 */
#ifndef CHAINWIRE_H
#define CHAINWIRE_H

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
	WIRE_EVENT_KINDS, /* the ones above are events: counted, and accounted for */
	WIRE_STACK = WIRE_EVENT_KINDS,
	WIRE_LOST,
	WIRE_SAMPLE,
	WIRE_KINDS,
};

struct wire_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u8 kind;     /* enum wire_kind */
	__u8 pad[3];
	__u32 cpu;
};

/*
 * Stack ids are given by the BPF side, from 1, each for one distinct list of frames (kernel), or
 * one of frames and address space (user). 0: there is no stack. With WIRE_STACK_ONCE the id is
 * good for one event only: the next one of that kind on that CPU.
 */
#define WIRE_STACK_ONCE 0x80000000u

struct wire_switch {
	struct wire_record r;
	__u32 prev, next;     /* tids; the recorder's own are 0 */
	__u32 kstack, ustack; /* prev's */
	__u32 state;	      /* prev's task state bits as the kernel has them; 0: runnable */
	__u32 pad;
};

struct wire_waking { /* also WIRE_WAKING_NEW */
	struct wire_record r;
	__u32 waker, target;
	__u32 kstack, ustack; /* the waker's */
};

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

struct wire_exit {
	struct wire_record r;
	__u32 tid, pad;
};

struct wire_stack {
	struct wire_record r;
	__u32 id;
	__u32 tgid; /* whose user stack; 0: kernel stack */
	__u32 n;    /* frames, leaf first; WIRE_STACK_MAX: it may have been cut */
	__u32 pad;
	__u64 frames[WIRE_STACK_MAX];
};

/* n events of this CPU were lost, the first at r.time_ns. */
struct wire_lost {
	struct wire_record r;
	__u64 n;
	__u64 last_ns;
};

/*
 * Knowing a kernel stack again without walking it.
 *
 * Where a function's return address lies on the stack is settled by the code that is being run: the
 * unwinder goes from frame to frame by offsets that it looks up by return address. So if the slots
 * in which a walk found its return addresses hold the same addresses again, at the same distances
 * from a fixed point at the leaf end, the walk would find the same stack again. The fixed point is
 * the tracepoint's argument array, which the kernel puts on the stack right where it calls the
 * program. System calls begin with a frame of random size (randomize_kstack_offset): what lies on
 * its root side, the entry code, is at a fixed distance from the stack's other end instead.
 *
 * The BPF side sends samples of a stack that it walks often; the collector finds the slots in
 * them, and where there is just one way to assign them, it tells the BPF side.
 */
#define WIRE_LAYOUT_FRAMES 64 /* a longer stack is always walked */
#define WIRE_LEAF_WORDS 512   /* of 8 bytes: how much is looked at from the fixed point on, */
#define WIRE_ROOT_WORDS 64    /* and at the root end */

struct wire_sample {
	struct wire_record r;
	__u64 hash;    /* of the stack, its key in the map "stacks" */
	__u32 id, n;   /* the stack's id; frames, of which the first WIRE_LAYOUT_FRAMES are here */
	__u32 n_words; /* from the fixed point to the root end, all of them here */
	__u32 pad;
	__u64 frames[WIRE_LAYOUT_FRAMES];
	__u64 words[WIRE_LEAF_WORDS];
};

/* Value of the map "layouts", by a number from 1. */
#define WIRE_LAYOUTS 8192

struct wire_layout {
	__u32 id;
	__u32 n;
	__u32 leaf_words; /* from the fixed point up to and including the last slot there */
	__u32 root_words; /* from the first slot that is counted from the root end to that end */
	__u64 ret[WIRE_LAYOUT_FRAMES];
	/* In words: from the fixed point, or WIRE_LEAF_WORDS + from where root_words begin. */
	__u16 slot[WIRE_LAYOUT_FRAMES];
};

/* Value of the map "stacks", by the hash of the frames. */
struct wire_known_stack {
	__u32 id;
	__u32 sent;
	__u32 walks;  /* kernel stacks: how often it was walked while it had no layout */
	__u32 layout; /* 0: none */
};

/*
 * What the BPF side keeps for each kind of event on each CPU (map "kinds"). Each kind has one
 * program, which does not nest on a CPU, so that nothing here needs to be atomic.
 */
struct wire_region {
	__u64 words[2 * WIRE_LEAF_WORDS]; /* from the fixed point on, then the root end's */
};

struct wire_kind_state {
	__u64 seen;	     /* events, kept or not */
	__u64 lost;	     /* of them not kept, in all */
	__u64 stacks_unsent; /* stacks that did not fit; sent when they are seen again */
	__u64 pending;	     /* lost, and not yet said in a WIRE_LOST record */
	__u64 pending_first_ns, pending_last_ns;
	__u64 walked, known; /* kernel stacks walked, and known again without a walk */
	/* --verify: stacks compared with a plain walk, and those that it contradicted. */
	__u64 verified, mismatches, verified_user, mismatches_user;
	__u64 fixed_point; /* where the program's arguments lie */
	struct wire_region region;
	struct wire_stack scratch;
	struct wire_stack check; /* --verify: the plain walk */
};

/* A thread as the task iterator saw it; a whole number of these is read from the iterator. */
struct wire_thread {
	__u64 start_ns, seen_ns; /* CLOCK_MONOTONIC */
	__u32 tid, tgid;
	__u32 state; /* task state bits; 0: running or runnable */
	__u32 flags; /* WIRE_THREAD_* */
	char name[WIRE_COMM_LEN];
	__u32 n_kernel; /* frames of its kernel stack, leaf first; 0: running, or not readable */
	__u32 pad;
	__u64 frames[WIRE_STACK_MAX];
};
#define WIRE_THREAD_KTHREAD 1
#define WIRE_THREAD_ON_CPU 2

#endif /* CHAINWIRE_H */
