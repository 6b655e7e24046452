/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object_key.h - what a thread waits for, by the number and the arguments of the system call in
 * which it sleeps: the kernel's entry code saved them among the registers. A descriptor leads to
 * its file. Part of chaincap.bpf.c.
 */
#pragma once

/* By number of the system call: see enum wire_call. Set before loading. */
const volatile __u8 calls[WIRE_CALLS] = {};
const volatile __u8 calls_32[WIRE_CALLS] = {};

/* include/uapi/linux/magic.h */
#define PIPEFS_MAGIC 0x50495045
#define ANON_INODE_FS_MAGIC 0x09041934
#define PID_FS_MAGIC 0x50494446
/* include/uapi/linux/stat.h */
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFIFO 0010000

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define TCP_LISTEN 10

#define X32_BIT 0x40000000

#define TASK_INTERRUPTIBLE 1
#define TASK_SLEEPS 3 /* with TASK_UNINTERRUPTIBLE */
/* States that translator_state_letter() knows besides, and TASK_NOLOAD. */
#define TASK_OTHER_STATES 0x4fc

static __always_inline bool may_have_object(struct task_struct *t, __u32 state)
{
	return state & TASK_SLEEPS && UNTRUSTED(task_struct, t)->mm && !is_worker(t);
}

/* The struct file of a descriptor, by the files_struct of its process; 0: there is none. */
static __always_inline __u64 file_of(__u64 files, __u32 fd)
{
	__u64 table, at;

	if (!files)
		return 0;
	table = (__u64)FIELD(files_struct, files, fdt);
	if (fd >= FIELD(fdtable, table, max_fds))
		return 0;
	at = (__u64)FIELD(fdtable, table, fd) + fd * 8ull;
	return read_u64(at);
}

/* ---- what a descriptor means ---------------------------------------------------------------- */

/*
 * The functions of TCP's timers, which each of its sockets has (tcp_init_xmit_timers()); 0: none
 * was seen yet. For tcp_timers.h: to find them by name takes all of /proc/kallsyms.
 */
volatile __u64 delack_function = 0, retransmit_function = 0;
/* When one of these timers expired last, on any CPU: most wakings are not soon after that. */
volatile __u64 tcp_timer_ns = 0;

static __always_inline void learn_tcp_timers(__u64 sk)
{
	if (delack_function)
		return;
	retransmit_function = POINTER(inet_connection_sock, sk, icsk_retransmit_timer.function);
	delack_function = POINTER(inet_connection_sock, sk, icsk_delack_timer.function);
}

static __always_inline void find_socket(struct wire_object_key *key, __u64 sk, __u64 ino)
{
	__u16 family = FIELD(sock, sk, __sk_common.skc_family);
	__u64 ends;

	if (family == AF_UNIX) {
		key->kind = WIRE_OBJECT_UNIX;
		key->v[0] = ino;
		key->v[1] = FIELD(sock, sk, sk_type);
		return;
	}
	key->v[0] = family | (__u64)FIELD(sock, sk, sk_protocol) << 8;
	if (family != AF_INET && family != AF_INET6) {
		key->kind = WIRE_OBJECT_SOCKET;
		key->v[1] = ino;
		return;
	}
	key->kind = WIRE_OBJECT_INET;
	if (FIELD(sock, sk, sk_protocol) == IPPROTO_TCP)
		learn_tcp_timers(sk);
	ends = (__u64)FIELD(sock, sk, __sk_common.skc_num) << WIRE_INET_PORT |
	       (__u64)__builtin_bswap16(FIELD(sock, sk, __sk_common.skc_dport)) << WIRE_INET_DPORT;
	if (FIELD(sock, sk, __sk_common.skc_state) == TCP_LISTEN)
		key->v[0] |= WIRE_INET_LISTENS;
	key->v[0] |= ends;
	if (family == AF_INET) {
		key->v[1] = FIELD(sock, sk, __sk_common.skc_daddr);
		key->v[3] = FIELD(sock, sk, __sk_common.skc_rcv_saddr);
	} else if (bpf_core_field_exists(struct sock, __sk_common.skc_v6_daddr)) {
		__u64 to = ADDRESS(sock, sk, __sk_common.skc_v6_daddr);
		__u64 from = ADDRESS(sock, sk, __sk_common.skc_v6_rcv_saddr);

		key->v[1] = read_u64(to);
		key->v[2] = read_u64(to + 8);
		key->v[3] = read_u64(from);
		key->v[4] = read_u64(from + 8);
	}
}

/* fd: the file's descriptor in the process tgid, which identifies a file of anon_inodefs. */
static __noinline void find_file(struct wire_object_key *key, __u32 tgid, __u64 file, __u32 fd)
{
	__u64 inode = (__u64)FIELD(file, file, f_inode);
	__u64 sb = (__u64)FIELD(inode, inode, i_sb), ino = FIELD(inode, inode, i_ino);
	unsigned long magic = FIELD(super_block, sb, s_magic);
	__u32 mode = FIELD(inode, inode, i_mode);

	/* These come first, because the type in their mode is missing or misleading. */
	if (magic == ANON_INODE_FS_MAGIC || magic == PID_FS_MAGIC) {
		key->kind = WIRE_OBJECT_ANON;
		key->tgid = tgid;
		key->v[0] = fd;
		key->v[1] = (__u64)FIELD(file, file, f_op);
		return;
	}
	if ((mode & S_IFMT) == S_IFSOCK) {
		__u64 socket = (__u64)FIELD(file, file, private_data);

		find_socket(key, (__u64)FIELD(socket, socket, sk), ino);
		return;
	}
	key->v[0] = ino;
	key->v[1] = (__u64)FIELD(super_block, sb, s_dev) << 32;
	if ((mode & S_IFMT) == S_IFIFO) {
		key->kind = WIRE_OBJECT_PIPE;
		key->v[2] = magic != PIPEFS_MAGIC;
		return;
	}
	key->kind = WIRE_OBJECT_FILE;
	key->v[1] |= FIELD(inode, inode, i_generation);
	key->v[2] = mode;
}

/* ---- the file of a page fault --------------------------------------------------------------- */

/*
 * A fault has no arguments, and no probe is put on faults: most of them do not sleep. But while one
 * is being handled its struct vm_fault lies on the thread's kernel stack, a few frames from the
 * root (handle_mm_fault()). What looks like one is one only if all of it fits together: a mapping
 * of this very address space, an address in it, and the page of the file that belongs to the
 * address.
 */
#define FAULT_WORDS 192 /* of 8 bytes: how far from the root it is looked for */

/* The struct file that is mapped where a fault is being handled; 0: this is no such struct. */
static __always_inline __u64 mapped_by(__u64 fault, __u64 mm)
{
	__u64 vma = POINTER(vm_fault, fault, vma), at, start;

	/* A kernel address, of a struct with pointers. */
	if ((__s64)vma >= 0 || vma & 7 || (__u64)FIELD(vm_area_struct, vma, vm_mm) != mm)
		return 0;
	at = FIELD(vm_fault, fault, address);
	start = FIELD(vm_area_struct, vma, vm_start);
	if (at < start || at >= FIELD(vm_area_struct, vma, vm_end))
		return 0;
	if (FIELD(vm_fault, fault, pgoff) !=
	    FIELD(vm_area_struct, vma, vm_pgoff) + (at - start) / page_size)
		return 0;
	return POINTER(vm_area_struct, vma, vm_file);
}

struct fault_search {
	__u64 at, mm, file;
};

static long look_at_word(__u32 i, struct fault_search *s)
{
	(void)i;
	s->at -= 8;
	s->file = mapped_by(s->at, s->mm);
	return s->file != 0;
}

LOOP(look_at_word, struct fault_search, FAULT_WORDS)

/*
 * The struct file for which a thread sleeps that did not enter the kernel by a system call; 0:
 * none. regs: the registers of its user code, at the root of its kernel stack.
 */
__noinline __u64 faulted_file(__u64 regs, __u64 mm)
{
	struct fault_search s = { .at = regs, .mm = mm };

	loop_look_at_word(&s);
	return s.file;
}

/* ---- system calls --------------------------------------------------------------------------- */

/* include/uapi/linux/futex.h, as those of lock_owner.h */
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

LOOP(count_word, struct fd_sets, SELECT_MAX / 64)

/* How many descriptors select() waits for; one that is in two of its sets counts twice. */
static __noinline __u32 count_selected(const __u64 args[4])
{
	struct fd_sets s = { { args[1], args[2], args[3] }, (__u32)args[0], 0 };

	loop_count_word(&s);
	return s.n > SELECT_MAX ? 0 : s.count;
}

/*
 * The thread that holds the lock at addr for which t waits in futex(FUTEX_LOCK_PI), also if it was
 * just given it and has not run yet; 0: not known.
 */
static __always_inline __u32 lock_holder(struct object_room *room, struct task_struct *t,
					 __u64 addr, bool is_private)
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
	return owner && can_have_lock(room, t, owner, addr, is_private)
		       ? (__u32)FIELD(task_struct, owner, pid)
		       : 0;
}

/* Whether a call waits for nothing but a time. */
static __always_inline bool sleeps_for_time(__u32 how, const __u64 args[4])
{
	if (how == WIRE_CALL_POLL)
		return !(__u32)args[1];
	if (how == WIRE_CALL_SELECT)
		return !(__u32)args[0];
	return how == WIRE_CALL_SLEEP || how == WIRE_CALL_SLEEP32 || how == WIRE_CALL_SLEEP_UNTIL;
}

static __always_inline void set_futex(struct wire_object *o, struct task_struct *t, __u64 addr,
				      __u64 op)
{
	struct wire_object_key *key = &o->key;
	bool is_private = op & FUTEX_PRIVATE_FLAG;

	key->kind = WIRE_OBJECT_FUTEX;
	key->tgid = t->tgid;
	key->v[0] = addr;
	key->v[1] = !is_private;
	op &= ~(__u64)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2)
		key->v[2] = lock_holder((struct object_room *)o, t, addr, is_private);
}

/* If the futex of a key lies in the lock of an interpreter, the key becomes that lock's. */
static __always_inline bool set_gil(struct wire_object_key *key, struct task_struct *t, __u64 addr,
				    bool current)
{
	__u64 gil = gil_with(t, addr, current);

	if (!gil)
		return false;
	key->kind = WIRE_OBJECT_GIL;
	key->v[0] = gil;
	key->v[1] = key->v[2] = 0;
	return true;
}

/*
 * The same of a thread that goes to sleep for some time: if it polls for a lock of a file, that.
 */
static __always_inline __u64 find_polled_lock(struct wire_object *o, struct task_struct *t,
					      __u64 now, bool current)
{
	__u32 holder = 0;
	__u64 file = current ? polled_lock(t, now, &holder) : 0;

	if (!file)
		return 0;
	find_file(&o->key, t->tgid, file, 0);
	if (o->key.kind != WIRE_OBJECT_FILE) {
		__builtin_memset(&o->key, 0, sizeof(o->key));
		return 0;
	}
	o->key.kind = WIRE_OBJECT_LOCK;
	o->holder = holder;
	return file;
}

/*
 * Fills in o->key, and o->holder. Returns the struct file that is meant, or 1 if there is none, or
 * 0 if what the thread waits for is not known. current: t is the current thread; of others user
 * memory is not read.
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
	if (sleeps_for_time(how, args)) {
		file = find_polled_lock(o, t, now, current);
		if (file)
			return file;
	}
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
		set_futex(o, t, arg, args[1]);
		if (!is_32 && set_gil(key, t, arg, current)) {
			if (current)
				o->holder = gil_holder(key->v[0]);
			return 1;
		}
		/* The rwlock of a 32-bit program has other places. */
		if (is_32 && (__u32)args[2] == WIRE_RWLOCK_CONTENDED)
			return 1;
		if (current)
			o->holder = lock_owner(arg, (__u32)args[1], (__u32)args[2]);
		else if (may_have_owner((__u32)args[1], (__u32)args[2]))
			o->holder = (__u32)args[2];
		return 1;
	case WIRE_CALL_FUTEX2:
		set_futex(o, t, arg, args[3] & FUTEX_PRIVATE_FLAG);
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
