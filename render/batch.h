/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Stacks as name ids, collected before they are merged into the tree. Unsorted stacks access a tree
 * larger than the caches at random, so a large batch is sorted first: each stack then shares as
 * many leading names as possible with the one before.
 */
#include <stddef.h>
#include <stdint.h>

#include "tree.h"

struct batch_line {
	size_t at; /* its name ids: b->id[at .. at+n) */
	uint32_t n;
	double count, before;
};

struct batch {
	struct batch_line *line;
	uint32_t lines, line_cap;
	uint32_t *id;
	size_t ids, id_cap;
	size_t shared; /* those of .ids that repeat the leading names of the line before */
};

/* A new batch with room for this many lines. 0, or -ENOMEM with *b NULL. */
int batch_new(struct batch **b, uint32_t lines);
void batch_free(struct batch *b);

/* Empty the batch and make room for this many lines. 0 or -ENOMEM. */
int batch_reset(struct batch *b, uint32_t lines);

/*
 * Add a line of n name ids; the batch must have room for it. The first `shared` ids equal those of
 * the line before. reverse: store the last id first. 0 or -ENOMEM.
 */
int batch_add(struct batch *b, const uint32_t *id, uint32_t n, uint32_t shared, bool reverse,
	      double count, double before);

/* The indices of the lines, sorted by their name ids. The caller frees *order. 0 or -ENOMEM. */
int batch_order(const struct batch *b, uint32_t **order);

/* Add all lines to the tree and empty the batch. 0 or the error of tree_add_path(). */
int batch_merge(struct batch *b, struct tree *t);
