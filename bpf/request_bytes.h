/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request_bytes.h - how requests on connections begin: their first bytes, taken from the memory of
 * the thread that reads them, in the call that read them. The collector makes a route of them, and
 * keeps no others. Part of chaincap.bpf.c.
 *
 * Where a read's bytes are is said by the arguments of the system call. Of io_uring and of what the
 * kernel reads by itself it is not: such a request has no bytes, or only those from before it.
 */
#pragma once

#define MSG_TRUNC 0x20

/* Set before loading. */
const volatile bool find_routes = false;
const volatile bool find_plain = false;

struct request_bytes {
	__u32 nth; /* of which request of the connection, see struct open_request */
	__u16 n;
	bool is_closed; /* nothing follows: some of the request is missing from here on */
	char at[WIRE_REQUEST_BYTES]; /* zero from n on */
};

/*
 * Of the request that is read and of the one before it, whose event may not have been sent yet, by
 * nth. is_secret: what is read is enciphered, so it is not looked at any more.
 */
struct first_bytes {
	struct request_bytes of[2];
	bool is_secret;
};

_Static_assert(sizeof(struct first_bytes) <= 1024 - 72, "an element has 1024 bytes");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct first_bytes);
} first_bytes SEC(".maps");

/* Hashes of what this CPU has sent, by their lower bits: those bytes are not sent again. */
struct known_bytes {
	__u64 hash[WIRE_KNOWN_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct known_bytes);
} known_bytes SEC(".maps");

/* Not constant, as the verifier refuses to pass on what is. */
static struct request_bytes enciphered = { .n = sizeof(WIRE_ENCIPHERED) - 1,
					   .at = WIRE_ENCIPHERED };

/* ---- deciphered ones ------------------------------------------------------------------------- */

/* Of a socket whose requests are not recorded: it is a client's, or for other data. */
#define OTHER_CONNECTION (~0u)

/* A connection, by its number (which no other one has had), and one of its requests. */
struct of_connection {
	__u32 connection; /* 0: none; or OTHER_CONNECTION */
	__u32 nth;
};

/* What a thread has read to decipher, and the call that deciphers: see tls.h. */
struct tls_read {
	struct of_connection of; /* .connection 0: nothing, or that is deciphered */
	__u64 tls, buffer, n;
	bool is_in;   /* the call */
	bool is_from; /* it was read in the call */
};

/* By thread. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WIRE_TLS_READERS);
	__type(key, __u32);
	__type(value, struct tls_read);
} tls_reads SEC(".maps");

/* The first bytes of the request that is read, by connection. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WIRE_TLS_CONNECTIONS);
	__type(key, __u32);
	__type(value, struct request_bytes);
} plain_bytes SEC(".maps");

/* Of the thread; NULL: there is no room. */
static __always_inline struct tls_read *tls_read_of(__u32 tid)
{
	static const struct tls_read nothing;
	struct tls_read *t = bpf_map_lookup_elem(&tls_reads, &tid);

	if (t)
		return t;
	bpf_map_update_elem(&tls_reads, &tid, &nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(&tls_reads, &tid);
}

static __noinline int note_secret_read(__u32 tid, __u32 connection, __u32 nth)
{
	struct tls_read *t = tls_read_of(tid);

	if (!t)
		return 0;
	t->of.connection = connection;
	t->of.nth = nth;
	t->is_from = t->is_in;
	return 0;
}

/* What the thread deciphers then, if it does, is of a socket whose requests are not recorded. */
static __always_inline void note_other_read(void)
{
	__u32 tid = bpf_get_current_task_btf()->pid;

	if (bpf_map_lookup_elem(&tls_reads, &tid))
		note_secret_read(tid, OTHER_CONNECTION, 0);
}

static __always_inline struct request_bytes *plain_of(const struct open_request *r)
{
	__u32 connection = r->connection;
	struct request_bytes *b = bpf_map_lookup_elem(&plain_bytes, &connection);

	return b && b->nth == r->nth && b->n ? b : NULL;
}

/* The bytes of a request; NULL: there are none, or no longer. */
static __always_inline struct request_bytes *bytes_of(struct sock *sk, const struct open_request *r)
{
	struct first_bytes *f = find_routes ? bpf_sk_storage_get(&first_bytes, sk, NULL, 0) : NULL;
	struct request_bytes *b;

	if (!f)
		return NULL;
	if (f->is_secret && find_plain) {
		b = plain_of(r);
		if (b)
			return b;
	}
	b = r->nth & 1 ? &f->of[1] : &f->of[0];
	if (b->nth == r->nth && b->n)
		return b;
	return f->is_secret ? &enciphered : NULL;
}

/* ---- where they are ------------------------------------------------------------------------- */

/* A part of the memory to which a call reads. */
struct read_part {
	__u64 at, n;
};

/* The memory that a call reads to or writes from: n parts, which an array says; 0: one, at `at`. */
struct call_memory {
	__u64 at, array, n;
	bool is_32;
};

/* The first two of the parts that an array says. */
static __always_inline bool find_parts(const struct call_memory *m, struct read_part to[2])
{
	void *array = (void *)m->array;
	__u32 words[4] = { 0 };

	if (!m->is_32)
		return m->n > 1 ? !bpf_probe_read_user(to, 2 * sizeof(*to), array)
				: !bpf_probe_read_user(to, sizeof(*to), array);
	if (m->n > 1 ? bpf_probe_read_user(words, sizeof(words), array)
		     : bpf_probe_read_user(words, sizeof(words) / 2, array))
		return false;
	to[0] = (struct read_part) { words[0], words[1] };
	to[1] = (struct read_part) { words[2], words[3] };
	return true;
}

/* That of a struct msghdr. */
static __always_inline bool find_message(__u64 msg, struct call_memory *m)
{
	__u64 iov[2];	 /* msg_iov, msg_iovlen */
	__u32 iov_32[2]; /* behind msg_name, msg_namelen */

	if (!m->is_32) {
		if (bpf_probe_read_user(iov, sizeof(iov), (void *)(msg + 16)))
			return false;
		m->array = iov[0];
		m->n = iov[1];
	} else {
		if (bpf_probe_read_user(iov_32, sizeof(iov_32), (void *)(msg + 8)))
			return false;
		m->array = iov_32[0];
		m->n = iov_32[1];
	}
	return m->n;
}

/* That of the thread's system call, which has read or written; false: it is not known. */
static __noinline bool find_memory(struct task_struct *task, bool is_write, struct call_memory *m)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	bool is_32 = is_32bit_call(task, regs);
	long number = call_number(regs);
	enum read_call how = is_write ? write_call_of(number, is_32) : read_call_of(number, is_32);
	__u32 words[3];
	__u64 args[4];

	if (!UNTRUSTED(task_struct, task)->mm || is_worker(task))
		return false;
	call_args(regs, is_32, args);
	if (how == READ_SOCKETCALL) {
		/* As they would be in registers; recv() and recvfrom(), recvmsg(). */
		how = args[0] == 10 || args[0] == 12 ? READ_BUFFER
		      : args[0] == 17		     ? READ_MESSAGE
						     : READ_OTHER;
		if (bpf_probe_read_user(words, sizeof(words), (void *)args[1]))
			return false;
		args[1] = words[1];
	}
	m->is_32 = is_32;
	switch (how) {
	case READ_BUFFER:
		m->at = args[1];
		m->n = 0;
		return true;
	case READ_PARTS:
		m->array = args[1];
		m->n = args[2];
		return m->n;
	case READ_MESSAGES:
		/* Of several it is not known which one this is. */
		if (args[2] != 1)
			return false;
		return find_message(args[1], m);
	case READ_MESSAGE:
		return find_message(args[1], m);
	default:
		return false;
	}
}

/* Where the n bytes are that it has read. */
static __always_inline bool find_read(struct task_struct *task, __u32 n, struct read_part to[2])
{
	struct call_memory m = { 0 };

	if (!find_memory(task, false, &m))
		return false;
	if (m.n)
		return find_parts(&m, to);
	to[0] = (struct read_part) { m.at, n };
	return true;
}

/* ---- taking them ---------------------------------------------------------------------------- */

/*
 * Appends up to n bytes of user memory. In steps of where they go, by which the verifier sees that
 * there is room: of a request that is read in parts, what comes after the first 128 bytes is left
 * out, unless it comes with bytes before.
 */
static __always_inline void append_part(struct request_bytes *b, __u64 from, __u64 n)
{
	__u32 at = b->n, room, size;

	barrier_var(at);
	if (!at)
		room = WIRE_REQUEST_BYTES;
	else if (at <= 32)
		room = WIRE_REQUEST_BYTES - 32;
	else if (at <= 64)
		room = WIRE_REQUEST_BYTES - 64;
	else if (at <= 128)
		room = WIRE_REQUEST_BYTES - 128;
	else
		return;
	size = n < room ? (__u32)n : room;
	barrier_var(size);
	if (size > room)
		return;
	if (bpf_probe_read_user(b->at + at, size, (void *)from))
		b->is_closed = true;
	else
		b->n = (__u16)(at + size);
}

/*
 * The beginning of a TLS record: of a kind, 3 and a version, with a length that a command of MySQL,
 * which may look the same, has not. Of a handshake (0x16) with what it is, by which the collector
 * is sure.
 */
static __always_inline bool is_tls(const struct request_bytes *b)
{
	const __u8 *at = (const __u8 *)b->at;

	return b->n >= (at[0] == 0x16 ? 9 : 5) && at[0] >= 0x14 && at[0] <= 0x17 && at[1] == 3 &&
	       at[2] <= 4 && (at[3] || at[4] >= 0x20);
}

/* What a connection of HTTP/2 begins with. */
#define PREFACE_BYTES 24

static __always_inline bool is_preface(const struct request_bytes *b)
{
	__u64 words[3];

	__builtin_memcpy(words, b->at, sizeof(words));
	return b->n >= PREFACE_BYTES && words[0] == *(const __u64 *)"PRI * HT" &&
	       words[1] == *(const __u64 *)"TP/2.0\r\n" &&
	       words[2] == *(const __u64 *)"\r\nSM\r\n\r\n";
}

#define FRAMES_NOW (~0u)

/* Whether that may be a frame of headers with which a client begins a stream. */
static __always_inline bool begins_stream(const struct request_bytes *b, __u32 bytes)
{
	const __u8 *at = (const __u8 *)b->at;

	return b->n >= 9 && at[3] == 1 && (at[4] & ~0x29) == 4 && !at[0] && !(at[5] & 0x80) &&
	       at[8] & 1 && ((__u32)at[1] << 8 | at[2]) + 9 <= bytes;
}

/*
 * A read of a connection's request got so many bytes; flags: MSG_*. Returns how many of them belong
 * to what connections of HTTP/2 begin with, if that has been read now: what follows is not taken.
 * FRAMES_NOW: they look like frames with a stream's headers, on a connection that began before.
 */
static __always_inline __u32 take_bytes(struct sock *sk, const struct open_request *r,
					struct task_struct *task, __u32 bytes, __u32 flags)
{
	struct read_part to[2] = { 0 };
	struct first_bytes *f;
	struct request_bytes *b;
	__u64 n, before;

	f = bpf_sk_storage_get(&first_bytes, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!f)
		return 0;
	if (f->is_secret) {
		if (find_plain)
			note_secret_read(UNTRUSTED(task_struct, task)->pid, r->connection, r->nth);
		return 0;
	}
	b = r->nth & 1 ? &f->of[1] : &f->of[0];
	if (b->nth != r->nth) {
		__builtin_memset(b, 0, sizeof(*b));
		b->nth = r->nth;
	}
	if (b->is_closed || b->n > 128)
		return 0;
	if (flags & MSG_TRUNC || !find_read(task, bytes, to)) {
		b->is_closed = true;
		return 0;
	}
	n = to[0].n < bytes ? to[0].n : bytes;
	before = b->n;
	append_part(b, to[0].at, n);
	/* A part of it may have come with earlier reads. */
	if (before < PREFACE_BYTES && is_preface(b)) {
		b->is_closed = true;
		return PREFACE_BYTES - (__u32)before;
	}
	n = bytes - n;
	if (n && !b->is_closed) {
		append_part(b, to[1].at, to[1].n < n ? to[1].n : n);
		b->is_closed = to[1].n < n;
	}
	f->is_secret = is_tls(b);
	/* Of a connection from before the recording this is no greeting. */
	if (find_plain && f->is_secret)
		note_secret_read(UNTRUSTED(task_struct, task)->pid, r->connection, r->nth);
	return !before && begins_stream(b, bytes) ? FRAMES_NOW : 0;
}

/* A hash of the bytes, not 0. Strangers choose them. */
static __always_inline __u64 hash_bytes(const struct request_bytes *b)
{
	const __u64 *words = (const void *)b->at;
	__u64 h = hash_seed + b->n;

	for (__u32 i = 0; i < WIRE_REQUEST_BYTES / 8 && i * 8 < b->n; i++)
		h = mix_chosen(h, words[i]);
	return h | 1;
}
