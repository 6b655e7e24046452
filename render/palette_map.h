/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_PALETTE_MAP_H
#define RENDER_PALETTE_MAP_H
/*
 * --cp: the same colours for the same names over several graphs, kept in a file of lines
 * `name->rgb(r,g,b)` as flamegraph.pl keeps them, sorted by name.
 */
#include <stdint.h>

#include "names.h"
#include "palette.h"

#define PALETTE_MAP_FILE "palette.map"

struct palette_map {
	struct names names;
	uint32_t *rgb; /* by number in .names: 0xrrggbb */
	uint32_t cap;
};

/* Read the file; there need not be one. Lines that are none are skipped. 0 or a negative errno. */
int palette_map_load(struct palette_map *m, const char *file);
void palette_map_free(struct palette_map *m);

/*
 * A colour for each of the names, by their number: that of the map, else the palette's, which the
 * map then has too. The caller frees *rgb. 0 or -ENOMEM.
 */
int palette_map_colors(struct palette_map *m, const struct palette *p, enum palette_by by,
		       const struct names *names, uint32_t **rgb);

/* Replace the file by what the map holds now. 0 or a negative errno; the old file then stays. */
int palette_map_save(const struct palette_map *m, const char *file);

#endif
