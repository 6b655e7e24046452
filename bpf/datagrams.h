/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * datagrams.h - requests at bound datagram sockets: a thread reads one, and answers it by the next
 * that it sends from there. Part of chaincap.bpf.c.
 */
#pragma once

#define ARRIVALS 16u /* of datagrams that were not read yet, in order, */
#define TAKERS 8u    /* and threads that have read one and not answered it, of each socket */

struct taken_datagram {
	__u32 tid; /* 0: there is none */
	__u32 bytes;
	__u64 arrival_ns; /* 0: not known */
	__u64 taken_ns;
};

/*
 * All that is kept of a socket's datagrams is with the socket, so that whoever reads elsewhere
 * takes nothing from it. Datagrams have numbers in the order in which they are read: not all
 * arrivals are told (since 6.9 only that of what comes to an empty queue), and not all that arrives
 * is read.
 */
struct datagrams {
	__u64 endpoint; /* as of a connection */
	__u32 head, tail;
	__u32 next;    /* the number of the next one that is read */
	__u32 dropped; /* as dropped() when the last one arrived */
	__u64 at_ns[ARRIVALS];
	__u32 number[ARRIVALS];
	struct taken_datagram taken[TAKERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct datagrams);
} datagram_sockets SEC(".maps");

static __always_inline bool is_inet(__u16 family)
{
	return family == AF_INET || family == AF_INET6;
}

/* It serves whoever sends to its port. */
static __always_inline bool is_datagram_server(struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_UDP && is_inet(sk->__sk_common.skc_family) &&
	       sk->__sk_common.skc_state != TCP_ESTABLISHED &&
	       BPF_CORE_READ_BITFIELD(sk, sk_userlocks) & SOCK_BINDPORT_LOCK;
}

static __always_inline __u32 queued(struct sock *sk)
{
	return sk->sk_receive_queue.qlen + CAST(udp_sock, sk)->reader_queue.qlen;
}

/*
 * How many datagrams the socket has dropped: those that are found to be damaged only when they
 * would be read had arrived, and have no number.
 */
static __always_inline __u32 dropped(struct sock *sk)
{
	struct numa_drop_counters *by_node;

	if (bpf_core_field_exists(sk->sk_drop_counters)) { /* since 6.18 */
		by_node = (void *)FIELD(sock, sk, sk_drop_counters);
		if (by_node)
			return (__u32)FIELD(numa_drop_counters, by_node, drops0.counter) +
			       (__u32)FIELD(numa_drop_counters, by_node, drops1.counter);
	}
	return (__u32)sk->sk_drops.counter;
}

static __always_inline void datagram_arrived(struct sock *sk)
{
	struct datagrams *d;
	__u32 head, n;

	if (!is_datagram_server(sk))
		return;
	d = bpf_sk_storage_get(&datagram_sockets, sk, NULL, 0);
	if (!d)
		d = new_storage(&datagram_sockets, sk);
	if (!d)
		return;
	n = queued(sk);
	/* Nothing is before it; whatever is not read of these has been dropped. */
	if (n <= 1 || d->at_ns[d->tail & (ARRIVALS - 1)] <= noted_from_ns)
		d->tail = d->head;
	head = d->head;
	if (head - d->tail >= ARRIVALS)
		return;
	d->at_ns[head & (ARRIVALS - 1)] = bpf_ktime_get_ns();
	d->number[head & (ARRIVALS - 1)] = d->next + (n ? n - 1 : 0);
	d->dropped = dropped(sk);
	d->head = head + 1;
}

/* When the datagram arrived that has just been read; 0: not known. */
static __always_inline __u64 arrival_of_next(struct datagrams *d, struct sock *sk)
{
	__u32 number = __sync_fetch_and_add(&d->next, 1), tail;

	if (dropped(sk) != d->dropped) {
		d->tail = d->head;
		return 0;
	}
#pragma unroll
	for (int i = 0; i < 4; i++) {
		tail = d->tail;
		if (tail == d->head || (__s32)(d->number[tail & (ARRIVALS - 1)] - number) > 0)
			break;
		d->tail = tail + 1;
		if (d->number[tail & (ARRIVALS - 1)] == number)
			return noted(d->at_ns[tail & (ARRIVALS - 1)]);
	}
	return 0;
}

/* A place for what a thread has read: its own, a free one, or that of who has waited longest. */
static __always_inline struct taken_datagram *taker(struct datagrams *d, __u32 tid)
{
	struct taken_datagram *t, *oldest = &d->taken[0];
	__u32 before;

#pragma unroll
	for (__u32 i = 0; i < TAKERS; i++) {
		t = &d->taken[i];
		if (t->tid == tid)
			return t;
		if (t->taken_ns < oldest->taken_ns)
			oldest = t;
	}
#pragma unroll
	for (__u32 i = 0; i < TAKERS; i++) {
		t = &d->taken[i];
		if (!t->tid && !__sync_val_compare_and_swap(&t->tid, 0, tid))
			return t;
	}
	before = oldest->tid;
	if (noted(oldest->taken_ns))
		leave_out(CHAINLOG_LEFT_DATAGRAMS);
	return __sync_val_compare_and_swap(&oldest->tid, before, tid) == before ? oldest : NULL;
}

/* A read that found an error in a thread's buffer has taken the datagram all the same. */
#define EFAULT 14

/* A read has ended: bytes, or a negative errno. One of no bytes has taken one, but asks nothing. */
static __always_inline void datagram_read(struct sock *sk, int bytes, __u32 tid, __u64 now)
{
	struct datagrams *d = bpf_sk_storage_get(&datagram_sockets, sk, NULL, 0);
	struct taken_datagram *t;
	__u64 arrival_ns;

	/* Nothing arrived since the programs were attached. */
	if (!d || (bytes < 0 && bytes != -EFAULT))
		return;
	arrival_ns = arrival_of_next(d, sk);
	if (bytes <= 0)
		return;
	t = taker(d, tid);
	if (!t)
		return;
	t->bytes = (__u32)bytes;
	t->arrival_ns = arrival_ns;
	t->taken_ns = now;
}

/* What a write answers; in a map, as programs have little stack. */
MAP(answered, PERCPU_ARRAY, 1, __u32, struct open_request);

/* The datagram that the thread's write answers, and its socket's *of. NULL: there is none. */
static __always_inline struct open_request *answered_datagram(struct sock *sk, __u32 tid,
							      struct datagrams **of)
{
	struct taken_datagram *t = NULL;
	struct open_request *r;
	struct datagrams *d;
	__u32 i, zero = 0;

	if (!is_datagram_server(sk))
		return NULL;
	*of = d = bpf_sk_storage_get(&datagram_sockets, sk, NULL, 0);
	r = bpf_map_lookup_elem(&answered, &zero);
	if (!d || !r)
		return NULL;
#pragma unroll
	for (i = 0; i < TAKERS; i++) {
		t = &d->taken[i];
		if (t->tid == tid)
			break;
	}
	if (i == TAKERS)
		return NULL;
	__builtin_memset(r, 0, sizeof(*r));
	r->taken_ns = noted(t->taken_ns);
	r->arrival_ns = t->arrival_ns;
	r->bytes_read = t->bytes;
	r->reader = tid;
	if (!r->arrival_ns) {
		r->arrival_ns = r->taken_ns;
		r->flags = CHAINLOG_REQUEST_NO_ARRIVAL;
	}
	t->taken_ns = 0;
	__sync_lock_test_and_set(&t->tid, 0);
	return r->taken_ns ? r : NULL;
}
