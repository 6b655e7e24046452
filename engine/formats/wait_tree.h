/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_tree.h - the chains of one wait as a tree, for reading: what several pieces of them have in
 * common (the same waker, from the same stack) is one item with the sum of their times, and so are
 * links that repeat each other.
 */
#ifndef ENGINE_WAIT_TREE_H
#define ENGINE_WAIT_TREE_H

#include "attribute/chain.h"
#include "select/top_waits.h"
#include "common/intern.h"
#include "wait_facts.h"
#include "words/joint.h"

struct tree_item {
	uint32_t parent, label; /* parent: an item */
	uint32_t times;		/* how many equal links in a row it stands for */
	uint64_t ends_ns[CHAIN_ENDS];
	uint64_t total_ns; /* all that goes through this node */
};

struct wait_tree {
	const struct timelines *timelines;
	struct names *names;
	struct chains chains;
	struct wait_facts facts;   /* by item */
	struct pair_table disks;   /* uint64_t[DISK_STAGES] of ns, by (item, kind of request) */
	struct pair_table sockets; /* ns by (item, object): to which packets came */
	struct intern links;	   /* struct link */
	uint32_t *label;	   /* by the id of a link; 0: not made yet */
	size_t cap_label;
	struct pairs labels; /* (waker, joint): equal lines are one link */
	struct link *link;   /* by label: the first link that got it */
	size_t cap_link;
	struct joints joints;
	struct tree_item *items; /* the head first, parents before children */
	size_t n_items, cap_items;
	uint32_t *item_of; /* by node: 1 + item, 0 none */
	size_t n_item_of;
	uint32_t *nodes; /* that have an item */
	size_t n_nodes, cap_nodes;
	bool out_of_memory;
};

/*
 * o has fold_repeats set, and names the same options; all must outlive it. 0 or -ENOMEM. To be
 * ended with wait_tree_free(), also after an error.
 */
int wait_tree_init(struct wait_tree *t, const struct timelines *tl, const struct options *o,
		   struct names *names);
void wait_tree_free(struct wait_tree *t);
/* Makes the items of a wait; the head has its own time without a CPU. 0 or -ENOMEM. */
int wait_tree_make(struct wait_tree *t, const struct chosen_wait *p);
/* The items below one, the widest first; to be freed. *n: how many. NULL: none, or out of memory.
 */
const struct tree_item **wait_tree_below(struct wait_tree *t, const struct tree_item *above,
					 size_t *n);

#endif /* ENGINE_WAIT_TREE_H */
