/* SPDX-License-Identifier: GPL-2.0-only */
/* list.h - the threads that are there when the recording begins. Part of chaincap.bpf.c. */
#ifndef BPF_LIST_H
#define BPF_LIST_H

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_thread);
} iter_scratch SEC(".maps");

/* Set by the collector before it lists: stacks as well. */
bool list_stacks = false;

SEC("iter/task")
int list_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wire_thread *t;
	__u32 zero = 0;
	long len;

	/* The recorder's own as well: they may wake others, and shall have a name then. */
	if (!task || is_helper(task->tgid))
		return 0;
	t = bpf_map_lookup_elem(&iter_scratch, &zero);
	if (!t)
		return 0;
	t->start_ns = task->start_time;
	t->seen_ns = bpf_ktime_get_ns();
	t->tid = task->pid;
	t->tgid = task->tgid;
	t->state = task_state(task) | (__u32)task->exit_state;
	t->flags = (task->flags & PF_KTHREAD ? WIRE_THREAD_KTHREAD : 0) |
		   (task->on_cpu ? WIRE_THREAD_ON_CPU : 0);
	t->n_kernel = t->ustack = t->object = 0;
	bpf_probe_read_kernel_str(t->name, sizeof(t->name), task->comm);
	if (list_stacks && t->state && !task->on_cpu) {
		/*
		 * Between on_cpu and the stacks: a thread that runs from here on has another number
		 * when it is off its CPU again.
		 */
		barrier();
		t->switches = task->nvcsw + task->nivcsw;
		barrier();
		if (kernel_stacks) {
			len = bpf_get_task_stack(task, t->frames, sizeof(t->frames), 0);
			t->n_kernel = len > 0 ? (__u32)len / 8 : 0;
			if (t->n_kernel >= max_stack)
				t->flags |= WIRE_THREAD_CUT;
		}
		list_user_stack(t, task);
		if (find_objects && may_have_object(task, t->state))
			t->object = listed_object(task, t->seen_ns);
	}
	bpf_seq_write(ctx->meta->seq, t, sizeof(*t));
	return 0;
}

#endif /* BPF_LIST_H */
