/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_TREE_H
#define RENDER_TREE_H
/*
 * The merged stacks: a trie whose paths from the root are the stacks, each frame with its time.
 * Nodes lie in one flat array in order of creation, so a parent always comes before its children,
 * and refer to each other by index. Node 0 is the root, "all".
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"

struct tree_node {
	uint32_t name;
	uint32_t parent;
	uint32_t child; /* most recently used child; 0: none */
	uint32_t next;  /* sibling; 0: none */
	double total;   /* before tree_finish(): the time of the stacks that end here */
};

struct tree_diff {
	double self, total; /* after minus before; total is set by tree_finish() */
};

struct tree_edge {
	uint32_t parent, node;
};

struct tree {
	struct names names;
	struct tree_node *node;
	uint32_t n, cap;
	bool reverse;  /* merge from the leaves */
	bool in_order; /* flame chart: only neighbours merge, and stay in input order */
	bool diff;     /* keep .diff */
	bool chain;    /* a frame `--` was seen */
	struct tree_diff *dif; /* one a node, where .diff */
	double *start;         /* one a node, where .in_order */
	double now;            /* .in_order: the time at which the next stack starts */
	double max_delta;      /* the greatest |self| of a line's difference */

	/* The path of the last stack: the next one usually shares most of it. */
	char *last;
	size_t last_len, last_cap;
	uint32_t *last_id, *path_id, *path;
	size_t *last_end;
	uint32_t depth, path_depth, depth_cap;

	/* Children of nodes with many of them, by (parent, name). */
	struct tree_edge *edge;
	uint32_t edges, edge_mask;
	uint8_t *wide; /* one a node */
};

/* Set .reverse, .in_order, .diff between init and the first add. 0 or -ENOMEM. */
int tree_init(struct tree *t);
void tree_free(struct tree *t);

/*
 * Add a stack, frames joined by `;`: the names between are taken as they are, trailing empty ones
 * dropped. before is used where .diff is set. 0, -ENOMEM, or -EOVERFLOW past 2^31 nodes.
 */
int tree_add(struct tree *t, const char *stack, size_t len, double count, double before);

/* After the last add: sums every node's time (and difference) over what is below it. */
void tree_finish(struct tree *t);

#endif
