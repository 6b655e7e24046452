// SPDX-License-Identifier: GPL-2.0-or-later
#include "handler.h"

#include "symbol.h"

/* They call through a pointer: what they called is a handler. */
static const char *const callers[] = {
	"__hrtimer_run_queues", /* kernel/time/hrtimer.c */
	"call_timer_fn",	/* kernel/time/timer.c */
	"expire_timers",
	"__handle_irq_event_percpu", /* kernel/irq/handle.c */
	"handle_irq_event_percpu",
	"handle_softirqs", /* kernel/softirq.c; before 6.6 __do_softirq */
	"__do_softirq",
	"tasklet_action_common*",
	"irq_work_single", /* kernel/irq_work.c */
	"irq_work_run_list",
	"__flush_smp_call_function_queue", /* kernel/smp.c */
	"flush_smp_call_function_queue",
	"rcu_do_batch",
	"__napi_poll", /* net/core/dev.c */
};

/* Waking itself is not what an interrupt is there for. */
static const char *const wakers[] = {
	"try_to_wake_up",
	"wake_up_process",
	"default_wake_function",
};

static bool in_list(const struct trace *t, uint32_t frame, const char *const *list, size_t n)
{
	const struct trace_frame *f = trace_frame(t, frame);
	const char *symbol = f ? trace_string(t, f->symbol) : "";

	for (size_t i = 0; i < n; i++)
		if (symbol_is(symbol, list[i]))
			return true;
	return false;
}

#define IN_LIST(t, frame, list) in_list(t, frame, list, sizeof(list) / sizeof((list)[0]))

uint32_t handler_frame(const struct trace *t, uint32_t kstack, uint32_t frames)
{
	struct trace_stack s = trace_stack(t, kstack);
	uint32_t n = frames < s.n ? frames : s.n;

	for (uint32_t i = 0; i < n; i++) {
		if (!IN_LIST(t, s.frames[i], callers))
			continue;
		if (!i || IN_LIST(t, s.frames[i - 1], wakers))
			return s.frames[i];
		return s.frames[i - 1];
	}
	return n ? s.frames[n - 1] : 0;
}
