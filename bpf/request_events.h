/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request_events.h - what is told of requests: their endpoints, their events, and how many of them.
 * Part of chaincap.bpf.c.
 */
#pragma once

/*
 * A request that took so long gets the stacks of its answer, but on each CPU only one in so long,
 * or one that took twice as long as the last one that got them: on a server with more work than it
 * can do all requests take long.
 */
#define REQUEST_STACKS_NS 1000000u

struct open_request {
	__u64 arrival_ns, taken_ns;	 /* taken_ns 0: there is none */
	__u64 first_ns, answer_ns;	 /* the first write and the last one; 0: not answered yet */
	__u32 bytes_read, bytes_written; /* or the most that fits */
	__u32 reader, writer;
	__u32 first_seq; /* of its first byte */
	__u16 flags;
	bool told;	       /* its WIRE_REQUEST was sent */
	bool quick;	       /* it was left out, and is counted so */
	__u32 connection, nth; /* as in struct wire_request */
};

#include "request_bytes.h"

static __always_inline void add_bytes(__u32 *sum, int bytes)
{
	__u32 all = *sum + (__u32)bytes;

	*sum = all < *sum ? ~0u : all;
}

static __always_inline void note_write(struct open_request *r, int bytes, __u32 tid, __u64 at_ns)
{
	if (!r->answer_ns)
		r->first_ns = at_ns;
	r->answer_ns = at_ns;
	add_bytes(&r->bytes_written, bytes);
	r->writer = tid;
}

/* How many requests that get none are told in a second, on each CPU. */
const volatile __u32 request_rate = WIRE_REQUEST_RATE;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_request_account);
} request_accounts SEC(".maps");

/*
 * What is kept with sockets is memory of the recorder's, and strangers may have as many as they
 * like. How many have been given some since the collector counted them last, and the most; it sets
 * both, and counts them in time (kernel/bpf_requests.c).
 */
volatile __u64 n_sockets = 0;
const volatile __u64 max_sockets = ~0ull;

/* Room in a map that keeps something with sockets; NULL: there is none, which is counted. */
#define new_storage(map, sk)                                                                  \
	({                                                                                    \
		void *__s = NULL;                                                             \
		if (n_sockets < max_sockets)                                                  \
			__s = bpf_sk_storage_get(map, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE); \
		if (__s)                                                                      \
			__sync_fetch_and_add(&n_sockets, 1);                                  \
		else                                                                          \
			leave_out(CHAINLOG_LEFT_SOCKETS);                                     \
		__s;                                                                          \
	})

/* From 1 on; some four billions later ids are used again. */
__u32 last_connection __attribute__((aligned(64))) = 0;

static __always_inline __u32 new_connection_id(void)
{
	__u32 id = __sync_fetch_and_add(&last_connection, 1) + 1;

	return id ? id : 1;
}

/*
 * Set by the collector: reads and writes that were made before this time, when one recording had
 * ended and the next one was still to come, are not known, so what arrived before may have been
 * read.
 */
volatile __u64 noted_from_ns = 0;

/* The time of an arrival, or 0 if it is not known whether that has been read since. */
static __always_inline __u64 noted(__u64 ready_ns)
{
	return ready_ns > noted_from_ns ? ready_ns : 0;
}

/* ---- endpoints ------------------------------------------------------------------------------ */

/* Words of a unix socket's address that tell it from others: all of it, or nearly. */
#define UNIX_ADDRESS_WORDS 13

static __always_inline __u64 hash_unix_address(__u64 sk)
{
	__u64 words[UNIX_ADDRESS_WORDS] = { 0 }, address, h;
	__u32 len;

	address = HAS_UNIX_SOCKETS ? (__u64)FIELD(unix_sock, sk, addr) : 0;
	if (!address)
		return 0;
	len = (__u32)FIELD(unix_address, address, len);
	h = hash_seed + len;
	address = ADDRESS(unix_address, address, name) + sizeof(struct sockaddr_un);
	len -= sizeof(struct sockaddr_un);
	if (len > sizeof(words))
		len = sizeof(words);
	barrier_var(len);
	if (len > sizeof(words) || bpf_probe_read_kernel(words, len, (void *)address))
		return h;
#pragma unroll
	for (int i = 0; i < UNIX_ADDRESS_WORDS; i++)
		h = mix_chosen(h, words[i]);
	return h;
}

/* The id of the object that is the socket's endpoint; *hash is set. */
__noinline __u32 find_endpoint(__u64 *hash, __u64 sk, __u64 now)
{
	__u32 slot = OBJECT_OF_REQUEST;
	struct wire_object *o = bpf_map_lookup_elem(&object_scratch, &slot);
	__u16 family;

	if (!hash || !o)
		return 0;
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
	return id_of_object(o, NULL, now, sk);
}

/* The same; *hash: that of the object's key, 0: not known yet. */
static __always_inline __u32 endpoint_id(__u64 *hash, struct sock *sk, __u64 now)
{
	__u32 slot = OBJECT_OF_REQUEST, id = *hash ? recent_of(*hash) : 0;
	struct wire_object *o;

	if (id)
		return id;
	o = bpf_map_lookup_elem(&object_scratch, &slot);
	return o ? find_endpoint(hash, number_of(&o->inode, (__u64)sk), now) : 0;
}

/* The id of the object that is a connection's socket; *hash is set. */
__noinline __u32 find_connected(__u64 *hash, __u64 sk, __u64 now)
{
	__u32 slot = OBJECT_OF_REQUEST;
	struct wire_object *o = bpf_map_lookup_elem(&object_scratch, &slot);

	if (!hash || !o)
		return 0;
	__builtin_memset(&o->key, 0, sizeof(o->key));
	o->owner = (__u32)(bpf_get_current_pid_tgid() >> 32);
	find_socket(&o->key, sk, 0);
	*hash = hash_key(&o->key);
	return id_of_object(o, NULL, now, 0);
}

/* The same; *hash: as endpoint_id(). */
static __always_inline __u32 socket_id(__u64 *hash, struct sock *sk, __u64 now)
{
	__u32 slot = OBJECT_OF_REQUEST, id = *hash ? recent_of(*hash) : 0;
	struct wire_object *o;

	if (id)
		return id;
	o = bpf_map_lookup_elem(&object_scratch, &slot);
	return o ? find_connected(hash, number_of(&o->inode, (__u64)sk), now) : 0;
}

/* ---- events --------------------------------------------------------------------------------- */

/* Room for a request's event, with its bytes if this CPU has not sent them yet; NULL: it is lost.
 */
static __always_inline struct wire_request *request_room(__u32 kind, __u64 now,
							 const struct request_bytes *b)
{
	struct known_bytes *known = NULL;
	struct wire_request_bytes *whole;
	struct wire_request *ev;
	__u32 zero = 0, place = 0;
	__u64 hash = 0;

	if (find_routes && b) {
		hash = hash_bytes(b);
		place = hash >> 1 & (WIRE_KNOWN_BYTES - 1);
		known = bpf_map_lookup_elem(&known_bytes, &zero);
	}
	if (!known || known->hash[place] == hash) {
		ev = record_event(kind, now, struct wire_request);
		if (!ev)
			return NULL;
		ev->n_bytes = 0;
	} else {
		whole = record_event(kind, now, struct wire_request_bytes);
		if (!whole)
			return NULL;
		__builtin_memcpy(whole->bytes, b->at, sizeof(whole->bytes));
		known->hash[place] = hash;
		ev = &whole->request;
		ev->n_bytes = b->n;
	}
	ev->hash = hash;
	return ev;
}

/*
 * Sends an event of one of the three kinds; true: it was not lost. b: its bytes, NULL: there are
 * none. stacks: user << 32 | kernel.
 */
__noinline bool send_request(const struct open_request *r, const struct request_bytes *b, __u64 now,
			     __u64 endpoint_and_kind, __u64 stacks)
{
	__u32 kind = (__u32)(endpoint_and_kind >> 32);
	struct wire_request *ev;

	if (!r)
		return false;
	ev = request_room(kind, now, b);
	if (!ev)
		return false;
	ev->connection = r->connection;
	ev->nth = r->nth;
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

/* The request is over: says so if it was answered by several writes. */
static __always_inline void tell_more(struct open_request *r, __u64 now)
{
	if (r->told && r->answer_ns > r->first_ns && is_recording(now))
		send_request(r, NULL, now, (__u64)WIRE_REQUEST_MORE << 32, 0);
}

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
		kstack = walked_kernel_stack(ctx, ring, k, w, now, false);
	if (has_user_stack(task))
		ustack = user_stack_id(ctx, k, w, now, false);
	barrier();
	*(volatile __u64 *)&a->busy = 0;
	return (__u64)ustack << 32 | kstack;
}
