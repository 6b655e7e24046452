// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_nature.h"

#include <string.h>

#include "base/kernel_functions.h"
#include "words/lock_holder.h"

/* How many leaf frames say what a stack waits for; their callers say what the work is. */
#define FRAMES_THAT_TELL 3
/*
 * How many sleeps of a possible answerer are looked at: it may sleep that often before it answers.
 */
#define SLEEPS_BACK 64

/* ---- locks ---------------------------------------------------------------------------------- */

/* mutex_lock, __lll_lock_wait, std::mutex::lock; not block, clock, unlock, deadlock. */
static bool takes_a_lock(const char *symbol)
{
	for (const char *p = symbol; (p = strstr(p, "lock")); p++)
		if (p == symbol || !strchr("bcdnBCDN", p[-1]))
			return true;
	return strstr(symbol, "mutex") || strstr(symbol, "ObjectMonitor::enter");
}

/* True if one of the frames next to the leaf takes a lock, and none waits for a condition. */
static bool stack_takes_a_lock(const struct trace *t, struct kernel_stacks *k, uint32_t stack)
{
	struct trace_stack s = trace_stack(t, stack);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < s.n && seen < FRAMES_THAT_TELL; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *symbol = f ? trace_string(t, f->symbol) : "";

		if (f && f->code) /* it has any names */
			return false;
		if (kernel_frame_flags(k, s.frames[i]) & (KFUNC_PLUMBING | KFUNC_SLEEP_PATH))
			continue;
		seen++;
		if (strstr(symbol, "cond"))
			return false;
		if (takes_a_lock(symbol))
			return true;
	}
	return false;
}

/* Of the kernel's locks those that a thread holds, unlike that of a page. */
static bool kernel_takes_a_lock(const struct trace *t, struct kernel_stacks *k, uint32_t stack)
{
	static const char *const locks[] = { "mutex_lock", "rwsem_", "down_read", "down_write" };
	struct trace_stack s = trace_stack(t, stack);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < s.n && seen < FRAMES_THAT_TELL; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *symbol = f ? trace_string(t, f->symbol) : "";

		if (kernel_frame_flags(k, s.frames[i]) & KFUNC_PLUMBING)
			continue;
		seen++;
		for (size_t l = 0; l < sizeof(locks) / sizeof(locks[0]); l++)
			if (strstr(symbol, locks[l]))
				return true;
	}
	return false;
}

/* In sem_wait() and the like: nobody holds a semaphore. CPython's locks, as for a join, are some.
 */
static bool waits_at_semaphore(const struct trace *t, uint32_t ustack)
{
	struct trace_stack s = trace_stack(t, ustack);

	for (uint32_t i = 0; i < s.n && i < FRAMES_THAT_TELL; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);

		if (f && f->code)
			return false;
		if (f && strstr(trace_string(t, f->symbol), "sem_"))
			return true;
	}
	return false;
}

bool wait_is_at_lock(const struct timelines *tl, struct kernel_stacks *k, uint32_t pair)
{
	const struct trace *t = timelines_trace(tl);
	struct stack_pair p = timelines_pair(tl, pair);

	return (stack_takes_a_lock(t, k, p.ustack) && !waits_at_semaphore(t, p.ustack)) ||
	       kernel_takes_a_lock(t, k, p.kstack) || lock_is_gil(t, p.object);
}

bool wait_looks_stuck(const struct timelines *tl, struct kernel_stacks *k, const struct wait *w)
{
	const struct trace *t = timelines_trace(tl);
	struct stack_pair p = timelines_pair(tl, w->stack);

	if (w->kind != WAIT_SLEEP || !(w->flags & WAIT_NOT_WOKEN) ||
	    kernel_stack_wait_flags(k, p.kstack) & KFUNC_AWAITS_WORK)
		return false;
	return w->state == 'D' || stack_takes_a_lock(t, k, p.kstack) ||
	       stack_takes_a_lock(t, k, p.ustack) || lock_is_gil(t, p.object);
}

/* ---- answers -------------------------------------------------------------------------------- */

static bool by_task(const struct timelines *tl, struct kernel_stacks *k, const struct wait *w)
{
	uint32_t kstack = timelines_pair(tl, w->waker_stack).kstack;

	return w->waker < THREAD_IDLE && !waker_context(k, kstack, false).interrupt;
}

/* What a server does in between is not looked at: it may well wake the
 * asker when it only reads the question (unix_write_space), and ask others itself.
 */
bool wait_is_answered(const struct timelines *tl, struct kernel_stacks *k, uint32_t thread,
		      const struct wait *w)
{
	const struct thread *th = timelines_thread(tl, thread), *waker;
	uint32_t i;

	if (!by_task(tl, k, w))
		return false;
	waker = timelines_thread(tl, w->waker);
	i = wait_waker_pos(waker, w);
	for (int n = 0; n < SLEEPS_BACK && i-- > 0; n++) {
		const struct wait *s = &waker->waits[i];

		if (s->kind != WAIT_SLEEP || !by_task(tl, k, s))
			continue;
		if (s->waker == thread ||
		    (th->tgid && timelines_thread(tl, s->waker)->tgid == th->tgid))
			return true;
	}
	return false;
}

bool wait_is_idle(const struct timelines *tl, struct kernel_stacks *k, uint32_t thread,
		  const struct wait *w)
{
	unsigned int flags;

	if (w->kind != WAIT_SLEEP || w->flags & WAIT_NEW)
		return false;
	flags = kernel_stack_wait_flags(k, timelines_pair(tl, w->stack).kstack);
	if (flags & KFUNC_AWAITS_WORK)
		return true;
	if (w->flags & WAIT_NOT_WOKEN)
		return !wait_looks_stuck(tl, k, w);
	return flags & KFUNC_EVENT_LOOP && !wait_is_answered(tl, k, thread, w);
}

/* ---- classes -------------------------------------------------------------------------------- */

bool wait_classes_known(const struct timelines *tl)
{
	return timelines_has_objects(tl);
}

uint32_t wait_class(const struct timelines *tl, uint32_t pair)
{
	struct stack_pair p = timelines_pair(tl, pair);
	const struct trace_object *o =
		trace_object(timelines_trace(tl), p.ready ? p.ready : p.object);

	return o && o->class ? o->class : SUMS_UNKNOWN;
}
