/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link_cache.h - chains_link() for many waits: most of them were woken from a place from which
 * others were woken before. It keeps the labels of links, and the nodes of first links.
 */
#ifndef ENGINE_LINK_CACHE_H
#define ENGINE_LINK_CACHE_H

#include "chain.h"

/* A slot: the link of wakings with the same stack by wakers of the same name. */
struct known_link {
	uint32_t stack; /* pair << 1 | whether the idle loop was current */
	uint32_t name;	/* string id; of the idle loop 0 */
	uint32_t slept; /* where the wakee was; 0 unless links that repeat others are told by it */
	uint32_t label; /* see link_cache_pack(); 0: empty */
};

/* A slot: the node of a head's first link. */
struct first_link {
	uint32_t head, label, node; /* head 0: empty */
};

/* Powers of two. */
#define KNOWN_LINKS 32768u
#define FIRST_LINKS 8192u

/* A label with what a link's end is, if any. Labels from LINK_CACHE_LABELS on are not kept. */
#define LINK_CACHE_LABELS (UINT32_C(1) << 29)

static inline uint32_t link_cache_pack(uint32_t label, enum chain_end end)
{
	return label << 3 | (chain_end_is_interrupt(end) ? end - CHAIN_INTERRUPT + 1u : 0);
}

static inline enum chain_end link_cache_end(uint32_t packed)
{
	return packed & 7 ? (enum chain_end)(CHAIN_INTERRUPT + (packed & 7) - 1) : CHAIN_ENDS;
}

/* All zero but for chains, which must outlive it, is an empty cache. */
struct link_cache {
	struct chains *chains;
	struct known_link known[KNOWN_LINKS];
	struct first_link firsts[FIRST_LINKS];
};

/* As chains_link(), and remembers the label. */
uint32_t link_cache_ask(struct link_cache *x, uint32_t node, const struct wait *w,
			uint32_t links_left, bool first, enum chain_end *end);

/* The key of the link to the waker of w. False: there is none, or the waker has several names. */
static inline bool link_cache_key(const struct link_cache *x, const struct wait *w,
				  struct known_link *key)
{
	const struct thread *th;

	*key = (struct known_link) { .stack = w->waker_stack << 1 };
	if (x->chains->joint)
		key->slept = w->stack << 1 | !!(w->flags & WAIT_NEW);
	if (w->flags & WAIT_NOT_WOKEN || w->waker == THREAD_NONE)
		return false;
	if (w->waker == THREAD_IDLE) {
		key->stack |= 1;
		return true;
	}
	th = timelines_thread(x->chains->timelines, w->waker);
	key->name = th->name;
	return !th->renames;
}

static inline struct known_link *link_cache_slot(struct link_cache *x, const struct known_link *key)
{
	return &x->known[hash_pair(key->stack, key->name ^ key->slept) % KNOWN_LINKS];
}

/* The link to the waker of w, see link_cache_pack(); 0: not in the cache, or there is no link. */
static inline uint32_t link_cache_label(struct link_cache *x, const struct wait *w)
{
	const struct known_link *known;
	struct known_link key;

	if (!link_cache_key(x, w, &key))
		return 0;
	known = link_cache_slot(x, &key);
	if (known->stack != key.stack || known->name != key.name || known->slept != key.slept)
		return 0;
	return known->label;
}

/* The node below parent of a known link; 0: out of memory. */
static inline uint32_t link_cache_node(struct link_cache *x, uint32_t parent, uint32_t label,
				       enum chain_end *end)
{
	uint32_t node = chains_link_node(x->chains, parent, label >> 3);

	*end = node ? link_cache_end(label) : CHAIN_UNKNOWN;
	return node;
}

/* As chains_link(): of w, a wait that is explained, below its head... */
static inline uint32_t link_cache_first(struct link_cache *x, uint32_t head, const struct wait *w,
					enum chain_end *end)
{
	uint32_t depth = x->chains->depth, label = depth ? link_cache_label(x, w) : 0, node;
	struct first_link *slot;

	if (!label)
		return link_cache_ask(x, head, w, depth, true, end);
	slot = &x->firsts[hash_pair(head, label) % FIRST_LINKS];
	if (slot->head == head && slot->label == label) {
		*end = link_cache_end(label);
		return slot->node;
	}
	node = link_cache_node(x, head, label, end);
	if (node)
		*slot = (struct first_link) { head, label, node };
	return node;
}

/* ...and of a sleep of a waker, below the waker's node. */
static inline uint32_t link_cache_next(struct link_cache *x, uint32_t node, const struct wait *w,
				       uint32_t links_left, enum chain_end *end)
{
	uint32_t label = links_left ? link_cache_label(x, w) : 0;

	if (!label)
		return link_cache_ask(x, node, w, links_left, false, end);
	return link_cache_node(x, node, label, end);
}

#endif /* ENGINE_LINK_CACHE_H */
