/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Which part of a graph's counts is of which slice of time, so that the page can show some slices
 * alone. Stacks of a slice are those of the tree, which is complete by then; what the tree does not
 * have (counts that were rounded to 0) belongs to the frame at which the path leaves it.
 */
#include <stdint.h>
#include <stdio.h>

#include "common/grow.h"
#include "folded.h"
#include "tree.h"

/* What of a node's own counts, or of a frame's, is of a slice. */
struct slice_part {
	uint32_t at; /* node; by slices_of_frames(): frame */
	uint32_t slice;
	double count;
};

struct slices {
	struct slice_part *part;
	size_t n, cap;
	struct split split; /* of the lines */
};

/* Adds a line of slice `slice`. 0 or -ENOMEM. */
int slices_add(struct slices *s, struct tree *t, const struct folded_line *line, uint32_t slice);
/*
 * Makes frames of nodes, which have frame_of[node]; UINT32_MAX: as the node's parent. Sorts parts
 * by frame and slice, and adds equal ones up. 0 or -ENOMEM.
 */
int slices_of_frames(struct slices *s, const struct tree *t, uint32_t *frame_of);
/*
 * Writes them, by frame, as the page's element: numbers (svg_put_vlq()) without separators. For
 * each frame with parts how many frames come after the one before (from 0 on) and how many parts it
 * has, for each part how many slices come after the one before, and the count, rounded.
 */
void slices_write(FILE *f, const struct slices *s);
void slices_free(struct slices *s);
