/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_locks.h - threads that poll for a lock of a file: what is asked for without waiting
 * (fcntl(F_SETLK), flock(LOCK_NB)) is refused, and the thread sleeps for a while before it asks
 * again, as SQLite does. Such a sleep is for the lock. Part of chaincap.bpf.c.
 *
 * Which thread took a lock is noted as it does, because the kernel knows only its process. What is
 * noted is used only if that thread lives, and is one of the process that the lock is of.
 */
#pragma once

/* include/uapi/asm-generic/fcntl.h */
#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2

#define LOCK_REFUSED (-11) /* EAGAIN */
#define LOCKS_SEEN 128	   /* of a file, until one is found that is in the way */

/* How long a thread may run from the refusal to the sleep. */
#define REFUSED_NS 3000000u

/* The layout of a lock changed in 6.9. */
#define HAS_LOCK_CORE bpf_core_type_exists(struct file_lock_core)
#define LOCK_FIELD(lock, name)                                \
	(HAS_LOCK_CORE ? FIELD(file_lock, lock, c.flc_##name) \
		       : FIELD(file_lock___before_6_9, lock, fl_##name))
#define LOCK_LIST_AT                                                         \
	(HAS_LOCK_CORE ? bpf_core_field_offset(struct file_lock, c.flc_list) \
		       : bpf_core_field_offset(struct file_lock___before_6_9, fl_list))

/* ---- who took a lock ------------------------------------------------------------------------- */

#define TAKER_PLACES (1u << 12)
#define TAKER_TID 0x3fffffull /* PID_MAX_LIMIT */

/*
 * By inode, owner and first byte: the upper bits of that hash, and the thread. The owner is a table
 * of descriptors or a file. One that has the place of another is not known any more.
 */
MAP(lock_takers, ARRAY, TAKER_PLACES, __u32, __u64);

static __always_inline __u64 lock_hash(__u64 inode, __u64 lock)
{
	__u64 h = mix_chosen(hash_seed, inode);

	h = mix_chosen(h, (__u64)LOCK_FIELD(lock, owner));
	return mix_chosen(h, (__u64)FIELD(file_lock, lock, fl_start));
}

static __always_inline __u64 *taker_place(__u64 hash)
{
	__u32 i = (__u32)(hash >> 32) & (TAKER_PLACES - 1);

	return bpf_map_lookup_elem(&lock_takers, &i);
}

/* The struct task_struct of a thread, by the id that the machine's first PID namespace has. */
static __always_inline __u64 task_of_id(__u32 id)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u64 own, pid;

	if (!can_find_threads())
		return 0;
	own = POINTER(task_struct, t, thread_pid);
	pid = own ? pid_in_namespace(POINTER(pid, own, numbers[0].ns), id) : 0;
	return pid ? task_of_pid(pid) : 0;
}

/* The thread that has a lock; 0: it is not known which of its process. */
static __always_inline __u32 lock_taker(__u64 inode, __u64 lock)
{
	__u32 tgid = (__u32)LOCK_FIELD(lock, pid), tid;
	__u64 hash = lock_hash(inode, lock), *place = taker_place(hash), task, signal;

	tid = place && !((*place ^ hash) & ~TAKER_TID) ? (__u32)(*place & TAKER_TID) : 0;
	task = tid ? task_of_id(tid) : 0;
	if (task && (__u32)FIELD(task_struct, task, tgid) == tgid)
		return tid;
	/* A process of one thread. */
	task = tgid ? task_of_id(tgid) : 0;
	if (!task || FIELD(task_struct, task, exit_state))
		return 0;
	signal = POINTER(task_struct, task, signal);
	return FIELD(signal_struct, signal, nr_threads) == 1 ? tgid : 0;
}

/* ---- who is refused a lock ------------------------------------------------------------------- */

/* What a thread was refused last. */
struct refused {
	__u64 ns, ran_ns, sleeps; /* when, and how long and how often it had run and slept */
	__u64 start_time;	  /* of the thread */
	__u64 file, inode;
	__u32 holder; /* 0: not known */
};

MAP(refused_locks, LRU_HASH, 1 << 12, __u32, struct refused);

/* Most recordings have none. */
volatile bool any_refused = false;

/* The lock that is asked for, and a walk through those of the file; found: the one in the way. */
struct lock_search {
	__u64 head, at, found;
	__u64 owner;
	__s64 start, end;
	__u32 type;
};

static long look_at_lock(__u32 i, struct lock_search *s)
{
	__u64 lock = s->at - LOCK_LIST_AT;

	(void)i;
	if (!s->at || s->at == s->head)
		return 1;
	s->at = read_u64(s->at);
	if ((__u64)LOCK_FIELD(lock, owner) == s->owner ||
	    (s->type != F_WRLCK && LOCK_FIELD(lock, type) != F_WRLCK) ||
	    FIELD(file_lock, lock, fl_start) > s->end || FIELD(file_lock, lock, fl_end) < s->start)
		return 0;
	s->found = lock;
	return 1;
}

LOOP(look_at_lock, struct lock_search, LOCKS_SEEN)

/* The lock for which another one is refused; 0: it is not found. The list may change meanwhile. */
static __always_inline __u64 lock_in_the_way(__u64 inode, __u64 asked, bool whole_file)
{
	struct lock_search s = { .type = LOCK_FIELD(asked, type) };
	__u64 context = POINTER(inode, inode, i_flctx);

	if (!context)
		return 0;
	s.owner = (__u64)LOCK_FIELD(asked, owner);
	s.start = FIELD(file_lock, asked, fl_start);
	s.end = FIELD(file_lock, asked, fl_end);
	s.head = whole_file ? ADDRESS(file_lock_context, context, flc_flock)
			    : ADDRESS(file_lock_context, context, flc_posix);
	s.at = read_u64(s.head);
	loop_look_at_lock(&s);
	return s.found;
}

static __always_inline void note_refused(struct task_struct *t, __u64 inode, __u64 asked,
					 bool whole_file, __u64 now)
{
	__u64 lock = lock_in_the_way(inode, asked, whole_file);
	__u32 tid = t->pid;
	struct refused r = {
		.ns = now,
		.ran_ns = t->se.sum_exec_runtime,
		.sleeps = t->nvcsw,
		.start_time = t->start_time,
		.file = (__u64)LOCK_FIELD(asked, file),
		.inode = inode,
		.holder = lock ? lock_taker(inode, lock) : 0,
	};

	bpf_map_update_elem(&refused_locks, &tid, &r, BPF_ANY);
	any_refused = true;
}

/* A lock was asked for: ctx has the inode, the lock, and 0 or an error. */
static __always_inline int note_lock(unsigned long long *ctx, bool whole_file)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u64 inode = ctx[0], lock = ctx[1], now, hash, *place;
	int result = (int)ctx[2];

	if (result == LOCK_REFUSED) {
		now = bpf_ktime_get_ns();
		if (is_recording(now) && !is_recorder(t->tgid))
			note_refused(t, inode, lock, whole_file, now);
	} else if (!result && LOCK_FIELD(lock, type) != F_UNLCK) {
		hash = lock_hash(inode, lock);
		place = taker_place(hash);
		if (place)
			*place = (hash & ~TAKER_TID) | (__u32)t->pid;
	}
	return 0;
}

SEC("raw_tp/posix_lock_inode")
int on_range_lock(unsigned long long *ctx)
{
	return note_lock(ctx, false);
}

SEC("raw_tp/flock_lock_inode")
int on_file_lock(unsigned long long *ctx)
{
	return note_lock(ctx, true);
}

/*
 * If the current thread, which goes to sleep for some time, was just refused a lock: the file of
 * that lock, and *holder, 0: not known. Else 0.
 */
static __always_inline __u64 polled_lock(struct task_struct *t, __u64 now, __u32 *holder)
{
	__u32 tid = t->pid;
	struct refused *r;

	if (!any_refused)
		return 0;
	r = bpf_map_lookup_elem(&refused_locks, &tid);
	if (!r || r->start_time != t->start_time)
		return 0;
	/* The kernel has counted this sleep. It counts what a thread ran in ticks at the latest. */
	if (now - r->ns >= REFUSED_NS &&
	    (t->nvcsw - r->sleeps > 1 || t->se.sum_exec_runtime - r->ran_ns >= REFUSED_NS))
		return 0;
	/* It may have been closed, and the memory be another file's. */
	if ((__u64)FIELD(file, r->file, f_inode) != r->inode)
		return 0;
	*holder = r->holder;
	return r->file;
}
