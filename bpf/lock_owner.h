/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lock_owner.h - which thread has the lock for which the current thread goes to sleep, if it is a
 * mutex or an rwlock of the GNU C library: these have a word with the owner's thread id; or whose
 * end it waits for in pthread_join(), at a word that is that thread's id; or the lock of an
 * interpreter of Python or Ruby, which has a pointer to the owner's state. Part of chaincap.bpf.c.
 *
 * What a thread sleeps at may be anything else that has a futex, and the word beside it anything.
 * So the word counts only if it is the id of a thread that lives and can have the lock
 * (lock_page.h); and chainwalk uses it only if the user stack is in one of that library's functions
 * for locks.
 */
#pragma once

/* include/uapi/linux/futex.h */
#define FUTEX_PRIVATE_FLAG 128
#define FUTEX_CLOCK_REALTIME 256
#define FUTEX_WAIT 0
#define FUTEX_WAIT_BITSET 9

/* lib/idr.c, include/linux/xarray.h */
#define TREE_LEVELS 4 /* of 64 slots each: thread ids have 22 bits */
#define IS_NODE 2
#define NODE_BITS 3

#define PIDTYPE_PID 0

/* Whether that library sleeps so at a lock that has a word for its owner. */
static __always_inline bool may_have_owner(__u32 op, __u32 val)
{
	op &= ~(__u32)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	if (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET)
		return false;
	return val == WIRE_MUTEX_CONTENDED || val == WIRE_RWLOCK_CONTENDED ||
	       val & WIRE_MUTEX_WAITERS;
}

/* Whether it is known where the kernel keeps which thread has which id. */
static __always_inline bool can_find_threads(void)
{
	return bpf_core_field_exists(((struct task_struct *)0)->thread_pid) &&
	       bpf_core_field_exists(((struct pid_namespace *)0)->idr);
}

/* A task's own PID namespace, and how deep that is; 0: not known. */
static __always_inline __u64 own_namespace(struct task_struct *t, __u32 *level, __u32 *nr)
{
	__u64 own, number;

	if (!can_find_threads())
		return 0;
	/* As a number: Linux 6.1 has no sums of kernel pointers and what is not constant. */
	own = POINTER(task_struct, t, thread_pid);
	*level = FIELD(pid, own, level);
	number = ADDRESS(pid, own, numbers) + *level * (__u64)bpf_core_type_size(struct upid);
	*nr = (__u32)FIELD(upid, number, nr);
	return POINTER(upid, number, ns);
}

/* The id of a task in the PID namespace of the current one; 0: it is not in it. */
static __always_inline __u32 id_here(struct task_struct *t)
{
	struct task_struct *current = current_task();
	__u32 level = 0, nr = 0;
	__u64 ns = own_namespace(current, &level, &nr), own, number;

	if (!ns)
		return t->pid;
	own = POINTER(task_struct, t, thread_pid);
	if (FIELD(pid, own, level) < level)
		return 0;
	number = ADDRESS(pid, own, numbers) + level * (__u64)bpf_core_type_size(struct upid);
	return POINTER(upid, number, ns) == ns ? (__u32)FIELD(upid, number, nr) : 0;
}

/* The struct pid with an id of a PID namespace; 0: there is none. */
static __always_inline __u64 pid_in_namespace(__u64 ns, __u32 nr)
{
	__u64 at = ADDRESS(pid_namespace, ns, idr.idr_rt.xa_head), entry = read_u64(at);

#pragma unroll
	for (int i = 0; i < TREE_LEVELS; i++) {
		__u32 slot, n = bpf_core_field_size(((struct xa_node *)0)->slots) / 8;
		__u64 node = entry - IS_NODE;

		if ((entry & NODE_BITS) != IS_NODE)
			break;
		slot = nr >> (FIELD(xa_node, node, shift) & 31);
		if (!i && slot >= n)
			return 0;
		at = ADDRESS(xa_node, node, slots) + (slot & (n - 1)) * 8ull;
		entry = read_u64(at);
	}
	return entry & NODE_BITS ? 0 : entry;
}

/* The struct task_struct of a thread by its struct pid; 0: it has ended. */
static __always_inline __u64 task_of_pid(__u64 pid)
{
	__u64 tasks = ADDRESS(pid, pid, tasks) + PIDTYPE_PID * (__u64)sizeof(struct hlist_head);
	__u64 task = read_u64(tasks);

	return task ? task - bpf_core_field_offset(struct task_struct, pid_links) : 0;
}

/*
 * The thread that the program of task t knows as nr, in its own PID namespace: its struct
 * task_struct, and *tid. 0: there is none, or it is no more than the id of one that has ended.
 */
static __always_inline __u64 living_thread(struct task_struct *t, __u32 nr, __u32 *tid)
{
	__u32 level = 0, own;
	__u64 ns = own_namespace(t, &level, &own), pid, task;

	pid = ns ? pid_in_namespace(ns, nr) : 0;
	if (!pid || FIELD(pid, pid, level) != level)
		return 0;
	task = task_of_pid(pid);
	if (task)
		*tid = (__u32)FIELD(pid, pid, numbers[0].nr);
	return task;
}

/* The same, if it is one of t's process: its tid, else 0. */
static __always_inline __u32 living_sibling(struct task_struct *t, __u32 nr)
{
	__u32 tid = 0;
	__u64 task = living_thread(t, nr, &tid);

	return task && FIELD(task_struct, task, tgid) == t->tgid ? tid : 0;
}

/* Whether it may sleep so until a thread has ended: the kernel clears the word and wakes it then.
 */
static __always_inline bool may_join(__u32 op)
{
	op &= ~(__u32)FUTEX_CLOCK_REALTIME;
	return op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET;
}

/*
 * The thread that has the lock for which the current thread is about to sleep in futex(addr, op,
 * val), or the one whose end it waits for; 0: not known.
 */
__noinline __u32 lock_owner(__u64 addr, __u32 op, __u32 val)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u32 owner, tid = 0, slot = OBJECT_OF_SWITCH;
	struct object_room *room = bpf_map_lookup_elem(&object_scratch, &slot);
	__u64 task;

	if (!may_have_owner(op, val))
		return may_join(op) && val ? living_sibling(t, val) : 0;
	if (!room || bpf_probe_read_user(room->words, sizeof(room->words),
					 (void *)(addr + WIRE_LOCK_WORDS_AT)))
		return 0;
	owner = wire_lock_owner(val, room->words);
	task = owner ? living_thread(t, owner, &tid) : 0;
	if (!task || !can_have_lock(room, t, task, addr, op & FUTEX_PRIVATE_FLAG))
		return 0;
	return tid;
}

/* ---- the lock of an interpreter -------------------------------------------------------------- */

/*
 * The address of Ruby's lock, if addr lies in one of its variables, or in that at which the current
 * thread waits for it; 0: it does not.
 */
static __always_inline __u64 gvl_with(struct task_struct *t, struct wire_interpreter *in,
				      __u64 addr)
{
	__u64 at = in->gil_at ? thread_variable(&in->variable, thread_pointer(t)) : 0;
	__u64 context, thread, gvl, unblock;

	if (!at || !read_words(&context, 1, at) || !context ||
	    !read_words(&thread, 1, context + WIRE_RUBY_THREAD_AT) || !thread ||
	    !read_words(&gvl, 1, thread + in->in_interpreter) || !gvl)
		return 0;
	gvl += in->gil_at;
	if (addr - gvl - WIRE_RUBY_GVL_PARTS < WIRE_RUBY_GVL_END - WIRE_RUBY_GVL_PARTS)
		return gvl;
	/* It sleeps there for other things as well, which somebody may end by a function. */
	if (addr - thread - in->condition >= WIRE_RUBY_CONDITION_BYTES ||
	    !read_words(&unblock, 1, thread + in->unblock))
		return 0;
	return unblock ? 0 : gvl;
}

/*
 * The address of the lock's last_holder, if addr lies in one of its parts; 0: it does not. current:
 * t is the current thread; of others user memory is not read.
 */
static __noinline __u64 gil_with(struct task_struct *t, __u64 addr, bool current)
{
	struct wire_interpreter *in = interpreter_of(t->tgid);
	__u64 at, state;

	if (in && is_in(in, WIRE_RUBY))
		return current ? gvl_with(t, in, addr) : 0;
	if (!in || in->language != WIRE_PYTHON)
		return 0;
	at = in->gil;
	/* Since 3.12 each interpreter has its own. */
	if (!at && current && in->gil_at) {
		state = python_thread(in, t);
		if (state && read_words(&at, 1, state + in->in_interpreter) && at)
			at += in->gil_at;
	}
	return at && addr - at - WIRE_GIL_PARTS < WIRE_GIL_END - WIRE_GIL_PARTS ? at : 0;
}

/* The thread that has the current thread's interpreter's lock; 0: nobody, or it is not known. */
__noinline __u32 gil_holder(__u64 last_holder)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct wire_interpreter *in = interpreter_of(t->tgid);
	__u64 words[2], id;

	if (!in || !in->thread_id || !read_words(words, 2, last_holder) || !words[0] ||
	    !read_words(&id, 1, words[0] + in->thread_id))
		return 0;
	if (is_in(in, WIRE_RUBY))
		id = (__u32)id;
	else if ((__u32)words[WIRE_GIL_LOCKED / 8] != 1)
		return 0;
	if (id >> 32 || !id)
		return 0;
	return living_sibling(t, (__u32)id);
}
