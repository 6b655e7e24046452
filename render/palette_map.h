/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_PALETTE_MAP_H
#define RENDER_PALETTE_MAP_H
/*
 * --cp: keeps the colour of each name across graphs, in a file in flamegraph.pl's format: lines
 * `name->rgb(r,g,b)`, sorted by name.
 */
#include <stdint.h>

#include "name_table.h"
#include "palette.h"

#define PALETTE_MAP_FILE "palette.map"

struct palette_map {
	struct name_table names;
	uint32_t *rgb; /* by id in .names: 0xrrggbb */
	uint32_t cap;
	uint64_t wrong, first_wrong; /* lines that say no colour, and the number of the first */
};

/*
 * Read the file, if it exists: NAME->rgb(R,G,B) or NAME->#rrggbb a line. Other lines are skipped
 * and counted. 0 or a negative errno.
 */
int palette_map_load(struct palette_map *m, const char *file);
void palette_map_free(struct palette_map *m);

/*
 * A colour for each of the names, by id: the map's, else the palette's, which is added to the map.
 * The caller frees *rgb. 0 or -ENOMEM.
 */
int palette_map_colors(struct palette_map *m, const struct palette *p, enum palette_by by,
		       const struct name_table *names, uint32_t **rgb);

/* Replace the file by the map. 0, or a negative errno with the old file unchanged. */
int palette_map_save(const struct palette_map *m, const char *file);

#endif
