/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The document while it is written: what it shows, and what page.c derives from that for the files
 * that write its parts. colors.c picks the colours, picture.c writes the frames that are visible at
 * first, data.c writes all frames for the script, headings.c the lines above them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "label.h"
#include "layout.h"
#include "palette.h"
#include "remarks.h"
#include "tree.h"

struct page;
struct sums;

/* The colours of the document: a table that the picture and the script share. */
struct colors {
	uint32_t *rgb; /* 0xrrggbb */
	uint32_t n;
	int32_t at[RAMPS]; /* index in rgb of a ramp's first shade; -1: the ramp is not used */
	uint16_t *ramp;	   /* by name id: enum ramp; RAMPS + 1: not known yet */
	uint8_t *shade;	   /* by name id */
};

struct document {
	const struct page *page;
	const struct tree *tree;
	const struct layout *layout;
	struct colors colors;
	struct label_font font;
	double whole;	  /* counts over the full width */
	double px;	  /* pixels a count */
	double min_time;  /* counts; narrower frames are not drawn at first */
	double top;	  /* y of the upper edge of the frames, in pixels */
	uint32_t rows;	  /* visible at first, in the picture */
	uint32_t deep;	  /* rows if no needles were folded */
	uint32_t needles; /* frames in the last row and those that are folded into it; 0: none */
	uint32_t gone, gone_end; /* frames of the region of diff_add_gone(): [gone, gone_end) */
	double before, after;	 /* differential: the counts of each side */
	const struct sums *sums; /* by name; NULL: all frames are in the layout */
};

/*
 * The legend: what the colours of a chain graph or of a difference mean, and of a chain graph how
 * much of the time each of them is. The script makes its entries buttons.
 */
struct legend_entry {
	enum ramp ramp;
	const char *word;
	double share; /* percent of the time; negative: says nothing */
};

struct legend {
	struct legend_entry entry[RAMPS];
	unsigned n; /* 0: no legend */
};

/* Find the entries of d, whose colours are known. 0 or -ENOMEM. */
int legend_fill(struct legend *lg, const struct document *d);

/* Write them centred in lines that fit the width, the first at height y, in pixels. */
void legend_write(FILE *f, const struct legend *lg, const struct document *d, double y);

/* How many lines these are. */
unsigned legend_lines(const struct legend *lg, const struct document *d);
#define LEGEND_LINE 1.5 /* from line to line, in font sizes */

/*
 * What a difference of chain graphs comes down to: put a sentence into out, by how much the time of
 * all chains changed, and that of the objects that were waited for (of chains without one, the
 * ends) that changed most. 0 or -ENOMEM.
 */
#define CHANGE_LEN 512
int change_sentence(const struct document *d, char *out, size_t size);

/* Fill d->colors from the rest. 0 or -ENOMEM; call colors_free() in both cases. */
int colors_init(struct document *d);
void colors_free(struct document *d);

/* The ramp of a name, also of one that only frames outside of the layout have. */
enum ramp colors_ramp(const struct document *d, uint32_t name);

/* Does this frame say why a chain ends? See palette_is_end(). */
static inline bool document_ends(const struct document *d, const struct frame *f)
{
	return palette_is_end(colors_ramp(d, f->name), (enum layout_part)f->part, f->leaf, f->last);
}

/* The index in d->colors.rgb of the colour of frame i. */
uint32_t colors_frame(const struct document *d, uint32_t i);

/* A frame's counts after and before, with those of its callees. Differential graphs only. */
double document_after(const struct document *d, uint32_t i);
double document_before(const struct document *d, uint32_t i);

/* Is frame i in the region of the stacks that only the first of two inputs has? */
static inline bool document_gone(const struct document *d, uint32_t i)
{
	return i >= d->gone && i < d->gone_end;
}

/*
 * Write the frames that are visible before the script runs. A frame with room for its name is a
 * group (title, rectangle, text). Narrower frames of one row and colour share one path: browsers
 * draw it far faster, and the file is smaller. 0 or -ENOMEM.
 */
int picture_write(FILE *f, const struct document *d);

/* Write all frames of the layout for the script, in data.c's format. 0 or -ENOMEM. */
int data_write(FILE *f, const struct document *d);

/* The factor from counts to the whole numbers that data_write() writes. */
double data_scale(const struct document *d);

/* The title and the lines below it, each of which may take several lines of the picture. */
struct heading {
	const char *id; /* of its element, without "fg-" */
	char *text;	/* to be freed */
	double size;
	unsigned lines;
};

struct headings {
	struct heading v[3 + REMARKS_MAX];
	unsigned n;
	double height; /* with the space below, pixels */
};

/*
 * Add a heading whose text is text, then rest; the first is the title. id must outlive hs.
 * 0 or -ENOMEM.
 */
int headings_add(struct headings *hs, const struct page *pg, const char *id, const char *text,
		 const char *rest);

/* Add those of d: title, subtitle, what changed, remarks. 0 or -ENOMEM. */
int headings_find(struct headings *hs, const struct document *d);

/* Write them, centred in lines that fit the width. */
void headings_write(FILE *f, const struct page *pg, const struct headings *hs);

void headings_free(struct headings *hs);
