/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_BATCH_H
#define RENDER_BATCH_H
/*
 * Stacks as name numbers, many at a time, on their way into the tree. Stacks in no order walk all
 * over a tree that is larger than the caches, so a large batch is put into an order first in which
 * each stack shares as much as can be with the one before.
 */
#include <stddef.h>
#include <stdint.h>

#include "tree.h"

struct batch_line {
	size_t at; /* its first name number: b->id[at .. at+n) */
	uint32_t n;
	double count, before;
};

struct batch {
	struct batch_line *line;
	uint32_t lines, line_cap;
	uint32_t *id;
	size_t ids, id_cap;
	size_t shared; /* of .ids, those that a line has in common with the line before */
};

/* A new batch for this many lines, or NULL. */
struct batch *batch_new(uint32_t lines);
void batch_free(struct batch *b);

/* Empty it and make room for this many lines. 0 or -ENOMEM. */
int batch_reset(struct batch *b, uint32_t lines);

/*
 * Add a line to one that has room for it: n name numbers, the first `shared` of them the same as
 * those of the line before. reverse: they are stored from the last to the first. 0 or -ENOMEM.
 */
int batch_add(struct batch *b, const uint32_t *id, uint32_t n, uint32_t shared, bool reverse,
	      double count, double before);

/* The lines' numbers in an order in which neighbours share most. 0 or -ENOMEM; the caller frees
 * *order. */
int batch_order(const struct batch *b, uint32_t **order);

/* Add all lines to the tree, and empty the batch. 0 or a negative errno of tree_add_path(). */
int batch_merge(struct batch *b, struct tree *t);

#endif
