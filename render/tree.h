/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_TREE_H
#define RENDER_TREE_H
/*
 * The merged stacks: a trie whose paths from the root are the stacks. Frames that nothing branches
 * off or ends between share one node, whose label is a run of name numbers: most of a stack is
 * such a run, so millions of stacks take few nodes. Nodes refer to each other by index; node 0 is
 * the root, "all", with its label of one name.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"

struct tree_node {
	uint32_t label, len; /* its frames' names: t->label[label .. label+len) */
	uint32_t child;	     /* most recently added or used; 0: none */
	uint32_t next;	     /* sibling; 0: none */
	uint32_t name;	     /* the first of its label's, at hand for its siblings' search */
	uint32_t wide;	     /* key of its children in the edge table; 0: they are few */
	double total;	     /* before tree_finish(): the time of the stacks that end here */
};

struct tree_diff {
	double self, total; /* after minus before; total is set by tree_finish() */
};

struct tree_edge {
	uint32_t wide, name, node; /* node 0: free */
};

/* A frame on the path of the last stack: the next one usually shares most of it. */
struct tree_step {
	uint32_t name, node, used; /* used: how much of the node's label lies up to here */
};

struct tree {
	struct names names;
	struct tree_node *node;
	uint32_t n, cap;
	uint32_t *label;
	uint32_t labels, label_cap;
	bool reverse;	       /* merge from the leaves */
	bool in_order;	       /* flame chart: only neighbours merge, and stay in input order */
	bool diff;	       /* keep .dif */
	bool chain;	       /* a frame `--` was seen */
	struct tree_diff *dif; /* one a node, where .diff */
	double *start;	       /* one a node, where .in_order */
	double now;	       /* .in_order: the time at which the next stack starts */
	double max_delta;      /* tree_finish(): the greatest difference of one stack, unsigned */

	struct tree_step *path;
	uint32_t path_depth, depth_cap;

	struct tree_edge *edge;
	uint32_t edges, edge_mask, wides;
};

/* Set .in_order, .diff between init and the first add. 0 or -ENOMEM. */
int tree_init(struct tree *t);
void tree_free(struct tree *t);

/*
 * Add a stack of n name numbers, from the root. before is used where .diff is set. 0, -ENOMEM, or
 * -EOVERFLOW past 2^31 nodes.
 */
int tree_add_path(struct tree *t, const uint32_t *id, uint32_t n, double count, double before);

/* Of a tree with .diff, before tree_finish(): scale what was before to the sum of what came after.
 */
void tree_normalize(struct tree *t);

/* After the last add: sums every node's time (and difference) over what is below it. 0 or -ENOMEM.
 */
int tree_finish(struct tree *t);

#endif
