/* SPDX-License-Identifier: GPL-2.0-only */
/* identity.h - who is who: threads that begin, get another name, and end. Part of chaincap.bpf.c.
 */
#ifndef BPF_IDENTITY_H
#define BPF_IDENTITY_H

SEC("tp_btf/sched_process_fork")
int on_fork(unsigned long long *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	__u64 now = bpf_ktime_get_ns();
	struct wire_fork *ev;

	if (child->tgid != parent->tgid)
		fork_helper(parent->tgid, child->tgid);
	if (is_recorder(child->tgid) || !is_recording(now))
		return 0;
	if (unwinding && user_stacks)
		inherit_rules(parent, child);
	ev = record_event(WIRE_FORK, now, struct wire_fork);
	if (!ev)
		return 0;
	ev->parent = parent->pid;
	ev->child = child->pid;
	ev->child_tgid = child->tgid;
	ev->pad = 0;
	bpf_probe_read_kernel_str(ev->name, sizeof(ev->name), child->comm);
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct linux_binprm *bprm = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	struct wire_exec *ev;

	if (is_recorder(task->tgid) || !is_recording(now))
		return 0;
	ev = record_event(WIRE_EXEC, now, struct wire_exec);
	if (!ev)
		return 0;
	ev->tid = task->pid;
	ev->old_tid = (__u32)ctx[1];
	if (bpf_probe_read_kernel_str(ev->filename, sizeof(ev->filename), bprm->filename) < 0)
		ev->filename[0] = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/task_rename")
int on_rename(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u64 now = bpf_ktime_get_ns();
	struct wire_rename *ev;

	if (is_recorder(task->tgid) || !is_recording(now))
		return 0;
	ev = record_event(WIRE_RENAME, now, struct wire_rename);
	if (!ev)
		return 0;
	ev->tid = task->pid;
	ev->pad = 0;
	if (bpf_probe_read_kernel_str(ev->name, sizeof(ev->name), (void *)ctx[1]) < 0)
		ev->name[0] = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u64 now = bpf_ktime_get_ns();
	struct wire_exit *ev;

	if (task->pid == task->tgid && is_helper(task->tgid))
		exit_helper(task->tgid);
	if (is_recorder(task->tgid) || !is_recording(now))
		return 0;
	ev = record_event(WIRE_EXIT, now, struct wire_exit);
	if (!ev)
		return 0;
	ev->tid = task->pid;
	ev->pad = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif /* BPF_IDENTITY_H */
