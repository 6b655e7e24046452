// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Classic attribution: the whole wait goes to one chain, each link being the most recent wakeup of
 * the thread before it, however old. Where that wakeup is not in the trace the chain ends in
 * [unknown].
 */
#include "chain_private.h"

/* The sleep that the thread woke from last before at_ns; NULL: none is known. */
static const struct wait *last_wakeup(const struct thread *th, uint64_t at_ns)
{
	for (uint32_t i = thread_position(th, at_ns); i-- > 0;) {
		if (th->waits[i].kind == WAIT_SLEEP)
			return &th->waits[i];
		if (th->waits[i].kind == WAIT_UNKNOWN)
			return NULL; /* it may have been woken in there */
	}
	return NULL;
}

void chain_classic(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
		   uint64_t ns)
{
	struct chain_member members[OPTIONS_DEPTH_MAX + 1];
	enum chain_end end = CHAIN_UNKNOWN;
	struct context context = { 0 };
	uint32_t node = head;

	members[0] = (struct chain_member) { thread, NULL };
	for (uint32_t k = 0;; k++) {
		uint32_t link = w ? chain_link(c, node, w, c->depth - k, !k, &context, &end) : 0;

		if (!w)
			end = CHAIN_UNKNOWN;
		if (!link)
			break;
		node = link;
		if (context.interrupt) {
			end = CHAIN_INTERRUPT;
			break;
		}
		if (chain_has(&members[k], w->waker)) {
			end = CHAIN_LOOP;
			break;
		}
		members[k + 1] = (struct chain_member) { w->waker, &members[k] };
		w = last_wakeup(timelines_thread(c->timelines, w->waker), w->wake_ns);
	}
	c->user.add(c->user.arg, node, end, ns);
}
