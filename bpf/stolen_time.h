/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stolen_time.h - time of a CPU that no thread gets: that of interrupts, and what a hypervisor
 * takes. Part of chaincap.bpf.c.
 *
 * Of interrupts those of devices count, softirqs, and x86's local timer, which is none of the
 * devices'; others between CPUs do not. They nest, such as one in a softirq: the time from the
 * outermost entry to its exit counts. The time between two switches is sent with the second one.
 */
#pragma once

const volatile bool time_interrupts = true;

enum interrupt {
	INTERRUPT_SOFT = 1,
	INTERRUPT_DEVICE = 2,
	INTERRUPT_TIMER = 4,
};

struct interrupt_time {
	__u64 in;	/* enum interrupt, or-ed: those being handled */
	__u64 since_ns; /* the outermost one */
	__u64 ns;	/* not told yet */
};

MAP(interrupt_times, PERCPU_ARRAY, 1, __u32, struct interrupt_time);

static __always_inline struct interrupt_time *interrupt_time(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&interrupt_times, &zero);
}

/* A device's interrupt may come between any two accesses: what it sees is set first. */
static __always_inline int enter_interrupt(enum interrupt which)
{
	volatile struct interrupt_time *t = interrupt_time();

	if (!t)
		return 0;
	/* If it is there already, its exit went by unseen. */
	if (t->in & ~(__u64)which) {
		t->in |= which;
		return 0;
	}
	t->in = which;
	t->since_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void add_interrupt(volatile struct interrupt_time *t, __u64 now)
{
	__u64 from = t->since_ns;

	if (from < record_from_ns)
		from = record_from_ns;
	if (is_recording(now) && from < now)
		t->ns += now - from;
}

static __always_inline int leave_interrupt(enum interrupt which)
{
	volatile struct interrupt_time *t = interrupt_time();

	/* It was entered before this program was there. */
	if (!t || !(t->in & which))
		return 0;
	if (t->in == which)
		add_interrupt(t, bpf_ktime_get_ns());
	t->in &= ~(__u64)which;
	return 0;
}

#define ON_INTERRUPT(tracepoint, name, handled) \
	SEC("raw_tp/" tracepoint)               \
	int name(void *ctx)                     \
	{                                       \
		(void)ctx;                      \
		return handled;                 \
	}

ON_INTERRUPT("softirq_entry", on_softirq, enter_interrupt(INTERRUPT_SOFT))
ON_INTERRUPT("softirq_exit", on_softirq_done, leave_interrupt(INTERRUPT_SOFT))
ON_INTERRUPT("irq_handler_entry", on_device_irq, enter_interrupt(INTERRUPT_DEVICE))
ON_INTERRUPT("irq_handler_exit", on_device_irq_done, leave_interrupt(INTERRUPT_DEVICE))
/* Only x86 has these. */
ON_INTERRUPT("local_timer_entry", on_timer_irq, enter_interrupt(INTERRUPT_TIMER))
ON_INTERRUPT("local_timer_exit", on_timer_irq_done, leave_interrupt(INTERRUPT_TIMER))

static __always_inline void record_stolen(__u32 kind, __u64 now, __u64 ns)
{
	struct wire_stolen *ev = ns ? record_event(kind, now, struct wire_stolen) : NULL;

	if (!ev)
		return;
	ev->ns = ns;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

/* Tells what there was since the last switch on this CPU, in which a thread now goes off it. */
static __always_inline void record_interrupts(__u64 now)
{
	volatile struct interrupt_time *t = interrupt_time();
	__u64 ns;

	if (!t)
		return;
	/* Softirqs of a real-time kernel can be preempted: what runs now is none of theirs. */
	if (t->in)
		add_interrupt(t, now);
	t->in = 0;
	ns = t->ns;
	t->ns = 0;
	record_stolen(WIRE_INTERRUPTS, now, ns);
}

/* ---- the hypervisor ------------------------------------------------------------------------- */

/*
 * How long a hypervisor did not run the CPU of a virtual machine though it had work: the counter of
 * the CPU's run queue, read at each switch. It grows with the kernel's ticks, by what /proc/stat's
 * grows (steal_account_process_time()).
 */
struct steal_time {
	__u64 told_ns; /* the counter, when it was read last */
	bool known;    /* it was read */
};

MAP(steal_times, PERCPU_ARRAY, 1, __u32, struct steal_time);

/* Tells what it has grown by since the last switch on this CPU, on which the task runs. */
static __always_inline void record_steal(struct task_struct *task, __u64 now)
{
	struct steal_time *t;
	__u32 zero = 0;
	__u64 ns, grown = 0;

	if (!bpf_core_field_exists(struct cfs_rq, rq) ||
	    !bpf_core_field_exists(struct rq, prev_steal_time))
		return;
	t = bpf_map_lookup_elem(&steal_times, &zero);
	if (!t)
		return;
	ns = OF(OF(OF(UNTRUSTED(task_struct, task), se.cfs_rq), rq), prev_steal_time);
	if (t->known && ns > t->told_ns)
		grown = ns - t->told_ns;
	t->told_ns = ns;
	t->known = true;
	record_stolen(WIRE_STEAL, now, grown);
}
