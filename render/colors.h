/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_COLORS_H
#define RENDER_COLORS_H
/*
 * The colours of one document: a numbered table that the picture and the script share, and for
 * every name what number it has. Frames that are coloured by their link, by chance or by their
 * difference have a number of their own, reckoned from the frame.
 */
#include <stdint.h>

#include "layout.h"
#include "page.h"

struct colors {
	uint32_t *rgb; /* 0xrrggbb, by number */
	uint32_t n;
	int32_t at[RAMPS]; /* number of a ramp's first shade; -1: not in this document */
	uint16_t *ramp;	   /* by name number: enum ramp; RAMPS + 1: not asked for yet */
	uint8_t *shade;	   /* by name number */
	uint32_t fixed;	   /* --cp: number of the first name's own colour, one a name; else 0 */
};

/* 0 or -ENOMEM; colors_free() after both. */
int colors_init(struct colors *c, const struct page *pg, const struct tree *t,
		const struct layout *l);
void colors_free(struct colors *c);

/* Is frame i in the region of stacks that only the first of two inputs has? */
bool colors_gone(const struct tree *t, const struct layout *l, uint32_t i);

/* The number of the colour of frame i of the layout. */
uint32_t colors_frame(const struct colors *c, const struct page *pg, const struct tree *t,
		      const struct layout *l, uint32_t i);

#endif
