/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_PAGE_H
#define RENDER_PAGE_H
/*
 * The document: one SVG that needs nothing beside it. It holds the picture as it looks at first
 * (which is all that an <img> shows), every frame in a compact form for the script to redraw from
 * after a zoom, and the script. All wishes of the user about it are in struct page.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "layout.h"
#include "palette.h"
#include "svg.h"
#include "tree.h"

struct page {
	const char *title, *subtitle, *notes; /* subtitle and notes may be NULL */
	const char *fonttype;
	const char *countname, *nametype;
	double width;	  /* of the picture, pixels */
	bool fluid;	  /* the script may fit the width to the window */
	double height;	  /* of a row, pixels */
	double fontsize;  /* pixels */
	double fontwidth; /* mean width of a character, in font sizes */
	double minwidth;  /* narrower frames are not drawn; pixels, or percent of the whole */
	bool minwidth_percent;
	double total;  /* the width of the picture in counts; 0: that of the root */
	double factor; /* counts are multiplied by it where they are shown */
	bool inverted, negate;
	bool embedded; /* for the body of an HTML page, as wide as what it stands in */
	enum svg_encoding encoding;
	const struct palette *palette;
	const char *background; /* as palette_background() takes it, already checked */
	enum palette_by by;
	unsigned decimals; /* digits after the point in the input's counts */
	double max_delta;
	const uint32_t *name_color; /* --cp: 0xrrggbb by name number, or NULL */
};

#define PAGE_XPAD 10.0 /* left and right of the frames, pixels */

/* What the sizes in struct page may be. */
struct page_range {
	double least, most;
};
extern const struct page_range page_width_range, page_height_range, page_fontsize_range,
	page_minwidth_range;

/* The least time that is drawn, for `total` counts over the whole width. */
double page_min_time(const struct page *pg, double total);

/* Write the document. Write errors are left to ferror(). 0 or -ENOMEM. */
int page_write(FILE *f, const struct page *pg, const struct tree *t, const struct layout *l);

/* The small document that says why there is no picture. */
void page_write_error(FILE *f, const struct page *pg, const char *what);

#endif
