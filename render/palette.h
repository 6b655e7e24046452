/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_PALETTE_H
#define RENDER_PALETTE_H
/*
 * Which colour a frame gets. A colour is a place on a ramp: the ramp says what kind of frame it is
 * (a hue), the shade (0..PALETTE_SHADES-1) tells neighbours apart and is the same for the same name
 * everywhere. A palette is one line of a table: its name, its background, and the function that
 * picks a ramp by name. The page's script gets the same ramps, so it repaints in the same colours.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PALETTE_SHADES 16
#define PALETTE_LINKS 8 /* shades of aqua before they repeat */

enum ramp {
	RAMP_HOT,
	RAMP_MEM,
	RAMP_IO,
	RAMP_RED,
	RAMP_GREEN,
	RAMP_BLUE,
	RAMP_AQUA,
	RAMP_YELLOW,
	RAMP_PURPLE,
	RAMP_ORANGE,
	RAMP_STACK_DELIM,
	RAMP_PART_DELIM, /* `--` and `-` */
	RAMP_OFF_CPU,
	RAMP_LINK_1,				      /* the first link's, then the others' */
	RAMP_INTERRUPT = RAMP_LINK_1 + PALETTE_LINKS, /* why a chain ended */
	RAMP_RUNNING,
	RAMP_RUNNABLE,
	RAMP_PREEMPTED,
	RAMP_NOT_WOKEN,
	RAMP_DEPTH,
	RAMP_LOOP,
	RAMP_UNKNOWN,
	RAMP_MORE,
	RAMP_LESS, /* differential: shade is the strength */
	RAMP_GONE, /* differential: only in the first input */
	RAMPS,
	RAMP_BY_LINK = RAMPS, /* not a ramp: blue or a shade of aqua, by the link the frame is in */
};

struct palette {
	const char *name;
	const char *background; /* yellow, green, blue or grey */
	enum ramp (*ramp)(const char *name, size_t len);
};

enum palette_by { PALETTE_BY_NAME, PALETTE_BY_HASH, PALETTE_RANDOM };

/* NULL: no such palette. palette_at(i) walks the table; NULL past its end. */
const struct palette *palette_find(const char *name);
const struct palette *palette_at(size_t i);

/* The ramp of a frame so named. Delimiters have theirs in every palette. */
enum ramp palette_ramp(const struct palette *p, const char *name, size_t len);

/* What RAMP_BY_LINK stands for in link number `link`, 0 being the off-CPU stack. */
enum ramp palette_link_ramp(uint32_t link);

/* The shade of a name, 0..PALETTE_SHADES-1. PALETTE_RANDOM: of the index-th frame. */
unsigned palette_shade(enum palette_by by, const char *name, size_t len, uint32_t index);

/* 0xrrggbb */
uint32_t palette_rgb(enum ramp ramp, unsigned shade);

/* The two ends of a background's gradient for yellow, green, blue, grey or #rrggbb; false: neither.
 */
bool palette_background(const char *name, uint32_t *top, uint32_t *bottom);

/* Ramps that deserve a line in the legend, with what to call them; NULL for the others. */
const char *palette_legend(enum ramp ramp);

/* Length of a name without the annotation (`_[k]` and the like) that ends it. */
size_t palette_bare_len(const char *name, size_t len);

#endif
