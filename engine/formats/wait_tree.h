/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_tree.h - the chains of one wait as a tree, for reading: what several of them have in common
 * (the same waker, from the same stack) is one item with the sum of their times, and so are links
 * that repeat each other.
 */
#pragma once

#include "wait_amounts.h"
#include "words/link_identity.h"

struct tree_item {
	uint32_t parent, label; /* parent: an item */
	uint32_t times;		/* how many equal links in a row it stands for */
	uint64_t ends_ns[CHAIN_ENDS];
	uint64_t interrupted_ns; /* of the time in CHAIN_RUNNING */
	uint64_t total_ns;	 /* all that goes through this node */
};

struct wait_tree {
	struct wait_amounts amounts; /* by item */
	const struct timelines *timelines;
	struct intern links; /* struct link: making a label takes time */
	uint32_t *label;     /* by the id of a link; 0: not made yet */
	size_t cap_label;
	struct pairs labels; /* (waker, identity): equal lines are one link */
	struct link *link;   /* by label: the first link that got it */
	size_t cap_link;
	struct link_identities identities;
	struct tree_item *items; /* the head first, parents before children */
	size_t n_items, cap_items;
	struct pair_table item_of; /* uint32_t by (node, 0) */
};

/*
 * o has fold_repeats set, and names the same options; all must outlive it. To be ended with
 * wait_tree_free().
 */
void wait_tree_init(struct wait_tree *t, const struct timelines *tl, const struct options *o,
		    struct names *names);
void wait_tree_free(struct wait_tree *t);
/* Makes the items of a wait; the head has its own time without a CPU. */
void wait_tree_make(struct wait_tree *t, const struct chosen_wait *p);
/* The items below one, the widest first; to be freed. *n: how many. NULL: none. */
const struct tree_item **wait_tree_below(struct wait_tree *t, const struct tree_item *above,
					 size_t *n);
