/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * space_table.h - the process images by the ids of their address spaces, which only ascend: parts
 * of the table in which no image is left are freed. The images are the caller's.
 */
#ifndef SPACE_TABLE_H
#define SPACE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_PART 512u

struct image;

struct space_part {
	uint32_t used;
	struct image *images[SPACE_PART];
};

/* All zero is an empty table. */
struct space_table {
	struct space_part **parts; /* by id / SPACE_PART; NULL: no image */
	uint32_t n;
};

/* NULL: none has this id. */
static inline struct image *space_table_get(const struct space_table *t, uint32_t id)
{
	const struct space_part *p = id / SPACE_PART < t->n ? t->parts[id / SPACE_PART] : NULL;

	return p ? p->images[id % SPACE_PART] : NULL;
}

/* False when out of memory. */
static inline bool space_table_put(struct space_table *t, uint32_t id, struct image *image)
{
	uint32_t i = id / SPACE_PART;

	if (i >= t->n) {
		uint32_t n = (i + 1) * 2;
		struct space_part **parts = realloc(t->parts, n * sizeof(*parts));

		if (!parts)
			return false;
		memset(parts + t->n, 0, (n - t->n) * sizeof(*parts));
		t->parts = parts;
		t->n = n;
	}
	if (!t->parts[i])
		t->parts[i] = calloc(1, sizeof(**t->parts));
	if (!t->parts[i])
		return false;
	t->parts[i]->used += !t->parts[i]->images[id % SPACE_PART];
	t->parts[i]->images[id % SPACE_PART] = image;
	return true;
}

/* Takes out the image with the id, which is there. */
static inline void space_table_remove(struct space_table *t, uint32_t id)
{
	struct space_part *p = t->parts[id / SPACE_PART];

	p->images[id % SPACE_PART] = NULL;
	if (--p->used)
		return;
	free(p);
	t->parts[id / SPACE_PART] = NULL;
}

/* The first id from `from` on that has an image; 0: there is none. Ids are > 0. */
static inline uint32_t space_table_next(const struct space_table *t, uint32_t from)
{
	for (uint32_t i = from / SPACE_PART; i < t->n; i++, from = i * SPACE_PART) {
		for (uint32_t k = from % SPACE_PART; t->parts[i] && k < SPACE_PART; k++)
			if (t->parts[i]->images[k])
				return i * SPACE_PART + k;
	}
	return 0;
}

static inline void space_table_free(struct space_table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->parts[i]);
	free(t->parts);
	*t = (struct space_table) { .n = 0 };
}

#endif /* SPACE_TABLE_H */
