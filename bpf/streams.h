/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * streams.h - streams of HTTP/2 as requests: when their frames are followed, and what is told of
 * them. Part of connections.h.
 *
 * A stream arrives when the frame does that begins it, and is told when it has ended, by whoever
 * wrote its last frame; one that its client ends before has no answer, or only what was written of
 * it. It has the stacks of that write, as all have that end with it.
 */
#pragma once

static __always_inline struct streams *streams_of(struct sock *sk)
{
	return find_routes ? bpf_sk_storage_get(&streams, sk, NULL, 0) : NULL;
}

/*
 * It was read that a connection speaks HTTP/2, and `first` bytes of this read were still that; or,
 * FRAMES_NOW, that it may have done so for long.
 */
static __always_inline void begin_streams(struct connection *c, struct sock *sk, __u32 first)
{
	struct streams *s = streams_of(sk);

	if (s) {
		/* They were not followed between two recordings; or cannot be. */
		if (s->is_lost || bpf_sk_storage_delete(&streams, sk))
			return;
		__sync_fetch_and_sub(&n_sockets, STREAMS_AS_SOCKETS + 1);
	}
	s = new_storage(&streams, sk);
	if (!s)
		return;
	__sync_fetch_and_add(&n_sockets, STREAMS_AS_SOCKETS);
	s->headers.connection = c->id;
	s->port = sk->__sk_common.skc_num;
	/* What was written before has ended with a frame. */
	if (first == FRAMES_NOW) {
		s->is_old = true;
	} else {
		s->read.type = FRAME_CONTINUATION + 1;
		s->read.left = first;
	}
	c->has_streams = true;
}

static __always_inline void stream_arrives(struct sock *sk, __u64 now)
{
	struct streams *s = streams_of(sk);

	if (s)
		note_arrival(s, CAST(tcp_sock, sk)->rcv_nxt, now);
}

/* ---- telling -------------------------------------------------------------------------------- */

struct stream_telling {
	struct streams *s;
	bool is_write; /* that a write has ended */
	struct wire_request_account *a;
	__u64 now, endpoint, stacks;
};

static __always_inline void tell_stream(struct stream_telling *t, struct open_stream *o)
{
	struct open_request *r = &o->r;
	__u64 answer_ns = r->answer_ns;

	if (!answer_ns) {
		send_request(r, NULL, t->now, t->endpoint | (__u64)WIRE_REQUEST_OPEN << 32, 0);
		return;
	}
	if (LIGHT &&
	    !is_light_told(r, kind_of(t->s->port, o->asks), t->a, answer_ns - r->arrival_ns))
		return;
	if (!t->stacks && is_untold(t->a, t->now))
		return;
	if (t->is_write) {
		t->s->told_seq = r->first_seq;
		t->s->told_bytes = r->bytes_written;
	}
	r->answer_ns = r->first_ns;
	r->told = send_request(r, NULL, t->now, t->endpoint | (__u64)WIRE_REQUEST << 32, t->stacks);
	r->answer_ns = answer_ns;
	tell_more(r, t->now);
}

static long tell_ended(__u32 i, struct stream_telling *t)
{
	struct streams *s = t->s;
	const struct frames *f = t->is_write ? &s->written : &s->read;
	struct open_stream *o;
	__u32 place = i & (STREAMS_OPEN - 1);

	if (i >= f->n_ended)
		return 1;
	place = f->ended[place] & (STREAMS_OPEN - 1);
	barrier_var(place);
	if (place >= STREAMS_OPEN)
		return 1;
	o = &s->at[place];
	tell_stream(t, o);
	o->id = 0;
	return 0;
}

LOOP(tell_ended, struct stream_telling, STREAMS_OPEN)

/* Tells those that a read or a write has ended. */
__noinline int tell_streams(struct streams *s, bool is_write, __u64 endpoint, __u64 stacks,
			    __u64 now)
{
	struct stream_telling t = { s, is_write, NULL, now, endpoint, stacks };
	struct frames *f;
	__u32 zero = 0;

	t.a = bpf_map_lookup_elem(&request_accounts, &zero);
	if (!s || !t.a)
		return 0;
	loop_tell_ended(&t);
	f = is_write ? &s->written : &s->read;
	f->n_ended = 0;
	f->longest_ns = 0;
	return 0;
}

static long end_open(__u32 i, struct stream_telling *t)
{
	__u32 place = i & (STREAMS_OPEN - 1);

	if (t->s->at[place].id)
		end_stream(&t->s->read, &t->s->at[place]);
	return 0;
}

LOOP(end_open, struct stream_telling, STREAMS_OPEN)

/* No more of them end: those that are open are told as they are. */
__noinline int tell_open(struct streams *s, __u64 endpoint, __u64 now)
{
	struct stream_telling t = { .s = s };

	if (!s)
		return 0;
	loop_end_open(&t);
	return tell_streams(s, false, endpoint, 0, now);
}

static __always_inline void end_streams(struct connection *c, struct sock *sk, __u64 now)
{
	struct streams *s = streams_of(sk);

	if (s && is_recording(now))
		tell_open(s, endpoint_id(&c->endpoint, sk, now), now);
}

/* What a read or a write of the connection has ended. */
static __always_inline void streams_ended(void *ctx, struct connection *c, struct streams *s,
					  bool is_write, struct sock *sk, struct task_struct *task,
					  __u64 now)
{
	const struct frames *f = is_write ? &s->written : &s->read;
	struct wire_request_account *a;
	__u64 stacks = 0;
	__u32 zero = 0;

	if (s->is_lost) {
		/* Its requests are told apart by reads and writes from here on. */
		c->has_streams = false;
		if (s->headers.nth > 1)
			leave_out(CHAINLOG_LEFT_STREAMS);
	}
	if (!f->n_ended || !is_recording(now))
		return;
	a = bpf_map_lookup_elem(&request_accounts, &zero);
	if (is_write && a && f->longest_ns >= REQUEST_STACKS_NS &&
	    wants_stacks(a, f->longest_ns, now))
		stacks = answer_stacks(ctx, a, task, WIRE_REQUEST, now);
	if (is_write && find_contexts)
		note_context(now);
	tell_streams(s, is_write, endpoint_id(&c->endpoint, sk, now), stacks, now);
}

/* ---- reads and writes ----------------------------------------------------------------------- */

/* So many bytes were read, which began to come at came_ns; 0: not known. flags: MSG_*. */
static __always_inline void streams_read(void *ctx, struct connection *c, struct sock *sk,
					 struct task_struct *task, __u32 bytes, __u32 flags,
					 __u64 came_ns, __u64 now)
{
	struct streams *s = streams_of(sk);
	struct call_memory m = { 0 };

	if (!s)
		return;
	s->read.tid = task->pid;
	s->read.at_ns = now;
	s->came_ns = came_ns ? came_ns : now;
	s->flags = (came_ns ? 0 : CHAINLOG_REQUEST_NO_ARRIVAL) |
		   (s->is_old ? CHAINLOG_REQUEST_OLD : 0);
	s->seq = sk->__sk_common.skc_family == AF_UNIX ? 0 : was_read(sk) - bytes;
	follow_frames(s, false, !(flags & MSG_TRUNC) && find_memory(task, false, &m) ? &m : NULL,
		      bytes);
	streams_ended(ctx, c, s, false, sk, task, now);
}

/* So many bytes were written, at at_ns. */
static __always_inline void streams_written(void *ctx, struct connection *c, struct sock *sk,
					    struct task_struct *task, __u32 bytes, __u64 at_ns,
					    __u64 now)
{
	struct streams *s = streams_of(sk);
	struct call_memory m = { 0 };

	if (!s)
		return;
	s->written.tid = task->pid;
	s->written.at_ns = at_ns;
	s->told_bytes = 0;
	follow_frames(s, true, find_memory(task, true, &m) ? &m : NULL, bytes);
	streams_ended(ctx, c, s, true, sk, task, now);
	if (s->told_bytes && find_objects && sk->sk_protocol == IPPROTO_TCP &&
	    !is_within_machine((__u64)sk, sk->__sk_common.skc_family))
		record_stream(task->pid, socket_id(&c->socket, sk, now),
			      c->seen_seq - (s->told_bytes < bytes ? s->told_bytes : bytes),
			      s->told_seq, now);
}
