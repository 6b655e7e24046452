/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quotas.h - until when a thread could not run because a quota was used up: that of a control group
 * (cpu.max, cpu.cfs_quota_us, cpu.rt_runtime_us), that of all realtime threads, or its own of
 * SCHED_DEADLINE. Part of chaincap.bpf.c.
 *
 * No tracepoint tells of that, and many kernels let nobody trace their functions. But a thread that
 * goes off its CPU as a quota is used up says so itself, and when it comes back the kernel knows
 * how long that was: each group's run queue adds up for how long it was throttled (since 6.6), and
 * the other quotas are filled up by a timer, whose time is known from the beginning.
 */
#pragma once

#define GROUP_LEVELS 8 /* of groups in groups that are looked at */

/* include/uapi/linux/sched.h */
#define SCHED_FIFO 1
#define SCHED_RR 2
#define SCHED_DEADLINE 6

struct throttled_thread {
	__u64 since_ns;
	__u64 until_ns; /* 0: known when it comes back, by the three below */
	__u64 queue;	/* its cfs_rq */
	__u64 clock;	/* of the queue's CPU, when the queue was throttled */
	__u64 sum;	/* for how long the queue had been throttled before */
	__u32 group;	/* whose quota it is, an object */
	__u32 why;	/* enum chainlog_quota */
};

/*
 * Of those that have none now: each comes back to run, if only to end. Nobody else's entry goes for
 * a new one; one that finds no room is counted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 14);
	__uint(map_flags, AS_NEEDED);
	__type(key, __u32);
	__type(value, struct throttled_thread);
} throttled_threads SEC(".maps");

/* The kernel says until when. Set before loading. */
const volatile bool find_quotas = false;

/* Of these there are so many, or fewer: the switches of a machine without quotas look up nothing.
 */
volatile __u64 n_throttled = 0;

/*
 * What the kernel may lack is read behind these only: the verifier refuses a program that may come
 * to a field that is not there, whether it ever would or not.
 */

/* Whether realtime threads have quotas by group (CONFIG_RT_GROUP_SCHED). */
static __always_inline bool has_realtime_groups(void)
{
	return bpf_core_field_exists(struct sched_rt_entity, rt_rq) &&
	       bpf_core_field_exists(struct rt_rq, tg) &&
	       bpf_core_field_exists(struct task_group, rt_bandwidth);
}

/* Whether run queues of the other threads add up for how long they were throttled. */
static __always_inline bool has_throttled_time(void)
{
	return find_quotas && bpf_core_field_exists(struct cfs_rq, rq) &&
	       bpf_core_field_exists(struct cfs_rq, throttled_clock_self_time);
}

/* The run queue that realtime threads have on a CPU, as far as there is time for them. */
static __always_inline __u64 throttled_realtime(struct task_struct *task)
{
	__u64 queue;

	if (!has_realtime_groups())
		return 0;
	queue = POINTER(task_struct, task, rt.rt_rq);
	return queue && FIELD(rt_rq, queue, rt_throttled) ? queue : 0;
}

/*
 * Whether a quota of the current thread, which goes off its CPU ready to run, is used up.
 * Since 6.18 threads are taken off the queue one by one (throttle_cfs_rq_work()). Before that,
 * whole groups were (throttle_cfs_rq()): throttle_count is the number of throttled groups from the
 * thread's own up.
 */
static __always_inline bool is_throttled(struct task_struct *task)
{
	__u32 policy = OF(task, policy);

	if (policy == SCHED_DEADLINE)
		return !PLAIN && BPF_CORE_READ_BITFIELD_PROBED(task, dl.dl_throttled);
	if (policy == SCHED_FIFO || policy == SCHED_RR)
		return !PLAIN && throttled_realtime(task);
	if (bpf_core_field_exists(task->throttled))
		return OF(task, throttled);
	if (bpf_core_field_exists(task->se.cfs_rq->throttle_count))
		return OF(OF(UNTRUSTED(task_struct, task), se.cfs_rq), throttle_count) > 0;
	return false;
}

/* When a timer expires; 0: not known. */
static __always_inline __u64 expiry(__u64 timer)
{
	if (!bpf_core_field_exists(struct hrtimer, node.expires))
		return 0;
	return POINTER(hrtimer, timer, node.expires);
}

/* The innermost group whose quota is used up, from that of a cfs_rq up. */
static __always_inline __u64 throttled_group(__u64 queue)
{
	__u32 cpu = (__u32)FIELD(rq, POINTER(cfs_rq, queue, rq), cpu);
	struct cfs_rq *q;
	__u64 group;

	for (int i = 0; i < GROUP_LEVELS && queue; i++) {
		q = (void *)queue;
		group = POINTER(cfs_rq, queue, tg);
		if (BPF_CORE_READ_BITFIELD_PROBED(q, throttled))
			return group;
		group = POINTER(task_group, group, parent);
		queue = group ? read_u64(POINTER(task_group, group, cfs_rq) + 8 * (__u64)cpu) : 0;
	}
	return 0;
}

static __always_inline __u32 quota_object(__u64 group, __u64 now)
{
	return group ? group_object(POINTER(task_group, group, css.cgroup), OBJECT_OF_QUOTA, now)
		     : 0;
}

/* The quota of realtime threads that is used up. */
static __always_inline void realtime_quota(struct throttled_thread *t, struct task_struct *task,
					   __u64 now)
{
	__u64 group;

	if (!has_realtime_groups())
		return;
	group = POINTER(rt_rq, throttled_realtime(task), tg);
	t->until_ns = expiry(ADDRESS(task_group, group, rt_bandwidth.rt_period_timer));
	if (POINTER(task_group, group, parent))
		t->group = quota_object(group, now);
	else
		t->why = CHAINLOG_QUOTA_REALTIME;
}

/* Notes what will say until when the current thread, for which is_throttled(), could not run. */
__noinline int note_throttled(__u64 now)
{
	struct task_struct *task = current_task();
	__u32 tid = OF(task, pid), policy = OF(task, policy);
	struct throttled_thread t = { .since_ns = now };

	if (policy == SCHED_DEADLINE) {
		t.why = CHAINLOG_QUOTA_DEADLINE;
		t.until_ns = expiry(ADDRESS(task_struct, task, dl.dl_timer));
	} else if (policy == SCHED_FIFO || policy == SCHED_RR) {
		realtime_quota(&t, task, now);
	} else if (has_throttled_time()) {
		t.queue = POINTER(task_struct, task, se.cfs_rq);
		t.clock = POINTER(cfs_rq, t.queue, throttled_clock_self);
		t.sum = POINTER(cfs_rq, t.queue, throttled_clock_self_time);
		t.group = quota_object(throttled_group(t.queue), now);
	}
	if (!(t.until_ns || t.clock))
		return 0;
	if (!bpf_map_update_elem(&throttled_threads, &tid, &t, BPF_NOEXIST))
		__sync_fetch_and_add(&n_throttled, 1);
	else if (bpf_map_update_elem(&throttled_threads, &tid, &t, BPF_EXIST))
		leave_out(CHAINLOG_LEFT_QUOTAS);
	return 0;
}

/* Until when it was, on the CPU's clock of now; 0: not known. */
static __always_inline __u64 throttled_until(const struct throttled_thread *t, __u64 task,
					     __u64 now)
{
	__u64 clock, passed;

	if (t->until_ns)
		return t->until_ns < now ? t->until_ns : now;
	if (!has_throttled_time() || POINTER(task_struct, task, se.cfs_rq) != t->queue)
		return 0;
	/* As the queue's clock is not CLOCK_MONOTONIC, only its differences count. */
	clock = POINTER(rq, POINTER(cfs_rq, t->queue, rq), clock);
	passed = clock - t->clock - (POINTER(cfs_rq, t->queue, throttled_clock_self_time) - t->sum);
	return passed < now ? now - passed : 0;
}

/* A thread comes on this CPU: tells for how long no quota was left for it before. */
__noinline int record_unthrottled(__u64 task, __u32 tid, __u64 now)
{
	struct throttled_thread *known = bpf_map_lookup_elem(&throttled_threads, &tid), t;
	struct wire_unthrottled *ev;
	__u64 until;

	if (!known)
		return 0;
	t = *known;
	if (!bpf_map_delete_elem(&throttled_threads, &tid))
		__sync_fetch_and_add(&n_throttled, -1);
	until = throttled_until(&t, task, now);
	if (until <= t.since_ns)
		return 0;
	ev = record_event(WIRE_UNTHROTTLED, now, struct wire_unthrottled);
	if (!ev)
		return 0;
	ev->since_ns = t.since_ns;
	ev->until_ns = until;
	ev->tid = tid;
	ev->group = t.group;
	ev->why = t.why;
	ev->pad = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}
