/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_DRAW_H
#define RENDER_DRAW_H
/*
 * From merged stacks to the document. Options that the user left out (title, unit, palette) get
 * their defaults after the input is read, as these depend on it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "page.h"
#include "tree.h"

#define DRAW_FRAMES 100000 /* default of .max_frames: a file below 1 MB */

struct draw {
	struct page page; /* .title, .subtitle, .countname, .background, .palette: NULL: default */
	uint32_t max_frames; /* kept in the file for zooming */
	bool reverse, flamechart;
};

/* Set the defaults that do not depend on the input. */
void draw_init(struct draw *d);

/* Are the sizes in d->page within their ranges? */
bool draw_fits(const struct draw *d);

/*
 * Set the defaults that depend on the input; t is finished (tree_finish()). Resets a page.total
 * that is less than the tree's, and t->chain where the links of chains cannot be told. decimals:
 * digits after the point in the input's counts.
 */
void draw_settle(struct draw *d, struct tree *t, unsigned decimals);

/*
 * Lay out the tree and write the document. The caller checks for write errors with ferror().
 * 0, -ENOMEM, or -ENODATA: all counts are 0, and nothing was written.
 */
int draw_write(FILE *f, const struct draw *d, const struct tree *t);

#endif
