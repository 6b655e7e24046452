/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * datagrams.h - requests at bound datagram sockets: a thread reads one, and answers it by the next
 * that it sends from there. Part of chaincap.bpf.c.
 */
#pragma once

/* Arrivals of datagrams that were not read yet, in order. */
#define DATAGRAMS 64u

struct datagrams {
	__u64 endpoint; /* as of a connection */
	__u32 id;
	__u32 head, tail;
	__u64 at_ns[DATAGRAMS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct datagrams);
} datagram_sockets SEC(".maps");

/* The datagram that a thread read last from a socket, until it sends one. */
struct datagram_reader {
	__u64 socket, tid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 12);
	__type(key, struct datagram_reader);
	__type(value, struct open_request);
} taken_datagrams SEC(".maps");

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

static __always_inline void datagram_arrived(struct sock *sk)
{
	struct datagrams *d;
	__u32 head;

	if (!is_datagram_server(sk))
		return;
	d = bpf_sk_storage_get(&datagram_sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!d)
		return;
	if (!d->id)
		d->id = new_connection_id();
	head = d->head;
	d->at_ns[head & (DATAGRAMS - 1)] = bpf_ktime_get_ns();
	d->head = head + 1;
}

static __always_inline void take_datagram(struct sock *sk, int bytes, __u32 tid, __u64 now)
{
	struct datagrams *d = bpf_sk_storage_get(&datagram_sockets, sk, NULL, 0);
	struct open_request r = { .taken_ns = now, .bytes_read = (__u32)bytes, .reader = tid };
	struct datagram_reader key = { .tid = tid };

	/* Nothing arrived since the programs were attached. */
	if (!d)
		return;
	key.socket = d->id;
	if (d->head - d->tail > DATAGRAMS)
		d->tail = d->head - DATAGRAMS;
	if (d->tail != d->head)
		r.arrival_ns = noted(d->at_ns[d->tail++ & (DATAGRAMS - 1)]);
	/*
	 * Since 6.9 only what comes to an empty queue is said to have arrived: of what comes behind
	 * it, the arrival is not known. And what was dropped unread is gone when nothing is left.
	 */
	if (!sk->sk_receive_queue.qlen && !CAST(udp_sock, sk)->reader_queue.qlen)
		d->tail = d->head;
	if (!r.arrival_ns) {
		r.arrival_ns = now;
		r.flags = WIRE_REQUEST_NO_ARRIVAL;
	}
	bpf_map_update_elem(&taken_datagrams, &key, &r, BPF_ANY);
}

/* The thread writes: puts the datagram that this answers into *r. Returns NULL if there is none. */
static __always_inline struct datagrams *answered_datagram(struct sock *sk, __u32 tid,
							   struct open_request *r)
{
	struct datagram_reader key = { .tid = tid };
	struct open_request *taken;
	struct datagrams *d;

	if (!is_datagram_server(sk))
		return NULL;
	d = bpf_sk_storage_get(&datagram_sockets, sk, NULL, 0);
	if (!d)
		return NULL;
	key.socket = d->id;
	taken = bpf_map_lookup_elem(&taken_datagrams, &key);
	if (!taken)
		return NULL;
	*r = *taken;
	bpf_map_delete_elem(&taken_datagrams, &key);
	return d;
}
