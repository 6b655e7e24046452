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
 *
 * A thread that sends something over loopback receives what is queued on its CPU, which may also be
 * packets of others. It is recorded which of its wakings are by these.
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

/* Whether a socket's waiters are being woken: then its queue of waiters is locked. */
static __always_inline bool wakes_waiters(__u64 sk)
{
	__u64 wq = (__u64)FIELD(sock, sk, sk_wq);

	return wq && (__u32)read_u64(ADDRESS(socket_wq, wq, wait));
}

/* The last socket that got data, if its waiters are being woken; 0: they are not. */
static __always_inline __u64 ready_socket(void)
{
	__u32 zero = 0;
	__u64 *sk = bpf_map_lookup_elem(&last_ready_socket, &zero), socket;

	if (!sk || !*sk || !wakes_waiters(*sk))
		return 0;
	socket = (__u64)FIELD(sock, *sk, sk_socket);
	return socket ? POINTER(socket, socket, file) : 0;
}

/*
 * The struct file that is ready of those for which the task waits in a system call; 0: not known.
 * *alone: the object of the switch says which; then it need not be ready.
 */
static __always_inline __u64 find_ready(__u64 task, __u32 *fd, bool *alone)
{
	__u64 regs = (__u64)FIELD(task_struct, task, stack) + registers_offset, file;
	bool is_32 = is_saved_32bit(task, regs);

	if (!registers_offset)
		return 0;
	switch (how_of(saved_call_number(regs), is_32) & 31) {
	case WIRE_CALL_EPOLL:
		file = file_of((__u64)FIELD(task_struct, task, files),
			       (__u32)saved_call_arg(regs, is_32, 0));
		return file ? ready_in_epoll(file, fd) : 0;
	case WIRE_CALL_FD:
		*alone = true;
		return file_of((__u64)FIELD(task_struct, task, files),
			       (__u32)saved_call_arg(regs, is_32, 0));
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

/* The struct sock of a file that is a socket of TCP or UDP, but no listening one; 0: it is none. */
static __always_inline __u64 ip_socket(__u64 file)
{
	__u64 inode = (__u64)FIELD(file, file, f_inode), socket, sk;
	__u16 family, protocol;

	if ((FIELD(inode, inode, i_mode) & S_IFMT) != S_IFSOCK)
		return 0;
	socket = POINTER(file, file, private_data);
	sk = socket ? POINTER(socket, socket, sk) : 0;
	if (!sk)
		return 0;
	family = FIELD(sock, sk, __sk_common.skc_family);
	protocol = FIELD(sock, sk, sk_protocol);
	if ((family != AF_INET && family != AF_INET6) ||
	    (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP) ||
	    (protocol == IPPROTO_TCP && FIELD(sock, sk, __sk_common.skc_state) == TCP_LISTEN))
		return 0;
	return sk;
}

/* Whether a socket of ip_socket() is a TCP connection of two machines. */
static __always_inline bool is_between_machines(__u64 sk)
{
	return FIELD(sock, sk, sk_protocol) == IPPROTO_TCP &&
	       !is_within_machine(sk, FIELD(sock, sk, __sk_common.skc_family));
}

/* ---- whose packet it is --------------------------------------------------------------------- */

/* Whether what one end expects next is what the other one has sent last, or may be sending. */
static __always_inline bool expects_from(__u64 to, __u64 from)
{
	__u32 acked = FIELD(tcp_sock, from, snd_una);

	return FIELD(tcp_sock, to, rcv_nxt) - acked <= FIELD(tcp_sock, from, write_seq) - acked;
}

/*
 * Whether what came to a socket of ip_socket() is certainly not from another such socket. Ports are
 * compared, not addresses, and of TCP the numbers of bytes, too: on the way between the two the
 * kernel may replace addresses and ports (NAT).
 */
static __always_inline bool is_not_from(__u64 to, __u64 from)
{
	__u16 protocol = FIELD(sock, to, sk_protocol);
	__u16 to_peer = FIELD(sock, to, __sk_common.skc_dport);
	__u16 from_peer = FIELD(sock, from, __sk_common.skc_dport);
	bool sent = to_peer == __builtin_bswap16(FIELD(sock, from, __sk_common.skc_num));
	bool meant = from_peer == __builtin_bswap16(FIELD(sock, to, __sk_common.skc_num));

	/* What shares a socket (threads, forked processes) uses it, whatever that does. */
	if (to == from)
		return false;
	if (protocol != FIELD(sock, from, sk_protocol))
		return true;
	if (protocol == IPPROTO_TCP)
		return !(sent && meant) && !(expects_from(to, from) && expects_from(from, to));
	/* A socket without a peer sends to anybody, and gets from anybody. */
	return to_peer && from_peer && !sent && !meant;
}

/*
 * What a timer sends to this machine is received in the same stretch of softirqs, which is
 * MAX_SOFTIRQ_TIME (kernel/softirq.c) at most; or by ksoftirqd, which may have to wait for the CPU.
 * Within the machine nothing else is then likely to come in an interrupt.
 */
#define SOFTIRQ_STRETCH_NS 2000000
#define SOFTIRQ_LATE_NS 20000000

/* "ksoftirq", as 8 bytes. */
#define KSOFTIRQ 0x71726974666f736bull

/* Whether the current thread sent what came to a socket, and wakes. */
enum sender {
	SENT_BY_IT,
	SENT_BY_IT_PERHAPS, /* by a system call that does not say which socket it uses */
	SENT_BY_OTHERS,
};

/* sk: of ip_socket(), 0: it is not known to which socket that came. Records WIRE_NOT_SENT. */
static __always_inline enum sender who_sent(__u64 sk, __u32 tid, __u64 now)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(t);
	bool is_32 = is_32bit_call(t, regs);
	long number = call_number(regs);
	__u64 args[4], file, used = 0;
	__u32 how = number < 0 ? 0 : how_of(number, is_32) & 31;

	/* A thread of the kernel; ksoftirqd does what interrupts left over. */
	if (!UNTRUSTED(task_struct, t)->mm)
		return read_u64(ADDRESS(task_struct, t, comm)) == KSOFTIRQ ? SENT_BY_OTHERS
									   : SENT_BY_IT_PERHAPS;
	if (how == WIRE_CALL_RING)
		return SENT_BY_IT;
	if (how == WIRE_CALL_FD) {
		call_args(regs, is_32, args);
		file = file_of((__u64)UNTRUSTED(task_struct, t)->files, (__u32)args[0]);
		used = file ? ip_socket(file) : 0;
	}
	if (!used)
		return SENT_BY_IT_PERHAPS;
	if (!sk || !is_not_from(sk, used))
		return SENT_BY_IT;
	record_of_thread(WIRE_NOT_SENT, now, tid);
	return SENT_BY_OTHERS;
}

/*
 * Says by which timer of TCP something has come that wakes a thread, if it is known. sk: of
 * ip_socket(), to which it came, 0: that is not known. last: only by the last one on this CPU. 0.
 */
int note_tcp_timer(__u64 sk, __u32 tid, __u64 now, bool last); /* tcp_timers.h */

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

/*
 * The id of what is ready, of a task that is being woken; 0: not known, or the switch says it.
 * by_task: no interrupt wakes it.
 */
__noinline __u32 ready_id(__u64 task, __u64 now, bool by_task)
{
	__u32 slot = OBJECT_OF_WAKING, fd = 0, tid = (__u32)FIELD(task_struct, task, pid);
	struct wire_object *o = bpf_map_lookup_elem(&object_scratch, &slot);
	bool alone = false, soon;
	enum sender sender;
	__u64 file, sk;

	if (!o)
		return 0;
	file = find_ready(task, &fd, &alone);
	sk = file ? ip_socket(file) : 0;
	soon = now - tcp_timer_ns <= SOFTIRQ_LATE_NS;
	if (sk || soon) {
		sender = by_task ? who_sent(sk, tid, now) : SENT_BY_OTHERS;
		if (sender == SENT_BY_OTHERS || (sender == SENT_BY_IT_PERHAPS && soon))
			note_tcp_timer(sk, tid, now, sender == SENT_BY_IT_PERHAPS);
	}
	if (!file)
		return 0;
	if (sk && is_between_machines(sk) && (!alone || file == ready_socket()))
		record_stream(tid, 0, FIELD(tcp_sock, sk, write_seq), FIELD(tcp_sock, sk, rcv_nxt),
			      now);
	if (alone)
		return 0;
	__builtin_memset(&o->key, 0, sizeof(o->key));
	o->owner = (__u32)FIELD(task_struct, task, tgid);
	find_file(&o->key, o->owner, file, fd);
	return id_of_object(o, NULL, now, file);
}

/* Says what is ready, after the waking of a task that was off its run queue. */
static __always_inline void record_ready(__u64 task, __u32 tid, __u64 now, bool by_task)
{
	__u32 object = FIELD(task_struct, task, mm) ? ready_id(task, now, by_task) : 0;
	struct wire_awaited *ev;

	if (!object)
		return;
	ev = record_event(WIRE_READY, now, struct wire_awaited);
	if (!ev)
		return;
	ev->tid = tid;
	ev->object = object;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}
