/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tls.h - what requests on connections of TLS ask for (--tls): probes at the functions of libssl
 * that decipher tell the first bytes, as request_bytes.h takes them of other connections. Part of
 * chaincap.bpf.c.
 *
 * Which connection the bytes are of is told by the thread: before a call gives bytes, or in it, the
 * thread has read what it deciphers from the socket. If a connection's state (SSL *) was another
 * one's before, also that of a socket that is no server's, the thread must have read in the call
 * itself, as it may have read of two connections before it. No struct of OpenSSL is looked into.
 * Who calls such functions for nothing can only say what he likes of his own connections.
 */
#pragma once

struct tls_key {
	__u64 tls;
	__u64 tgid;
};

/* The request whose bytes were read last. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WIRE_TLS_CONNECTIONS);
	__type(key, struct tls_key);
	__type(value, struct of_connection);
} tls_connections SEC(".maps");

static const struct request_bytes no_bytes;

/* n bytes at `from` are of that request. */
static __noinline int take_plain(__u32 connection, __u32 nth, __u64 from, __u64 n)
{
	struct request_bytes *b = bpf_map_lookup_elem(&plain_bytes, &connection);

	if (!b || b->nth != nth) {
		bpf_map_update_elem(&plain_bytes, &connection, &no_bytes, BPF_ANY);
		b = bpf_map_lookup_elem(&plain_bytes, &connection);
		if (!b)
			return 0;
		b->nth = nth;
	}
	if (!b->is_closed)
		append_part(b, from, n);
	return 0;
}

static __always_inline void deciphered(struct tls_read *t, __u64 tgid, __u64 n)
{
	struct tls_key key = { t->tls, tgid };
	struct of_connection *known = bpf_map_lookup_elem(&tls_connections, &key), is = t->of;

	if (!is.connection) {
		/* More of what was read before. */
		if (!known)
			return;
		is = *known;
	} else {
		if (known && known->connection != is.connection && !t->is_from)
			return;
		t->of.connection = 0;
		bpf_map_update_elem(&tls_connections, &key, &is, BPF_ANY);
	}
	if (is.connection != OTHER_CONNECTION)
		take_plain(is.connection, is.nth, t->buffer, n);
}

static __always_inline void enter_read(void *ctx, const struct wire_probe_site *site, __u32 tid)
{
	struct tls_read *t = tls_read_of(tid);

	if (!t)
		return;
	t->tls = read_value(ctx, &site->id);
	t->buffer = read_value(ctx, &site->label);
	t->n = read_value(ctx, &site->n);
	t->is_in = true;
	t->is_from = false;
}

/* SSL_read() returns the number, SSL_read_ex() 1 and writes it to where its caller wants it. */
static __always_inline void leave_read(void *ctx, const struct wire_probe_site *site, __u32 tid,
				       __u64 tgid)
{
	struct tls_read *t = bpf_map_lookup_elem(&tls_reads, &tid);
	__u64 n = read_value(ctx, &site->n);

	if (!t || !t->is_in)
		return;
	t->is_in = false;
	if (site->act == WIRE_PROBE_TLS_READ_EX_DONE &&
	    (n != 1 || bpf_probe_read_user(&n, sizeof(n), (void *)t->n)))
		return;
	if ((__s64)n > 0)
		deciphered(t, tgid, n);
}

SEC("uprobe")
int on_tls(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	struct wire_probe_site *site = bpf_map_lookup_elem(&probe_sites, &number);
	struct tls_key key = { .tgid = task->tgid };

	if (!site || is_recorder(task->tgid) || !is_recording(bpf_ktime_get_ns()))
		return 0;
	if (site->act == WIRE_PROBE_TLS_READ) {
		enter_read(ctx, site, task->pid);
	} else if (site->act == WIRE_PROBE_TLS_FREE) {
		key.tls = read_value(ctx, &site->id);
		bpf_map_delete_elem(&tls_connections, &key);
	} else {
		leave_read(ctx, site, task->pid, task->tgid);
	}
	return 0;
}
