// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_private.h"

/* The sleep from which the thread woke last before at_ns; NULL: none is known. */
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

void chains_explain_classic(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
			    uint64_t ns)
{
	struct chain_member members[OPTIONS_DEPTH_MAX + 1];
	enum chain_end end = CHAIN_UNKNOWN;
	uint32_t node = head, left = c->depth;

	c->hops = 0;
	members[0] = (struct chain_member) { thread, NULL };
	for (uint32_t k = 0;; k++) {
		uint32_t link = w ? chains_hop(c, node, w, left, !k, &end) : 0;

		if (!w)
			end = CHAIN_UNKNOWN;
		if (!link)
			break;
		left = chains_left(c, node, link, left);
		node = link;
		if (chain_end_is_interrupt(end))
			break;
		if (chain_has(&members[k], w->waker)) {
			end = CHAIN_LOOP;
			break;
		}
		members[k + 1] = (struct chain_member) { w->waker, &members[k] };
		w = last_wakeup(timelines_thread(c->timelines, w->waker), w->wake_ns);
	}
	c->hops = 0;
	/* The last wakeup may have been long before: of its stages there is nothing to say. */
	if (end == CHAIN_DISK)
		chains_add_disk(c, node, disk_request_of(c->timelines, w), DISK_WHOLE, ns);
	else if (chain_end_is_interrupt(end))
		chains_add_interrupted(c, node, end, w, ns);
	else
		c->user.add(c->user.arg, node, end, ns);
}
