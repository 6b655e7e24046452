// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain.h"

#include <string.h>

#include "common/xalloc.h"

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
	if (w->flags & WAIT_NOT_WOKEN)
		return CHAIN_NOT_WOKEN;
	if (w->waker == THREAD_NONE)
		return CHAIN_UNKNOWN;
	if (!links_left)
		return CHAIN_DEPTH;
	*context = waker_context(kernel, tl, w);
	if (!context->interrupt)
		return CHAIN_ENDS;
	return end_of_interrupt(o, context->source, timelines_pair(tl, w->waker_stack).request > 0);
}

uint32_t chains_counted_node(struct chains *c, uint32_t parent, uint32_t label)
{
	uint32_t node = chains_node(c, parent, label);

	if (chains_links(c, node))
		return node;
	while (c->n_links <= node) {
		size_t had = c->n_links;

		XGROW(c->links, had, c->n_links);
		memset(c->links + had, 0, (c->n_links - had) * sizeof(*c->links));
	}
	c->links[node] = chains_links(c, parent) + !chains_repeats(c, parent, label);
	return node;
}

/* A slot of the cache of labels: making one takes a lock, and nodes share them. */
struct known_label {
	uint32_t waker_stack, waker, slept; /* as of known_link */
	uint32_t label;			    /* 0: empty */
	enum chain_end end;
};

#define KNOWN_LABELS 4096u /* a power of two */

void chain_links_init(struct chains *c)
{
	c->labels_show_slept =
		!c->user.labels_by_name || c->user.identity || c->options->blocked_stacks;
	c->known = xcalloc(KNOWN_LINKS, sizeof(*c->known));
	c->labels = xcalloc(KNOWN_LABELS, sizeof(*c->labels));
}

/* The label of the link that ended w, 0: there is none; *end as of chains_link(). */
static uint32_t make_label(struct chains *c, const struct wait *w, bool first, enum chain_end *end)
{
	struct waker_context context;
	struct link l;

	*end = chain_next(c->timelines, c->kernel, c->options, w, 1, &context);
	if (*end != CHAIN_ENDS && !chain_end_is_interrupt(*end))
		return 0;
	if (!c->user.label)
		return 1;
	l = link_of(c->timelines, c->options, w, context, first);
	return c->user.label(c->user.sink.arg, &l);
}

/* make_label() by way of the cache. */
static uint32_t label_of(struct chains *c, const struct known_link *key, const struct wait *w,
			 bool first, enum chain_end *end)
{
	struct known_label *slot =
		&c->labels[hash_pair(key->waker_stack, key->waker ^ key->slept) % KNOWN_LABELS];
	uint32_t label;

	if (slot->label && slot->waker_stack == key->waker_stack && slot->waker == key->waker &&
	    slot->slept == key->slept) {
		*end = slot->end;
		return slot->label;
	}
	label = make_label(c, w, first, end);
	*slot = (struct known_label) { key->waker_stack, key->waker, key->slept, label, *end };
	return label;
}

uint32_t chains_new_link(struct chains *c, uint32_t node, const struct wait *w, uint32_t links_left,
			 bool first, enum chain_end *end)
{
	struct waker_context context;
	struct known_link known;
	uint32_t label;
	bool is_kept;

	if (!links_left && !(c->user.identity && chains_links(c, node))) {
		*end = chain_next(c->timelines, c->kernel, c->options, w, 0, &context);
		return 0;
	}
	is_kept = chains_link_key(c, node, w, first, &known);
	label = is_kept ? label_of(c, &known, w, first, end) : make_label(c, w, first, end);
	if (*end != CHAIN_ENDS && !chain_end_is_interrupt(*end))
		return 0;
	if (!links_left && label && !chains_repeats(c, node, label)) {
		*end = CHAIN_DEPTH;
		return 0;
	}
	known.end = *end;
	known.node = chains_link_node(c, node, label);
	if (!known.node)
		*end = CHAIN_UNKNOWN;
	else if (is_kept)
		*chains_link_slot(c, &known) = known;
	return known.node;
}

/* ---- clients -------------------------------------------------------------------------------- */

uint32_t chains_client_link(struct chains *c, uint32_t node, const struct wait *w,
			    struct served_by by, enum chain_end *end)
{
	struct link l;

	*end = by.thread == THREAD_NONE ? CHAIN_UNKNOWN : !c->depth ? CHAIN_DEPTH : CHAIN_ENDS;
	if (*end != CHAIN_ENDS)
		return 0;
	l = link_of_client(c->timelines, c->options, w, by.thread, by.pair, by.at_ns);
	node = chains_link_node(c, node, c->user.label ? c->user.label(c->user.sink.arg, &l) : 1);
	if (!node)
		*end = CHAIN_UNKNOWN;
	return node;
}

/* The node of a label, which is no link: it does not count for the depth. */
static uint32_t label_node(struct chains *c, uint32_t node, uint32_t text)
{
	struct link l = link_label(text);

	return chains_node(c, node, c->user.label ? c->user.label(c->user.sink.arg, &l) : 1);
}

uint32_t chains_queued(struct chains *c, uint32_t head)
{
	return label_node(c, head, timelines_queued(c->timelines));
}

uint32_t chains_queued_for(struct chains *c, uint32_t queued, const struct request *other)
{
	uint32_t n;

	return label_node(c, queued, timelines_endpoints(c->timelines, &n)[other->endpoint].for_it);
}
