/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context.h - the contexts that programs publish: of which trace and span the work of a thread is,
 * as OpenTelemetry defines it (thread context). Part of chaincap.bpf.c.
 *
 * A thread-local variable points to a record that only its own thread changes. So it is read when
 * the thread goes to sleep, wakes somebody or answers a request, while it cannot change it. Only
 * processes in the map "publishers" are looked at; the collector finds them. Everything that is
 * read may be wrong or hostile: no address is used but to read bounded user memory, and no length
 * without a bound.
 */
#pragma once

/* Record contexts. Set before loading. */
const volatile bool find_contexts = false;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_PUBLISHERS);
	__uint(map_flags, AS_NEEDED);
	__type(key, __u32);
	__type(value, struct wire_publisher);
} publishers SEC(".maps");

/* A thread, also told from one that had its id before. */
struct context_thread {
	__u64 tid, start_time;
};

/* The hash of the last context of a thread that was recorded. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, struct context_thread);
	__type(value, __u64);
} last_contexts SEC(".maps");

/* ---- the record ----------------------------------------------------------------------------- */

/* What the variable points to, before the attributes. */
struct context_record {
	__u8 trace[16], span[8];
	__u8 valid, flags;
	__u16 size; /* of the attributes, bytes */
} __attribute__((packed));

#define CONTEXT_ATTRIBUTES 16	     /* that are looked at, at most, */
#define CONTEXT_ATTRIBUTE_BYTES 255u /* and of how many bytes */

/* Attributes follow each other: index of the key, length, value. The last one of a key counts. */
struct attribute_search {
	struct wire_object *o; /* they are in path, from WIRE_OBJECT_PATH on */
	__u32 key, size;
	__u32 at;	  /* where the next one is */
	__u32 found, len; /* the value; found 0: none */
};

static long look_at_attribute(__u32 i, struct attribute_search *s)
{
	__u32 at = s->at, key, len;

	(void)i;
	barrier_var(at);
	if (at > CONTEXT_ATTRIBUTE_BYTES - 2 || at + 2 > s->size)
		return 1;
	key = (__u8)s->o->path[WIRE_OBJECT_PATH + at];
	len = (__u8)s->o->path[WIRE_OBJECT_PATH + at + 1];
	if (at + 2 + len > s->size)
		return 1;
	if (key == s->key) {
		s->found = at + 2;
		s->len = len;
	}
	s->at = at + 2 + len;
	return 0;
}

LOOP(look_at_attribute, struct attribute_search, CONTEXT_ATTRIBUTES)

_Static_assert(WIRE_NAME_MAX > CONTEXT_ATTRIBUTE_BYTES, "room for attributes");

/* The id of the text of n bytes in o->path, which is filled up with zeros. */
static __always_inline __u32 route_object(struct wire_object *o, __u32 tgid, __u32 n, __u64 now)
{
	const __u64 *words = (void *)o->path;
	__u64 a = hash_seed + n, b = ~a;

#pragma unroll
	for (__u32 i = 0; i < WIRE_ROUTE_MAX / 8; i++) {
		a = mix_chosen(a, words[i]);
		b = mix_chosen(b, words[i] ^ a);
	}
	__builtin_memset(&o->key, 0, sizeof(o->key));
	o->owner = 0;
	o->key.kind = WIRE_OBJECT_ROUTE;
	o->key.tgid = tgid;
	o->key.v[0] = a;
	o->key.v[1] = b;
	return id_of_object(o, NULL, now, n);
}

/* The object of the route among the attributes at that address, of that many bytes; 0: none. */
static __always_inline __u32 read_route(const struct wire_publisher *p, __u32 tgid, __u64 at,
					__u32 size, __u64 now)
{
	__u32 slot = OBJECT_OF_CONTEXT;
	struct attribute_search s = { .key = p->route };
	__u32 n, from;

	s.o = bpf_map_lookup_elem(&object_scratch, &slot);
	if (!s.o)
		return 0;
	if (size > CONTEXT_ATTRIBUTE_BYTES)
		size = CONTEXT_ATTRIBUTE_BYTES;
	barrier_var(size);
	if (size > CONTEXT_ATTRIBUTE_BYTES ||
	    bpf_probe_read_user(s.o->path + WIRE_OBJECT_PATH, size, (void *)at))
		return 0;
	s.size = size;
	loop_look_at_attribute(&s);
	from = s.found;
	n = s.len;
	if (!from || !n)
		return 0;
	if (n > WIRE_ROUTE_MAX)
		n = WIRE_ROUTE_MAX;
	/* Bounded here: the verifier of 6.1 loses the bounds of spilled values. */
	barrier_var(n);
	barrier_var(from);
	if (n > WIRE_ROUTE_MAX || from > CONTEXT_ATTRIBUTE_BYTES)
		return 0;
	__builtin_memset(s.o->path, 0, WIRE_ROUTE_MAX);
	if (from + n > WIRE_NAME_MAX ||
	    bpf_probe_read_kernel(s.o->path, n, s.o->path + WIRE_OBJECT_PATH + from))
		return 0;
	return route_object(s.o, tgid, n, now);
}

/* The context of the current thread: all 0 if it has none. */
static __always_inline void read_context(struct wire_publisher *p, struct task_struct *task,
					 __u64 now, struct wire_context *c)
{
	__u64 variable = thread_variable(&p->at, thread_pointer(task)), at;
	struct context_record record;
	__u64 *words = (void *)&record;

	if (!variable || !read_words(&at, 1, variable) || !at ||
	    bpf_probe_read_user(&record, sizeof(record), (void *)at) || record.valid != 1)
		return;
	c->trace_high = __builtin_bswap64(words[0]);
	c->trace_low = __builtin_bswap64(words[1]);
	c->span = __builtin_bswap64(words[2]);
	if (record.size && p->route < WIRE_NO_KEY)
		c->route = read_route(p, task->tgid, at + sizeof(record), record.size, now);
}

/* ---- events --------------------------------------------------------------------------------- */

static __always_inline void send_context(const struct wire_context *c, __u64 now)
{
	struct context_thread thread = { .tid = c->tid };
	__u64 hash = 0, *last;
	struct wire_context *ev;

	thread.start_time = bpf_get_current_task_btf()->start_time;
	if (c->trace_high | c->trace_low | c->span | c->route)
		hash = mix(mix(mix(mix(1, c->trace_high), c->trace_low), c->span), c->route) | 1;
	last = bpf_map_lookup_elem(&last_contexts, &thread);
	if (hash == (last ? *last : 0))
		return;
	ev = record_event(WIRE_CONTEXT, now, struct wire_context);
	if (!ev)
		return;
	ev->trace_high = c->trace_high;
	ev->trace_low = c->trace_low;
	ev->span = c->span;
	ev->tid = c->tid;
	ev->route = c->route;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&last_contexts, &thread, &hash, BPF_ANY);
}

/*
 * Records the context of the current thread if it is another one than the last time. An interrupt
 * that wakes somebody while this runs does not read it once more.
 */
__noinline int note_context(__u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tgid = task->tgid, kind = WIRE_CONTEXT;
	struct wire_context c = { .tid = task->pid };
	struct wire_publisher *p;
	struct wire_kind_state *k;

	if (!find_contexts)
		return 0;
	p = bpf_map_lookup_elem(&publishers, &tgid);
	if (!p || !UNTRUSTED(task_struct, task)->mm || is_worker(task) || is_recorder(tgid))
		return 0;
	k = bpf_map_lookup_elem(&kinds, &kind);
	if (!k || *(volatile __u64 *)&k->busy)
		return 0;
	*(volatile __u64 *)&k->busy = 1;
	read_context(p, task, now, &c);
	send_context(&c, now);
	*(volatile __u64 *)&k->busy = 0;
	return 0;
}

/* What the process published is gone with its memory. */
static __always_inline void forget_publisher(__u32 tgid)
{
	if (find_contexts)
		bpf_map_delete_elem(&publishers, &tgid);
}
