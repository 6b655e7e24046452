/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * steal.h - how long a hypervisor did not run each CPU of a virtual machine though it had work: the
 * counter of the CPU's run queue, read at each switch. It grows with the kernel's ticks, by what
 * /proc/stat's grows (steal_account_process_time()). Part of chaincap.bpf.c.
 */
#ifndef BPF_STEAL_H
#define BPF_STEAL_H

struct steal_time {
	__u64 told_ns; /* the counter, when it was read last */
	bool known;    /* it was read */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct steal_time);
} steal_times SEC(".maps");

/* Tells what it has grown by since the last switch on this CPU, on which the task runs. */
static __always_inline void record_steal(struct task_struct *task, __u64 now)
{
	struct steal_time *t;
	struct wire_steal *ev;
	__u32 zero = 0;
	__u64 ns, grown = 0;

	if (!bpf_core_field_exists(struct cfs_rq, rq) ||
	    !bpf_core_field_exists(struct rq, prev_steal_time))
		return;
	t = bpf_map_lookup_elem(&steal_times, &zero);
	if (!t)
		return;
	ns = UNTRUSTED(task_struct, task)->se.cfs_rq->rq->prev_steal_time;
	if (t->known && ns > t->told_ns)
		grown = ns - t->told_ns;
	t->told_ns = ns;
	t->known = true;
	if (!grown)
		return;
	ev = record_event(WIRE_STEAL, now, struct wire_steal);
	if (!ev)
		return;
	ev->ns = grown;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

#endif /* BPF_STEAL_H */
