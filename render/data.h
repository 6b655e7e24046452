/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_DATA_H
#define RENDER_DATA_H
/*
 * Every frame of the layout in a compact form inside the document, from which its script draws
 * again after a zoom, so that frames too narrow to be seen at first come back. Three elements:
 *
 *   colors  the colour table, #rrggbb, parted by blanks
 *   names   one name a line; only those in use, the most used first
 *   nodes   numbers in base 64 (svg_vlq) without anything between them: first the style of each
 *           name (0..15: coloured by link, with this shade; else 16 + number of the colour), then
 *           the frames in preorder, each as
 *             rows to go back before going one down
 *             number of the name
 *             gap between the end of the sibling before (or the start of the caller) and its start
 *             gap between its end and the end of its caller
 *             differential input only: own and whole difference, as 2n, or -2n-1 where negative
 *           times are in units of 10^-decimals counts.
 */
#include <stdio.h>

#include "colors.h"
#include "page.h"

/* 0 or -ENOMEM. */
int data_write(FILE *f, const struct page *pg, const struct tree *t, const struct layout *l,
	       const struct colors *c);

/* What a count is multiplied by in the numbers above. */
double data_scale(const struct page *pg, const struct layout *l);

#endif
