/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_DRAW_H
#define RENDER_DRAW_H
/*
 * From merged stacks to the document. What its user left open (title, unit, palette) is settled
 * once it is known what was read.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "folded.h"
#include "page.h"
#include "tree.h"

#define DRAW_FRAMES 100000 /* kept in the file unless said otherwise: under a MB */

struct draw {
	struct page page;    /* .title, .countname, .background, .palette: NULL where not said */
	uint32_t max_frames; /* kept in the file */
	bool reverse, flamechart;
};

/* What holds where nothing is said. */
void draw_init(struct draw *d);

/* Are the sizes in d->page within what they may be? */
bool draw_fits(const struct draw *d);

/*
 * Settle what was left open. The tree is finished (tree_finish()). A .total below what is in it is
 * dropped.
 */
void draw_settle(struct draw *d, struct tree *t, const struct folded_stats *st);

/*
 * Lay out the tree and write the document. Write errors are left to ferror(). 0, -ENOMEM, or
 * -ENODATA: there is no time in the tree, nothing was written.
 */
int draw_write(FILE *f, const struct draw *d, const struct tree *t);

#endif
