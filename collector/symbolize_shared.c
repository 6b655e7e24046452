// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What keeps the symbolizer small however many processes come and go: their frames are those of the
 * files that they run, and what has ended is forgotten.
 */
#include "symbolize_private.h"

#include <stdlib.h>
#include <string.h>

/* The encoder's space for a file; 0 when out of memory. */
static uint32_t file_space(struct symbolizer *s, uint32_t file)
{
	uint32_t *space;

	if (file > s->n_file_spaces) {
		uint32_t n = file * 2, *grown = realloc(s->file_spaces, n * sizeof(*grown));

		if (!grown)
			return 0;
		memset(grown + s->n_file_spaces, 0, (n - s->n_file_spaces) * sizeof(*grown));
		s->file_spaces = grown;
		s->n_file_spaces = n;
	}
	space = &s->file_spaces[file - 1];
	if (!*space) {
		*space = encoder_space(s->enc, 0, code_files_path(s->files, file));
		/* The file's number is not given to another one any more. */
		if (*space)
			code_files_hold(s->files, file);
	}
	return *space;
}

void symbolizer_locate(struct symbolizer *s, uint32_t *space, uint64_t *addr, uint64_t time_ns)
{
	const struct mapping *m = symbolize_mapping(s, *space, *addr, time_ns);
	uint64_t offset;
	uint32_t id;

	if (!m)
		return;
	offset = *addr - m->start;
	switch (code_files_kind(s->files, m->file)) {
	case CODE_FILE:
		offset += m->pgoff;
		break;
	case CODE_VDSO:
		if (m->end - m->start != s->vdso_len)
			return;
		break;
	default: /* is something else in each process */
		return;
	}
	id = file_space(s, m->file);
	if (!id)
		return;
	*space = id;
	*addr = offset;
}

void symbolizer_forget_ended(struct symbolizer *s)
{
	uint32_t count;

	if (!s->images) /* with -K there are none */
		return;
	count = images_count(s->images);
	if (count < s->forget_at)
		return;
	for (uint32_t i = 0; i < s->n_spaces; i++) {
		struct image *image = s->spaces[i];

		if (!image || !image->expired)
			continue;
		s->spaces[i] = NULL;
		images_release(s->images, image);
	}
	/* So that looking at all takes no more than making them has. */
	count = images_count(s->images);
	s->forget_at = count + count / 2 + 1024;
}
