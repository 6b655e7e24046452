/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Writes the document: one self-contained SVG. It has the picture as it looks at first (an <img>
 * shows nothing else), all frames in a compact form, and the script that redraws from them after a
 * zoom. struct page holds the user's options for it. Those that the user left out (title, unit,
 * palette) get their defaults after the input is read, as these depend on it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "label.h"
#include "layout.h"
#include "palette.h"
#include "remarks.h"
#include "slices.h"
#include "svg.h"
#include "tree.h"

struct page {
	const char *title, *subtitle, *notes; /* NULL: default; notes: none */
	const char *turned; /* the default subtitle if the picture is turned upside down */
	struct remarks remarks;
	const char *fonttype;
	const char *countname, *nametype;
	double width;	  /* of the picture, in pixels */
	bool fluid;	  /* the script fits the width to the window */
	double height;	  /* of a row, in pixels */
	double fontsize;  /* in pixels */
	double fontwidth; /* mean width of a character, in font sizes */
	bool mean_width;  /* the font is not the default one: widths of its glyphs are not known */
	enum label_keep labels;
	const char *search_color, *stroke_color,
		*ui_color; /* #rrggbb; stroke: or none; NULL: default */
	double minwidth;   /* narrower frames are not drawn; in pixels, or percent of the width */
	bool minwidth_percent;
	double total;  /* counts over the full width; 0: those of the root */
	double factor; /* from counts to the numbers that are shown */
	bool inverted, negate;
	bool by_total;	  /* differential: compare total counts, not own ones */
	bool compares;	  /* .by_total is given, no default */
	bool embedded;	  /* for the body of an HTML page, as wide as its parent element */
	const char *keys; /* what the keys in that page's fragment begin with; NULL: nothing */
	const struct palette *palette; /* NULL: default */
	const char *background;	       /* valid for palette_background(); NULL: default */
	unsigned decimals;	       /* digits after the point in the input's counts */
	uint32_t max_frames;	       /* kept in the file for zooming, or all that are shown */
	bool reverse, flamechart;
	uint32_t slices;	  /* of time that the page can show alone; 0: none */
	double slice_factor;	  /* from counts of slices to those of the tree */
	struct slices *slices_of; /* if there are slices */
};

#define PAGE_XPAD 10.0 /* left and right of the frames, pixels */

/* The valid ranges of the sizes in struct page. */
struct page_range {
	double least, most;
};
extern const struct page_range page_width_range, page_height_range, page_fontsize_range,
	page_minwidth_range;

/* Set the defaults that do not depend on the input. */
void page_init(struct page *pg);

/* Are the sizes within their ranges? */
bool page_fits(const struct page *pg);

/*
 * Set the defaults that depend on the input; t is finished (tree_finish()). Resets a .total that is
 * less than the tree's, and t->chain where the links of chains cannot be told. decimals: digits
 * after the point in the input's counts.
 */
void page_settle(struct page *pg, struct tree *t, unsigned decimals);

/*
 * Lay out the tree and write the document. The caller checks for write errors with ferror().
 * 0, -ENOMEM, or -ENODATA: all counts are 0, and nothing was written.
 */
int page_write(FILE *f, const struct page *pg, const struct tree *t);

/* Write a small document that shows an error message instead of a picture. */
void page_write_error(FILE *f, const struct page *pg, const char *what);
