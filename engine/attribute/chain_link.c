// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

/* Why a chain ends at an interrupt; of_request: it is known of which block request. */
static enum chain_end end_of_interrupt(const struct options *o, enum irq_source source,
				       bool of_request)
{
	static const enum chain_end ends[] = {
		[IRQ_OTHER] = CHAIN_INTERRUPT,
		[IRQ_TIMER] = CHAIN_TIMER,
		[IRQ_NETWORK] = CHAIN_NETWORK,
		[IRQ_REQUEST] = CHAIN_DISK,
	};

	if (o->plain_ends || (source == IRQ_REQUEST && !of_request))
		return CHAIN_INTERRUPT;
	return ends[source];
}

enum chain_end chain_next(const struct timelines *tl, struct kernel_stacks *kernel,
			  const struct options *o, const struct wait *w, uint32_t links_left,
			  struct waker_context *context)
{
	struct stack_pair woke;

	if (w->flags & WAIT_NOT_WOKEN)
		return CHAIN_NOT_WOKEN;
	if (w->waker == THREAD_NONE)
		return CHAIN_UNKNOWN;
	if (!links_left)
		return CHAIN_DEPTH;
	woke = timelines_pair(tl, w->waker_stack);
	*context = waker_context(kernel, woke.kstack, w->waker == THREAD_IDLE);
	return context->interrupt ? end_of_interrupt(o, context->source, woke.request > 0)
				  : CHAIN_ENDS;
}

uint32_t chains_counted_node(struct chains *c, uint32_t parent, uint32_t label)
{
	uint32_t node = chains_node(c, parent, label), *p;

	if (!node || chains_links(c, node))
		return node;
	while (c->n_links <= node) {
		size_t had = c->n_links;

		p = grow_array(c->links, had, &c->n_links, sizeof(*p));
		if (!p) {
			c->out_of_memory = true;
			return 0;
		}
		memset(p + had, 0, (c->n_links - had) * sizeof(*p));
		c->links = p;
	}
	c->links[node] = chains_links(c, parent) + !chains_repeats(c, parent, label);
	return node;
}

/* The label of the link that ended w, which has one; context is the waker's. 0: out of memory. */
static uint32_t make_label(struct chains *c, const struct wait *w, struct waker_context context,
			   bool first)
{
	struct link l;

	if (!c->user.label)
		return 1;
	l = link_of(c->timelines, c->options, w, context, first);
	return c->user.label(c->user.arg, &l);
}

/*
 * The same, *end being as of chains_link(): 0 also if there is no link. A wait is explained once
 * for each wait that goes through it, and many are alike.
 */
static uint32_t label_of(struct chains *c, const struct wait *w, bool first, enum chain_end *end)
{
	struct known_hop key = {
		.waker = w->waker,
		.waker_stack = w->waker_stack,
		.stack = w->stack,
		.how = (uint32_t)first << 1 | !!(w->flags & WAIT_NEW),
	};
	bool known_name =
		w->waker >= THREAD_IDLE || !timelines_thread(c->timelines, w->waker)->renames;
	struct known_hop *slot =
		&c->known[hash_pair(key.waker_stack ^ key.waker << 16, key.stack << 2 | key.how) %
			  KNOWN_HOPS];
	struct waker_context context;

	if (slot->label && slot->waker == key.waker && slot->waker_stack == key.waker_stack &&
	    slot->stack == key.stack && slot->how == key.how && !(w->flags & WAIT_NOT_WOKEN)) {
		*end = slot->end;
		return slot->label;
	}
	*end = chain_next(c->timelines, c->kernel, c->options, w, 1, &context);
	if (*end != CHAIN_ENDS && !chain_end_is_interrupt(*end))
		return 0;
	key.label = make_label(c, w, context, first);
	key.end = *end;
	if (known_name)
		*slot = key;
	return key.label;
}

uint32_t chains_link(struct chains *c, uint32_t node, const struct wait *w, uint32_t links_left,
		     bool first, enum chain_end *end)
{
	bool may_repeat = c->joint && chains_links(c, node);
	struct waker_context context;
	uint32_t label;

	if (!links_left && !may_repeat) {
		*end = chain_next(c->timelines, c->kernel, c->options, w, 0, &context);
		return 0;
	}
	label = label_of(c, w, first, end);
	if (*end != CHAIN_ENDS && !chain_end_is_interrupt(*end))
		return 0;
	if (!links_left && label && !chains_repeats(c, node, label)) {
		*end = CHAIN_DEPTH;
		return 0;
	}
	node = chains_link_node(c, node, label);
	if (!node)
		*end = CHAIN_UNKNOWN;
	return node;
}

uint32_t chains_hop(struct chains *c, uint32_t node, const struct wait *w, uint32_t links_left,
		    bool first, enum chain_end *end)
{
	struct waker_context context;

	if (c->hops++ < OPTIONS_DEPTH_MAX)
		return chains_link(c, node, w, links_left, first, end);
	*end = chain_next(c->timelines, c->kernel, c->options, w, 0, &context);
	return 0;
}

uint32_t chains_left(const struct chains *c, uint32_t parent, uint32_t link, uint32_t links_left)
{
	return links_left - (c->joint ? chains_links(c, link) - chains_links(c, parent) : 1);
}
