/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * interrupts.h - how long each CPU handles interrupts: those of devices, softirqs, and x86's local
 * timer, which is none of the devices'. Other interrupts between CPUs are not counted. Part of
 * chaincap.bpf.c.
 *
 * Interrupts nest, such as one in a softirq: the time from the outermost entry to its exit counts.
 * The time between two switches is sent with the second one.
 */
#ifndef BPF_INTERRUPTS_H
#define BPF_INTERRUPTS_H

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

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interrupt_time);
} interrupt_times SEC(".maps");

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

SEC("raw_tp/softirq_entry")
int on_softirq(void *ctx)
{
	(void)ctx;
	return enter_interrupt(INTERRUPT_SOFT);
}

SEC("raw_tp/softirq_exit")
int on_softirq_done(void *ctx)
{
	(void)ctx;
	return leave_interrupt(INTERRUPT_SOFT);
}

SEC("raw_tp/irq_handler_entry")
int on_device_irq(void *ctx)
{
	(void)ctx;
	return enter_interrupt(INTERRUPT_DEVICE);
}

SEC("raw_tp/irq_handler_exit")
int on_device_irq_done(void *ctx)
{
	(void)ctx;
	return leave_interrupt(INTERRUPT_DEVICE);
}

/* Only x86 has these. */
SEC("raw_tp/local_timer_entry")
int on_timer_irq(void *ctx)
{
	(void)ctx;
	return enter_interrupt(INTERRUPT_TIMER);
}

SEC("raw_tp/local_timer_exit")
int on_timer_irq_done(void *ctx)
{
	(void)ctx;
	return leave_interrupt(INTERRUPT_TIMER);
}

/* Tells what there was since the last switch on this CPU, in which a thread now goes off it. */
static __always_inline void record_interrupts(__u64 now)
{
	volatile struct interrupt_time *t = interrupt_time();
	struct wire_interrupts *ev;
	__u64 ns;

	if (!t)
		return;
	/* Softirqs of a real-time kernel can be preempted: what runs now is none of theirs. */
	if (t->in)
		add_interrupt(t, now);
	t->in = 0;
	ns = t->ns;
	if (!ns)
		return;
	t->ns = 0;
	ev = record_event(WIRE_INTERRUPTS, now, struct wire_interrupts);
	if (!ev)
		return;
	ev->ns = ns;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

#endif /* BPF_INTERRUPTS_H */
