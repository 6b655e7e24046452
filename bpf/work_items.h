/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * work_items.h - who queued the work item that a worker of a workqueue executes. Part of
 * chaincap.bpf.c.
 *
 * An item is noted when it is queued, and again with the worker that takes it; an event is sent
 * only when that worker wakes somebody, or queues an item itself, for the first time in it. So
 * items that wake nobody take no room in the trace.
 */
#pragma once

/* Who queued an item, and when: if that woke a worker, the waking. */
struct queued_item {
	__u64 ns; /* 0: not known */
	__u32 tid, kstack, ustack, pad;
};

/*
 * By the address of the work_struct, from when it is queued until it is executed. One that is
 * cancelled stays, so that the oldest ones go: how many is what was added and is not there.
 */
MAP(queued_items, LRU_HASH, 1 << 14, __u64, struct queued_item);

/* Entries that were added and not taken out. */
volatile __u64 n_queued = 0;

struct working {
	struct queued_item queued;
	__u64 work;  /* the item that it executes; 0: none */
	__u64 began; /* the last one: when */
	__u64 sent;  /* began of that of which an event was sent; 0: that it executes none */
};

/* By the worker's tid. */
MAP(workers, LRU_HASH, 1 << 12, __u32, struct working);

/* The item that is being queued on this CPU, with interrupts off; 0: none. */
MAP(queueing, PERCPU_ARRAY, 1, __u32, __u64);

static __always_inline void record_work(__u32 tid, const struct working *w, __u64 now)
{
	struct wire_work *ev = record_event(WIRE_WORK, now, struct wire_work);
	bool known = w->work && w->queued.ns;

	if (!ev)
		return;
	ev->tid = tid;
	ev->what = !w->work ? CHAINLOG_WORK_NONE
		   : known  ? CHAINLOG_WORK_QUEUED
			    : CHAINLOG_WORK_UNKNOWN;
	ev->queued_ns = known ? w->queued.ns : w->began;
	ev->queuer = known ? w->queued.tid : 0;
	ev->kstack = known ? w->queued.kstack : 0;
	ev->ustack = known ? w->queued.ustack : 0;
	ev->pad = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

/* A worker acts: says which item it executes, if that has not been said. */
__noinline int note_work(__u32 tid, __u64 now)
{
	struct working *w = bpf_map_lookup_elem(&workers, &tid);
	__u64 is;

	if (!w)
		return 0;
	is = w->work ? w->began : 0;
	if (w->sent == is)
		return 0;
	w->sent = is;
	record_work(tid, w, now);
	return 0;
}

/* The id of a stack if it is valid for more than one event; else 0. */
static __always_inline __u32 lasting_id(__u32 id)
{
	return id & WIRE_STACK_ONCE ? 0 : id;
}

/* A worker is woken: if that is because an item is being queued here, this is when it was. */
__noinline int note_worker_woken(__u32 tid, __u32 kstack, __u32 ustack, __u64 now)
{
	__u32 zero = 0;
	__u64 *work = bpf_map_lookup_elem(&queueing, &zero), key;
	struct queued_item *q;

	if (!work || !*work)
		return 0;
	key = *work;
	*work = 0;
	q = bpf_map_lookup_elem(&queued_items, &key);
	if (!q || q->tid != tid)
		return 0;
	q->kstack = lasting_id(kstack);
	q->ustack = lasting_id(ustack);
	q->ns = now;
	return 0;
}

/* Whether queueing is going to wake a worker of the pool: kick_pool(). */
static __always_inline bool wakes_worker(struct pool_workqueue *pwq)
{
	struct worker_pool *pool = pwq->pool;

	/* Before 5.19 it is an atomic_t. */
	if (!bpf_core_field_exists(pool->nr_running))
		return false;
	return !pool->nr_running && pool->nr_idle;
}

/* Whether the items of a queue are executed in softirqs, by no worker. */
static __always_inline bool in_softirqs(struct pool_workqueue *pwq)
{
	return bpf_core_enum_value_exists(enum wq_flags, WQ_BH) &&
	       pwq->wq->flags & bpf_core_enum_value(enum wq_flags, WQ_BH);
}

SEC("tp_btf/workqueue_queue_work")
int on_work_queued(unsigned long long *ctx)
{
	struct pool_workqueue *pwq = (void *)ctx[1];
	struct task_struct *task = current_task();
	__u32 zero = 0, kind = WIRE_WORK, tgid = OF(task, tgid);
	struct queued_item q = { .ns = bpf_ktime_get_ns(), .tid = OF(task, pid) };
	__u64 key = ctx[2], *work = bpf_map_lookup_elem(&queueing, &zero);
	struct wire_kind_state *k = bpf_map_lookup_elem(&kinds, &kind);
	struct workspace *w = workspace_of(kind);
	void *ring = this_ring();

	if (PLAIN || !is_recording(q.ns) || !work || !k || !w || !ring)
		return 0;
	if (in_softirqs(pwq))
		return 0;
	if (OF(task, flags) & PF_WQ_WORKER)
		note_work(q.tid, q.ns);
	if (is_recorder(tgid) && tgid != self_tgid)
		q.tid = self_tgid;
	*work = 0;
	if (wakes_worker(pwq)) {
		*work = key;
	} else {
		k->kind = kind;
		if (kernel_stacks)
			q.kstack = lasting_id(walked_kernel_stack(ctx, ring, k, w, q.ns, false));
		if (has_user_stack(task))
			q.ustack = lasting_id(user_stack_id(ctx, k, w, q.ns, false));
	}
	if (!bpf_map_update_elem(&queued_items, &key, &q, BPF_NOEXIST))
		__sync_fetch_and_add(&n_queued, 1);
	else
		bpf_map_update_elem(&queued_items, &key, &q, BPF_EXIST);
	return 0;
}

SEC("tp_btf/workqueue_execute_start")
int on_work_begins(unsigned long long *ctx)
{
	struct task_struct *task = current_task();
	__u64 now = bpf_ktime_get_ns(), key = ctx[0];
	struct working new = { .began = now, .work = key }, *w;
	__u32 tid = OF(task, pid);
	struct queued_item *q;

	/* An item of a softirq that has interrupted a worker is none of the worker's. */
	if (PLAIN || !(OF(task, flags) & PF_WQ_WORKER) || !is_recording(now))
		return 0;
	w = bpf_map_lookup_elem(&workers, &tid);
	if (!w) {
		bpf_map_update_elem(&workers, &tid, &new, BPF_ANY);
		w = bpf_map_lookup_elem(&workers, &tid);
		if (!w)
			return 0;
	}
	q = bpf_map_lookup_elem(&queued_items, &key);
	w->queued = q ? *q : new.queued;
	w->work = key;
	w->began = now;
	if (q && !bpf_map_delete_elem(&queued_items, &key))
		__sync_fetch_and_add(&n_queued, -1);
	return 0;
}

SEC("tp_btf/workqueue_execute_end")
int on_work_ends(unsigned long long *ctx)
{
	__u32 tid = OF(current_task(), pid);
	struct working *w = bpf_map_lookup_elem(&workers, &tid);

	if (w && w->work == ctx[0])
		w->work = 0;
	return 0;
}
