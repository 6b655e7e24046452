/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * connections.h - what is known of accepted connections, and how reads and writes make requests of
 * them; requests.h has the rules. Part of chaincap.bpf.c.
 */
#pragma once

/*
 * An accepted connection. The parts are cache lines: the kernel puts one word of its own before it.
 * The first changes with each arrival, on the sender's CPU if that is on this machine.
 */
struct connection {
	/* First and last arrival since the last read that got data. ready_ns 0: nothing came. */
	__u64 ready_ns, last_ready_ns;
	__u64 read_ready_ns; /* ready_ns of the last such read */
	__u64 answered_ns;   /* answer of the request before this one */
	__u64 delivered_ns;  /* unix: a write that has not ended yet was delivered; 0: none */
	__u32 ready_seq;     /* bytes written at ready_ns */
	__u32 seen_seq;	     /* and at the end of the last write */
	__u32 id;
	__u32 n_requests; /* that were read */
	bool is_old, is_held;
	bool has_streams; /* its requests are these: see stream_frames.h */

	struct open_request now;
	__u64 endpoint, socket; /* hashes of their keys; 0: not looked for yet */

	struct open_request held;
	__u32 held_seq; /* seen_seq after the write that answers `held` */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

/* The first answer of a request; stacks as above. */
static __always_inline void tell_request(struct connection *c, struct open_request *r,
					 struct sock *sk, __u64 now, __u64 stacks)
{
	__u64 endpoint = endpoint_id(&c->endpoint, sk, now);

	if (!is_recording(now))
		return;
	r->told =
		send_request(r, bytes_of(sk, r), now, endpoint | (__u64)WIRE_REQUEST << 32, stacks);
	if (r->told && find_objects && sk->sk_protocol == IPPROTO_TCP && r->bytes_written &&
	    !is_within_machine((__u64)sk, sk->__sk_common.skc_family))
		record_stream(r->writer, socket_id(&c->socket, sk, now),
			      c->seen_seq - r->bytes_written, r->first_seq, now);
}

/* A request that was answered is over. */
static __always_inline void tell_over(struct connection *c, struct open_request *r, struct sock *sk,
				      __u64 now)
{
	if (r->told)
		tell_more(r, now);
	else if (LIGHT && is_slow_in_the_end(sk, r))
		tell_request(c, r, sk, now, 0);
}

/* A call ended whose write answered the request that was held, or nobody knows which did. */
static __always_inline void tell_held(struct connection *c, struct sock *sk, __u64 now)
{
	c->is_held = false;
	if (c->held.told)
		tell_more(&c->held, now);
	else
		tell_request(c, &c->held, sk, now, 0);
}

static __always_inline __u32 was_read(struct sock *sk)
{
	return CAST(tcp_sock, sk)->copied_seq;
}

#include "streams.h"

/* There will be no more requests, or the recording is over. */
static __always_inline void end_connection(struct connection *c, struct sock *sk, __u64 now)
{
	struct open_request *r = &c->now;
	__u64 endpoint;

	if (c->has_streams) {
		end_streams(c, sk, now);
		return;
	}
	if (c->is_held)
		tell_held(c, sk, now);
	if (r->answer_ns) {
		tell_over(c, r, sk, now);
	} else if (r->taken_ns && is_recording(now)) {
		endpoint = endpoint_id(&c->endpoint, sk, now);
		send_request(r, bytes_of(sk, r), now, endpoint | (__u64)WIRE_REQUEST_OPEN << 32, 0);
	}
	__builtin_memset(r, 0, sizeof(*r));
}

/* ---- connections ---------------------------------------------------------------------------- */

static __always_inline void begin_connection(struct connection *c, __u64 now)
{
	c->id = new_connection_id();
	c->is_old = !is_recording(now);
}

/* What is known of a socket; NULL: nothing. Most have no storage: those of clients. */
static __always_inline struct connection *known_connection(struct sock *sk)
{
	return sk->sk_bpf_storage ? bpf_sk_storage_get(&connections, sk, NULL, 0) : NULL;
}

/*
 * The same for a unix socket. Of two that are connected, only the accepted one has an address: that
 * of the one that listened.
 */
static __always_inline struct connection *unix_connection(struct sock *sk)
{
	struct connection *c = known_connection(sk);

	if (c || sk->sk_type != SOCK_STREAM || sk->__sk_common.skc_state != TCP_ESTABLISHED ||
	    !HAS_UNIX_SOCKETS || !FIELD(unix_sock, sk, addr))
		return c;
	c = new_storage(&connections, sk);
	if (c && !c->id)
		begin_connection(c, bpf_ktime_get_ns());
	return c;
}

static __always_inline __u32 written(struct sock *sk)
{
	return CAST(tcp_sock, sk)->write_seq;
}

/* Whether all writes are seen: since 6.5. */
static __always_inline bool sees_all_writes(void)
{
	return !bpf_core_field_exists(struct proto_ops, sendpage);
}

/* When bytes were written by a call that has not ended yet; 0: none, as far as it is known. */
static __always_inline __u64 written_unseen(const struct connection *c, bool is_unix)
{
	if (is_unix)
		return noted(c->delivered_ns);
	return c->ready_ns && (__s32)(c->ready_seq - c->seen_seq) > 0 ? c->ready_ns : 0;
}

/* The current thread writes to a client, whose end of a unix connection is sk. */
static __always_inline void delivered(struct sock *sk)
{
	struct unix_sock *u = HAS_UNIX_SOCKETS ? (void *)bpf_skc_to_unix_sock(sk) : NULL;
	struct sock *peer = u ? u->peer : NULL;
	struct connection *c = peer && peer->sk_bpf_storage
				       ? bpf_sk_storage_get(&connections, peer, NULL, 0)
				       : NULL;

	if (c)
		c->delivered_ns = bpf_ktime_get_ns();
}

/* The first arrival after a time in which reads and writes were not seen. */
static __always_inline void forget_unseen(struct connection *c, struct sock *sk, bool is_unix)
{
	__builtin_memset(&c->now, 0, sizeof(c->now));
	c->is_held = c->has_streams = false;
	if (!is_unix)
		c->seen_seq = written(sk);
}

static __always_inline void data_arrived(struct connection *c, struct sock *sk, bool is_unix)
{
	__u64 now = bpf_ktime_get_ns();

	if (now >= record_until_ns)
		return;
	if (c->last_ready_ns <= noted_from_ns && noted_from_ns)
		forget_unseen(c, sk, is_unix);
	c->last_ready_ns = now;
	if (c->has_streams && !is_unix)
		stream_arrives(sk, now);
	if (c->ready_ns > noted_from_ns)
		return;
	c->ready_ns = now;
	if (!is_unix)
		c->ready_seq = written(sk);
}

/* ---- reads ---------------------------------------------------------------------------------- */

/* A read that got data begins a request. */
static __always_inline void begin_request(struct connection *c, __u32 tid, __u32 first_seq,
					  __u64 now)
{
	struct open_request *r = &c->now;
	__u64 together;

	r->taken_ns = now;
	r->first_seq = first_seq;
	r->reader = tid;
	r->flags = c->is_old ? CHAINLOG_REQUEST_OLD : 0;
	r->connection = c->id;
	r->nth = ++c->n_requests;
	if (r->nth == 1 && !c->is_old)
		r->flags |= CHAINLOG_REQUEST_FIRST;
	r->arrival_ns = noted(c->ready_ns);
	if (!r->arrival_ns) {
		/* It came together with what was read before. */
		together = noted(c->read_ready_ns);
		r->arrival_ns = together ? together : now;
		r->flags |= together ? CHAINLOG_REQUEST_PIPELINED : CHAINLOG_REQUEST_NO_ARRIVAL;
	}
	if (r->arrival_ns < c->answered_ns)
		r->flags |= CHAINLOG_REQUEST_PIPELINED;
}

/* The request that was open is over when the next one is read. */
static __always_inline void next_request(struct connection *c)
{
	c->answered_ns = c->now.answer_ns;
	__builtin_memset(&c->now, 0, sizeof(c->now));
}

static __always_inline void end_request_at_read(struct connection *c, struct sock *sk, __u64 now,
						bool is_unix)
{
	__u64 unseen = sees_all_writes() && !c->is_held ? written_unseen(c, is_unix) : 0;

	if (unseen && c->now.taken_ns) {
		if (!c->now.answer_ns)
			c->now.first_ns = unseen;
		c->now.answer_ns = unseen;
		c->held = c->now;
		c->held_seq = c->ready_seq;
		c->is_held = true;
		next_request(c);
	} else if (c->now.answer_ns) {
		tell_over(c, &c->now, sk, now);
		next_request(c);
	}
}

/* After a read: whether there is more to read, which came not later than the last data did. */
static __always_inline bool has_more(struct sock *sk, bool is_unix)
{
	struct tcp_sock *tcp;

	if (is_unix)
		return sk->sk_receive_queue.qlen;
	/* The end of the stream counts for a byte; the read of it sets ready_ns back. */
	tcp = CAST(tcp_sock, sk);
	return (__s32)(tcp->rcv_nxt - tcp->copied_seq) > 0;
}

static __always_inline void data_read(struct connection *c, struct sock *sk, int bytes, __u32 tid,
				      __u64 now, bool is_unix)
{
	end_request_at_read(c, sk, now, is_unix);
	if (!c->now.taken_ns)
		begin_request(c, tid, is_unix ? 0 : was_read(sk) - (__u32)bytes, now);
	add_bytes(&c->now.bytes_read, bytes);
	if (c->ready_ns)
		c->read_ready_ns = c->ready_ns;
	*(volatile __u64 *)&c->ready_ns = 0;
	if (has_more(sk, is_unix)) {
		c->ready_seq = c->seen_seq;
		c->ready_ns = c->last_ready_ns;
	}
}

/* ---- writes --------------------------------------------------------------------------------- */

static __always_inline void note_unsent(struct connection *c, struct sock *sk)
{
	struct tcp_sock *tcp = CAST(tcp_sock, sk);

	c->seen_seq = tcp->write_seq;
	if (tcp->snd_nxt != tcp->write_seq)
		c->now.flags |= CHAINLOG_REQUEST_UNSENT;
	else
		c->now.flags &= (__u16)~CHAINLOG_REQUEST_UNSENT;
}

/* The call that wrote has ended. Returns the request whose first answer that was, or NULL. */
static __always_inline struct open_request *
data_written(struct connection *c, struct sock *sk, int bytes, __u32 tid, __u64 now, bool is_unix)
{
	__u64 unseen = written_unseen(c, is_unix);
	bool is_first;

	c->delivered_ns = 0;
	if (c->is_held) {
		is_first = !c->held.told;
		note_write(&c->held, bytes, tid, c->held.answer_ns);
		c->seen_seq = c->held_seq;
		c->is_held = false;
		if (is_first)
			return &c->held;
		tell_more(&c->held, now);
		return NULL;
	}
	/* Nobody asked: what a server says first, or of its own accord. */
	is_first = c->now.taken_ns && !c->now.answer_ns;
	if (c->now.taken_ns)
		note_write(&c->now, bytes, tid, unseen ? unseen : now);
	if (!is_unix)
		note_unsent(c, sk);
	return is_first ? &c->now : NULL;
}
