/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ready.h - which of several things is ready, when a thread is woken that waits for any of them
 * (epoll_wait(), poll(), select()). Part of chaincap.bpf.c.
 *
 * The kernel puts what is ready on a list of the epoll instance before it wakes. A poll() has no
 * such list: only sockets are known, by the tracepoint sk_data_ready, which the kernel passes right
 * before it wakes the socket's waiters on the same CPU.
 *
 * If it is a TCP connection, also of a thread that waits for it alone, it is recorded how far that
 * is: by the numbers of the bytes, both ends of a connection can be compared.
 */
#pragma once

/* The last socket that got data, on each CPU. */
MAP(last_ready_socket, PERCPU_ARRAY, 1, __u32, __u64);

/* Data came to a socket (on_data() in requests.h). */
static __always_inline void note_ready_socket(__u64 socket)
{
	__u32 zero = 0;
	__u64 *sk = bpf_map_lookup_elem(&last_ready_socket, &zero);

	if (sk)
		*sk = socket;
}

#define EP_UNACTIVE_PTR (~0ull)

/* What was put on the list last; *fd: its descriptor there. 0: nothing is ready. */
static __always_inline __u64 ready_in_epoll(__u64 file, __u32 *fd)
{
	__u64 ep = (__u64)FIELD(file, file, private_data);
	__u64 list = ADDRESS(eventpoll, ep, rdllist);
	__u64 last = POINTER(list_head, list, prev), item;

	if (!last)
		return 0;
	item = last - bpf_core_field_offset(struct epitem, rdllink);
	if (last == list) {
		/* While the list is being read the others are here. */
		item = POINTER(eventpoll, ep, ovflist);
		if (!item || item == EP_UNACTIVE_PTR)
			return 0;
	}
	*fd = (__u32)FIELD(epitem, item, ffd.fd);
	return POINTER(epitem, item, ffd.file);
}

/*
 * The last socket that got data, if its waiters are being woken: then its queue of waiters is
 * locked. 0: they are not.
 */
static __always_inline __u64 ready_socket(void)
{
	__u32 zero = 0;
	__u64 *sk = bpf_map_lookup_elem(&last_ready_socket, &zero), wq, socket;

	if (!sk || !*sk)
		return 0;
	wq = (__u64)FIELD(sock, *sk, sk_wq);
	if (!wq)
		return 0;
	wq = ADDRESS(socket_wq, wq, wait);
	if (!(__u32)read_u64(wq))
		return 0;
	socket = (__u64)FIELD(sock, *sk, sk_socket);
	return socket ? POINTER(socket, socket, file) : 0;
}

/*
 * The registers that user code of a task had when it entered the kernel: as far from its stack as
 * the current thread's are from its own.
 */
static __always_inline __u64 registers_of(struct wire_object *o, __u64 task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u64 regs = number_of(&o->inode, (__u64)bpf_task_pt_regs(current));

	return (__u64)FIELD(task_struct, task, stack) + (regs - (__u64)current->stack);
}

/*
 * The struct file that is ready of those for which the task waits in a system call; 0: not known.
 * *alone: the object of the switch says which; then only a socket that got data is found.
 */
static __always_inline __u64 find_ready(struct wire_object *o, __u64 task, __u32 *fd, bool *alone)
{
	__u64 regs = registers_of(o, task), file;
	bool is_32 = is_saved_32bit(task, regs);

	switch (how_of(saved_call_number(regs), is_32) & 31) {
	case WIRE_CALL_EPOLL:
		file = file_of((__u64)FIELD(task_struct, task, files),
			       (__u32)saved_call_arg(regs, is_32, 0));
		return file ? ready_in_epoll(file, fd) : 0;
	case WIRE_CALL_FD:
		*alone = true;
		file = ready_socket();
		if (!file || file != file_of((__u64)FIELD(task_struct, task, files),
					     (__u32)saved_call_arg(regs, is_32, 0)))
			return 0;
		return file;
	case WIRE_CALL_POLL:
		*alone = (__u32)saved_call_arg(regs, is_32, 1) == 1;
		return ready_socket();
	case WIRE_CALL_SELECT:
		return ready_socket();
	default:
		return 0;
	}
}

/*
 * Whether a socket of IP has the same address at both ends: then nothing is to be compared with
 * another machine.
 */
static __always_inline bool is_within_machine(__u64 sk, __u16 family)
{
	__u64 to, from;

	if (family == AF_INET)
		return FIELD(sock, sk, __sk_common.skc_daddr) ==
		       FIELD(sock, sk, __sk_common.skc_rcv_saddr);
	if (!bpf_core_field_exists(struct sock, __sk_common.skc_v6_daddr))
		return false;
	to = ADDRESS(sock, sk, __sk_common.skc_v6_daddr);
	from = ADDRESS(sock, sk, __sk_common.skc_v6_rcv_saddr);
	return read_u64(to) == read_u64(from) && read_u64(to + 8) == read_u64(from + 8);
}

/* The struct sock of a file that is a TCP connection of two machines; 0: it is none. */
static __always_inline __u64 tcp_connection(__u64 file)
{
	__u64 inode = (__u64)FIELD(file, file, f_inode), socket, sk;
	__u16 family;

	if ((FIELD(inode, inode, i_mode) & S_IFMT) != S_IFSOCK)
		return 0;
	socket = POINTER(file, file, private_data);
	sk = socket ? POINTER(socket, socket, sk) : 0;
	if (!sk)
		return 0;
	family = FIELD(sock, sk, __sk_common.skc_family);
	if ((family != AF_INET && family != AF_INET6) ||
	    FIELD(sock, sk, sk_protocol) != IPPROTO_TCP ||
	    FIELD(sock, sk, __sk_common.skc_state) == TCP_LISTEN || is_within_machine(sk, family))
		return 0;
	return sk;
}

/* Says how far a TCP connection is, of the thread that acts in an event of the same time. */
static __always_inline void record_stream(__u32 tid, __u32 object, __u32 written, __u32 received,
					  __u64 now)
{
	struct wire_stream *ev = record_event(WIRE_STREAM, now, struct wire_stream);

	if (!ev)
		return;
	ev->tid = tid;
	ev->object = object;
	ev->written = written;
	ev->received = received;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

/* The id of what is ready, of a task that is being woken; 0: not known, or the switch says it. */
__noinline __u32 ready_id(__u64 task, __u64 now)
{
	__u32 slot = OBJECT_OF_WAKING, fd = 0;
	struct wire_object *o = bpf_map_lookup_elem(&object_scratch, &slot);
	void *ring = this_ring();
	bool alone = false;
	__u64 file, sk;

	if (!ring || !o)
		return 0;
	file = find_ready(o, task, &fd, &alone);
	if (!file)
		return 0;
	sk = tcp_connection(file);
	if (sk)
		record_stream((__u32)FIELD(task_struct, task, pid), 0,
			      FIELD(tcp_sock, sk, write_seq), FIELD(tcp_sock, sk, rcv_nxt), now);
	if (alone)
		return 0;
	__builtin_memset(&o->key, 0, sizeof(o->key));
	o->owner = (__u32)FIELD(task_struct, task, tgid);
	find_file(&o->key, o->owner, file, fd);
	return id_of_object(ring, o, NULL, now, file);
}

/* Says what is ready, after the waking of a task that was off its run queue. */
static __always_inline void record_ready(__u64 task, __u32 tid, __u64 now)
{
	__u32 object = FIELD(task_struct, task, mm) ? ready_id(task, now) : 0;
	struct wire_ready *ev;

	if (!object)
		return;
	ev = record_event(WIRE_READY, now, struct wire_ready);
	if (!ev)
		return;
	ev->tid = tid;
	ev->object = object;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}
