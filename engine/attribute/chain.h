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
#ifndef ENGINE_CHAIN_H
#define ENGINE_CHAIN_H

#include "base/options.h"
#include "base/pairs.h"
#include "chain_samples.h"
#include "disk_end.h"
#include "timeline/timeline.h"
#include "who_ran.h"
#include "words/link.h"

enum chain_end {
	CHAIN_RUNNING,	 /* the last waker ran */
	CHAIN_RUNNABLE,	 /* it had no CPU */
	CHAIN_PREEMPTED, /* only of a thread's own time */
	CHAIN_INTERRUPT, /* an interrupt of another or an unknown kind woke */
	CHAIN_TIMER,	 /* an interrupt woke because a timer expired */
	CHAIN_NETWORK,	 /* an interrupt woke because packets came in */
	CHAIN_DISK,	 /* an interrupt woke because a block device was done: see disk_end.h */
	CHAIN_UNKNOWN,	 /* missing from the trace */
	CHAIN_NOT_WOKEN, /* still asleep at the end of the trace */
	CHAIN_DEPTH,	 /* there is a waker, but no more links were asked for */
	CHAIN_LOOP,	 /* the last waker was in the chain already */
	CHAIN_ON_CPU,	 /* only of a thread's own time: it ran */
	CHAIN_ENDS,
};

/* As shown: "[running]" and so on. */
const char *chain_end_name(enum chain_end end);
/* The ends that have any time, the largest first; returns how many. */
size_t chain_ends_by_size(const uint64_t ns[CHAIN_ENDS], enum chain_end order[CHAIN_ENDS]);

/* Whether the last link of such a chain is an interrupt. */
static inline bool chain_end_is_interrupt(enum chain_end end)
{
	return end == CHAIN_INTERRUPT || end == CHAIN_TIMER || end == CHAIN_NETWORK ||
	       end == CHAIN_DISK;
}

/* What the caller provides. */
struct chain_user {
	void *arg;
	/*
	 * Returns the label of a link, equal for links that differ only in the thread; 0: out of
	 * memory. NULL: all links have the same label.
	 */
	uint32_t (*label)(void *arg, const struct link *l);
	/* Adds ns to the chain that leads to node and ends there. */
	void (*add)(void *arg, uint32_t node, enum chain_end end, uint64_t ns);
	/*
	 * If not NULL, is called in place of add() for CHAIN_DISK (what: see disk_end.h), and for
	 * CHAIN_NETWORK if the socket is known (what: the object).
	 */
	void (*detail)(void *arg, uint32_t node, enum chain_end end, uint32_t what, uint64_t ns);
};

/*
 * Returns a number for a label that is equal for links between threads of the same names in the
 * same place.
 */
typedef uint32_t (*chain_joint_fn)(const void *arg, uint32_t label);
/* A chain_joint_fn for labels that differ only where such links do. */
uint32_t chain_joint_is_label(const void *arg, uint32_t label);

/* Says that in ns of the time that add() gets for node and CHAIN_RUNNABLE, `who` had the CPU. */
typedef void (*chain_who_fn)(void *arg, uint32_t node, uint32_t who, uint64_t ns);

/*
 * Says that [from_ns, to_ns) of the timeline of waker, the waker of node's last link, is explained;
 * the waking was at to_ns. Not called where running totals are used (nor are samples reported).
 */
typedef void (*chain_window_fn)(void *arg, uint32_t node, uint32_t waker, uint64_t from_ns,
				uint64_t to_ns);

struct waker_totals;

/* A slot of a cache: the link for waits with these stacks that this waker ended. */
struct known_hop {
	uint32_t waker, waker_stack, stack;
	uint32_t how;	/* whether it is a chain's first link, and whether it started the wakee */
	uint32_t label; /* 0: empty */
	enum chain_end end;
};
#define KNOWN_HOPS 4096u /* a power of two */

struct chains {
	const struct timelines *timelines;
	const struct options *options;
	struct kernel_stacks *kernel;
	uint32_t depth;	      /* links followed */
	struct pairs nodes;   /* (parent or 0, label) */
	chain_joint_fn joint; /* NULL: all links count */
	uint32_t *links;      /* with joint, by node: its links, repeated ones counted once */
	size_t n_links;
	uint32_t hops; /* number of links to where chains_explain() is at the moment */
	struct chain_user user;
	/* Optional: set by chain_samples_init() after chains_init(). */
	struct chain_samples samples;
	bool out_of_memory; /* sticky: the result is not complete */
	uint64_t steps;	    /* off-CPU intervals and totals looked at: the cost so far */
	uint64_t summed;    /* windows for which running totals were used */
	/*
	 * Running totals are used instead of walking a window: from long_window off-CPU intervals
	 * on, and with at least intervals_per_chain of them for each chain to look up; a block of
	 * totals has intervals_per_block. These change the cost, not the result; chains_init() sets
	 * them.
	 */
	uint32_t long_window, intervals_per_chain, intervals_per_block;
	/* Private: known links, running totals, and where pieces go at the moment. */
	struct known_hop *known;
	struct waker_totals *totals;
	void (*add)(void *arg, uint32_t node, enum chain_end end, uint64_t ns);
	void (*detail)(void *arg, uint32_t node, enum chain_end end, uint32_t what, uint64_t ns);
	void *add_arg;
	chain_who_fn who; /* NULL: not asked for */
	void *who_arg;
	const struct who_ran *who_ran;
	chain_window_fn window; /* NULL: not asked for */
	void *window_arg;
};

/*
 * Prepares c. Of o it uses the mode, the depth, and the options that say what is shown of a link.
 * tl and o are borrowed. 0 or -ENOMEM; call chains_free() in both cases.
 */
int chains_init(struct chains *c, const struct timelines *tl, const struct options *o,
		struct chain_user user);
void chains_free(struct chains *c);
/*
 * From now on a link does not count for the depth if it repeats the one before it: if joint returns
 * the same number for both. joint gets the user's arg.
 */
void chains_fold_repeats(struct chains *c, chain_joint_fn joint);
/* From now on fn is told who had the CPU. r, which may be NULL, must outlive c. */
void chains_ask_who(struct chains *c, const struct who_ran *r, chain_who_fn fn, void *arg);

/* From now on fn gets the windows of chains_explain(). */
void chains_ask_windows(struct chains *c, chain_window_fn fn, void *arg);

/* The node with this label below parent (0: a head's). 0 when out of memory: sets out_of_memory. */
static inline uint32_t chains_node(struct chains *c, uint32_t parent, uint32_t label)
{
	uint32_t node = label ? pairs_id(&c->nodes, parent, label) : 0;

	c->out_of_memory |= !node;
	return node;
}

/* With joint: how many links of a node's chain count. */
static inline uint32_t chains_links(const struct chains *c, uint32_t node)
{
	return node < c->n_links ? c->links[node] : 0;
}

/* With joint: whether a link with this label, below parent, repeats the one before it. */
static inline bool chains_repeats(const struct chains *c, uint32_t parent, uint32_t label)
{
	return chains_links(c, parent) &&
	       c->joint(c->user.arg, label) == c->joint(c->user.arg, c->nodes.at[parent].b);
}

/* chains_node() for a link. chains_counted_node() does this for chains with joint. */
uint32_t chains_counted_node(struct chains *c, uint32_t parent, uint32_t label);
static inline uint32_t chains_link_node(struct chains *c, uint32_t parent, uint32_t label)
{
	return c->joint ? chains_counted_node(c, parent, label) : chains_node(c, parent, label);
}

static inline uint32_t chains_head(struct chains *c, uint32_t label)
{
	return chains_node(c, 0, label);
}

/*
 * Explains [from_ns, to_ns) of the blocked part of w, a WAIT_SLEEP of thread, and adds the
 * pieces, which sum to to_ns - from_ns, below node head.
 */
void chains_explain(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
		    uint64_t from_ns, uint64_t to_ns);
/*
 * Tells the user who had the CPU in [from_ns, to_ns), a part of node's time: in it the thread was
 * ready, within its interval w. The time counts `count` times.
 */
void chains_who(struct chains *c, uint32_t node, uint32_t thread, const struct wait *w,
		uint64_t from_ns, uint64_t to_ns, int64_t count);
/* The same of the time in which the waker of a wait with WAIT_WAKER_RAN had no CPU. */
void chains_who_before_run(struct chains *c, uint32_t node, const struct wait *woke,
			   uint64_t from_ns, uint64_t to_ns, int64_t count);
/* The socket (an object) for which w, which packets ended, was; 0: not known, or not shown. */
uint32_t chain_socket_of(const struct timelines *tl, const struct options *o, const struct wait *w);
/* Adds ns of w, whose chain ends at node with an interrupt that is not CHAIN_DISK. */
void chains_add_interrupted(struct chains *c, uint32_t node, enum chain_end end,
			    const struct wait *w, uint64_t ns);
/* Adds ns of a stage of a request to the time that ends at node in CHAIN_DISK. */
void chains_add_disk(struct chains *c, uint32_t node, const struct disk_request *r,
		     enum disk_stage stage, uint64_t ns);
/* Adds [from_ns, to_ns), which ended with the request, stage by stage. */
void chains_add_disk_window(struct chains *c, uint32_t node, const struct disk_request *r,
			    uint64_t from_ns, uint64_t to_ns);

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
/*
 * Goes one link further, to the waker of w; first: w is the wait that is explained. links_left: how
 * many more may count. Returns the link's node, *end being that of an interrupt if the chain ends
 * there and else CHAIN_ENDS; or 0 if there is no such link, *end being the reason.
 */
uint32_t chains_link(struct chains *c, uint32_t node, const struct wait *w, uint32_t links_left,
		     bool first, enum chain_end *end);

#endif /* ENGINE_CHAIN_H */
