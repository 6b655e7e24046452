/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h - samples the thread that runs on a CPU, with its stacks. Part of chaincap.bpf.c. The
 * perf event that calls it comes by an interrupt: the kernel's walk begins at what that
 * interrupted, so nothing of the interrupt is in a sample's stack.
 */
#ifndef BPF_SAMPLE_H
#define BPF_SAMPLE_H

/*
 * The id of a kernel stack that is walked each time, in place of kernel_stack_id(): where a sample
 * is taken changes too much for the tree of steps, and requests are few.
 */
static __always_inline __u32 walked_kernel_stack(void *ctx, void *ring, struct wire_kind_state *k,
						 struct workspace *w, __u64 now)
{
	__u32 n = walk(ctx, &w->scratch, 0);

	if (!n)
		return 0;
	return recent_id(ring, k, w, now, NULL, n, hash_frames(&w->scratch, n, n));
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid, kstack = 0, ustack = 0;
	__u64 now = bpf_ktime_get_ns();
	struct wire_cpu_sample *ev;
	struct wire_kind_state *k;
	struct workspace *w;
	void *ring;

	if (!tid || is_recorder(task->tgid) || !is_recording(now))
		return 0;
	k = kind_state(WIRE_CPU_SAMPLE);
	w = workspace_of(WIRE_CPU_SAMPLE);
	ring = this_ring();
	if (!k || !w || !ring)
		return 0;
	if (kernel_stacks && !interrupts_user_code(ctx))
		kstack = walked_kernel_stack(ctx, ring, k, w, now);
	if (has_user_stack(task))
		ustack = user_stack_id(ctx, k, w, now, task);
	ev = reserve_event(ring, k, now, sizeof(*ev));
	if (!ev)
		return 0;
	fill_record(&ev->r, now, WIRE_CPU_SAMPLE);
	number_event(&ev->r, k);
	ev->tid = tid;
	ev->kstack = kstack;
	ev->ustack = ustack;
	ev->pad = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif /* BPF_SAMPLE_H */
