/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chainwire_objects.h - what threads wait for, and how it is found. Part of chainwire.h. */
#pragma once

#include "chainwire_record.h"

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
	WIRE_OBJECT_GIL,      /* of an interpreter: address of its last_holder or owner */
	WIRE_OBJECT_GROUP,    /* a control group: its id, its hierarchy's, renames so far; path */
	WIRE_OBJECT_LOCK,     /* as FILE: a lock of it, for which a thread polls */
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

/*
 * Mutexes and rwlocks of the GNU C library have a word for the thread that holds them: from the
 * futex of a mutex on, __owner is at 8 bytes; from the two futexes of an rwlock on, __writers_futex
 * and
 * __wrphase_futex, __cur_writer is at 12 and at 16 (sysdeps/nptl/bits/struct_mutex.h,
 * struct_rwlock.h). What a thread expects in the futex when it goes to sleep tells these apart from
 * most other things.
 */
#define WIRE_MUTEX_CONTENDED 2u	       /* __lll_lock_wait() */
#define WIRE_RWLOCK_CONTENDED 3u       /* 1 | PTHREAD_RWLOCK_FUTEX_USED */
#define WIRE_MUTEX_WAITERS 0x80000000u /* of a robust mutex, with its owner */
#define WIRE_MUTEX_OWNER 0x3fffffffu   /* in such a word */
#define WIRE_LOCK_WORDS_AT 8u	       /* bytes from the futex: */
#define WIRE_LOCK_WORDS 3

/* The owner, as the program knows it, by what was expected and the words; 0: none. */
static inline __u32 wire_lock_owner(__u32 expected, const __u32 words[WIRE_LOCK_WORDS])
{
	if (expected == WIRE_RWLOCK_CONTENDED)
		return words[1] ? words[1] : words[2];
	if (expected & WIRE_MUTEX_WAITERS && (expected & WIRE_MUTEX_OWNER) != words[0])
		return 0;
	return words[0];
}

/*
 * CPython's lock, struct _gil_runtime_state. From its last_holder on, which points to the state of
 * a thread: whether it is locked (4 bytes), and the parts at which threads sleep, the condition
 * variables and mutexes cond, mutex, switch_cond and switch_mutex. The sizes of these are those of
 * the C library; the same in 3.8 to 3.13.
 */
#define WIRE_GIL_LOCKED 8u
#define WIRE_GIL_PARTS 24u
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#define WIRE_GIL_END 216u
#else
#define WIRE_GIL_END 200u
#endif

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
	__u32 device;	/* likewise */
	/* For the BPF side alone: who has the lock; of a listed thread its lock_expects; 0: none.
	 */
	__u32 holder;
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
