/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object_calls.h - what the number and the arguments of a system call say of the object that its
 * thread waits for. Part of objects.h.
 */
#ifndef BPF_OBJECT_CALLS_H
#define BPF_OBJECT_CALLS_H

/* include/uapi/linux/futex.h */
#define FUTEX_PRIVATE_FLAG 128
#define FUTEX_CLOCK_REALTIME 256
#define FUTEX_LOCK_PI 6
#define FUTEX_LOCK_PI2 13

#define IORING_ENTER_REGISTERED_RING 16
#define CLOCK_MONOTONIC 1
#define TIMER_ABSTIME 1
#define SELECT_MAX 1024u /* descriptors that a set is counted up to */

/* What a system call says of its object: an entry of the tables "calls"; 0: nothing. */
static __always_inline __u32 how_of(long number, bool is_32)
{
	__u32 how;

	number &= ~(long)X32_BIT;
	how = (is_32 ? calls_32 : calls)[number & (WIRE_CALLS - 1)];
	return (unsigned long)number < WIRE_CALLS ? how : 0;
}

static __always_inline void set_call(struct wire_object_key *key, __u32 call, __u64 arg)
{
	key->kind = WIRE_OBJECT_CALL;
	key->v[0] = call;
	key->v[1] = arg;
}

/* Two digits of a length are enough, and bound how many there are. */
static __always_inline __u64 round_length(__u64 ns)
{
	__u64 unit = 1;

#pragma unroll
	for (int i = 0; i < 12; i++)
		if (ns / unit >= 100)
			unit *= 10;
	return (ns + unit / 2) / unit * unit;
}

static __always_inline __u64 read_time(__u64 addr, bool is_32)
{
	__u64 t[2] = { 0, 0 };

	if (is_32) {
		__u32 t32[2] = { 0, 0 };

		bpf_probe_read_user(t32, sizeof(t32), (void *)addr);
		return t32[0] * 1000000000ull + t32[1];
	}
	bpf_probe_read_user(t, sizeof(t), (void *)addr);
	return t[0] * 1000000000ull + t[1];
}

static __always_inline __u64 sleep_until(const __u64 args[4], __u64 now)
{
	__u64 at = read_time(args[2], false);

	if (!(args[1] & TIMER_ABSTIME))
		return round_length(at);
	return args[0] == CLOCK_MONOTONIC && at > now ? round_length(at - now) : WIRE_SLEEP_UNKNOWN;
}

/* The only descriptor of a poll(), or -1. */
static __always_inline __u32 polled(__u64 addr, __u64 n)
{
	__u32 fd = ~0u;

	if (n == 1)
		bpf_probe_read_user(&fd, sizeof(fd), (void *)addr);
	return fd;
}

struct fd_sets {
	__u64 addr[3]; /* in user memory */
	__u32 n;       /* descriptors that select() looks at */
	__u32 count;
};

/* Adds a word of each set. */
static long count_word(__u32 i, struct fd_sets *s)
{
	__u64 word, used = ~0ull;

	if (i * 64 >= s->n)
		return 1;
	if (s->n - i * 64 < 64)
		used = (1ull << (s->n - i * 64)) - 1;
#pragma unroll
	for (int k = 0; k < 3; k++)
		if (s->addr[k] &&
		    !bpf_probe_read_user(&word, sizeof(word), (void *)(s->addr[k] + i * 8)))
			s->count += (__u32)__builtin_popcountll(word & used);
	return 0;
}

/* How many descriptors select() waits for; one that is in two of its sets counts twice. */
static __always_inline __u32 count_selected(const __u64 args[4])
{
	struct fd_sets s = { { args[1], args[2], args[3] }, (__u32)args[0], 0 };

	bpf_loop(SELECT_MAX / 64, count_word, &s, 0);
	return s.n > SELECT_MAX ? 0 : s.count;
}

/*
 * The thread that holds the lock for which t waits in futex(FUTEX_LOCK_PI), also if it was just
 * given it and has not run yet; 0: not known.
 */
static __always_inline __u32 lock_holder(struct task_struct *t)
{
	__u64 waiter, lock, owner;

	if (!bpf_core_field_exists(t->pi_blocked_on) ||
	    !bpf_core_type_exists(struct futex_pi_state))
		return 0;
	waiter = (__u64)t->pi_blocked_on;
	lock = waiter ? POINTER(rt_mutex_waiter, waiter, lock) : 0;
	if (!lock)
		return 0;
	lock -= bpf_core_field_offset(struct futex_pi_state, pi_mutex);
	owner = POINTER(futex_pi_state, lock, owner);
	return owner ? (__u32)FIELD(task_struct, owner, pid) : 0;
}

static __always_inline void set_futex(struct wire_object_key *key, struct task_struct *t,
				      __u64 addr, __u64 op)
{
	key->kind = WIRE_OBJECT_FUTEX;
	key->tgid = t->tgid;
	key->v[0] = addr;
	key->v[1] = !(op & FUTEX_PRIVATE_FLAG);
	op &= ~(__u64)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2)
		key->v[2] = lock_holder(t);
}

/*
 * Fills in o->key. Returns the struct file that is meant, or 1 if there is none, or 0 if what the
 * thread waits for is not known. current: t is the current thread; of others user memory is not
 * read.
 */
static __always_inline __u64 find_object_key(struct wire_object *o, struct task_struct *t,
					     __u64 now, bool current)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(t);
	struct wire_object_key *key = &o->key;
	bool is_32 = is_32bit_call(t, regs);
	long number = call_number(regs);
	__u64 args[4], arg, file;
	__u32 how, fd;

	if (number < 0) {
		file = faulted_file(number_of(&o->inode, (__u64)regs),
				    number_of(&o->offset, (__u64)UNTRUSTED(task_struct, t)->mm));
		if (file)
			find_file(key, t->tgid, file, 0);
		return file;
	}
	how = how_of(number, is_32);
	if (!how)
		return 0;
	call_args(regs, is_32, args);
	arg = args[how >> 5 & 3];
	how &= 31;
	fd = (__u32)arg;
	switch (how) {
	case WIRE_CALL_SOCKETCALL:
		if (!current || bpf_probe_read_user(&fd, sizeof(fd), (void *)arg))
			return 0;
		break;
	case WIRE_CALL_FD:
	case WIRE_CALL_EPOLL:
		break;
	case WIRE_CALL_POLL:
		fd = current ? polled(arg, args[1]) : ~0u;
		if (fd == ~0u) {
			set_call(key, how, round_length((__u32)args[1]));
			return 1;
		}
		key->call = how;
		break;
	case WIRE_CALL_SELECT:
		set_call(key, how, 0);
		if (current && !is_32)
			key->v[1] = round_length(count_selected(args));
		return 1;
	case WIRE_CALL_RING:
		if (!(args[3] & IORING_ENTER_REGISTERED_RING))
			break;
		set_call(key, how, 0);
		return 1;
	case WIRE_CALL_FUTEX:
		set_futex(key, t, arg, args[1]);
		return 1;
	case WIRE_CALL_FUTEX2:
		set_futex(key, t, arg, args[3] & FUTEX_PRIVATE_FLAG);
		return 1;
	case WIRE_CALL_CHILD:
		set_call(key, how, (__s32)arg > 0 ? arg : 0);
		return 1;
	case WIRE_CALL_SLEEP:
	case WIRE_CALL_SLEEP32:
		set_call(key, WIRE_CALL_SLEEP, WIRE_SLEEP_UNKNOWN);
		if (current)
			key->v[1] = round_length(read_time(arg, how == WIRE_CALL_SLEEP32));
		return 1;
	case WIRE_CALL_SLEEP_UNTIL:
		set_call(key, WIRE_CALL_SLEEP, WIRE_SLEEP_UNKNOWN);
		if (current)
			key->v[1] = sleep_until(args, now);
		return 1;
	case WIRE_CALL_IPC:
		set_call(key, how, (__u32)arg);
		return 1;
	default:
		set_call(key, how, 0);
		return 1;
	}
	file = file_of((__u64)UNTRUSTED(task_struct, t)->files, fd);
	if (!file)
		return 0;
	find_file(key, t->tgid, file, fd);
	return file;
}

#endif /* BPF_OBJECT_CALLS_H */
