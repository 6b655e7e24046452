/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_LAYOUT_H
#define RENDER_LAYOUT_H
/*
 * From the tree to frames in a row: where each starts on the time axis, how long it is, how deep.
 * Frames come in preorder (a frame, then all of its children from left to right), so a frame's
 * callers are found by walking back and its subtree is the run of deeper frames that follows it.
 * Siblings are in the order of their names; a frame's own time lies left of its children.
 */
#include <stdint.h>

#include "tree.h"

struct frame {
	double start, total; /* in counts, from the left edge of the root */
	uint32_t name;
	uint32_t parent; /* index of the caller's frame; the root's is 0 */
	uint32_t depth;	 /* the root's is 0 */
	uint32_t link;	 /* stacks of a chain below this one: how many `--` lie on the path */
};

struct frame_diff {
	double self, total; /* after minus before */
};

struct layout {
	struct frame *frame;
	struct frame_diff *diff; /* likewise, for differential input; else NULL */
	uint32_t n;
	double total;	   /* of the root */
	double least;	   /* frames of less time were left out */
	uint64_t left_out; /* how many, as far as looked at: their callees are not counted */
	uint32_t max_link, max_depth;
};

/*
 * Lay out the finished tree. Frames of less time than `least` are left out, and so are the
 * narrowest of the rest if there are more than max_frames. 0 or -ENOMEM; layout_free() after both.
 */
int layout_tree(struct layout *l, const struct tree *t, double least, uint32_t max_frames);
void layout_free(struct layout *l);

/* The frame of depth 1 that frame i is or is above; i itself for the root. */
uint32_t layout_top(const struct layout *l, uint32_t i);

#endif
