/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chainwire.h - what the BPF programs put into the ring buffers and chaincap takes out. Native
 * byte order: both ends are the same machine. Every record begins with struct wire_record.
 * Include <linux/types.h>, or something that gives __u32 and so on, before it.
 */
#pragma once

#include "chainwire_code.h"
#include "chainwire_edges.h"
#include "chainwire_objects.h"
#include "chainwire_record.h"
#include "chainwire_requests.h"
#include "chainwire_stacks.h"

#define WIRE_COMM_LEN 16
#define WIRE_PATH_LEN 128

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
	__u32 parent, child, child_tgid;
	__u32 shares; /* tgid of the process whose memory it uses without being its thread; 0: none
		       */
	char name[WIRE_COMM_LEN];
};

/* Of more bytes of arguments these first and these last ones are kept. */
#define WIRE_ARGUMENTS_FIRST 128u
#define WIRE_ARGUMENTS_LAST 160u

struct wire_exec {
	struct wire_record r;
	__u32 tid, old_tid;
	char filename[WIRE_PATH_LEN];
	/*
	 * Of the command and what it started: how many bytes its arguments have, the program's name
	 * among them, each with a terminator; 0: not known. What is kept of them is first, and, if
	 * they are more, last.
	 */
	__u32 arguments_len, pad;
	char first[WIRE_ARGUMENTS_FIRST];
	char last[WIRE_ARGUMENTS_LAST];
};

struct wire_rename {
	struct wire_record r;
	__u32 tid, pad;
	char name[WIRE_COMM_LEN];
};

/*
 * WIRE_EXIT; WIRE_THROTTLED: just preempted, its group's quota is used up; WIRE_NOT_SENT: just
 * woken by what came to a socket, which the waker had not sent.
 */
struct wire_of_thread {
	struct wire_record r;
	__u32 tid, pad;
};

/* A thread that was running, and where; also WIRE_DISK_REQUEST: it asks a block device. */
struct wire_running {
	struct wire_record r;
	__u32 tid, kstack, ustack, pad;
};

struct wire_queue { /* a thread is put on the run queue of a CPU */
	struct wire_record r;
	__u32 tid;
	__u32 place; /* CPU << 1, with 1 if that is part of waking it up */
};

#define WIRE_DISK_NAME 32

struct wire_disk_done { /* a block device has done what it was asked for */
	struct wire_record r;
	__u64 asked_ns;	 /* when its WIRE_DISK_REQUEST was, or it began; 0: not known */
	__u64 issued_ns; /* when the device got it; 0: not known */
	__u32 tid;	 /* who asked; 0: not known */
	__u32 op;	 /* enum chainlog_disk_op */
	__u32 bytes;
	__u32 group;		   /* if a worker of the kernel asked: for whom; 0: not known */
	char disk[WIRE_DISK_NAME]; /* as the kernel calls the device that was asked */
};

struct wire_awaited { /* right after a waking: which of several things ended the wait */
	struct wire_record r;
	__u32 tid;    /* the thread that was woken */
	__u32 object; /* see struct wire_object */
};

struct wire_holder { /* right after the switch-out of a thread that sleeps at a lock */
	struct wire_record r;
	__u32 tid;
	__u32 holder; /* the thread that has the lock, as the lock itself says */
};

/*
 * How far a TCP connection is: after a waking, that for which the wakee waited; after a
 * WIRE_REQUEST, where its answer and the request itself begin.
 */
struct wire_stream {
	struct wire_record r;
	__u32 tid;    /* the wakee, or the writer */
	__u32 object; /* the socket, of a waking 0: READY or the object of the switch is meant */
	__u32 written, received; /* sequence numbers of the next bytes in either direction */
};

/* What a worker of a workqueue executes, right after its waking, or before it queues an item. */
struct wire_work {
	struct wire_record r;
	__u64 queued_ns;
	__u32 tid;
	__u32 what; /* enum chainlog_work */
	__u32 queuer;
	__u32 kstack, ustack; /* the queuer's, then */
	__u32 pad;
};

/* A thread is in another control group now. tid 0: the group itself has another name. */
struct wire_group {
	struct wire_record r;
	__u32 tid;
	__u32 object;  /* see WIRE_OBJECT_GROUP; 0: not known */
	__u32 process; /* 1: and with it all threads of its process */
	__u32 pad;
};

/* Right after a WIRE_SWITCH to a thread: it could not run before, as a quota was used up. */
struct wire_unthrottled {
	struct wire_record r;
	__u64 since_ns, until_ns;
	__u32 tid;
	__u32 group; /* of CHAINLOG_QUOTA_GROUP: see WIRE_OBJECT_GROUP; 0: not known */
	__u32 why;   /* enum chainlog_quota */
	__u32 pad;
};

/* Right after a WIRE_WAKING: what came to the socket a timer of TCP had put off until at_ns. */
struct wire_tcp_timer {
	struct wire_record r;
	__u64 since_ns, at_ns;
	__u32 tid, which;
};

struct wire_own_id { /* right after its WIRE_FORK: a process of another PID namespace */
	struct wire_record r;
	__u32 tid;
	__u32 id; /* as it knows itself */
};

struct wire_stolen { /* right after a WIRE_SWITCH, at the same time */
	struct wire_record r;
	/*
	 * Of the time since the CPU's last such record: in interrupts and softirqs
	 * (WIRE_INTERRUPTS), or while the hypervisor ran something else (WIRE_STEAL).
	 * WIRE_RECORDER, which may have no WIRE_SWITCH: how long the recorder had the CPU up to
	 * now.
	 */
	__u64 ns;
};

/* --light: how long sleeps must have lasted on this CPU to have stacks. */
struct wire_stacks_from {
	struct wire_record r;
	__u64 ns;
	__u32 timers, pad; /* 1: those that a timer of the sleeper's own ends, 0: others */
};

/* n events of this CPU and of one kind were lost, the first at r.time_ns. */
struct wire_lost {
	struct wire_record r;
	__u64 n;
	__u64 last_ns;
	__u32 event, pad; /* enum wire_kind */
};

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
	__u64 end;	   /* and enum chainlog_stack_end */
	__u64 code;	   /* the hash of its frames of interpreted code; 0: it has none */
	/* In all: */
	__u64 ends[CHAINLOG_STACK_ENDS]; /* user stacks by how they ended, without those in a
					    WIRE_COPY */
	__u64 known_user; /* those of them that were recognized without being unwound */
	__u64 woken_ns;	  /* when the collector was last woken for a WIRE_COPY */
	__u64 no_room;	  /* user stacks that were cut, as there was no room for a WIRE_COPY */
	__u64 cost_ns;	  /* of switches and wakings: what one run in WIRE_COST_EACH took */
};
#define WIRE_COST_EACH 256u

/*
 * The table of the processes that the recorder started for itself: a process is at its place, or at
 * its place ^ 1.
 */
#define WIRE_HELPERS 4096

static inline __u32 wire_helper_place(__u32 tgid)
{
	return tgid & (WIRE_HELPERS - 1);
}

/* Ids of threads are less: PID_MAX_LIMIT, include/linux/threads.h. */
#define WIRE_IDS (1u << 22)

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
	__u32 object;	      /* what it waits for; 0: not known */
	__u32 own_tid;	      /* as its own PID namespace has it */
	__u64 lock;	      /* address at which it sleeps, if a lock with an owner may be there */
	__u32 lock_expects;   /* as in wire_lock_owner() */
	__u32 shares;	      /* as in struct wire_fork */
	__u32 group;	      /* see WIRE_OBJECT_GROUP; 0: not known */
	__u32 tid_here;	      /* as the recorder's PID namespace has it; 0: it is not in it */
	__u64 switches;	      /* voluntary and involuntary ones */
	__u64 thread_pointer; /* what its thread-local data is found by */
	__u64 space, look;    /* as in struct wire_copy */
	__u64 regs[WIRE_REGISTERS]; /* likewise */
	__u64 frames[WIRE_STACK_MAX];
};
#define WIRE_THREAD_KTHREAD 1
#define WIRE_THREAD_ON_CPU 2
#define WIRE_THREAD_CUT 4 /* its kernel stack may have more frames */
