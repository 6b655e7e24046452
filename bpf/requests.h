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
 * A softirq only notes arrivals: events are sent by system calls, and by the iterator at the end.
 * Races between calls on one connection can make a time wrong by as much as the calls overlap.
 */
#pragma once

/*
 * A request that took so long gets the stacks of its answer, but on each CPU only one in so long,
 * or one that took twice as long as the last one that got them: on a server with more work than it
 * can do all requests take long.
 */
#define REQUEST_STACKS_NS 1000000u

/* include/uapi/linux/in.h, include/net/tcp_states.h, include/linux/socket.h, include/net/sock.h */
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define TCP_ESTABLISHED 1
#define TCP_SYN_RECV 3
#define TCP_FIN_WAIT1 4
#define TCP_CLOSE 7
#define TCP_LAST_ACK 9
#define SOCK_STREAM 1
#define MSG_PEEK 2
#define SOCK_BINDPORT_LOCK 8

struct open_request {
	__u64 arrival_ns, taken_ns; /* taken_ns 0: there is none */
	__u64 first_ns, answer_ns;  /* the first write and the last one; 0: not answered yet */
	__u64 bytes_read, bytes_written;
	__u32 reader, writer;
	__u32 flags;
	__u32 told; /* 1: its WIRE_REQUEST was sent */
};

/* An accepted connection. */
struct connection {
	__u64 id;
	__u64 endpoint; /* hash of its key; 0: not looked for yet */
	__u64 room;	/* see number_of() */
	/* First and last arrival since the last read that got data. ready_ns 0: nothing came. */
	__u64 ready_ns, last_ready_ns;
	__u64 read_ready_ns; /* ready_ns of the last such read */
	__u64 answered_ns;   /* answer of the request before this one */
	__u64 delivered_ns;  /* unix: a write that has not ended yet was delivered; 0: none */
	__u32 ready_seq;     /* bytes written at ready_ns */
	__u32 seen_seq;	     /* and at the end of the last write */
	__u32 held_seq;	     /* seen_seq after the write that answers `held` */
	__u32 requests;
	bool is_old;
	bool is_held;
	struct open_request now, held;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

/* Ports at which something listened when the recording began. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u16);
	__type(value, __u8);
} listening_ports SEC(".maps");

/* Arrivals of datagrams that were not read yet, in order. */
#define DATAGRAMS 64u

struct datagrams {
	__u64 id;
	__u64 endpoint, room; /* as of a connection */
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

/* How many requests that get none are told in a second, on each CPU. */
const volatile __u32 request_rate = WIRE_REQUEST_RATE;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_request_account);
} request_accounts SEC(".maps");

__u64 last_connection __attribute__((aligned(64))) = 0;

static __always_inline __u64 new_connection_id(void)
{
	return __sync_fetch_and_add(&last_connection, 1) + 1;
}

/* ---- endpoints ------------------------------------------------------------------------------ */

/* Words of a unix socket's address that tell it from others: all of it, or nearly. */
#define UNIX_ADDRESS_WORDS 13

static __always_inline __u64 hash_unix_address(__u64 sk)
{
	__u64 words[UNIX_ADDRESS_WORDS] = { 0 }, address = (__u64)FIELD(unix_sock, sk, addr), h;
	__u32 len;

	if (!address)
		return 0;
	len = (__u32)FIELD(unix_address, address, len);
	h = len;
	address = ADDRESS(unix_address, address, name) + sizeof(struct sockaddr_un);
	len -= sizeof(struct sockaddr_un);
	if (len > sizeof(words))
		len = sizeof(words);
	barrier_var(len);
	if (len > sizeof(words) || bpf_probe_read_kernel(words, len, (void *)address))
		return h;
#pragma unroll
	for (int i = 0; i < UNIX_ADDRESS_WORDS; i++)
		h = mix(h, words[i]);
	return h;
}

/* The id of the object that is the socket's endpoint; *hash: see struct connection. */
__noinline __u32 endpoint_id(__u64 *hash, __u64 sk, __u64 now)
{
	__u32 slot = OBJECT_OF_REQUEST, id;
	struct wire_object *o = bpf_map_lookup_elem(&object_scratch, &slot);
	void *ring = this_ring();
	__u16 family;

	if (!hash || !o || !ring)
		return 0;
	id = *hash ? recent_of(*hash) : 0;
	if (id)
		return id;
	family = FIELD(sock, sk, __sk_common.skc_family);
	__builtin_memset(&o->key, 0, sizeof(o->key));
	o->owner = 0;
	o->key.kind = WIRE_OBJECT_ENDPOINT;
	o->key.v[0] = family;
	if (family == AF_UNIX)
		o->key.v[1] = hash_unix_address(sk);
	else
		o->key.v[0] |= (__u64)FIELD(sock, sk, sk_protocol) << 8 | WIRE_INET_LISTENS |
			       (__u64)FIELD(sock, sk, __sk_common.skc_num) << WIRE_INET_PORT;
	*hash = hash_key(&o->key);
	return id_of_object(ring, o, NULL, now, sk);
}

/* ---- events --------------------------------------------------------------------------------- */

/* Sends an event of one of the three kinds; true: it was not lost. stacks: user << 32 | kernel. */
__noinline bool send_request(const struct open_request *r, __u64 connection, __u64 now,
			     __u64 endpoint_and_kind, __u64 stacks)
{
	__u32 kind = (__u32)(endpoint_and_kind >> 32);
	struct wire_request *ev;

	if (!r)
		return false;
	ev = record_event(kind, now, struct wire_request);
	if (!ev)
		return false;
	ev->connection = connection;
	ev->arrival_ns = kind == WIRE_REQUEST_MORE ? r->first_ns : r->arrival_ns;
	ev->taken_ns = r->taken_ns;
	ev->answer_ns = r->answer_ns;
	ev->bytes_read = r->bytes_read;
	ev->bytes_written = r->bytes_written;
	ev->reader = r->reader;
	ev->writer = r->writer;
	ev->kstack = (__u32)stacks;
	ev->ustack = (__u32)(stacks >> 32);
	ev->endpoint = (__u32)endpoint_and_kind;
	ev->flags = r->flags;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return true;
}

/* The first answer of a request; stacks as above. */
static __always_inline void tell_request(struct connection *c, struct open_request *r, __u64 sk,
					 __u64 now, __u64 stacks)
{
	__u64 endpoint = endpoint_id(&c->endpoint, sk, now);

	if (is_recording(now))
		r->told = send_request(r, c->id, now, endpoint | (__u64)WIRE_REQUEST << 32, stacks);
}

/* The request is over: says so if it was answered by several writes. */
static __always_inline void tell_more(struct connection *c, struct open_request *r, __u64 now)
{
	if (r->told && r->answer_ns > r->first_ns && is_recording(now))
		send_request(r, c->id, now, (__u64)WIRE_REQUEST_MORE << 32, 0);
}

/* A call ended whose write answered the request that was held, or nobody knows which did. */
static __always_inline void tell_held(struct connection *c, __u64 sk, __u64 now)
{
	c->is_held = false;
	if (c->held.told)
		tell_more(c, &c->held, now);
	else
		tell_request(c, &c->held, sk, now, 0);
}

/* There will be no more requests, or the recording is over. */
static __always_inline void end_connection(struct connection *c, __u64 sk, __u64 now)
{
	struct open_request *r = &c->now;
	__u64 endpoint;

	if (c->is_held)
		tell_held(c, sk, now);
	if (r->told) {
		tell_more(c, r, now);
	} else if (r->taken_ns && !r->answer_ns && is_recording(now)) {
		endpoint = endpoint_id(&c->endpoint, sk, now);
		send_request(r, c->id, now, endpoint | (__u64)WIRE_REQUEST_OPEN << 32, 0);
	}
	__builtin_memset(r, 0, sizeof(*r));
}

/* ---- connections ---------------------------------------------------------------------------- */

static __always_inline bool is_inet(__u16 family)
{
	return family == AF_INET || family == AF_INET6;
}

static __always_inline void begin_connection(struct connection *c, __u64 now)
{
	c->id = new_connection_id();
	c->is_old = !is_recording(now);
}

/*
 * What is known of an accepted connection; NULL: it is not one. Of two connected unix sockets, only
 * the accepted one has an address: that of the one that listened.
 */
static __always_inline struct connection *connection_of(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;
	struct connection *c;

	if (family != AF_UNIX)
		return is_inet(family) && sk->sk_bpf_storage
			       ? bpf_sk_storage_get(&connections, sk, NULL, 0)
			       : NULL;
	if (sk->sk_bpf_storage) {
		c = bpf_sk_storage_get(&connections, sk, NULL, 0);
		if (c)
			return c;
	}
	if (sk->sk_type != SOCK_STREAM || sk->__sk_common.skc_state != TCP_ESTABLISHED ||
	    !FIELD(unix_sock, sk, addr))
		return NULL;
	c = bpf_sk_storage_get(&connections, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
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
		return c->delivered_ns;
	return c->ready_ns && (__s32)(c->ready_seq - c->seen_seq) > 0 ? c->ready_ns : 0;
}

/* ---- arrivals ------------------------------------------------------------------------------- */

/* It serves whoever sends to its port. */
static __always_inline bool is_datagram_server(struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_UDP && sk->__sk_common.skc_state != TCP_ESTABLISHED &&
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

/* The current thread writes to a client, whose end of a unix connection is sk. */
static __always_inline void delivered(struct sock *sk)
{
	struct unix_sock *u = (void *)bpf_skc_to_unix_sock(sk);
	struct sock *peer = u ? u->peer : NULL;
	struct connection *c = peer && peer->sk_bpf_storage
				       ? bpf_sk_storage_get(&connections, peer, NULL, 0)
				       : NULL;

	if (c)
		c->delivered_ns = bpf_ktime_get_ns();
}

static __always_inline void data_arrived(struct sock *sk)
{
	struct connection *c = connection_of(sk);
	__u16 family = sk->__sk_common.skc_family;
	__u64 now;

	if (!c) {
		if (is_inet(family))
			datagram_arrived(sk);
		else if (family == AF_UNIX && sk->sk_type == SOCK_STREAM &&
			 sk->__sk_common.skc_state == TCP_ESTABLISHED)
			delivered(sk);
		return;
	}
	now = bpf_ktime_get_ns();
	if (!c->ready_ns) {
		c->ready_ns = now;
		if (family != AF_UNIX)
			c->ready_seq = written(sk);
	}
	c->last_ready_ns = now;
}

/*
 * Data came to a socket, in a softirq or, from a socket of the same machine, in the sender's call.
 * Not loaded where the kernel does not have it (before 6.3).
 */
SEC("tp_btf/sk_data_ready")
int on_data(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];

	if (find_objects)
		note_ready_socket(ctx[0]);
	if (find_requests)
		data_arrived(sk);
	return 0;
}

/* ---- reads ---------------------------------------------------------------------------------- */

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
		r.arrival_ns = d->at_ns[d->tail++ & (DATAGRAMS - 1)];
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

/* A read that got data begins a request. */
static __always_inline void begin_request(struct connection *c, __u32 tid, __u64 now)
{
	struct open_request *r = &c->now;

	r->taken_ns = now;
	r->reader = tid;
	r->flags = c->is_old ? WIRE_REQUEST_OLD : 0;
	if (!c->requests++ && !c->is_old)
		r->flags |= WIRE_REQUEST_FIRST;
	r->arrival_ns = c->ready_ns;
	if (!r->arrival_ns) {
		/* It came together with what was read before. */
		r->arrival_ns = c->read_ready_ns ? c->read_ready_ns : now;
		r->flags |= c->read_ready_ns ? WIRE_REQUEST_PIPELINED : WIRE_REQUEST_NO_ARRIVAL;
	}
	if (r->arrival_ns < c->answered_ns)
		r->flags |= WIRE_REQUEST_PIPELINED;
}

/* The request that was open is over when the next one is read. */
static __always_inline void next_request(struct connection *c)
{
	c->answered_ns = c->now.answer_ns;
	__builtin_memset(&c->now, 0, sizeof(c->now));
}

static __always_inline void end_request_at_read(struct connection *c, __u64 now, bool is_unix)
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
		tell_more(c, &c->now, now);
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
	end_request_at_read(c, now, is_unix);
	if (!c->now.taken_ns)
		begin_request(c, tid, now);
	c->now.bytes_read += (__u32)bytes;
	if (c->ready_ns)
		c->read_ready_ns = c->ready_ns;
	*(volatile __u64 *)&c->ready_ns = 0;
	if (has_more(sk, is_unix)) {
		c->ready_seq = c->seen_seq;
		c->ready_ns = c->last_ready_ns;
	}
}

SEC("tp_btf/sock_recv_length")
int on_receive(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct task_struct *task = bpf_get_current_task_btf();
	bool is_unix = sk->__sk_common.skc_family == AF_UNIX;
	int bytes = (int)ctx[1];
	struct connection *c;
	__u64 now;

	/* Nothing to read: only of a connection that was reset this says something. */
	if (bytes < 0 && sk->__sk_common.skc_state != TCP_CLOSE)
		return 0;
	c = connection_of(sk);
	if (is_recorder(task->tgid))
		return 0;
	if (!c) {
		if (bytes > 0 && !(ctx[2] & MSG_PEEK) && sk->sk_bpf_storage &&
		    is_datagram_server(sk))
			take_datagram(sk, bytes, task->pid, bpf_ktime_get_ns());
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (bytes > 0) {
		if (!(ctx[2] & MSG_PEEK))
			data_read(c, sk, bytes, task->pid, now, is_unix);
		return 0;
	}
	/* The end of the stream; of a unix socket, and if it was reset, nothing else says so. */
	if (!bytes)
		c->ready_ns = 0;
	if (is_unix ? !bytes : bytes < 0)
		end_connection(c, number_of(&c->room, (__u64)sk), now);
	return 0;
}

/* ---- writes --------------------------------------------------------------------------------- */

/* Whether a request without stacks is one too many, and is not told. */
static __always_inline bool is_untold(struct wire_request_account *a, __u64 now)
{
	if (now - a->second_ns >= 1000000000) {
		a->second_ns = now;
		a->told = 0;
	}
	if (a->told++ < request_rate)
		return false;
	__sync_fetch_and_add(&a->untold, 1);
	return true;
}

static __always_inline bool wants_stacks(struct wire_request_account *a, __u64 took_ns, __u64 now)
{
	if (now - a->stacks_ns < REQUEST_STACKS_NS && took_ns < 2 * a->took_ns)
		return false;
	a->stacks_ns = now;
	a->took_ns = took_ns;
	return true;
}

/*
 * The stacks of an answer, as for send_request(); at a probe, where the kernel's are its own
 * affair, the user stack alone. A program of a probe that has been preempted here on this CPU has
 * the memory for itself; then there are none.
 */
static __always_inline __u64 answer_stacks(void *ctx, struct wire_request_account *a,
					   struct task_struct *task, __u32 kind, __u64 now)
{
	__u32 key = kind, kstack = 0, ustack = 0;
	struct wire_kind_state *k = bpf_map_lookup_elem(&kinds, &key);
	struct workspace *w = workspace_of(kind);
	void *ring = this_ring();

	if (!k || !w || !ring || __sync_lock_test_and_set(&a->busy, 1))
		return 0;
	k->kind = kind;
	if (kernel_stacks && kind == WIRE_REQUEST)
		kstack = walked_kernel_stack(ctx, ring, k, w, now);
	if (has_user_stack(task))
		ustack = user_stack_id(ctx, k, w, now);
	barrier();
	*(volatile __u64 *)&a->busy = 0;
	return (__u64)ustack << 32 | kstack;
}

static __always_inline void note_write(struct open_request *r, int bytes, __u32 tid, __u64 at_ns)
{
	if (!r->answer_ns)
		r->first_ns = at_ns;
	r->answer_ns = at_ns;
	r->bytes_written += (__u32)bytes;
	r->writer = tid;
}

static __always_inline void note_unsent(struct connection *c, struct sock *sk)
{
	struct tcp_sock *tcp = CAST(tcp_sock, sk);

	c->seen_seq = tcp->write_seq;
	if (tcp->snd_nxt != tcp->write_seq)
		c->now.flags |= WIRE_REQUEST_UNSENT;
	else
		c->now.flags &= ~(__u32)WIRE_REQUEST_UNSENT;
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
		tell_more(c, &c->held, now);
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

SEC("tp_btf/sock_send_length")
int on_send(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct task_struct *task = bpf_get_current_task_btf();
	bool is_unix = sk->__sk_common.skc_family == AF_UNIX;
	struct open_request *r = NULL, datagram;
	struct datagram_reader key = { 0 };
	struct datagrams *d = NULL;
	struct connection *c;
	int bytes = (int)ctx[1];
	__u32 tid = task->pid;
	__u64 now, took_ns, stacks = 0;
	struct wire_request_account *a;
	__u32 zero = 0;

	if (bytes <= 0)
		return 0;
	c = connection_of(sk);
	if ((!c && !sk->sk_bpf_storage) || is_recorder(task->tgid))
		return 0;
	now = bpf_ktime_get_ns();
	if (c) {
		r = data_written(c, sk, bytes, tid, now, is_unix);
		if (!r)
			return 0;
	} else {
		if (!is_datagram_server(sk))
			return 0;
		d = bpf_sk_storage_get(&datagram_sockets, sk, NULL, 0);
		if (!d)
			return 0;
		key.socket = d->id;
		key.tid = tid;
		r = bpf_map_lookup_elem(&taken_datagrams, &key);
		if (!r)
			return 0;
		datagram = *r;
		bpf_map_delete_elem(&taken_datagrams, &key);
		note_write(&datagram, bytes, tid, now);
		r = &datagram;
	}
	a = bpf_map_lookup_elem(&request_accounts, &zero);
	if (!a || !is_recording(now))
		return 0;
	took_ns = now - r->arrival_ns;
	if (took_ns >= REQUEST_STACKS_NS && wants_stacks(a, took_ns, now))
		stacks = answer_stacks(ctx, a, task, WIRE_REQUEST, now);
	else if (is_untold(a, now))
		return 0;
	if (find_contexts)
		note_context(now);
	if (c)
		tell_request(c, r, number_of(&c->room, (__u64)sk), now, stacks);
	else if (d)
		send_request(r, 0, now,
			     endpoint_id(&d->endpoint, number_of(&d->room, (__u64)sk), now) |
				     (__u64)WIRE_REQUEST << 32,
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
	if (before == TCP_SYN_RECV && after == TCP_ESTABLISHED) {
		c = bpf_sk_storage_get(&connections, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
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
		end_connection(c, number_of(&c->room, (__u64)sk), now);
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
	__u8 one = 1;
	__u16 port;

	if (!sk)
		return 0;
	port = sk->skc_num;
	if (!list_connections) {
		if (sk->skc_state == TCP_LISTEN)
			bpf_map_update_elem(&listening_ports, &port, &one, BPF_ANY);
		return 0;
	}
	if (sk->skc_state != TCP_ESTABLISHED || !bpf_map_lookup_elem(&listening_ports, &port))
		return 0;
	tcp = (void *)bpf_skc_to_tcp_sock(sk);
	if (!tcp)
		return 0;
	c = bpf_sk_storage_get(&connections, tcp, NULL, BPF_SK_STORAGE_GET_F_CREATE);
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

	if (sk)
		connection_of((void *)sk);
	return 0;
}

/* ---- requests that are open when the recording ends ----------------------------------------- */

SEC("iter/bpf_sk_storage_map")
int list_open_requests(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct connection *c = ctx->value;
	__u64 now = record_until_ns - 1;

	if (ctx->sk && c && (c->is_held || c->now.taken_ns) && c->now.taken_ns < now)
		end_connection(c, number_of(&c->room, (__u64)ctx->sk), now);
	return 0;
}
