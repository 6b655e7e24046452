// SPDX-License-Identifier: GPL-2.0-only
/*
 * count_events.bpf.c - counts, on each CPU, the events that a recorder ought to see, and notes what
 * a hypervisor took of the CPU; nothing else: no ring, no stacks, nothing that could be lost.
 */
#include "../../bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define MARKS 64

const volatile __u32 recorder_tgid = 0;
const volatile __u32 marker_tgid = 0;

struct cpu_count {
	__u64 events;
	__u64 steal_ns; /* at its last switch, since boot; 0: not known */
	__u64 n_marks;
	struct {
		__u64 events, steal_ns; /* as they were at the n-th mark on this CPU */
	} marks[MARKS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_count);
} counts SEC(".maps");

static __always_inline struct cpu_count *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

static __always_inline int count(void)
{
	struct cpu_count *c = this_cpu();

	if (c)
		c->events++;
	return 0;
}

struct task_struct___parents {
	int tgid;
	struct task_struct___parents *real_parent;
} __attribute__((preserve_access_index));

/* The recorder, its children (this one records no command) and what these fork. */
static __always_inline bool is_recorder(const struct task_struct *t)
{
	const struct task_struct___parents *p = (const void *)t;

	return (__u32)t->tgid == recorder_tgid ||
	       (__u32)BPF_CORE_READ(p, real_parent, tgid) == recorder_tgid ||
	       (__u32)BPF_CORE_READ(p, real_parent, real_parent, tgid) == recorder_tgid;
}

/* The recorder leaves out itself, as if the CPU was idle meanwhile. */
static __always_inline bool is_nobody(const struct task_struct *t)
{
	return !t->pid || is_recorder(t);
}

/* Of the CPU whose run queue the thread is on. */
static __always_inline void note_steal(const struct task_struct *t)
{
	struct cpu_count *c = this_cpu();

	if (c && bpf_core_field_exists(struct cfs_rq, rq) &&
	    bpf_core_field_exists(struct rq, prev_steal_time))
		c->steal_ns = BPF_CORE_READ(t, se.cfs_rq, rq, prev_steal_time);
}

SEC("tp_btf/sched_switch")
int on_switch(unsigned long long *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];

	note_steal(next);
	return is_nobody(prev) && is_nobody(next) ? 0 : count();
}

SEC("tp_btf/sched_waking")
int on_waking(unsigned long long *ctx)
{
	return is_recorder((void *)ctx[0]) ? 0 : count();
}

SEC("tp_btf/sched_wakeup_new")
int on_wakeup_new(unsigned long long *ctx)
{
	return is_recorder((void *)ctx[0]) ? 0 : count();
}

SEC("tp_btf/task_newtask")
int on_fork(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	return is_recorder(task) || is_nobody(task) ? 0 : count();
}

SEC("tp_btf/sched_process_exec")
int on_exec(unsigned long long *ctx)
{
	return is_recorder((void *)ctx[0]) ? 0 : count();
}

SEC("tp_btf/sched_process_exit")
int on_exit(unsigned long long *ctx)
{
	return is_recorder((void *)ctx[0]) ? 0 : count();
}

SEC("tp_btf/task_rename")
int on_rename(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct cpu_count *c = this_cpu();
	__u64 n;

	if (!c || is_recorder(task))
		return 0;
	if ((__u32)task->tgid == marker_tgid) {
		n = c->n_marks++;
		if (n < MARKS) {
			c->marks[n].events = c->events;
			c->marks[n].steal_ns = c->steal_ns;
		}
	}
	c->events++;
	return 0;
}
