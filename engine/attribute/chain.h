/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain.h - why a wait took as long as it did: each instant of it attributed to a chain of wakers
 * and a reason why the chain ends (chain-semantics, section 4). It knows threads and times; how a
 * link is shown is up to the caller, who gives each link a label.
 *
 * Chains are nodes of a tree: a node is its parent and a label; the root of a chain is its head's
 * node. The result is a list of (node, end, ns): the chain of links from the head down to the node,
 * why it ends there, and how long that was.
 */
#pragma once

#include "attributed_time.h"
#include "base/options.h"
#include "base/pairs.h"
#include "common/intern.h"
#include "event_loops.h"
#include "timeline/timeline.h"
#include "words/link.h"
#include "work_items.h"

/* What the caller provides. The functions get the sink's arg. */
struct chain_user {
	struct chain_sink sink;
	/*
	 * Returns the label of a link, equal for links that differ only in the thread; 0: out of
	 * memory. NULL: all links have the same label.
	 */
	uint32_t (*label)(void *arg, const struct link *l);
	/* Labels are equal for threads of one name, too. */
	bool labels_by_name;
	/*
	 * If not NULL, a link does not count for the depth if it repeats the one before it: if this
	 * returns the same number for the labels of both, as it does for links between threads of
	 * the same names in the same place.
	 */
	uint32_t (*identity)(const void *arg, uint32_t label);
	unsigned int wants; /* see attribution_init() */
	const struct cpu_holders *cpu_holders;
};

/* A chain_user's identity() for labels that differ only where such links do. */
uint32_t chain_identity_is_label(const void *arg, uint32_t label);

struct known_label;
struct known_link;

/* Running totals over wakers' timelines: see struct waker_entry in chain.c. */
struct waker_totals {
	struct intern keys;	   /* struct amount_key */
	struct pairs kinds;	   /* (links left, root) */
	struct pair_table entries; /* struct waker_entry, by (thread, kind) */
	struct pair_table grafted; /* what a relative node is below another, by (node, relative) */
};

struct chains {
	const struct timelines *timelines;
	const struct options *options;
	struct kernel_stacks *kernel;
	struct chain_user user;
	struct attribution attribution;
	uint32_t depth;	    /* links followed */
	struct pairs nodes; /* (parent or 0, label) */
	uint32_t *links;    /* with identity(), by node: its links, repeated ones counted once */
	size_t n_links;
	uint64_t steps;	 /* off-CPU intervals and totals looked at: the cost so far */
	uint64_t summed; /* windows for which running totals were used */
	/*
	 * Running totals are used instead of walking a window: from long_window off-CPU intervals
	 * on, and with at least intervals_per_chain of them for each chain to look up; a block of
	 * totals has intervals_per_block. These change the cost, not the result; chains_init() sets
	 * them.
	 */
	uint32_t long_window, intervals_per_chain, intervals_per_block;
	/* Private. */
	bool labels_show_slept;
	struct known_link *known;
	struct known_label *labels;
	struct waker_totals totals;
	struct event_loops *loops; /* NULL: no sleep in an event loop goes on */
	uint32_t *ran_at; /* by thread: a wait_waker_pos_near()'s; NULL: no CPUs are known */
};

/*
 * Prepares c. Of o it uses the mode, the depth, and the options that say what is shown of a link.
 * tl and o are borrowed. To be freed with chains_free().
 */
void chains_init(struct chains *c, const struct timelines *tl, const struct options *o,
		 const struct chain_user *user);
void chains_free(struct chains *c);

/* As though nothing had been explained yet, for which there may be running totals. */
void chains_forget_totals(struct chains *c);

/* The node with this label below parent (0: a head's). */
static inline uint32_t chains_node(struct chains *c, uint32_t parent, uint32_t label)
{
	uint32_t node = label ? pairs_id(&c->nodes, parent, label) : 0;

	return node;
}

/* With identity(): how many links of a node's chain count. */
static inline uint32_t chains_links(const struct chains *c, uint32_t node)
{
	return node < c->n_links ? c->links[node] : 0;
}

/* With identity(): whether a link with this label, below parent, repeats the one before it. */
static inline bool chains_repeats(const struct chains *c, uint32_t parent, uint32_t label)
{
	return chains_links(c, parent) &&
	       c->user.identity(c->user.sink.arg, label) ==
		       c->user.identity(c->user.sink.arg, c->nodes.at[parent].b);
}

/* chains_node() for a link. chains_counted_node() does this for chains with identity(). */
uint32_t chains_counted_node(struct chains *c, uint32_t parent, uint32_t label);
static inline uint32_t chains_link_node(struct chains *c, uint32_t parent, uint32_t label)
{
	return c->user.identity ? chains_counted_node(c, parent, label)
				: chains_node(c, parent, label);
}

static inline uint32_t chains_head(struct chains *c, uint32_t label)
{
	return chains_node(c, 0, label);
}

/*
 * Explains [from_ns, to_ns) of the blocked part of w, a WAIT_SLEEP of thread or of a client, and
 * adds the pieces, which sum to to_ns - from_ns, below node head.
 */
void chains_explain(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
		    uint64_t from_ns, uint64_t to_ns);
/*
 * For chain_batch.c: `count` windows [from_ns, to_ns) of the time of w's waker, which woke at
 * by.at_ns; node leads to it, by so many links. origin: a chain_windows'.
 */
void chains_follow(struct chains *c, uint32_t node, const struct wait *w, struct waking by,
		   uint64_t from_ns, uint64_t to_ns, uint32_t links, int64_t count,
		   uint64_t origin);
/* Adds [from_ns, to_ns) of w, in which thread was ready itself, to node head. */
void chains_explain_own(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
			uint64_t from_ns, uint64_t to_ns);

/* ---- the waits of clients (chain-semantics, section 15) -------------------------------------- */

/* Who ended a part of a client's wait, when and where: read or answered the request. */
struct served_by {
	uint32_t thread, pair;
	uint64_t at_ns;
	const struct request *answers; /* NULL: it read the request */
};

static inline struct served_by chains_reader(const struct request *q)
{
	return (struct served_by) { q->reader, 0, q->taken_ns, NULL };
}
static inline struct served_by chains_writer(const struct request *q)
{
	return (struct served_by) { q->writer, q->pair, q->answer_ns, q };
}
/*
 * The node of the link to that thread, whatever it did in w, the client's wait; or 0 if there is no
 * such link, *end being the reason.
 */
uint32_t chains_client_link(struct chains *c, uint32_t node, const struct wait *w,
			    struct served_by by, enum chain_end *end);
/* The nodes for the time in the queue, and for that in which the reader worked for another. */
uint32_t chains_queued(struct chains *c, uint32_t head);
uint32_t chains_queued_for(struct chains *c, uint32_t queued, const struct request *other);

/* ---- the way from link to link --------------------------------------------------------------- */

/* The threads of a chain, from its last link back to the thread whose wait it is. */
struct chain_member {
	uint32_t thread;
	const struct chain_member *up;
};

static inline bool chain_has(const struct chain_member *m, uint32_t thread)
{
	while (m && m->thread != thread)
		m = m->up;
	return m;
}

/*
 * Where the chain goes from w, a sleep: CHAIN_ENDS if to the thread that woke w, an end of an
 * interrupt's if to the interrupt that did, *context being the waker's; else why it ends.
 */
enum chain_end chain_next(const struct timelines *tl, struct kernel_stacks *kernel,
			  const struct options *o, const struct wait *w, uint32_t links_left,
			  struct waker_context *context);
/* Private to chains_init(). */
void chain_links_init(struct chains *c);
/* chains_link() for a link that is not in the cache. */
uint32_t chains_new_link(struct chains *c, uint32_t node, const struct wait *w, uint32_t links_left,
			 bool first, enum chain_end *end);

/*
 * A slot of the cache of links. A wait is explained once for each wait that goes through it, and
 * many are alike: they are keyed by the node before the link and by what labels depend on.
 */
struct known_link {
	uint32_t parent;
	uint32_t waker_stack; /* pair << 1 | whether the idle loop was current */
	uint32_t waker;	      /* thread, or its name then (string id); of the idle loop 0 */
	uint32_t slept;	      /* where, and of which kind the link is; 0: labels do not show it */
	uint32_t node;	      /* 0: empty */
	enum chain_end end;
};

#define KNOWN_LINKS 16384u /* a power of two */

/*
 * The key of the link below parent to the waker of w. False: there is none, or labels depend on the
 * waker and on its name, of which it has several.
 */
static inline bool chains_link_key(const struct chains *c, uint32_t parent, const struct wait *w,
				   bool first, struct known_link *key)
{
	const struct thread *th;

	*key = (struct known_link) { .parent = parent, .waker_stack = w->waker_stack << 1 };
	if (c->labels_show_slept)
		key->slept = w->stack << 2 | (uint32_t)first << 1 | !!(w->flags & WAIT_NEW);
	if (w->flags & WAIT_NOT_WOKEN || w->waker == THREAD_NONE)
		return false;
	if (w->waker == THREAD_IDLE) {
		key->waker_stack |= 1;
		return true;
	}
	th = timelines_thread(c->timelines, w->waker);
	key->waker = !c->user.labels_by_name ? w->waker
		     : th->renames	     ? timelines_name(c->timelines, w->waker, w->wake_ns)
					     : th->name;
	return c->user.labels_by_name || !th->renames;
}

static inline struct known_link *chains_link_slot(const struct chains *c,
						  const struct known_link *key)
{
	return &c->known[hash_pair(key->parent ^ key->slept << 16, key->waker_stack ^ key->waker) %
			 KNOWN_LINKS];
}

/*
 * Goes one link further, to the waker of w; first: w is the wait that is explained. links_left: how
 * many more may count. Returns the link's node, *end being that of an interrupt if the chain ends
 * there and else CHAIN_ENDS; or 0 if there is no such link, *end being the reason. Inline: folding
 * spends a tenth of its time here.
 */
static inline __attribute__((always_inline)) uint32_t chains_link(struct chains *c, uint32_t node,
								  const struct wait *w,
								  uint32_t links_left, bool first,
								  enum chain_end *end)
{
	const struct known_link *slot;
	struct known_link key;

	if (!links_left || !chains_link_key(c, node, w, first, &key))
		return chains_new_link(c, node, w, links_left, first, end);
	slot = chains_link_slot(c, &key);
	if (slot->parent != node || slot->waker_stack != key.waker_stack ||
	    slot->waker != key.waker || slot->slept != key.slept)
		return chains_new_link(c, node, w, links_left, first, end);
	*end = slot->end;
	return slot->node;
}

/*
 * Who had asked the waker of w, a thread, for what it did when it woke, see work_items.h. by: that
 * waking.
 */
static inline const struct wait *chains_asked(const struct chains *c, const struct wait *w,
					      struct waking by)
{
	return work_item_of(c->timelines, w,
			    c->loops ? by.at_ns : timelines_ended(c->timelines, w)->wake_ns);
}

/* How many links may follow link, of the links_left before it, which is below parent. */
static inline uint32_t chains_left(const struct chains *c, uint32_t parent, uint32_t link,
				   uint32_t links_left)
{
	return links_left -
	       (c->user.identity ? chains_links(c, link) - chains_links(c, parent) : 1);
}

/*
 * The waker's interval before it ran and woke w, a wait with WAIT_WAKER_RAN. NULL if nobody asks
 * who had the CPU in it: finding it takes time.
 */
static inline const struct wait *chains_before_run(const struct chains *c, const struct wait *w)
{
	const struct thread *waker = timelines_thread(c->timelines, w->waker);

	return c->ran_at ? &waker->waits[wait_waker_pos_near(waker, w, &c->ran_at[w->waker]) - 1]
			 : NULL;
}
