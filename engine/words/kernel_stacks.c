// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel_stacks.h"

#include <stdlib.h>

#include "base/kernel_functions.h"
#include "common/xalloc.h"

/* In flags[]: the frame's name has been looked up. */
#define LOOKED_UP 0x80000000u

enum waker {
	WAKER_THREAD,
	WAKER_IDLE,	/* the idle loop was current */
	WAKER_NOT_SENT, /* a thread was, which had not sent what it received */
	WAKERS
};

struct kernel_stacks {
	const struct trace *trace;
	uint32_t *flags; /* by frame */
	/* The context of a waker, packed(), by its kernel stack; 0: not computed yet. */
	uint32_t *of[WAKERS];
	/* By kernel stack, with LOOKED_UP: flags of all of its frames, and of the one that waits.
	 */
	uint32_t *all, *waits;
	bool *serves; /* see kernel_stack_serves(); where waits[] is known */
};

void kernel_stacks_new(struct kernel_stacks **out, const struct trace *t)
{
	struct kernel_stacks *k = xcalloc(1, sizeof(*k));
	size_t n = trace_stacks_end(t);

	k->trace = t;
	k->flags = xcalloc((size_t)trace_frames_end(t) + 1, sizeof(*k->flags));
	for (int i = 0; i < WAKERS; i++)
		k->of[i] = xcalloc(n + 1, sizeof(*k->of[i]));
	k->all = xcalloc(n + 1, sizeof(*k->all));
	k->waits = xcalloc(n + 1, sizeof(*k->waits));
	k->serves = xcalloc(n + 1, sizeof(*k->serves));
	*out = k;
}

void kernel_stacks_free(struct kernel_stacks *k)
{
	if (!k)
		return;
	free(k->flags);
	for (int i = 0; i < WAKERS; i++)
		free(k->of[i]);
	free(k->all);
	free(k->waits);
	free(k->serves);
	free(k);
}

unsigned int kernel_frame_flags(struct kernel_stacks *k, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(k->trace, frame);

	/* Interpreted code has any names. */
	if (!f || f->code || frame >= trace_frames_end(k->trace))
		return 0;
	if (!k->flags[frame])
		k->flags[frame] =
			LOOKED_UP | kernel_function_flags(trace_string(k->trace, f->symbol));
	return k->flags[frame] & ~LOOKED_UP;
}

/*
 * The interrupt that the leaf-most frames of a stack belong to. The frame next to the leaf decides:
 * a timer may expire while packets are received, and packets come in on the way out of a timer's
 * interrupt.
 */
static struct waker_context interrupt(struct kernel_stacks *k, struct trace_stack s,
				      uint32_t frames)
{
	struct waker_context c = { .interrupt = true, .frames = frames };

	for (uint32_t i = 0; i < frames && c.source == IRQ_OTHER; i++) {
		unsigned int flags = kernel_frame_flags(k, s.frames[i]);

		if (flags & KFUNC_TIMER)
			c.source = IRQ_TIMER;
		else if (flags & KFUNC_NETWORK)
			c.source = IRQ_NETWORK;
		else if (flags & KFUNC_REQUEST)
			c.source = IRQ_REQUEST;
	}
	return c;
}

/* Whether a thread that runs softirqs at s.frames[i] does so for others: it has sent nothing. */
static bool works_for_others(struct kernel_stacks *k, struct trace_stack s, uint32_t i)
{
	while (i < s.n && kernel_frame_flags(k, s.frames[i]) & KFUNC_OWN_WORK)
		i++;
	return i < s.n && kernel_frame_flags(k, s.frames[i]) & KFUNC_SENDS_NOTHING;
}

/*
 * Whether a thread received packets for others in the frames up to s.frames[i], which is its loop,
 * or allows softirqs: then the network was the cause.
 */
static bool is_delivery(struct kernel_stacks *k, struct trace_stack s, uint32_t i,
			struct waker_context *context)
{
	unsigned int flags = kernel_frame_flags(k, s.frames[i]);

	if (!(flags & KFUNC_DELIVERER) && !(flags & KFUNC_OWN_WORK && works_for_others(k, s, i)))
		return false;
	*context = interrupt(k, s, i + 1);
	return context->source == IRQ_NETWORK;
}

/*
 * Whether it is a device's own function that receives in the softirq whose frame s.frames[i] polls
 * devices: the packets come from outside. What a thread sends to its own machine lies on a queue of
 * the CPU, or of a virtual device.
 */
static bool is_from_device(struct kernel_stacks *k, struct trace_stack s, uint32_t i)
{
	const struct trace_frame *polled;

	if (!i || !(kernel_frame_flags(k, s.frames[i]) & KFUNC_POLLS_DEVICE) ||
	    kernel_frame_flags(k, s.frames[i - 1]) & (KFUNC_POLLS_DEVICE | KFUNC_NETWORK))
		return false;
	polled = trace_frame(k->trace, s.frames[i - 1]);
	return polled && *trace_string(k->trace, polled->symbol);
}

/* Whether a thread ends, or does what is not of its system call, in the frames below s.frames[i].
 */
static bool is_on_way_out(struct kernel_stacks *k, struct trace_stack s, uint32_t i)
{
	while (++i < s.n)
		if (kernel_frame_flags(k, s.frames[i]) & (KFUNC_OUTSIDE_CALL | KFUNC_ENDS_THREAD))
			return true;
	return false;
}

static struct waker_context read_context(struct kernel_stacks *k, uint32_t kstack, enum waker waker)
{
	struct trace_stack s = trace_stack(k->trace, kstack);
	uint32_t i, loop = s.n, inside = 0, flow = 0;
	bool of_others = false, idle = waker == WAKER_IDLE;
	struct waker_context context;
	unsigned int root = s.n ? kernel_frame_flags(k, s.frames[s.n - 1]) : 0;

	/* From the leaf on: the first frame that decides interrupted all frames after it. */
	for (i = 0; i < s.n; i++) {
		unsigned int flags = kernel_frame_flags(k, s.frames[i]);

		if (flags & KFUNC_IRQ_ENTRY)
			break;
		if (!idle && is_delivery(k, s, i, &context))
			return context;
		of_others = of_others || flags & KFUNC_SOFTIRQ_OF_OTHERS || is_from_device(k, s, i);
		if (flags & KFUNC_OWN_WORK && !idle && of_others)
			return interrupt(k, s, i + 1);
		if (flags & KFUNC_OWN_WORK && waker == WAKER_NOT_SENT && !is_on_way_out(k, s, i)) {
			context = interrupt(k, s, i + 1);
			if (context.source == IRQ_NETWORK)
				return context;
		}
		if (flags & KFUNC_OWN_WORK && !idle)
			return (struct waker_context) { .frames = s.n };
		if (flags & KFUNC_IRQ_INSIDE)
			inside = i + 1;
		if (flags & KFUNC_IRQ_FLOW)
			flow = i + 1;
		if (flags & KFUNC_IDLE_LOOP && loop == s.n)
			loop = i;
	}
	/* A thread of the kernel may handle an interrupt, if all of its stack is here. */
	if (flow > inside && (inside || s.cut || !(root & KFUNC_THREAD_ROOT)))
		inside = flow;
	/* The entry was cut off with the root end of the stack, or is not in the table. */
	if (i == s.n && inside && !idle)
		return interrupt(k, s, s.cut ? s.n : inside);
	if (i == s.n)
		return idle ? interrupt(k, s, loop) : (struct waker_context) { .frames = s.n };
	if (idle && loop < i)
		i = loop; /* an entry below the idle loop: odd, but neither is the waker's */
	else
		/* An entry is two or three frames: the stub, and the C functions it calls. */
		for (i++; i < s.n && kernel_frame_flags(k, s.frames[i]) & KFUNC_IRQ_ENTRY; i++)
			;
	return interrupt(k, s, i);
}

/* For of[]: a context as a number that is not 0. */
#define SOURCE_BITS 2
#define FRAMES_AT (1 + SOURCE_BITS)
_Static_assert(IRQ_SOURCES <= 1 << SOURCE_BITS, "each source has a number in these bits");

static uint32_t packed(struct waker_context c)
{
	return 1 + (c.frames << FRAMES_AT | (uint32_t)c.source << 1 | c.interrupt);
}

static struct waker_context unpacked(uint32_t number)
{
	number--;
	return (struct waker_context) { .interrupt = number & 1,
					.source = (enum irq_source)(number >> 1 &
								    ((1 << SOURCE_BITS) - 1)),
					.frames = number >> FRAMES_AT };
}

struct waker_context waker_context(struct kernel_stacks *k, const struct timelines *tl,
				   const struct wait *w)
{
	struct stack_pair woke = timelines_pair(tl, w->waker_stack);
	bool put_off = woke.object && timelines_tcp_timer(tl, w);
	enum waker waker = w->waker == THREAD_IDLE    ? WAKER_IDLE
			   : woke.not_sent || put_off ? WAKER_NOT_SENT
						      : WAKER_THREAD;
	uint32_t *slot;

	if (woke.kstack >= trace_stacks_end(k->trace))
		return (struct waker_context) { .interrupt = waker == WAKER_IDLE };
	slot = &k->of[waker][woke.kstack];
	if (!*slot)
		*slot = packed(read_context(k, woke.kstack, waker));
	return unpacked(*slot);
}

uint32_t irq_handler(struct kernel_stacks *k, uint32_t kstack, uint32_t frames)
{
	struct trace_stack s = trace_stack(k->trace, kstack);
	uint32_t n = frames < s.n ? frames : s.n;

	for (uint32_t i = 0; i < n; i++) {
		if (!(kernel_frame_flags(k, s.frames[i]) & KFUNC_DISPATCH))
			continue;
		/* What woke the thread on the dispatcher's own account is no handler. */
		if (!i || kernel_frame_flags(k, s.frames[i - 1]) & KFUNC_WAKE)
			return s.frames[i];
		return s.frames[i - 1];
	}
	return n ? s.frames[n - 1] : 0;
}

/* Finds waits[] and serves[] of the stack. */
static void read_wait(struct kernel_stacks *k, uint32_t kstack)
{
	struct trace_stack s = trace_stack(k->trace, kstack);
	const struct trace_frame *f;
	uint32_t i = 0;

	while (i < s.n && kernel_frame_flags(k, s.frames[i]) & KFUNC_SLEEP_PATH)
		i++;
	f = i < s.n ? trace_frame(k->trace, s.frames[i]) : NULL;
	k->waits[kstack] = LOOKED_UP | (f ? kernel_frame_flags(k, s.frames[i]) : 0);
	k->serves[kstack] =
		f && !f->code && kernel_function_serves(trace_string(k->trace, f->symbol));
}

/* Whether waits[] and serves[] of the stack are known, which they are if there is one. */
static bool knows_wait(struct kernel_stacks *k, uint32_t kstack)
{
	if (kstack >= trace_stacks_end(k->trace))
		return false;
	if (!k->waits[kstack])
		read_wait(k, kstack);
	return true;
}

unsigned int kernel_stack_wait_flags(struct kernel_stacks *k, uint32_t kstack)
{
	return knows_wait(k, kstack) ? k->waits[kstack] & ~LOOKED_UP : 0;
}

bool kernel_stack_serves(struct kernel_stacks *k, uint32_t kstack)
{
	return knows_wait(k, kstack) && k->serves[kstack];
}

static unsigned int read_flags(struct kernel_stacks *k, uint32_t kstack, uint32_t n)
{
	struct trace_stack s = trace_stack(k->trace, kstack);
	unsigned int flags = 0;

	for (uint32_t i = 0; i < n && i < s.n; i++)
		flags |= kernel_frame_flags(k, s.frames[i]);
	return flags;
}

unsigned int kernel_stack_flags(struct kernel_stacks *k, uint32_t kstack, uint32_t n)
{
	if (n < UINT32_MAX || kstack >= trace_stacks_end(k->trace))
		return read_flags(k, kstack, n);
	if (!k->all[kstack])
		k->all[kstack] = LOOKED_UP | read_flags(k, kstack, n);
	return k->all[kstack] & ~LOOKED_UP;
}

bool waker_uses_pipe(struct kernel_stacks *k, const struct timelines *tl, const struct wait *w)
{
	return w->waker < THREAD_IDLE && !waker_context(k, tl, w).interrupt &&
	       kernel_stack_flags(k, timelines_pair(tl, w->waker_stack).kstack, UINT32_MAX) &
		       KFUNC_PIPE;
}
