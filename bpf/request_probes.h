/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request_probes.h - requests that probes in user code mark: the call of a function until it
 * returns, or from one mark to another, on the same thread or with the same id. Part of
 * chaincap.bpf.c.
 *
 * A program of a probe may be preempted, and another thread on that CPU may then run it as well.
 * So what each CPU has for its own is changed by atomic operations here, or is locked, or does not
 * have to be exact.
 */
#pragma once

/* By number of the site, which is the cookie of its attachment; written by the collector. */
MAP(probe_sites, ARRAY, WIRE_PROBE_SITES, __u32, struct wire_probe_site);

/* Requests, one bit each, that are told apart by their thread. */
const volatile __u32 probed_by_thread = 0;

struct probed_key {
	__u64 id;      /* 0: there is none, who is a thread */
	__u32 who;     /* thread or process */
	__u32 request; /* of struct wire_probe_site */
};

struct probed {
	__u64 begin_ns;
	__u64 sp; /* of a call: the stack pointer when it began */
	__u64 number;
	__u32 tid;
	__u32 site;	/* where it began */
	__u32 label_is; /* enum wire_probe_label */
	char label[WIRE_PROBE_LABEL];
};

/* Requests that have begun. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_PROBES_OPEN);
	__uint(map_flags, AS_NEEDED);
	__type(key, struct probed_key);
	__type(value, struct probed);
} open_probed SEC(".maps");

/* ---- events --------------------------------------------------------------------------------- */

/* As emit_lost(). */
static __always_inline bool emit_probed_lost(void *ring, struct wire_kind_state *k)
{
	__u64 n = __sync_lock_test_and_set(&k->pending, 0);
	struct wire_lost *l;

	if (!n)
		return true;
	l = bpf_ringbuf_reserve(ring, sizeof(*l), 0);
	if (!l) {
		__sync_fetch_and_add(&k->pending, n);
		return false;
	}
	fill_record(&l->r, k->pending_first_ns, WIRE_LOST);
	l->n = n;
	l->last_ns = k->pending_last_ns;
	l->event = (__u32)k->kind;
	l->pad = 0;
	bpf_ringbuf_submit(l, BPF_RB_NO_WAKEUP);
	return true;
}

/* As record_event(). */
static __always_inline struct wire_probed *record_probed(__u32 kind, __u64 now)
{
	struct wire_kind_state *k = bpf_map_lookup_elem(&kinds, &kind);
	struct wire_probed *ev = NULL;
	void *ring = this_ring();
	__u64 number;

	if (!k)
		return NULL;
	k->kind = kind;
	number = __sync_fetch_and_add(&k->seen, 1) + 1;
	if (ring && (!*(volatile __u64 *)&k->pending || emit_probed_lost(ring, k)))
		ev = bpf_ringbuf_reserve(ring, sizeof(*ev), 0);
	if (!ev) {
		if (!__sync_fetch_and_add(&k->pending, 1))
			k->pending_first_ns = now;
		k->pending_last_ns = now;
		return NULL;
	}
	fill_record(&ev->request.r, now, kind);
	ev->request.r.seq[0] = (__u8)number;
	ev->request.r.seq[1] = (__u8)(number >> 8);
	ev->request.r.seq[2] = (__u8)(number >> 16);
	return ev;
}

/* Ended by writer; 0: by nobody. */
__noinline int tell_probed(const struct probed *p, __u32 writer, __u32 ustack, __u64 end_ns)
{
	__u64 now = bpf_ktime_get_ns(), until = record_until_ns;
	struct wire_probe_site *site;
	struct wire_probed *ev;
	__u32 i;

	if (!p)
		return 0;
	i = p->site;
	site = bpf_map_lookup_elem(&probe_sites, &i);
	if (!site)
		return 0;
	/* It is late if this thread was preempted, or the recording has ended. */
	ev = record_probed(writer ? WIRE_PROBED : WIRE_PROBED_OPEN, now < until ? now : until - 1);
	if (!ev)
		return 0;
	ev->request.connection = 0;
	ev->request.arrival_ns = ev->request.taken_ns = p->begin_ns;
	ev->request.answer_ns = end_ns;
	ev->request.bytes_read = ev->request.bytes_written = 0;
	ev->request.reader = p->tid;
	ev->request.writer = writer;
	ev->request.kstack = 0;
	ev->request.ustack = ustack;
	ev->request.endpoint = 0;
	ev->request.flags = CHAINLOG_REQUEST_PROBED;
	ev->request.hash = 0;
	ev->request.nth = ev->request.n_bytes = 0;
	ev->number = p->number;
	ev->label_is = p->label_is;
	ev->pad = 0;
	__builtin_memcpy(ev->name, site->name, sizeof(ev->name));
	__builtin_memcpy(ev->label, p->label, sizeof(ev->label));
	__builtin_memset(ev->unused, 0, sizeof(ev->unused));
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * The request with this key, if there is one, will not be ended. Not inlined: with its copy
 * on_probe and what finds stacks would need more than the 512 bytes that all functions have
 * together. A key that a map is asked for has to be on the function's own stack (6.1).
 */
__noinline int abandon(const struct probed_key *with)
{
	struct probed *p, gone;
	struct probed_key key;

	if (!with)
		return 0;
	key = *with;
	p = bpf_map_lookup_elem(&open_probed, &key);
	if (!p)
		return 0;
	gone = *p;
	if (!bpf_map_delete_elem(&open_probed, &key))
		tell_probed(&gone, 0, 0, 0);
	return 0;
}

/* ---- values --------------------------------------------------------------------------------- */

static __always_inline __u64 read_register(void *ctx, __u32 at)
{
	__u64 word = 0;

	barrier_var(at);
	if (at <= REGISTERS_SIZE - sizeof(word))
		bpf_probe_read_kernel(&word, sizeof(word), ctx + at);
	return word;
}

static __always_inline __u64 read_value(void *ctx, const struct wire_probe_value *v)
{
	__u32 unused = 64 - 8 * (v->bytes & 15);
	__u64 word = (__u64)v->number;

	if (v->source == WIRE_PROBE_REGISTER) {
		word = read_register(ctx, v->reg);
	} else if (v->source == WIRE_PROBE_MEMORY) {
		word += read_register(ctx, v->reg);
		if (v->scale)
			word += read_register(ctx, v->index) * v->scale;
		if (bpf_probe_read_user(&word, sizeof(word), (void *)word))
			return 0;
	}
	if (unused >= 64)
		return word;
	word <<= unused;
	return v->is_signed ? (__u64)((__s64)word >> unused) : word >> unused;
}

static __always_inline void read_label(void *ctx, const struct wire_probe_site *site,
				       struct probed *p)
{
	p->label_is = site->label_is;
	if (!p->label_is)
		return;
	p->number = read_value(ctx, &site->label);
	if (p->label_is == WIRE_LABEL_STRING &&
	    bpf_probe_read_user_str(p->label, sizeof(p->label), (void *)p->number) < 0)
		p->label_is = WIRE_LABEL_NONE;
}

/* ---- probes --------------------------------------------------------------------------------- */

static __always_inline void begin_probed(void *ctx, const struct probed_key *key, __u32 number,
					 const struct wire_probe_site *site, __u32 tid, __u64 now)
{
	struct probed p = { .begin_ns = now, .tid = tid, .site = number };
	struct probed *before = bpf_map_lookup_elem(&open_probed, key);

	if (site->act == WIRE_PROBE_CALL) {
		p.sp = user_sp((struct pt_regs *)ctx);
		/* A call within the call. If its frame is not there any more, it was left. */
		if (before && p.sp < before->sp)
			return;
	}
	if (before)
		abandon(key);
	read_label(ctx, site, &p);
	if (bpf_map_update_elem(&open_probed, key, &p, BPF_ANY))
		leave_out(CHAINLOG_LEFT_PROBED);
}

/* Whether this is the return of the outermost call, after which the stack is as before the call. */
static __always_inline bool is_outermost(void *ctx, const struct probed *p)
{
	__u64 sp = user_sp((struct pt_regs *)ctx);

	return HAS_LINK_REGISTER ? sp >= p->sp : sp > p->sp;
}

static __always_inline void end_probed(void *ctx, const struct probed_key *key,
				       const struct wire_probe_site *site, struct task_struct *task,
				       __u64 now)
{
	struct probed *open = bpf_map_lookup_elem(&open_probed, key), p;
	struct wire_request_account *a;
	__u32 zero = 0, stack = 0;
	__u64 took_ns;

	if (!open || (site->act == WIRE_PROBE_RETURN && !is_outermost(ctx, open)))
		return;
	p = *open;
	/* Somebody else on another CPU has just ended it, or begun another one. */
	if (bpf_map_delete_elem(&open_probed, key))
		return;
	a = bpf_map_lookup_elem(&request_accounts, &zero);
	if (!a)
		return;
	took_ns = now - p.begin_ns;
	if (took_ns >= REQUEST_STACKS_NS && wants_stacks(a, took_ns, now))
		stack = (__u32)(answer_stacks(ctx, a, task, WIRE_PROBED, now) >> 32);
	else if (is_untold(a, now))
		return;
	tell_probed(&p, task->pid, stack, now);
}

SEC("uprobe")
int on_probe(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	struct wire_probe_site *site = bpf_map_lookup_elem(&probe_sites, &number);
	struct probed_key key = { .who = task->pid };
	__u64 now = bpf_ktime_get_ns();

	if (!site || is_recorder(task->tgid) || !is_recording(now))
		return 0;
	key.request = site->request;
	if (site->by_id) {
		key.who = task->tgid;
		key.id = read_value(ctx, &site->id);
	}
	if (site->act == WIRE_PROBE_RETURN || site->act == WIRE_PROBE_END)
		end_probed(ctx, &key, site, task, now);
	else
		begin_probed(ctx, &key, number, site, task->pid, now);
	return 0;
}

/* ---- requests that do not end --------------------------------------------------------------- */

/* The thread has ended, or runs another program. */
__noinline int end_calls(__u32 tid)
{
	struct probed_key key = { .who = tid };

	for (__u32 i = 0; i < WIRE_PROBES; i++) {
		if (!(probed_by_thread & 1u << i))
			continue;
		key.request = i;
		abandon(&key);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit_of_probed(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (!is_recorder(task->tgid) && is_recording(bpf_ktime_get_ns()))
		end_calls(task->pid);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec_of_probed(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 before = (__u32)ctx[1]; /* the tid that it had */

	if (is_recorder(task->tgid) || !is_recording(bpf_ktime_get_ns()))
		return 0;
	end_calls(before);
	if (before != (__u32)task->pid)
		end_calls(task->pid);
	return 0;
}

static long tell_open_probed(void *map, void *key, struct probed *p, void *none)
{
	struct probed open = *p;

	(void)map, (void)key, (void)none;
	tell_probed(&open, 0, 0, 0);
	return 0;
}

/* When the recording ends. Some kernels refuse iterators over maps: see list_open_requests. */
SEC("syscall")
int list_open_probed(void *ctx)
{
	(void)ctx;
	bpf_for_each_map_elem(&open_probed, tell_open_probed, NULL, 0);
	return 0;
}
