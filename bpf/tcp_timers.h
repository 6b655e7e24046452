/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tcp_timers.h - timers of TCP: an acknowledgement that was put off, and what is sent again. A
 * thread that is woken by what comes then has waited for the timer up to there. Part of
 * chaincap.bpf.c.
 *
 * The stack of such a waking has no timer in it: the timer sends a packet, whose softirq receives
 * on the same CPU, where the other end may answer at once what it could not send before (Nagle's
 * algorithm). So it is noted on each CPU which connection's timer expired last. What is lost again,
 * or takes longer, is found by the connection, and by the number of the first byte.
 */
#pragma once

struct tcp_timer {
	__u64 sk;
	__u64 since_ns, at_ns; /* at_ns 0: it has not expired, or was told */
	__u32 which;	       /* enum chainlog_tcp_timer */
	__u32 seq;	       /* of the first byte that was sent again */
};

/*
 * The last one on each CPU that sent something; and that for retransmissions that expired last,
 * which mostly has nothing to send, as the kernel lets it run when all is acknowledged.
 */
enum { TCP_TIMER_SENT, TCP_TIMER_EXPIRED, TCP_TIMERS };
MAP(last_tcp_timer, PERCPU_ARRAY, TCP_TIMERS, __u32, struct tcp_timer);

/* By the sock; and what was sent again by sent_again_key(), for the other end. */
MAP(tcp_timers, LRU_HASH, 1 << 12, __u64, struct tcp_timer);

static __always_inline bool is_soon(__u64 sk, __u64 at_ns, __u64 now)
{
	return now - at_ns <= SOFTIRQ_STRETCH_NS ||
	       (now - at_ns <= SOFTIRQ_LATE_NS &&
		is_within_machine(sk, FIELD(sock, sk, __sk_common.skc_family)));
}

static __always_inline __u16 peer_port(__u64 sk)
{
	return __builtin_bswap16(FIELD(sock, sk, __sk_common.skc_dport));
}

/* The sender's port, and the number of the first byte, which makes another's unlikely. */
static __always_inline __u64 sent_again_key(__u16 port, __u32 seq)
{
	return (__u64)port << 32 | seq;
}

/* ---- timers --------------------------------------------------------------------------------- */

#define ICSK_ACK_TIMER 2 /* in icsk_ack.pending; include/net/inet_connection_sock.h */
#define RTX_LEVELS 24	 /* of the tree of segments, as many as 4000 have at most */

/* When the first segment that is not acknowledged was sent; 0: there is none. */
static __always_inline __u64 first_sent_ns(__u64 sk)
{
	__u64 node = POINTER(sock, sk, tcp_rtx_queue.rb_node), left;

	if (!node)
		return 0;
	for (int i = 0; i < RTX_LEVELS; i++) {
		left = POINTER(rb_node, node, rb_left);
		if (!left)
			break;
		node = left;
	}
	node -= bpf_core_field_offset(struct sk_buff, rbnode);
	return POINTER(sk_buff, node, skb_mstamp_ns);
}

SEC("raw_tp/timer_expire_entry")
int on_timer(unsigned long long *ctx)
{
	__u64 function = POINTER(timer_list, ctx[0], function), now, sk;
	struct tcp_timer *t;
	__u32 which;

	if (!function || (function != delack_function && function != retransmit_function))
		return 0;
	which = function == delack_function ? TCP_TIMER_SENT : TCP_TIMER_EXPIRED;
	now = bpf_ktime_get_ns();
	t = bpf_map_lookup_elem(&last_tcp_timer, &which);
	if (!t || !is_recording(now))
		return 0;
	if (function == delack_function)
		sk = ctx[0] - bpf_core_field_offset(struct inet_connection_sock, icsk_delack_timer);
	else
		sk = ctx[0] -
		     bpf_core_field_offset(struct inet_connection_sock, icsk_retransmit_timer);
	/* What was sent meanwhile had the acknowledgement with it; the kernel lets the timer run
	 * on. */
	if (function == delack_function &&
	    !(FIELD(inet_connection_sock, sk, icsk_ack.pending) & ICSK_ACK_TIMER))
		return 0;
	t->sk = sk;
	t->at_ns = now;
	if (function == retransmit_function) {
		t->since_ns = first_sent_ns(sk);
		t->which = CHAINLOG_TCP_NONE; /* see on_retransmit() */
		return 0;
	}
	tcp_timer_ns = now;
	/* When its last packet came, in us. */
	t->since_ns = POINTER(tcp_sock, sk, tcp_mstamp) * 1000;
	t->which = CHAINLOG_TCP_DELAYED_ACK;
	bpf_map_update_elem(&tcp_timers, &sk, t, BPF_ANY);
	return 0;
}

/* A segment is sent again: by the timer, or because the other end asks for it. */
SEC("raw_tp/tcp_retransmit_skb")
int on_retransmit(unsigned long long *ctx)
{
	__u64 now = bpf_ktime_get_ns(), sk = ctx[0], key;
	__u32 sent = TCP_TIMER_SENT, expired = TCP_TIMER_EXPIRED;
	struct tcp_timer *t, *known;

	t = bpf_map_lookup_elem(&last_tcp_timer, &expired);
	if (!t || t->sk != sk || now - t->at_ns > SOFTIRQ_STRETCH_NS ||
	    t->which != CHAINLOG_TCP_NONE)
		return 0;
	t->which = CHAINLOG_TCP_RETRANSMIT;
	/* struct tcp_skb_cb begins with the number of the first byte. */
	t->seq = (__u32)read_u64(ADDRESS(sk_buff, ctx[1], cb));
	known = bpf_map_lookup_elem(&tcp_timers, &sk);
	if (known && (known->seq == t->seq || known->which == CHAINLOG_TCP_ACCEPT_QUEUE) &&
	    known->which != CHAINLOG_TCP_DELAYED_ACK) {
		t->since_ns = known->since_ns;
		t->which = known->which;
	}
	tcp_timer_ns = now;
	bpf_map_update_elem(&last_tcp_timer, &sent, t, BPF_ANY);
	bpf_map_update_elem(&tcp_timers, &sk, t, BPF_ANY);
	key = sent_again_key(FIELD(sock, sk, __sk_common.skc_num), t->seq);
	bpf_map_update_elem(&tcp_timers, &key, t, BPF_ANY);
	return 0;
}

/* ---- wakings -------------------------------------------------------------------------------- */

/* The last timer here, if what it sent may be why sk wakes; sk 0: it is not known which socket. */
static __always_inline bool last_timer(__u64 sk, __u64 now, struct tcp_timer *out)
{
	struct tcp_timer *t;
	__u32 sent = TCP_TIMER_SENT;

	t = bpf_map_lookup_elem(&last_tcp_timer, &sent);
	if (!t || !t->which || !is_soon(t->sk, t->at_ns, now) ||
	    (sk ? is_not_from(sk, t->sk) : !wakes_waiters(t->sk)))
		return false;
	*out = *t;
	return true;
}

/* A timer by a key, which has not been told. */
static __always_inline bool take_timer(__u64 key, __u64 now, struct tcp_timer *out)
{
	struct tcp_timer *t = bpf_map_lookup_elem(&tcp_timers, &key);

	if (!t || !t->at_ns ||
	    (t->which == CHAINLOG_TCP_DELAYED_ACK && !is_soon(t->sk, t->at_ns, now)))
		return false;
	*out = *t;
	t->at_ns = 0;
	return true;
}

/* See ready.h. */
__noinline int note_tcp_timer(__u64 sk, __u32 tid, __u64 now, bool last)
{
	struct wire_tcp_timer *ev;
	struct tcp_timer t;

	if (sk && FIELD(sock, sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	/* What sk had sent; or what is read next was sent again, by a socket of this machine. */
	if (!last_timer(sk, now, &t) &&
	    !(sk && !last &&
	      (take_timer(sk, now, &t) ||
	       take_timer(sent_again_key(peer_port(sk), FIELD(tcp_sock, sk, copied_seq)), now,
			  &t))))
		return 0;
	ev = record_event(WIRE_TCP_TIMER, now, struct wire_tcp_timer);
	if (!ev)
		return 0;
	ev->since_ns = t.since_ns;
	ev->at_ns = t.at_ns;
	ev->tid = tid;
	ev->which = t.which;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}

/* ---- full accept queues --------------------------------------------------------------------- */

/* Which sock listens at a port; of several the last one. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u16);
	__type(value, __u64);
} listeners SEC(".maps");

static __always_inline void note_listener(__u64 sk)
{
	__u16 port = FIELD(sock, sk, __sk_common.skc_num);

	bpf_map_update_elem(&listeners, &port, &sk, BPF_ANY);
}

/* Whether sk listens for what connects to the port and address. */
static __always_inline bool listens_at(__u64 sk, __u16 port, __u32 address)
{
	__u32 own = FIELD(sock, sk, __sk_common.skc_rcv_saddr);

	return FIELD(sock, sk, __sk_common.skc_state) == TCP_LISTEN &&
	       FIELD(sock, sk, __sk_common.skc_num) == port && (!own || own == address);
}

/*
 * A socket begins to connect. If the queue of who listens is full, the kernel drops that
 * (tcp_conn_request()), and it is sent again by the timer.
 */
static __always_inline void note_connect(__u64 sk, __u64 now)
{
	struct tcp_timer t = { .sk = sk, .since_ns = now, .which = CHAINLOG_TCP_ACCEPT_QUEUE };
	__u16 port = peer_port(sk);
	__u64 *listener = bpf_map_lookup_elem(&listeners, &port);

	/* The sock may have been another connection's. */
	bpf_map_delete_elem(&tcp_timers, &sk);
	if (listener && listens_at(*listener, port, FIELD(sock, sk, __sk_common.skc_daddr)) &&
	    FIELD(sock, *listener, sk_ack_backlog) > FIELD(sock, *listener, sk_max_ack_backlog))
		bpf_map_update_elem(&tcp_timers, &sk, &t, BPF_ANY);
}
