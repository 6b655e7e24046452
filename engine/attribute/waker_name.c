// SPDX-License-Identifier: GPL-2.0-or-later
#include "waker_name.h"

#include <stdlib.h>

#include "chain.h"
#include "common/xalloc.h"

struct waker_names {
	const struct timelines *timelines;
	struct names *names;
	uint32_t *of_stack; /* text of an interrupt by the waker's stack pair; 0: not made yet */
	struct text_buf buf;
};

void waker_names_new(struct waker_names **out, const struct timelines *tl, struct names *names)
{
	struct waker_names *n = xcalloc(1, sizeof(*n));

	n->timelines = tl;
	n->names = names;
	n->of_stack = xcalloc(2 * (size_t)timelines_pairs_end(tl), sizeof(*n->of_stack));
	*out = n;
}

void waker_names_free(struct waker_names *n)
{
	if (!n)
		return;
	free(n->of_stack);
	text_free(&n->buf);
	free(n);
}

static uint32_t interrupt_text(struct waker_names *n, uint32_t kstack, uint32_t frames)
{
	uint32_t frame = irq_handler(names_kernel_stacks(n->names), kstack, frames);
	uint32_t handler = frame ? names_frame(n->names, frame) : 0;

	if (frame && !handler)
		return 0;
	n->buf.len = 0;
	text_puts(&n->buf, "[interrupt]");
	if (handler) {
		text_puts(&n->buf, " ");
		text_puts(&n->buf, names_text(n->names, handler));
	}
	return names_clean(n->names, n->buf.p);
}

uint32_t waker_name(struct waker_names *n, const struct wait *w)
{
	uint32_t kstack = timelines_pair(n->timelines, w->waker_stack).kstack;
	struct waker_context context;
	uint32_t *slot;

	if (w->flags & WAIT_NOT_WOKEN)
		return names_clean(n->names, chain_end_name(CHAIN_NOT_WOKEN));
	if (w->waker == THREAD_NONE)
		return names_clean(n->names, chain_end_name(CHAIN_UNKNOWN));
	context = waker_context(names_kernel_stacks(n->names), n->timelines, w);
	if (context.interrupt) {
		slot = &n->of_stack[2 * (size_t)w->waker_stack + (w->waker == THREAD_IDLE)];
		if (!*slot)
			*slot = interrupt_text(n, kstack, context.frames);
		return *slot;
	}
	return names_thread(n->names, w->waker, w->wake_ns);
}
