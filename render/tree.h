/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The merged stacks: a compressed trie whose paths from the root are the stacks. A run of frames
 * without a branch or the end of a stack inside is one node, labelled with the run's name ids. Most
 * of a stack is such a run, so millions of stacks need few nodes. Nodes refer to each other by
 * index; node 0 is the root, labelled with the one name "all".
 */
#include <stdbool.h>
#include <stdint.h>

#include "name_table.h"

struct tree_node {
	uint32_t label, len; /* name ids: t->label[label .. label+len) */
	uint32_t child;	     /* the one most recently added or used; 0: none */
	uint32_t next;	     /* sibling; 0: none */
	uint32_t name;	     /* the label's first id, copied: comparing it needs no other memory */
	uint32_t wide;	     /* key of this node's children in the edge table; 0: not in it */
	double total;	     /* counts; until tree_finish() only of the stacks that end here */
};

/* Counts after minus counts before: .self of the stacks that end here, .total by tree_finish(). */
struct tree_delta {
	double self, total;
	double more_self, more; /* counts in the node's .total that are not after: diff_widen() */
};

struct tree_edge {
	uint32_t wide, name, node; /* node 0: free */
};

/* A frame of the last stack, whose path most next stacks share in part. */
struct tree_step {
	uint32_t name, node;
	uint32_t used; /* names of the node's label up to and including this frame */
};

struct tree {
	struct name_table names;
	struct tree_node *node;
	uint32_t n, cap;
	uint32_t *label;
	uint32_t labels, label_cap;
	bool in_order;		    /* flame chart: merge only neighbours, keep the input's order */
	bool diff;		    /* differential: keep .delta */
	bool chain;		    /* a frame `--` was seen */
	struct tree_delta *delta;   /* by node; only where .diff */
	double *start;		    /* by node, in counts; only where .in_order */
	bool *goes_on;		    /* by node: is there a frame `--` above its label? */
	uint32_t delim;		    /* id of `--`; both by tree_finish(), only where .chain */
	double now;		    /* .in_order: the start of the next stack */
	double max_self, max_total; /* greatest absolute deltas, the root's left out; set by
				       tree_finish() */
	bool negated; /* differential: the first input is what was after, so only names change */
	double gone;  /* differential: counts of the region that diff_add_gone() has added */
	bool widened; /* differential: diff_widen() */
	bool sliced;  /* the layout is to say where the counts of nodes are */

	struct tree_step *path;
	uint32_t path_depth, depth_cap;

	/* Hash table of the children of nodes with many: (parent's .wide, name) to node. */
	struct tree_edge *edge;
	uint32_t edges, edge_mask, wides;
};

/* Are the widest callees first, so that a reader meets what matters? Where order says nothing else.
 */
static inline bool tree_widest_first(const struct tree *t)
{
	return t->chain && !t->diff && !t->in_order;
}

/* Set .in_order and .diff between tree_init() and the first tree_add_path(). 0 or -ENOMEM. */
int tree_init(struct tree *t);
void tree_free(struct tree *t);

/*
 * Add a stack of n name ids, root first. before is ignored unless .diff is set. 0, -ENOMEM, or
 * -EOVERFLOW at 2^31 nodes.
 */
int tree_add_path(struct tree *t, const uint32_t *id, uint32_t n, double count, double before);

/*
 * The node of the stack of n name ids, or of as much of it as there is: the last one all of whose
 * names are in it. t is not empty.
 */
uint32_t tree_find(struct tree *t, const uint32_t *id, uint32_t n);

/*
 * From now on keep differences: sets .diff. The stacks so far are taken as unchanged. 0 or -ENOMEM.
 */
int tree_compare(struct tree *t);

/* After the last stack: turn each node's own counts into sums over its subtree. 0 or -ENOMEM. */
int tree_finish(struct tree *t);
