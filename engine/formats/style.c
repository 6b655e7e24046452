// SPDX-License-Identifier: GPL-2.0-or-later
#include "style.h"

#include <stdint.h>
#include <stdlib.h>

#include "attribute/attributed_time.h"
#include "flamegraph.h"

/* xterm's 256 colours: from CUBE on 6 x 6 x 6 of these levels, from GREYS on 8, 18, ... 238. */
#define CUBE 16
#define GREYS 232
static const int levels[] = { 0, 95, 135, 175, 215, 255 };

static int near_level(int value)
{
	int best = 0;

	for (int i = 1; i < 6; i++)
		if (abs(levels[i] - value) < abs(levels[best] - value))
			best = i;
	return best;
}

static int distance(int r, int g, int b, uint32_t rgb)
{
	int dr = r - (int)(rgb >> 16), dg = g - (int)(rgb >> 8 & 255), db = b - (int)(rgb & 255);

	return dr * dr + dg * dg + db * db;
}

/* The number of the colour that is nearest to 0xrrggbb. */
static int color_256(uint32_t rgb)
{
	int r = near_level((int)(rgb >> 16)), g = near_level((int)(rgb >> 8 & 255)),
	    b = near_level((int)(rgb & 255));
	int cube = distance(levels[r], levels[g], levels[b], rgb), best = -1;

	for (int i = 0; i < 24; i++) {
		int grey = 8 + 10 * i, d = distance(grey, grey, grey, rgb);

		if (d < cube) {
			cube = d;
			best = i;
		}
	}
	return best < 0 ? CUBE + 36 * r + 6 * g + b : GREYS + best;
}

static bool is_light(uint32_t rgb)
{
	return 299 * (rgb >> 16) + 587 * (rgb >> 8 & 255) + 114 * (rgb & 255) > 128 * 1000;
}

void style_begin_end(FILE *out, bool color, enum style_of of, enum chain_end end, bool throttled)
{
	uint32_t rgb = flamegraph_frame_color(throttled ? "[throttled]" : chain_end_name(end));

	if (!color)
		return;
	if (of == STYLE_BACK)
		fprintf(out, "\033[%s;48;5;%dm", is_light(rgb) ? "38;5;16" : "38;5;231",
			color_256(rgb));
	else
		fprintf(out, "\033[38;5;%dm", color_256(rgb));
}

void style_begin_name(FILE *out, bool color)
{
	fputs(color ? "\033[1m" : "", out);
}

void style_stop(FILE *out, bool color)
{
	fputs(color ? STYLE_STOP : "", out);
}

void style_name(FILE *out, bool color, const char *name)
{
	style_begin_name(out, color);
	fputs(name, out);
	style_stop(out, color);
}
