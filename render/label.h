/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The text on a frame: as much of its name as fits and tells it from others. The script has the
 * same rules (page/label.js), so a picture does not change when it draws.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "svg.h"

/*
 * Widths of the printable ASCII characters in 48ths of the font size, as digits of svg_digits,
 * normal and bold: the wider of Verdana (its AFM file) and DejaVu Sans (its table hmtx), which are
 * what the default font family finds.
 */
extern const char label_glyphs[2][96];

/* What of a name is kept where it does not fit. */
enum label_keep {
	LABEL_AUTO,  /* the last parts of a qualified name, without arguments and parameters */
	LABEL_START, /* as inferno's --truncate-text-right */
	LABEL_END,
};

struct label_font {
	double size;  /* pixels */
	double width; /* mean width of a character, in font sizes; 0: by label_glyphs */
	enum label_keep keep;
};

/* The text: `dots` means that ".." stands before or after [p, p+len), which is in buf or the name.
 */
struct label {
	const char *p;
	size_t len; /* 0: nothing fits */
	bool dots_before, dots_after;
};

#define LABEL_BUF 1024 /* longer names are cut, but not elided */

/* Fit the name [p, p+len) into px pixels. */
struct label label_fit(const struct label_font *font, const char *p, size_t len, double px,
		       bool bold, char buf[LABEL_BUF]);

/*
 * The end of as many words of [p, end) as fit into px pixels, but of one at least; words are
 * separated by single blanks.
 */
const char *label_line(const struct label_font *font, const char *p, const char *end, double px);

/* Is text on this colour, 0xrrggbb, white? Of black and white, the one with more contrast. */
bool label_light(uint32_t rgb);
