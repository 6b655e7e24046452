/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_PICTURE_H
#define RENDER_PICTURE_H
/*
 * The frames as they stand in the document before any script runs. A frame with room for its name
 * is a group of its own (title, rectangle, text). The many that are too narrow for a name are not:
 * those of one row and colour share one path, which browsers draw far faster and which keeps the
 * file small.
 */
#include <stdio.h>

#include "colors.h"
#include "page.h"

struct picture {
	double top;	 /* y of the upper edge of the frames' area */
	double rows;	 /* rows in it */
	double px;	 /* pixels a count */
	double min_time; /* frames of less time are not drawn */
};

/* The deepest row that is drawn, from 0. */
uint32_t picture_max_depth(const struct layout *l, double min_time);

/* Write the frames. 0 or -ENOMEM. */
int picture_write(FILE *f, const struct picture *pic, const struct page *pg, const struct tree *t,
		  const struct layout *l, const struct colors *c);

/* Characters of a name that fit in a frame of so many pixels; below 3 none are shown. */
size_t picture_room(const struct page *pg, double width);

#endif
