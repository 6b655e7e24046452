/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Turns the tree into an array of frames: where each starts, how wide it is, how deep it lies.
 * Frames are in preorder (a frame, then its callees from left to right), so the subtree of a frame
 * is the run of deeper frames that follows it. Siblings are sorted by name (see
 * name_table_rank()), those of chains by width first (see tree_widest_first()); a frame's self time
 * lies left of its callees.
 */
#include <stdint.h>

#include "tree.h"

struct frame {
	double start, total; /* counts; start is relative to the root's left edge */
	double own;	     /* counts without those of its callees, also of those left out */
	uint32_t name;	     /* id */
	uint32_t parent;     /* index of the caller's frame; 0 for the root */
	uint32_t depth;	     /* 0 for the root */
	uint32_t link : 26;  /* frames `--` on the path so far: the link of the chain, from 0 */
	uint32_t part : 4;   /* enum layout_part */
	uint32_t leaf : 1;   /* no stack has a frame above it, also none that is left out */
	uint32_t last : 1;   /* no stack has a frame `--` above it */
};

/* What a frame of a chain graph belongs to, besides its link. */
enum layout_part {
	PART_PLAIN,
	PART_SAMPLE, /* above [running]: what the thread was sampled in */
	PART_ON_CPU, /* above [on-CPU]; above [runnable], [preempted]: who had the CPU */
};

/* What is left out of a frame's callees, all together. */
struct layout_rest {
	uint32_t frame;
	double total;
	struct tree_delta delta; /* differential input */
};

struct layout {
	struct frame *frame;
	struct tree_delta *delta; /* by frame, for differential input; else NULL */
	struct layout_rest *rest; /* by frame, for those of whose callees something is left out */
	uint32_t rests;
	size_t rest_cap;
	/*
	 * By node: the last frame that has its counts, or what is left out of that one's
	 * callees, which is numbered as the first of them; UINT32_MAX: as its parent. NULL unless
	 * the tree is sliced.
	 */
	uint32_t *frame_of;
	uint32_t n;
	double total;	   /* counts of the root */
	uint64_t left_out; /* frames left out */
	uint32_t max_link, max_depth;
};

/*
 * Lay out the finished tree: max_frames frames, the widest first, of equally wide ones those on the
 * left; but in any case those with at least `shown` counts. 0 or -ENOMEM; call layout_free() in
 * both cases.
 */
int layout_tree(struct layout *l, const struct tree *t, double shown, uint32_t max_frames);
void layout_free(struct layout *l);

/* Called for a frame of the tree, with those fields that do not depend on a place. */
typedef void layout_walk_fn(void *ctx, const struct frame *f, const struct tree_delta *delta);

/*
 * Call fn for each frame of the finished tree, a frame before its callees; those that layout_tree()
 * leaves out, too. .total is that of the frame, .own that of the stacks that end in it; delta is
 * NULL unless the tree has differences. 0 or -ENOMEM.
 */
int layout_walk(const struct tree *t, layout_walk_fn *fn, void *ctx);
