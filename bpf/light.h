/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * light.h - --light: a thread that goes to sleep has no user stack. If it sleeps for long, that and
 * its waker's are recorded when it is woken: its own lies in its memory until then. Part of
 * chaincap.bpf.c.
 */
#pragma once

enum bare_is {
	BARE_NOT,    /* its switch-out had all stacks, or it is awake */
	BARE_ASLEEP, /* since since_ns */
	BARE_WOKEN,  /* at since_ns, its user stack is to be recorded */
};

/*
 * By the low bits of the tid. A thread has the place from when it falls asleep until that is woken;
 * others with these bits, whom anybody can make, have all their stacks meanwhile.
 */
struct bare_sleep {
	__u64 since_ns;
	__u32 tid;    /* 0: nobody's */
	__u32 is;     /* enum bare_is */
	__u32 ustack; /* --verify: what it was at the switch-out */
	__u32 pad;
};

#define BARE_SLEEPS (1u << 16)

/* One element, unless it is used. */
MAP(bare_sleeps, ARRAY, BARE_SLEEPS, __u32, struct bare_sleep);

static __always_inline struct bare_sleep *bare_sleep_of(__u32 tid)
{
	__u32 i = tid & (BARE_SLEEPS - 1);

	return bpf_map_lookup_elem(&bare_sleeps, &i);
}

static __always_inline bool take_place(struct bare_sleep *b, __u32 tid)
{
	__u32 has = __sync_val_compare_and_swap(&b->tid, 0, tid);

	return !has || has == tid;
}

static __always_inline void leave_place(struct bare_sleep *b)
{
	b->is = BARE_NOT;
	barrier();
	*(volatile __u32 *)&b->tid = 0;
}

/* The thread goes off its CPU. Returns whether without a user stack. */
static __always_inline bool leaves_bare(struct task_struct *task, __u32 tid, __u32 state, __u64 now)
{
	struct bare_sleep *b = bare_sleep_of(tid);

	if (!b)
		return false;
	if (!(state & TASK_SLEEPS && has_user_stack(task))) {
		if (b->tid == tid)
			leave_place(b);
		return false;
	}
	if (!take_place(b, tid))
		return false;
	b->since_ns = now;
	b->is = BARE_ASLEEP;
	b->ustack = 0;
	return !verify;
}

/* Whether the sleep that a waking ends is too short for the waker's user stack. */
static __always_inline bool wakes_bare(const struct other *target, __u64 now)
{
	struct bare_sleep *b = bare_sleep_of(target->tid);

	/* It may only prevent a sleep that was about to begin; what is queued has its stacks. */
	if (!target->off_queue)
		return !target->worker;
	/* How long it has slept is not known, or it has all stacks. */
	if (!b || b->tid != target->tid || b->is != BARE_ASLEEP)
		return false;
	if (now - b->since_ns < light_ns) {
		leave_place(b);
		return true;
	}
	b->since_ns = now;
	b->is = BARE_WOKEN;
	return false;
}

/* ---- the user stack of a thread that sleeps -------------------------------------------------- */

/* Whether a stack may end there only as a rule, or room to ask for one, was not there then. */
static __always_inline bool is_cut_for_now(const struct wire_kind_state *k)
{
	return k->end == CHAINLOG_STACK_NO_RULE || k->end == CHAINLOG_STACK_UNREADABLE;
}

/* --verify: keeps the user stack of a thread that goes off its CPU. */
static __always_inline void keep_for_check(const struct wire_kind_state *k, __u32 tid, __u32 ustack)
{
	struct bare_sleep *b = bare_sleep_of(tid);

	if (b && b->tid == tid && b->is == BARE_ASLEEP)
		b->ustack = is_cut_for_now(k) ? 0 : ustack;
}

static __always_inline void check_user(struct wire_kind_state *k, const struct bare_sleep *b,
				       __u32 ustack)
{
	/* A stack that the collector completes has an id for once; one without a place, too. */
	if (!ustack || !b->ustack || (ustack | b->ustack) & WIRE_STACK_ONCE || is_cut_for_now(k)) {
		k->unverified_user++;
		return;
	}
	k->verified_user++;
	if (ustack != b->ustack)
		k->mismatches_user++;
}

/* Whether probes have put other return addresses on the thread's user stack. */
static __always_inline bool has_probed_calls(struct task_struct *task)
{
	__u64 probed;

	if (!find_calls || !bpf_core_field_exists(task->utask))
		return false;
	probed = (__u64)OF(UNTRUSTED(task_struct, task), utask);
	return probed && FIELD(uprobe_task, probed, return_instances);
}

static __always_inline __u32 sleeping_user_stack(void *ring, struct wire_kind_state *k,
						 struct workspace *w, __u64 now,
						 struct task_struct *task)
{
	struct pt_regs *regs = has_user_stack(task) ? user_registers(task) : NULL;
	struct mm_struct *mm = OF(UNTRUSTED(task_struct, task), mm);
	__u64 space, pgd;
	__u32 id = 0, n;

	if (!regs || !mm || has_probed_calls(task))
		return 0;
	pgd = number_of(&k->fixed_point, (__u64)FIELD(mm_struct, mm, pgd));
	if (!pgd)
		return 0;
	space = space_of(task);
	k->tid = OF(task, pid);
	k->hash = space;
	k->end = CHAINLOG_STACK_UNKNOWN;
	k->code = 0;
	n = unwind_user(ring, k, w, WIRE_WAIT_STACKS, now, task, regs, space, pgd, &id);
	if (id || !n)
		return id;
	if (k->end < CHAINLOG_STACK_ENDS)
		k->ends[k->end]++;
	return recent_id(ring, k, w, now, task, n, user_stack_hash(k, native_hash(k, n)));
}

/* Records the stack with which the task sleeps, unless it runs meanwhile. now: of the event. */
static __always_inline void record_wait_stacks(struct task_struct *task, __u64 now,
					       const struct bare_sleep *b)
{
	__u64 switches = OF(task, nvcsw) + OF(task, nivcsw);
	__u32 kind = WIRE_WAIT_STACKS, ustack;
	struct wire_kind_state *k = bpf_map_lookup_elem(&kinds, &kind);
	struct workspace *w = workspace_of(kind);
	void *ring = this_ring();
	struct wire_running *ev;

	/* While sleeping threads are listed, others may be woken here. */
	if (!k || !w || !ring || *(volatile __u64 *)&k->busy)
		return;
	*(volatile __u64 *)&k->busy = 1;
	k->kind = kind;
	ustack = sleeping_user_stack(ring, k, w, now, task);
	barrier();
	if (verify && !may_have_code(OF(task, tgid)))
		check_user(k, b, ustack);
	ev = NULL;
	if (ustack && OF(task, nvcsw) + OF(task, nivcsw) == switches)
		ev = record_event(WIRE_WAIT_STACKS, now, struct wire_running);
	if (ev) {
		ev->tid = OF(task, pid);
		ev->kstack = 0;
		ev->ustack = ustack;
		ev->pad = 0;
		bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	}
	*(volatile __u64 *)&k->busy = 0;
}

/* Attached after on_waking(), whose event comes first, and which says whose stack is wanted. */
SEC("tp_btf/sched_waking")
int on_long_sleep(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct bare_sleep *b = LIGHT ? bare_sleep_of(OF(task, pid)) : NULL;

	if (!b || b->is != BARE_WOKEN || b->tid != (__u32)OF(task, pid))
		return 0;
	record_wait_stacks(task, b->since_ns, b);
	leave_place(b);
	return 0;
}

/* At the end of the recording, and of a window: of the threads that are still asleep. */
SEC("iter/task")
int list_bare_sleeps(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u64 now = bpf_ktime_get_ns();
	struct bare_sleep *b;

	if (!LIGHT || !task || !is_recording(now))
		return 0;
	b = bare_sleep_of(task->pid);
	if (b && b->is == BARE_ASLEEP && b->tid == (__u32)task->pid && !task->on_cpu &&
	    task_state(task) & TASK_SLEEPS && now - b->since_ns >= light_ns)
		record_wait_stacks(task, now, b);
	return is_late();
}
