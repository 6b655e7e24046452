/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h - samples the thread that runs on a CPU, with its stacks. Part of chaincap.bpf.c. The
 * perf event that calls it comes by an interrupt: the kernel's walk begins at what that
 * interrupted, so nothing of the interrupt is in a sample's stack.
 */
#pragma once

/*
 * Records the current thread's stacks, for a sample or a request to a disk. in_kernel: it was there
 * when ctx came.
 */
static __always_inline int record_running(void *ctx, struct task_struct *task, __u32 kind,
					  __u64 now, __u32 tid, bool in_kernel)
{
	__u32 kstack = 0, ustack = 0;
	struct wire_kind_state *k = kind_state(kind);
	struct workspace *w = workspace_of(kind);
	void *ring = this_ring();
	struct wire_running *ev;

	if (!k || !w || !ring)
		return 0;
	if (kernel_stacks && in_kernel)
		kstack = walked_kernel_stack(ctx, ring, k, w, now, kind == WIRE_SAMPLE);
	if (has_user_stack(task))
		ustack = user_stack_id(ctx, k, w, now, kind == WIRE_SAMPLE && !in_kernel);
	ev = reserve_event(ring, k, now, sizeof(*ev));
	if (!ev)
		return 0;
	fill_record(&ev->r, now, kind);
	number_event(&ev->r, k);
	ev->tid = tid;
	ev->kstack = kstack;
	ev->ustack = ustack;
	ev->pad = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = current_task();
	__u64 now = bpf_ktime_get_ns();

	if (!OF(task, pid) || is_recorder(OF(task, tgid)) || !is_recording(now))
		return 0;
	return record_running(ctx, task, WIRE_SAMPLE, now, OF(task, pid),
			      !interrupts_user_code(ctx));
}
