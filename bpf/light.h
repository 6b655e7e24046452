/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * light.h - --light: a thread that goes to sleep has no stacks. If it sleeps for long, these and
 * its waker's are recorded when it is woken: its own lie in memory until then. Part of
 * chaincap.bpf.c.
 */
#pragma once

enum bare_is {
	BARE_NOT,    /* its switch-out had all stacks, or it is awake */
	BARE_ASLEEP, /* since since_ns */
	BARE_WOKEN,  /* at since_ns, its stacks are to be recorded */
	BARE_SPARED, /* likewise, that they are left out */
};

/*
 * By the low bits of the tid. A thread has the place from when it falls asleep until that is woken;
 * others with these bits, whom anybody can make, have all their stacks meanwhile. What is from
 * before a pause of the recorder means nothing.
 */
struct bare_sleep {
	__u64 since_ns;
	__u64 leaf; /* the fixed point of its kernel stack; 0: the switch-out has that stack */
	__u32 tid;  /* 0: nobody's */
	__u32 is;   /* enum bare_is */
	/* --verify: what they were at the switch-out (sum_of_frames()), then the tree's root. */
	__u32 kstack, ustack, root;
	/* So many of the thread's next kernel stacks of that depth are taken at the switch-out. */
	__u16 looks, depth;
	/* The last long sleep that ended here, and whose; 0: none did. */
	__u64 long_from_ns, long_to_ns;
	__u32 long_tid;
};

#define BARE_SLEEPS (1u << 16)

/* One element, unless it is used. */
MAP(bare_sleeps, ARRAY, BARE_SLEEPS, __u32, struct bare_sleep);

static __always_inline struct bare_sleep *bare_sleep_of(__u32 tid)
{
	__u32 i = tid & (BARE_SLEEPS - 1);

	return bpf_map_lookup_elem(&bare_sleeps, &i);
}

static __always_inline bool is_outdated(const struct bare_sleep *b)
{
	return b->since_ns < record_from_ns;
}

static __always_inline bool take_place(struct bare_sleep *b, __u32 tid)
{
	__u32 free = is_outdated(b) ? b->tid : 0;
	__u32 has = __sync_val_compare_and_swap(&b->tid, free, tid);

	return has == free || has == tid;
}

static __always_inline void leave_place(struct bare_sleep *b)
{
	b->is = BARE_NOT;
	barrier();
	*(volatile __u32 *)&b->tid = 0;
}

/*
 * Kernel stacks of threads that sleep are recognized, not walked. So that the collector learns
 * them, these many of each depth of the stack are taken at the switch-out, and one in so many from
 * then on; as many again, when one was not recognized, and some of its thread's.
 */
#define LOOKS 64u
#define LOOKS_AT_ONE 16u
#define DEPTHS 2048u

MAP(looks, ARRAY, DEPTHS, __u32, __u32);

static __always_inline __u32 *looks_of(__u64 depth)
{
	__u32 i = (__u32)depth / 8 & (DEPTHS - 1);

	return bpf_map_lookup_elem(&looks, &i);
}

static __always_inline bool looks_at(struct bare_sleep *b, __u64 depth)
{
	__u32 *n = looks_of(depth);

	if (b->looks && b->depth == (__u16)depth) {
		b->looks--;
		return true;
	}
	if (!n || ++*n < LOOKS)
		return true;
	if (*n < 2 * LOOKS)
		return false;
	*n = LOOKS;
	return true;
}

static __always_inline void look_again(struct bare_sleep *b, __u64 depth)
{
	__u32 *n = looks_of(depth);

	b->looks = LOOKS_AT_ONE;
	b->depth = (__u16)depth;
	if (n)
		*n = 0;
}

/*
 * How far from the end of the current thread's kernel stack the program's arguments are, whose
 * address is left in *room, in a map: to the verifier both are pointers.
 */
static __always_inline __u64 depth_of(__u64 *room, void *ctx, struct task_struct *task)
{
	__u64 stack = number_of(room, (__u64)OF(task, stack));

	return number_of(room, (__u64)ctx) - stack;
}

enum bare_stacks { ALL_STACKS, NO_USER_STACK, NO_STACKS };

/* The thread goes off its CPU. Returns which of its stacks are to be recorded now. */
static __always_inline enum bare_stacks leaves_bare(void *ctx, struct task_struct *task, __u32 tid,
						    __u32 state, __u64 now)
{
	struct bare_sleep *b = bare_sleep_of(tid);
	__u64 depth;

	if (!b)
		return ALL_STACKS;
	if (!(state & TASK_SLEEPS && has_user_stack(task))) {
		if (b->tid == tid)
			leave_place(b);
		return ALL_STACKS;
	}
	if (!take_place(b, tid))
		return ALL_STACKS;
	depth = depth_of(&b->leaf, ctx, current_task());
	b->since_ns = now;
	b->is = BARE_ASLEEP;
	b->kstack = b->ustack = 0;
	if (verify)
		return ALL_STACKS;
	if (!looks_at(b, depth))
		return NO_STACKS;
	b->leaf = 0;
	return NO_USER_STACK;
}

MAP(waking_room, PERCPU_ARRAY, 1, __u32, __u64); /* for depth_of() */

/*
 * Whether it is certain without a look at its stack that no interrupt wakes, but the current thread
 * itself, in a system call. Interrupts of the kernel's code, and softirqs, are on stacks of the
 * CPU's own; one of user code is in no system call.
 */
static __always_inline bool wakes_by_itself(void *ctx, struct task_struct *task)
{
	__u32 zero = 0;
	__u64 *room = bpf_map_lookup_elem(&waking_room, &zero);

	return room && depth_of(room, ctx, task) < STACK_SIZE && has_user_stack(task) &&
	       call_number((void *)bpf_task_pt_regs((void *)task)) >= 0;
}

/*
 * At most so many sleeps get their stacks in each tenth of a second of a CPU, the first ones. Where
 * more than twice as many end, the longer ones do: the time that they have to last grows fast, and
 * shrinks slowly. When all have been given out, half as many again are left for those that last
 * several times as long as they have to: so many short ones take none from them. Who does nothing
 * but sleep for some time, over and over, says little, and can be many: those that a timer of the
 * sleeper's own ends have a small part for themselves.
 */
#define PERIOD_NS 100000000u
#define SLEEPS_MOST 150u
#define TIMERS_MOST 50u
#define SEVERAL_TIMES 4u
#define SLEEPS_LONGEST_NS 1000000000u

struct light_budget {
	__u64 since_ns, least_ns;
	__u32 n;      /* sleeps in this period that were long enough */
	__u32 n_more; /* of these, several times as long, when all stacks had been given out */
	bool is_told; /* least_ns is to be told */
};

enum { BUDGET_OTHERS, BUDGET_TIMERS, BUDGETS };
MAP(light_budgets, PERCPU_ARRAY, BUDGETS, __u32, struct light_budget);

static __always_inline void begin_period(struct light_budget *b, __u32 most, __u64 now)
{
	__u64 before = b->least_ns;

	if (b->n < most)
		b->least_ns -= b->least_ns / 16;
	else if (b->n > 2 * most && b->least_ns < SLEEPS_LONGEST_NS)
		b->least_ns *= 2;
	if (b->least_ns < light_ns)
		b->least_ns = light_ns;
	/* In each such period, as a trace may begin anywhere. */
	b->is_told = b->least_ns != light_ns || (before && before != light_ns);
	b->since_ns = now;
	b->n = b->n_more = 0;
}

/* Whether stacks of a sleep that ends now, and lasted for so long, are within the budget. */
static __always_inline bool may_have_stacks(__u32 which, __u64 now, __u64 slept_ns)
{
	__u32 most = which == BUDGET_TIMERS ? TIMERS_MOST : SLEEPS_MOST;
	struct light_budget *b = bpf_map_lookup_elem(&light_budgets, &which);

	if (!b || verify)
		return true;
	if (now - b->since_ns >= PERIOD_NS)
		begin_period(b, most, now);
	if (slept_ns < b->least_ns)
		return false;
	return ++b->n <= most ||
	       (slept_ns / SEVERAL_TIMES >= b->least_ns && ++b->n_more <= most / 2);
}

/* After that, as an event. */
static __always_inline void tell_budget(__u32 which, __u64 now)
{
	struct light_budget *b = bpf_map_lookup_elem(&light_budgets, &which);
	struct wire_stacks_from *ev;

	if (!b || !b->is_told)
		return;
	b->is_told = false;
	ev = record_event(WIRE_STACKS_FROM, now, struct wire_stacks_from);
	if (!ev)
		return;
	ev->ns = b->least_ns;
	ev->timers = which;
	ev->pad = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

/* Whose sleep the timer that expired last on this CPU ends; a task. */
MAP(sleepers_timer, PERCPU_ARRAY, 1, __u32, __u64);

SEC("raw_tp/hrtimer_expire_entry")
int on_sleepers_timer(unsigned long long *ctx)
{
	__u32 zero = 0;
	__u64 *sleeper = bpf_map_lookup_elem(&sleepers_timer, &zero);

	/* What follows a timer of another kind is no task, or not the one that is woken. */
	if (sleeper)
		*sleeper = (__u64)POINTER(hrtimer_sleeper, ctx[0], task);
	return 0;
}

static __always_inline __u32 budget_of(__u64 task)
{
	__u32 zero = 0;
	__u64 *sleeper = bpf_map_lookup_elem(&sleepers_timer, &zero);

	if (!sleeper || *sleeper != task)
		return BUDGET_OTHERS;
	*sleeper = 0;
	return BUDGET_TIMERS;
}

/* Whether the sleep that a waking of the task ends is too short for the waker's user stack. */
static __always_inline bool wakes_bare(__u64 task, const struct other *target, __u64 now)
{
	struct bare_sleep *b = bare_sleep_of(target->tid);
	__u64 slept_ns;

	/* It may only prevent a sleep that was about to begin; what is queued has its stacks. */
	if (!target->off_queue)
		return !target->worker;
	/* How long it has slept is not known, or it has all stacks. */
	if (!b || b->tid != target->tid || b->is != BARE_ASLEEP || is_outdated(b))
		return false;
	slept_ns = now - b->since_ns;
	if (slept_ns < light_ns) {
		leave_place(b);
		return true;
	}
	b->long_from_ns = b->since_ns;
	b->long_to_ns = now;
	b->long_tid = b->tid;
	b->since_ns = now;
	b->is = may_have_stacks(budget_of(task), now, slept_ns) ? BARE_WOKEN : BARE_SPARED;
	return b->is == BARE_SPARED;
}

/* ---- the stacks of a thread that sleeps ------------------------------------------------------ */

/* Whether a stack may end there only as a rule, or room to ask for one, was not there then. */
static __always_inline bool is_cut_for_now(const struct wire_kind_state *k)
{
	return k->end == CHAINLOG_STACK_NO_RULE || k->end == CHAINLOG_STACK_UNREADABLE;
}

/* --verify: tells user stacks apart. Their ids do not: a stack that was forgotten gets another. */
static __always_inline __u32 sum_of_frames(const struct wire_kind_state *k)
{
	return (__u32)mix(k->hash, k->end) | 1;
}

/* A stack that the collector completes has an id for once; one without a place, too. */
static __always_inline bool is_comparable(const struct wire_kind_state *k, __u32 ustack)
{
	return ustack && !(ustack & WIRE_STACK_ONCE) && !is_cut_for_now(k);
}

/* --verify: keeps the stacks of a thread that goes off its CPU. */
static __always_inline void keep_for_check(const struct wire_kind_state *k, __u32 tid, __u32 kstack,
					   __u32 ustack)
{
	struct bare_sleep *b = bare_sleep_of(tid);

	if (!b || b->tid != tid || b->is != BARE_ASLEEP)
		return;
	b->kstack = kstack;
	b->ustack = is_comparable(k, ustack) ? sum_of_frames(k) : 0;
	b->root = (__u32)k->root;
}

/* One that was walked then may have been learnt since. */
static __always_inline void check_kernel(struct wire_kind_state *k, const struct bare_sleep *b,
					 __u32 kstack)
{
	if (!kstack || !wire_layout(b->kstack) || b->root != tree_root)
		return;
	k->verified++;
	if (kstack != b->kstack)
		k->mismatches++;
}

static __always_inline void check_user(struct wire_kind_state *k, const struct bare_sleep *b,
				       __u32 ustack)
{
	if (!b->ustack || !is_comparable(k, ustack)) {
		k->unverified_user++;
		return;
	}
	k->verified_user++;
	if (b->ustack != sum_of_frames(k))
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
	k->hash = stack_space(task, space);
	k->end = CHAINLOG_STACK_UNKNOWN;
	k->code = 0;
	n = unwind_user(k, w, WIRE_WAIT_STACKS, task, regs, space, pgd, &id);
	if (n && wants_copy(ring, k, now, task))
		id = send_copy(ring, k, w, now, task, regs);
	else if (n && verify)
		send_check(ring, k, w, now, task, regs);
	if (id || !n)
		return id;
	if (k->end < CHAINLOG_STACK_ENDS)
		k->ends[k->end]++;
	return recent_id(ring, k, w, now, task, n, user_stack_hash(k, native_hash(k, n)));
}

static __always_inline void tell_wait_stacks(struct task_struct *task, __u64 now, __u32 kstack,
					     __u32 ustack)
{
	struct wire_running *ev = record_event(WIRE_WAIT_STACKS, now, struct wire_running);

	if (!ev)
		return;
	ev->tid = OF(task, pid);
	ev->kstack = kstack;
	ev->ustack = ustack;
	ev->pad = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

/* Records the stacks with which the task sleeps, unless it runs meanwhile. now: of the event. */
static __always_inline void record_wait_stacks(struct task_struct *task, __u64 now,
					       struct bare_sleep *b)
{
	__u64 switches = OF(task, nvcsw) + OF(task, nivcsw);
	__u32 kind = WIRE_WAIT_STACKS, kstack, ustack;
	struct wire_kind_state *k = bpf_map_lookup_elem(&kinds, &kind);
	struct workspace *w = workspace_of(kind);
	void *ring = this_ring();

	/* While sleeping threads are listed, others may be woken here. */
	if (!k || !w || !ring || *(volatile __u64 *)&k->busy)
		return;
	*(volatile __u64 *)&k->busy = 1;
	k->kind = kind;
	kstack = sleeping_kernel_stack(k, w, task, b->leaf);
	if (kstack)
		k->known++;
	else if (b->leaf)
		look_again(b, b->leaf - (__u64)OF(task, stack));
	ustack = sleeping_user_stack(ring, k, w, now, task);
	barrier();
	if (verify)
		check_kernel(k, b, kstack);
	if (verify && !may_have_code(OF(task, tgid)))
		check_user(k, b, ustack);
	if ((kstack || ustack) && OF(task, nvcsw) + OF(task, nivcsw) == switches)
		tell_wait_stacks(task, now, kstack, ustack);
	*(volatile __u64 *)&k->busy = 0;
}

/* Attached after on_waking(), whose event comes first, and which says whose stack is wanted. */
SEC("tp_btf/sched_waking")
int on_long_sleep(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct bare_sleep *b = LIGHT ? bare_sleep_of(OF(task, pid)) : NULL;

	if (!b || b->is < BARE_WOKEN || b->tid != (__u32)OF(task, pid))
		return 0;
	tell_budget(BUDGET_OTHERS, b->since_ns);
	tell_budget(BUDGET_TIMERS, b->since_ns);
	if (b->is == BARE_WOKEN)
		record_wait_stacks(task, b->since_ns, b);
	else
		tell_wait_stacks(task, b->since_ns, 0, 0);
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
	if (b && b->is == BARE_ASLEEP && b->tid == (__u32)task->pid && !is_outdated(b) &&
	    !task->on_cpu && task_state(task) & TASK_SLEEPS && now - b->since_ns >= light_ns)
		record_wait_stacks(task, now, b);
	return is_late();
}
