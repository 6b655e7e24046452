/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Turns the tree into an array of frames: where each starts, how wide it is, how deep it lies.
 * Frames are in preorder (a frame, then its callees from left to right), so the subtree of a frame
 * is the run of deeper frames that follows it. Siblings are sorted by name (see
 * name_table_rank()); a frame's self time lies left of its callees.
 */
#include <stdint.h>

#include "tree.h"

struct frame {
	double start, total; /* counts; start is relative to the root's left edge */
	double own;	     /* counts without those of its callees in the layout */
	uint32_t name;	     /* id */
	uint32_t parent;     /* index of the caller's frame; 0 for the root */
	uint32_t depth;	     /* 0 for the root */
	uint32_t link : 28;  /* frames `--` on the path so far: the link of the chain, from 0 */
	uint32_t part : 4;   /* enum layout_part */
};

/* What a frame of a chain graph belongs to, besides its link. */
enum layout_part {
	PART_PLAIN,
	PART_SAMPLE, /* above [running]: what the thread was sampled in */
	PART_ON_CPU, /* above [on-CPU]; above [runnable], [preempted]: who had the CPU */
};

struct layout {
	struct frame *frame;
	struct tree_delta *delta; /* by frame, for differential input; else NULL */
	/* By node: its last frame, or that which has its counts; UINT32_MAX: as its parent.
	   NULL unless the tree is sliced. */
	uint32_t *frame_of;
	uint32_t n;
	double total;	   /* counts of the root */
	double least;	   /* frames with fewer counts were left out */
	uint64_t left_out; /* frames left out, without their callees */
	uint32_t max_link, max_depth;
};

/*
 * Lay out the finished tree. Leaves out frames with fewer counts than `least`, and the narrowest of
 * the others if they are more than max_frames. 0 or -ENOMEM; call layout_free() in both cases.
 */
int layout_tree(struct layout *l, const struct tree *t, double least, uint32_t max_frames);
void layout_free(struct layout *l);
