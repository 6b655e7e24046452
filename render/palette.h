/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The colour of a frame is a shade (0..PALETTE_SHADES-1) of a ramp. The ramp is the hue and says
 * what kind of frame it is; the shade distinguishes neighbours and depends only on the name. A
 * palette is one line of a table: its name, its background, and its ramp, or the function that maps
 * a frame's name to one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

#define PALETTE_SHADES 16
#define PALETTE_LINKS 8 /* ramps for the links of a chain; further links repeat them */

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
	RAMP_STACK_DELIM, /* `--` */
	RAMP_PART_DELIM,  /* `-` */
	RAMP_OFF_CPU,
	RAMP_LINK_1,				   /* PALETTE_LINKS ramps, one a link */
	RAMP_OBJECT = RAMP_LINK_1 + PALETTE_LINKS, /* what was waited for */
	RAMP_SAMPLE,				   /* what ran, above [running] */
/* The ends of a chain, and what stands on them: RAMP_ON_CPU to RAMP_UNKNOWN. */
#define END(NAME, number, name, csv, above, colour, spread, sentence, heading, did) RAMP_##NAME,
#define MARK(NAME, name, colour, sentence) RAMP_##NAME,
#include "ends.def"
	RAMP_MORE, /* differential: the shade is the size of the difference */
	RAMP_LESS,
	RAMP_GONE, /* differential: only in the first input */
	RAMPS,
	RAMP_BY_LINK = RAMPS, /* not a ramp: see palette_frame_ramp() */
};

struct palette {
	const char *name;
	const char *background; /* yellow, green, blue, grey or #rrggbb */
	enum ramp ramp;
	enum ramp (*ramp_of)(const char *name, size_t len); /* NULL: all names are on .ramp */
};

/* The i-th palette, from 0; NULL: there are no more. */
const struct palette *palette_at(size_t i);
/* NULL: no such palette. */
const struct palette *palette_find(const char *name);

/* The ramp of a frame with this name. Delimiters have the same ramp in every palette. */
enum ramp palette_ramp(const struct palette *p, const char *name, size_t len);

/* The ramp that RAMP_BY_LINK means for a frame of this link and part of its stack. */
enum ramp palette_frame_ramp(uint32_t link, enum layout_part part);

/* The ramp of the stack of this link; link 0 is the off-CPU stack. */
enum ramp palette_link_ramp(uint32_t link);

/* The shade of a name, 0..PALETTE_SHADES-1. */
unsigned palette_shade(const char *name, size_t len);

/* 0xrrggbb */
uint32_t palette_rgb(enum ramp ramp, unsigned shade);

/* The ends of the gradient of a background: yellow, green, blue, grey, #rrggbb. False: invalid. */
bool palette_background(const char *name, uint32_t *top, uint32_t *bottom);

/*
 * Does a frame of this ramp say why a chain ends (or, above such an end, more about that)?
 * Functions may have such names: ends are at the end of a stack, or carry only what belongs to
 * them. leaf: it has no frame above it; last: it has no frame `--` above it.
 */
bool palette_is_end(enum ramp ramp, enum layout_part part, bool leaf, bool last);

/* The i-th class of objects (what a thread can wait for, `[CLASS ...]`), from 0; NULL: no more. */
const char *palette_object_class(size_t i);

/* The ramp's label in the legend; NULL: it is not in the legend. */
const char *palette_legend(enum ramp ramp);

/* The length of a name without a final annotation: `_[k]`, `_[w]`, `_[i]` or `_[j]`. */
size_t palette_bare_len(const char *name, size_t len);
