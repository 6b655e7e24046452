/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads.h - which threads there are: those that are there at the start, those that begin, get
 * another name, and end. Part of chaincap.bpf.c.
 */
#pragma once

#define CLONE_VM 0x100
#define CLONE_VFORK 0x4000
#define CLONE_THREAD 0x10000

/* Unlike sched_process_fork also for workers of io_uring. */
SEC("tp_btf/task_newtask")
int on_fork(unsigned long long *ctx)
{
	struct task_struct *parent = current_task(), *child = (void *)ctx[0];
	int parent_tgid = OF(parent, tgid);
	__u64 how = ctx[1] & (CLONE_VM | CLONE_VFORK | CLONE_THREAD);
	__u64 now = bpf_ktime_get_ns();
	struct wire_fork *ev;

	if (child->tgid != parent_tgid) {
		fork_helper(parent_tgid, child->tgid);
		if (!PLAIN)
			inherit_interpreter(parent_tgid, child->tgid);
	}
	/* An idle task of a CPU that comes online has no id. */
	if (!child->pid || is_recorder(child->tgid) || !is_recording(now))
		return 0;
	if (!PLAIN && user_stacks)
		inherit_rules(parent, child);
	ev = record_event(WIRE_FORK, now, struct wire_fork);
	if (ev) {
		ev->parent = OF(parent, pid);
		ev->child = child->pid;
		ev->child_tgid = child->tgid;
		ev->shares = how == CLONE_VM ? parent_tgid : 0;
		bpf_probe_read_kernel_str(ev->name, sizeof(ev->name), child->comm);
		bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	}
	if (!PLAIN)
		record_group_of_child(parent, child, now);
	record_own_id(child, now);
	return 0;
}

/*
 * The recorder's child becomes the command, and is recorded from here on. The kernel renamed it a
 * moment before.
 */
static __always_inline void begin_command(struct task_struct *task, __u64 now)
{
	struct wire_rename *ev;

	waiting_command = 0;
	record_recorder(now, 0);
	if (!is_recording(now))
		return;
	ev = record_event(WIRE_RENAME, now, struct wire_rename);
	if (!ev)
		return;
	ev->tid = task->pid;
	ev->pad = 0;
	bpf_probe_read_kernel_str(ev->name, sizeof(ev->name), task->comm);
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

/* So many generations of processes are looked through for the command. */
#define ANCESTORS 24

static __always_inline bool is_of_command(struct task_struct *task)
{
	struct task_struct *t = task;

	for (int i = 0; i < ANCESTORS && command && t; i++) {
		if (FIELD(task_struct, t, tgid) == (int)command)
			return true;
		t = FIELD(task_struct, t, real_parent);
	}
	return false;
}

/* The kernel has just written them to the new stack, so they are there. */
static __always_inline void read_arguments(struct wire_exec *ev, struct task_struct *task)
{
	struct mm_struct *mm = FIELD(task_struct, task, mm);
	__u64 start = FIELD(mm_struct, mm, arg_start), end = FIELD(mm_struct, mm, arg_end);
	__u32 len = end - start < 1u << 31 ? (__u32)(end - start) : 0;
	__u32 first = len, last;

	if (first > sizeof(ev->first))
		first = sizeof(ev->first);
	if (!first)
		return;
	/* Bounded by itself: the verifier of 6.1 does not know the bounds of what is made of it. */
	barrier_var(first);
	if (first > sizeof(ev->first) || bpf_probe_read_user(ev->first, first, (void *)start))
		return;
	last = len - first;
	if (last > sizeof(ev->last))
		last = sizeof(ev->last);
	if (!last) {
		ev->arguments_len = len;
		return;
	}
	barrier_var(last);
	if (last <= sizeof(ev->last) && !bpf_probe_read_user(ev->last, last, (void *)(end - last)))
		ev->arguments_len = len;
}

SEC("tp_btf/sched_process_exec")
int on_exec(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct linux_binprm *bprm = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	struct wire_exec *ev;

	if (!PLAIN) {
		forget_publisher(task->tgid);
		disinherit_interpreter(task->tgid);
	}
	if (is_waiting_command(task->tgid))
		begin_command(task, now);
	if (is_recorder(task->tgid) || !is_recording(now))
		return 0;
	ev = record_event(WIRE_EXEC, now, struct wire_exec);
	if (!ev)
		return 0;
	ev->tid = task->pid;
	ev->old_tid = (__u32)ctx[1];
	if (bpf_probe_read_kernel_str(ev->filename, sizeof(ev->filename), bprm->filename) < 0)
		ev->filename[0] = 0;
	ev->arguments_len = ev->pad = 0;
	if (is_of_command(task))
		read_arguments(ev, task);
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

	if (task->pid == task->tgid && is_helper(task->tgid))
		exit_helper(task->tgid);
	if (!PLAIN)
		forget_asked(task->pid);
	if (!is_recorder(task->tgid) && is_recording(now))
		record_of_thread(WIRE_EXIT, now, task->pid);
	return 0;
}

/* ---- the threads that are there when the recording begins ----------------------------------- */

MAP(iter_scratch, ARRAY, 1, __u32, struct wire_thread);

/* See struct wire_fork. */
static __always_inline __u32 shared_memory(struct task_struct *task)
{
	struct task_struct *parent = task->real_parent;

	return task->pid == task->tgid && task->mm && !task->vfork_done && task->mm == parent->mm
		       ? parent->tgid
		       : 0;
}

/* Set by the collector before it lists: stacks as well. */
bool list_stacks = false;

static __always_inline void list_thread(struct seq_file *seq, struct task_struct *task)
{
	struct wire_thread *t;
	__u32 zero = 0, level;
	bool waits;
	long len;

	/* The recorder's own as well: they may wake others, and shall have a name then. */
	if (is_helper(task->tgid))
		return;
	t = bpf_map_lookup_elem(&iter_scratch, &zero);
	if (!t)
		return;
	t->start_ns = task->start_time;
	t->seen_ns = bpf_ktime_get_ns();
	t->tid = task->pid;
	t->tgid = task->tgid;
	/* What the command did before it was one is not recorded. */
	waits = is_waiting_command(task->tgid);
	t->state = waits ? 0 : task_state(task) | (__u32)task->exit_state;
	t->flags = (task->flags & PF_KTHREAD ? WIRE_THREAD_KTHREAD : 0) |
		   (task->on_cpu && !waits ? WIRE_THREAD_ON_CPU : 0);
	t->n_kernel = t->ustack = t->object = 0;
	t->lock = 0;
	t->own_tid = t->lock_expects = 0;
	t->shares = shared_memory(task);
	own_namespace(task, &level, &t->own_tid);
	t->tid_here = id_here(task);
	t->group = PLAIN ? 0 : group_of_set(group_set(task), OBJECT_OF_LISTED, t->seen_ns);
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
		if (!PLAIN)
			list_user_stack(t, task);
		if (!PLAIN && find_objects && may_have_object(task, t->state))
			list_object(t, task);
	}
	bpf_seq_write(seq, t, sizeof(*t));
}

SEC("iter/task")
int list_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		list_thread(ctx->meta->seq, task);
	return 0;
}

/*
 * The kernel's iterator lists the threads of the reader's PID namespace. In another one than the
 * initial one this program lists all, by their ids in the initial one: the iterator calls it for
 * the recorder's first thread, and it lists the next few.
 */
#define LIST_STEPS (1 << 16) /* ids that one call looks at, and */
#define LIST_BATCH 16	     /* threads that it lists: they fit into the iterator's buffer */

/* Since Linux 6.2. */
struct task_struct *bpf_task_from_pid(int pid) __ksym __weak;
void bpf_task_release(struct task_struct *task) __ksym __weak;

/* The next id; set by the collector to 1. It has listed all when that is WIRE_IDS. */
volatile __u32 list_next = 0;

struct listing {
	struct seq_file *seq;
	__u32 n;
};

static long list_one(__u32 i, struct listing *l)
{
	struct task_struct *task;

	(void)i;
	if (l->n >= LIST_BATCH || list_next >= WIRE_IDS)
		return 1;
	task = bpf_task_from_pid((int)list_next++);
	if (!task)
		return 0;
	list_thread(l->seq, task);
	bpf_task_release(task);
	l->n++;
	return 0;
}

SEC("iter/task")
int list_all_threads(struct bpf_iter__task *ctx)
{
	struct listing l = { .seq = ctx->meta->seq };
	struct task_struct *task = ctx->task;

	if (task && (__u32)task->pid == self_tgid)
		bpf_loop(LIST_STEPS, list_one, &l, 0);
	return 0;
}
