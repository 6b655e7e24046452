// SPDX-License-Identifier: GPL-2.0-or-later
#include "file_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "common/xalloc.h"

/* Of more files none can have a quarter of the time, which is what a line of a chain needs. */
#define FEW 3

/* The files of a user stack. */
struct files {
	uint32_t object[FEW], n; /* the first ones; how many, FEW + 1: more than these */
	bool in_several_folders;
};

struct file_places {
	const struct timelines *timelines;
	struct pair_table files; /* struct files, by user stack */
};

/* The path of the file that a pair is at; NULL: it is at none. */
static const char *path_of(const struct timelines *tl, uint32_t object)
{
	const struct trace *t = timelines_trace(tl);
	const struct trace_object *o = object ? trace_object(t, object) : NULL;

	return o && !strcmp(trace_string(t, o->class), "file") ? trace_string(t, o->name) : NULL;
}

/* The length of the path of its folder. */
static size_t folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static void add_file(struct files *f, const struct timelines *tl, uint32_t object, const char *path)
{
	const char *first = f->n ? path_of(tl, f->object[0]) : path;
	size_t len = folder_of(path);

	for (uint32_t i = 0; i < f->n && i < FEW; i++)
		if (f->object[i] == object)
			return;
	f->in_several_folders |= folder_of(first) != len || strncmp(first, path, len) != 0;
	if (f->n < FEW)
		f->object[f->n] = object;
	f->n += f->n <= FEW;
}

void file_places_new(struct file_places **out, const struct timelines *tl)
{
	struct file_places *f = xcalloc(1, sizeof(*f));
	uint32_t end = timelines_pairs_end(tl);

	*out = f;
	f->timelines = tl;
	for (uint32_t i = 1; i < end; i++) {
		struct stack_pair p = timelines_pair(tl, i);
		const char *path = p.ustack ? path_of(tl, p.object) : NULL;

		if (path)
			add_file(pair_table_at(&f->files, p.ustack, 0, sizeof(struct files)), tl,
				 p.object, path);
	}
}

void file_places_free(struct file_places *f)
{
	if (!f)
		return;
	pair_table_free(&f->files);
	free(f);
}

bool file_places_many(const struct file_places *f, uint32_t pair, const char **folder, size_t *len)
{
	struct stack_pair p = timelines_pair(f->timelines, pair);
	const char *path = path_of(f->timelines, p.object);
	const struct files *of;
	uint32_t id = path ? pairs_find(&f->files.keys, p.ustack, 0) : 0;

	if (!id)
		return false;
	of = (const struct files *)f->files.at + id;
	*folder = NULL;
	*len = folder_of(path);
	if (*len && !of->in_several_folders) {
		const char *slash = memrchr(path, '/', *len);

		*folder = slash ? slash + 1 : path;
		*len -= (size_t)(*folder - path);
	}
	return of->n > FEW;
}
