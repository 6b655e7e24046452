/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * requests.h - requests at sockets: when they arrived, who read and who answered them, and when.
 * Part of chaincap.bpf.c.
 *
 * Only the alternation of reads and writes counts, on connections that were accepted on this
 * machine and on bound datagram sockets. What is known of a connection is kept with its socket. A
 * request begins with the first read after a write: not with the next arrival, as what arrives may
 * belong to a request that is being read. It arrived when data got ready for the first time since
 * the read before; it is answered by the last write before the next one begins. Its event is sent
 * at the first write, by the thread that answers, so that the stacks are those of the answer;
 * further writes are another event, when the next request begins.
 *
 * The tracepoint of a write comes when the call ends. By then the answer may have been read, and
 * the next request have arrived, and even been read by another thread. That the bytes had been
 * written before is told by the number of bytes written (write_seq; of a unix socket by the data
 * that the peer got): such an answer is dated by the arrival that came after it, and if its request
 * is over, kept aside (`held`) until the end of the call says who wrote it.
 *
 * What is asked for is what the reader has got: request_bytes.h. Of connections of HTTP/2 each
 * stream is a request: stream_frames.h.
 *
 * A softirq only notes arrivals: events are sent by system calls, and by the iterator at the end.
 * Races between calls on one connection can make a time wrong by as much as the calls overlap.
 */
#pragma once

/* include/uapi/linux/in.h, include/net/tcp_states.h, include/linux/socket.h, include/net/sock.h */
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3
#define TCP_FIN_WAIT1 4
#define TCP_CLOSE 7
#define TCP_LAST_ACK 9
#define SOCK_STREAM 1
#define MSG_PEEK 2
#define MSG_ERRQUEUE 0x2000
#define RCV_SHUTDOWN 1
#define SEND_SHUTDOWN 2
#define SOCK_BINDPORT_LOCK 8

#include "request_events.h"
#include "request_light.h"
#include "stream_frames.h"
#include "connections.h"
#include "datagrams.h"

/*
 * Data came to a socket, in a softirq or, from a socket of the same machine, in the sender's call.
 * Not loaded where the kernel does not have it (before 6.3).
 */
SEC("tp_btf/sk_data_ready")
int on_data(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct connection *c;
	bool is_unix;

	if (find_objects)
		note_ready_socket(ctx[0]);
	if (!find_requests)
		return 0;
	is_unix = sk->__sk_common.skc_family == AF_UNIX;
	c = is_unix ? unix_connection(sk) : known_connection(sk);
	if (c)
		data_arrived(c, sk, is_unix);
	else if (!is_unix)
		datagram_arrived(sk);
	else if (sk->sk_type == SOCK_STREAM && sk->__sk_common.skc_state == TCP_ESTABLISHED)
		delivered(sk);
	return 0;
}

/* ---- reads ---------------------------------------------------------------------------------- */

SEC("tp_btf/sock_recv_length")
int on_receive(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct task_struct *task;
	int bytes = (int)ctx[1];
	struct connection *c;
	__u64 now, came_ns;
	__u32 first = 0;
	bool is_unix;

	/* It has taken nothing from the queue. */
	if (ctx[2] & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	/* Nothing to read: only of a connection that was reset this says something. */
	if (bytes < 0 && sk->__sk_common.skc_state != TCP_CLOSE)
		return 0;
	is_unix = sk->__sk_common.skc_family == AF_UNIX;
	c = is_unix ? unix_connection(sk) : sk->sk_bpf_storage ? known_connection(sk) : NULL;
	if (!c && find_plain && bytes > 0)
		note_other_read();
	if (!c && (is_unix || !sk->sk_bpf_storage))
		return 0;
	task = bpf_get_current_task_btf();
	now = bpf_ktime_get_ns();
	if (now >= record_until_ns || is_recorder(task->tgid))
		return 0;
	if (!c) {
		if (is_datagram_server(sk))
			datagram_read(sk, bytes, task->pid, now);
		return 0;
	}
	if (bytes > 0) {
		came_ns = noted(c->ready_ns);
		if (!came_ns)
			came_ns = noted(c->read_ready_ns);
		data_read(c, sk, bytes, task->pid, now, is_unix);
		if (find_routes && !c->has_streams)
			first = take_bytes(sk, &c->now, task, (__u32)bytes, (__u32)ctx[2]);
		if (first)
			begin_streams(c, sk, first);
		if (c->has_streams)
			streams_read(ctx, c, sk, task, (__u32)bytes, (__u32)ctx[2], came_ns, now);
		return 0;
	}
	if (bytes < 0) {
		if (!is_unix)
			end_connection(c, sk, now);
		return 0;
	}
	/* A read of no bytes, of which nothing has changed; or the end of the stream. */
	if (!(sk->sk_shutdown & RCV_SHUTDOWN) || has_more(sk, is_unix))
		return 0;
	c->ready_ns = 0;
	/* Of a unix socket nothing else says so; one that was closed gets no answer any more. */
	if (is_unix && sk->sk_shutdown & SEND_SHUTDOWN)
		end_connection(c, sk, now);
	return 0;
}

/* ---- writes --------------------------------------------------------------------------------- */

/* The stacks with which an answer is to be told, in *stacks; false: it is not to be told. */
static __always_inline bool is_told(void *ctx, struct task_struct *task, struct sock *sk,
				    struct open_request *r, __u64 now, __u64 *stacks)
{
	struct wire_request_account *a;
	__u64 took_ns;
	__u32 zero = 0;

	a = bpf_map_lookup_elem(&request_accounts, &zero);
	if (!a || !is_recording(now))
		return false;
	took_ns = now - r->arrival_ns;
	if (LIGHT && !is_light_told(r, kind_of_request(sk, r), a, took_ns))
		return false;
	if (took_ns < REQUEST_STACKS_NS || !wants_stacks(a, took_ns, now))
		return !is_untold(a, now);
	*stacks = answer_stacks(ctx, a, task, WIRE_REQUEST, now);
	return true;
}

SEC("tp_btf/sock_send_length")
int on_send(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct open_request *r;
	struct task_struct *task;
	struct datagrams *d = NULL;
	struct connection *c;
	int bytes = (int)ctx[1];
	__u64 now, at_ns, stacks = 0;
	bool is_unix;

	if (bytes <= 0)
		return 0;
	is_unix = sk->__sk_common.skc_family == AF_UNIX;
	if (!is_unix && !sk->sk_bpf_storage)
		return 0;
	c = is_unix ? unix_connection(sk) : known_connection(sk);
	if (!c && is_unix)
		return 0;
	task = bpf_get_current_task_btf();
	now = bpf_ktime_get_ns();
	if (now >= record_until_ns || is_recorder(task->tgid))
		return 0;
	if (c) {
		at_ns = written_unseen(c, is_unix);
		r = data_written(c, sk, bytes, task->pid, now, is_unix);
		if (c->has_streams) {
			streams_written(ctx, c, sk, task, (__u32)bytes, at_ns ? at_ns : now, now);
			return 0;
		}
	} else {
		r = answered_datagram(sk, task->pid, &d);
		if (r)
			note_write(r, bytes, task->pid, now);
	}
	if (!r || !is_told(ctx, task, sk, r, now, &stacks))
		return 0;
	if (find_contexts)
		note_context(now);
	if (c)
		tell_request(c, r, sk, now, stacks);
	else if (d)
		send_request(r, NULL, now,
			     endpoint_id(&d->endpoint, sk, now) | (__u64)WIRE_REQUEST << 32,
			     stacks);
	return 0;
}

/* ---- the beginning and the end of connections ----------------------------------------------- */

SEC("tp_btf/inet_sock_set_state")
int on_state(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];
	int before = (int)ctx[1], after = (int)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	struct connection *c;

	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	learn_tcp_timers(ctx[0]);
	if (after == TCP_SYN_SENT)
		note_connect(ctx[0], now);
	if (after == TCP_LISTEN)
		note_listener(ctx[0]);
	if (before == TCP_SYN_RECV && after == TCP_ESTABLISHED) {
		c = new_storage(&connections, sk);
		if (c) {
			begin_connection(c, now);
			c->seen_seq = written(sk);
		}
		return 0;
	}
	if (after != TCP_FIN_WAIT1 && after != TCP_LAST_ACK && after != TCP_CLOSE)
		return 0;
	/* If a softirq ends it, the next read will say so. */
	if (!sk->sk_bpf_storage || !sk->sk_lock.owned)
		return 0;
	c = bpf_sk_storage_get(&connections, sk, NULL, 0);
	if (c && !is_recorder(bpf_get_current_task_btf()->tgid))
		end_connection(c, sk, now);
	return 0;
}

/* ---- connections that are there when the recording begins ----------------------------------- */

/* The collector lists twice: who listens, then who is connected to these ports. */
bool list_connections = false;

SEC("iter/tcp")
int list_tcp(struct bpf_iter__tcp *ctx)
{
	struct sock_common *sk = ctx->sk_common;
	struct connection *c;
	struct tcp_sock *tcp;
	__u16 port;

	if (!sk)
		return 0;
	if (is_late())
		return 1;
	port = sk->skc_num;
	if (!list_connections) {
		if (sk->skc_state == TCP_LISTEN)
			note_listener((__u64)sk);
		return 0;
	}
	if (sk->skc_state != TCP_ESTABLISHED || !bpf_map_lookup_elem(&listeners, &port))
		return 0;
	tcp = (void *)bpf_skc_to_tcp_sock(sk);
	if (!tcp)
		return 0;
	c = bpf_sk_storage_get(&connections, tcp, NULL, 0);
	if (!c)
		c = new_storage(&connections, tcp);
	if (c && !c->id) {
		begin_connection(c, bpf_ktime_get_ns());
		c->seen_seq = tcp->write_seq;
	}
	return 0;
}

SEC("iter/unix")
int list_unix(struct bpf_iter__unix *ctx)
{
	struct unix_sock *sk = ctx->unix_sk;

	if (!sk)
		return 0;
	unix_connection((void *)sk);
	return is_late();
}

/* ---- requests that are open when the recording ends ----------------------------------------- */

/*
 * By the files of all processes, which is slower than by the map of connections, but some kernels
 * refuse iterators over maps (seen on 6.18.44, EPERM). The collector searches each table of files
 * once, whoever shares it, and the small ones first. A socket that is in several is ended at the
 * first of them.
 */
SEC("iter/task")
int list_file_tables(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task, *leader;
	struct wire_file_table t;

	if (!task)
		return 0;
	leader = task->group_leader;
	t.files = (__u64)task->files;
	if (!t.files || (leader != task && (__u64)leader->files == t.files))
		return 0;
	t.tgid = id_here(leader);
	t.room = FIELD(fdtable, (__u64)FIELD(files_struct, t.files, fdt), max_fds);
	bpf_seq_write(ctx->meta->seq, &t, sizeof(t));
	return 0;
}

/* Set by the collector: instead, how many sockets have something with them is counted. */
bool count_sockets = false;
__u64 sockets_found = 0;

SEC("iter/task_file")
int list_open_requests(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	__u64 now = record_until_ns - 1;
	struct socket *socket;
	struct connection *c;
	struct sock *sk;

	barrier_var(file); /* the pointer that was compared, not read again */
	if (!file)
		return 0;
	if (is_late())
		return 1;
	socket = bpf_sock_from_file(file);
	sk = socket ? socket->sk : NULL;
	if (sk && count_sockets) {
		if (sk->sk_bpf_storage && (bpf_sk_storage_get(&connections, sk, NULL, 0) ||
					   bpf_sk_storage_get(&datagram_sockets, sk, NULL, 0)))
			sockets_found += streams_of(sk) ? STREAMS_AS_SOCKETS + 1 : 1;
		return 0;
	}
	c = sk ? known_connection(sk) : NULL;
	if (c && (c->has_streams || c->is_held || c->now.taken_ns) && c->now.taken_ns < now)
		end_connection(c, sk, now);
	return 0;
}
