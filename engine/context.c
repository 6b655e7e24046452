// SPDX-License-Identifier: GPL-2.0-or-later
#include "context.h"

#include <stdlib.h>

#include "symbol.h"

enum frame_kind {
	FRAME_OTHER,
	FRAME_ENTRY,  /* an interrupt's entry */
	FRAME_INSIDE, /* what only an interrupt runs, above its entry */
	FRAME_INLINE, /* what the thread does by itself: softirqs, work on its way to user mode */
	FRAME_IDLE,   /* the idle loop */
};

struct contexts {
	const struct trace *trace;
	/* By kernel stack, 0: not looked at yet; else 1 + frames << 1 | interrupt. */
	uint32_t *of_task, *of_idle;
	uint8_t *of_frame; /* 0: not looked up yet; else 1 + enum frame_kind */
};

/*
 * Kernel functions; those with a '*' at the end stand for all names that begin so. x86-64 since
 * 5.8: the asm_ stubs of DEFINE_IDTENTRY_IRQ and _SYSVEC (arch/x86/include/asm/idtentry.h) and the
 * C functions that they call; before that: arch/x86/entry/entry_64.S. arm64: entry.S and
 * entry-common.c. riscv, s390, powerpc, arm: their entry code likewise.
 */
static const struct {
	const char *name;
	enum frame_kind kind;
} known[] = {
	{ "asm_common_interrupt", FRAME_ENTRY },
	{ "asm_spurious_interrupt", FRAME_ENTRY },
	{ "asm_sysvec_*", FRAME_ENTRY },
	{ "asm_exc_nmi", FRAME_ENTRY },
	{ "asm_exc_xen_hypervisor_callback", FRAME_ENTRY },
	{ "common_interrupt", FRAME_ENTRY },
	{ "spurious_interrupt", FRAME_ENTRY },
	{ "sysvec_*", FRAME_ENTRY },
	{ "exc_nmi", FRAME_ENTRY },
	{ "ret_from_intr", FRAME_ENTRY },
	{ "apic_timer_interrupt", FRAME_ENTRY },
	{ "reschedule_interrupt", FRAME_ENTRY },
	{ "call_function_interrupt", FRAME_ENTRY },
	{ "call_function_single_interrupt", FRAME_ENTRY },
	{ "irq_work_interrupt", FRAME_ENTRY },
	{ "hyperv_callback_vector", FRAME_ENTRY },
	{ "hv_stimer0_callback_vector", FRAME_ENTRY },
	{ "xen_hvm_callback_vector", FRAME_ENTRY },
	{ "xen_do_hypervisor_callback", FRAME_ENTRY },
	{ "el0_irq", FRAME_ENTRY },
	{ "el1_irq", FRAME_ENTRY },
	{ "el0_irq_naked", FRAME_ENTRY },
	{ "el0_irq_compat", FRAME_ENTRY },
	{ "el0_interrupt", FRAME_ENTRY },
	{ "el1_interrupt", FRAME_ENTRY },
	{ "__el1_irq", FRAME_ENTRY },
	{ "el0t_64_irq*", FRAME_ENTRY },
	{ "el0t_64_fiq*", FRAME_ENTRY },
	{ "el0t_32_irq*", FRAME_ENTRY },
	{ "el0t_32_fiq*", FRAME_ENTRY },
	{ "el1h_64_irq*", FRAME_ENTRY },
	{ "el1h_64_fiq*", FRAME_ENTRY },
	{ "el1t_64_irq*", FRAME_ENTRY },
	{ "__el0_irq_handler_common", FRAME_ENTRY },
	{ "__irq_svc", FRAME_ENTRY },
	{ "__irq_usr", FRAME_ENTRY },
	{ "do_irq", FRAME_ENTRY },
	{ "handle_riscv_irq", FRAME_ENTRY },
	{ "do_ext_irq", FRAME_ENTRY },
	{ "do_io_irq", FRAME_ENTRY },
	{ "ext_int_handler", FRAME_ENTRY },
	{ "io_int_handler", FRAME_ENTRY },
	{ "hardware_interrupt_common*", FRAME_ENTRY },
	{ "decrementer_common*", FRAME_ENTRY },
	{ "doorbell_super_common*", FRAME_ENTRY },
	{ "__common_interrupt", FRAME_INSIDE },
	{ "__sysvec_*", FRAME_INSIDE },
	{ "generic_handle_irq", FRAME_INSIDE },
	{ "generic_handle_domain_irq", FRAME_INSIDE },
	{ "handle_edge_irq", FRAME_INSIDE },
	{ "handle_fasteoi_irq", FRAME_INSIDE },
	{ "handle_irq_event", FRAME_INSIDE },
	{ "__handle_irq_event_percpu", FRAME_INSIDE },
	{ "hrtimer_interrupt", FRAME_INSIDE },
	{ "__irq_exit_rcu", FRAME_INSIDE },
	{ "irq_exit_rcu", FRAME_INSIDE },
	{ "irq_exit", FRAME_INSIDE },
	{ "__local_bh_enable_ip", FRAME_INLINE },
	{ "do_softirq", FRAME_INLINE },
	/* On the way back to user mode after an interrupt it is the thread again: signals, ... */
	{ "irqentry_exit_to_user_mode", FRAME_INLINE },
	{ "exit_to_user_mode_prepare", FRAME_INLINE },
	{ "exit_to_user_mode_loop", FRAME_INLINE },
	{ "arch_do_signal_or_restart", FRAME_INLINE },
	{ "do_notify_resume", FRAME_INLINE },
	{ "task_work_run", FRAME_INLINE },
	{ "do_idle", FRAME_IDLE },
	{ "cpu_startup_entry", FRAME_IDLE },
	{ "cpu_idle_loop", FRAME_IDLE },
	{ "cpuidle_idle_call", FRAME_IDLE },
	{ "rest_init", FRAME_IDLE },
	{ "start_secondary", FRAME_IDLE },
	{ "secondary_start_kernel", FRAME_IDLE },
};

static enum frame_kind look_up(const struct trace *t, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(t, frame);
	const char *symbol = f ? trace_string(t, f->symbol) : "";

	if (!*symbol)
		return FRAME_OTHER;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (symbol_is(symbol, known[i].name))
			return known[i].kind;
	return FRAME_OTHER;
}

static enum frame_kind kind_of(struct contexts *c, uint32_t frame)
{
	uint8_t *slot;

	if (frame >= trace_frames_end(c->trace))
		return FRAME_OTHER;
	slot = &c->of_frame[frame];
	if (!*slot)
		*slot = (uint8_t)(1 + look_up(c->trace, frame));
	return (enum frame_kind)(*slot - 1);
}

static struct context read_context(struct contexts *c, uint32_t kstack, bool idle)
{
	struct trace_stack s = trace_stack(c->trace, kstack);
	uint32_t i, loop = s.n, inside = 0;

	/* From the leaf: what comes first decides, for it interrupted all that comes after. */
	for (i = 0; i < s.n; i++) {
		enum frame_kind kind = kind_of(c, s.frames[i]);

		if (kind == FRAME_ENTRY)
			break;
		if (kind == FRAME_INLINE && !idle)
			return (struct context) { false, s.n };
		if (kind == FRAME_INSIDE)
			inside = i + 1;
		if (kind == FRAME_IDLE && loop == s.n)
			loop = i;
	}
	/* The entry is beyond where the stack was cut, or one that is not in the table. */
	if (i == s.n && inside && !idle)
		return (struct context) { true, s.cut ? s.n : inside };
	if (i == s.n)
		return idle ? (struct context) { true, loop } : (struct context) { false, s.n };
	if (idle && loop < i)
		i = loop; /* the loop above an entry: an odd stack, but none of it is a waker's */
	else
		/* An entry is two or three frames: the stub, and the C functions it calls. */
		for (i++; i < s.n && kind_of(c, s.frames[i]) == FRAME_ENTRY; i++)
			;
	return (struct context) { true, i };
}

struct contexts *contexts_new(const struct trace *t)
{
	struct contexts *c = calloc(1, sizeof(*c));
	size_t n = trace_stacks_end(t);

	if (!c)
		return NULL;
	c->trace = t;
	c->of_task = calloc(n + 1, sizeof(*c->of_task));
	c->of_idle = calloc(n + 1, sizeof(*c->of_idle));
	c->of_frame = calloc((size_t)trace_frames_end(t) + 1, 1);
	if (!c->of_task || !c->of_idle || !c->of_frame) {
		contexts_free(c);
		return NULL;
	}
	return c;
}

void contexts_free(struct contexts *c)
{
	if (!c)
		return;
	free(c->of_task);
	free(c->of_idle);
	free(c->of_frame);
	free(c);
}

struct context context_of(struct contexts *c, uint32_t kstack, bool idle)
{
	uint32_t *slot;
	struct context x;

	if (kstack >= trace_stacks_end(c->trace))
		return (struct context) { idle, 0 };
	slot = idle ? &c->of_idle[kstack] : &c->of_task[kstack];
	if (!*slot) {
		x = read_context(c, kstack, idle);
		*slot = 1 + (x.frames << 1 | x.interrupt);
	}
	return (struct context) { (*slot - 1) & 1, (*slot - 1) >> 1 };
}
