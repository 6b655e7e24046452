/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_LEGEND_H
#define RENDER_LEGEND_H
/*
 * The legend: what the colours of a chain graph or of a difference mean, and of a chain graph how
 * much of the time each of them is. The script makes its entries buttons.
 */
#include <stdio.h>

#include "document.h"
#include "page.h"

struct legend_entry {
	enum ramp ramp;
	double share; /* percent of the time; negative: says nothing */
};

struct legend {
	struct legend_entry entry[RAMPS];
	unsigned n; /* 0: no legend */
};

/* Find the entries of d, whose colours are known. */
void legend_fill(struct legend *lg, const struct document *d);

/* Write them centred at height y, in pixels. */
void legend_write(FILE *f, const struct legend *lg, const struct page *pg, double y);

#endif
