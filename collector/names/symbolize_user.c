// SPDX-License-Identifier: GPL-2.0-or-later
/* User frames while they are recorded: their address space, and their place in a file. */
#include "symbolize_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grow.h"
#include "kernel/clock.h"
#include "jitdump.h"
#include "procmaps.h"

/* Where mmap records may be missing, /proc/PID/maps is read again, at most this often. */
#define PROC_INTERVAL_NS 1000000000u

/* ---- address spaces ---------------------------------------------------------------------------
 */

static bool keep_space(struct symbolizer *s, struct image *i)
{
	if (i->space > s->n_spaces) {
		struct image **spaces = realloc(s->spaces, i->space * 2 * sizeof(struct image *));

		if (!spaces)
			return false;
		memset(spaces + s->n_spaces, 0, (i->space * 2 - s->n_spaces) * sizeof(*spaces));
		s->spaces = spaces;
		s->n_spaces = i->space * 2;
	}
	s->spaces[i->space - 1] = i;
	return true;
}

uint32_t symbolizer_space(struct symbolizer *s, uint32_t tgid, uint64_t time_ns)
{
	struct image *i;

	if (!s->images)
		return 0;
	if (time_ns > s->polled_ns)
		symbolize_take_in(s);
	i = images_find(s->images, tgid, time_ns);
	if (!i)
		i = symbolize_read_image(s, tgid, time_ns);
	if (!i)
		return 0;
	if (!i->space) {
		i->space = encoder_space(s->enc, tgid, image_exe(i));
		if (i->space && !keep_space(s, i))
			i->space = 0;
	}
	return i->space;
}

/* The mapping at addr; re-reads /proc if the sideband is missing or has lost records. */
static const struct mapping *find_mapping(struct symbolizer *s, struct image *i, uint64_t addr,
					  uint64_t time_ns)
{
	const struct mapping *m = image_mapping(i, addr, time_ns);
	uint64_t now;

	if (m || i->ended || (s->sideband && !sideband_lost(s->sideband)))
		return m;
	now = clock_now_ns();
	if (now - i->read_ns < PROC_INTERVAL_NS)
		return NULL;
	i->read_ns = now;
	procmaps_read(s->images, s->files, i, time_ns);
	return image_mapping(i, addr, time_ns);
}

static struct image *space_image(const struct symbolizer *s, uint32_t space)
{
	return space && space <= s->n_spaces ? s->spaces[space - 1] : NULL;
}

bool symbolizer_holds(struct symbolizer *s, uint32_t space, uint64_t time_ns)
{
	if (time_ns > s->polled_ns)
		symbolize_take_in(s);
	/* An image that is forgotten holds for nothing. */
	return space_image(s, space) && image_holds(space_image(s, space), time_ns);
}

static const struct mapping *mapping_at(struct symbolizer *s, uint32_t space, uint64_t addr,
					uint64_t time_ns)
{
	struct image *i = space_image(s, space);

	return i ? find_mapping(s, i, addr, time_ns) : NULL;
}

bool symbolizer_is_code(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	struct image *i = space_image(s, space);

	if (!i || !i->maps || !i->maps->n)
		return true;
	return find_mapping(s, i, addr, time_ns) || !s->sideband || sideband_lost(s->sideband);
}

bool symbolizer_code(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns,
		     struct symbolizer_code *out)
{
	const struct mapping *m = mapping_at(s, space, addr, time_ns);

	if (!m)
		return false;
	*out = (struct symbolizer_code) {
		.kind = code_files_kind(s->files, m->file),
		.file = m->file,
		.offset = addr - m->start + m->pgoff,
	};
	if (out->kind == CODE_VDSO) {
		out->offset = addr - m->start;
		if (m->end - m->start != s->vdso_len)
			out->kind = CODE_SPECIAL;
	}
	return true;
}

struct code_files *symbolizer_files(struct symbolizer *s)
{
	return s->files;
}

uint64_t symbolizer_vdso_bytes(const struct symbolizer *s)
{
	return s->vdso_len;
}

static void forget_generated(struct symbolizer *s, struct image *i)
{
	struct generated *g = &s->generated[i->generated - 1];

	perfmap_forget(&g->place);
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
	if (g->jitdump)
		code_files_put(s->files, g->jitdump);
	g->jitdump = 0;
	g->tgid = 0;
	s->free_generated++;
	i->generated = 0;
}

void symbolizer_forget_space(struct symbolizer *s, uint32_t space)
{
	struct image *i = space && space <= s->n_spaces ? s->spaces[space - 1] : NULL;

	if (!i)
		return;
	s->spaces[space - 1] = NULL;
	if (i->generated)
		forget_generated(s, i);
	images_release(s->images, i);
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
	/* Amortized: going over all images costs no more than making them did. */
	count = images_count(s->images);
	s->forget_at = count + count / 2 + 1024;
}

/* ---- frames -----------------------------------------------------------------------------------
 */

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
		/* Keeps the file's id from being reused. */
		if (*space)
			code_files_hold(s->files, file);
	}
	return *space;
}

void symbolizer_locate(struct symbolizer *s, uint32_t *space, uint64_t *addr, uint64_t time_ns)
{
	const struct mapping *m = mapping_at(s, *space, *addr, time_ns);
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
	default: /* differs between processes */
		return;
	}
	id = file_space(s, m->file);
	if (!id)
		return;
	*space = id;
	*addr = offset;
}

/* A free entry of s->generated, which the caller fills; NULL when out of memory or of room. */
static struct generated *new_generated(struct symbolizer *s)
{
	struct generated *g = s->generated;

	if (s->free_generated) {
		while (g->tgid)
			g++;
		s->free_generated--;
		return g;
	}
	if (s->n_generated == GENERATED_MAX)
		return NULL;
	g = realloc(s->generated, (s->n_generated + 1) * sizeof(*g));
	if (!g)
		return NULL;
	s->generated = g;
	return g + s->n_generated++;
}

/* The jitdump that the process has mapped, with a reference; 0: none. */
static uint32_t find_jitdump(const struct symbolizer *s, const struct image *i)
{
	for (uint32_t k = 0; i->maps && k < i->maps->n; k++) {
		uint32_t file = i->maps->list[k].file;

		if (code_files_kind(s->files, file) == CODE_FILE &&
		    jitdump_is_name(code_files_path(s->files, file))) {
			code_files_hold(s->files, file);
			return file;
		}
	}
	return 0;
}

/* The process's perf map names the code, and may be deleted when the process ends. */
static uint32_t generated_source(struct symbolizer *s, struct image *i)
{
	struct generated *g;
	uint32_t n;

	if (i->generated)
		return GENERATED | (i->generated - 1);
	g = new_generated(s);
	if (!g)
		return 0;
	n = (uint32_t)(g - s->generated);
	g->tgid = i->tgid;
	/* The process may have changed its user since it mapped the code. */
	if (perfmap_locate(&g->place, i->tgid, n < ROOTS_MAX) && i->place) {
		g->place = *i->place;
		i->place->root = -1;
	}
	g->fd = perfmap_open(&g->place);
	if (g->fd >= 0)
		perfmap_forget(&g->place);
	if (g->fd >= 0 && n >= ROOTS_MAX) {
		close(g->fd);
		g->fd = -1; /* opened again at the end */
	}
	g->jitdump = find_jitdump(s, i);
	i->generated = n + 1;
	return GENERATED | n;
}

void symbolizer_frame(struct symbolizer *s, uint32_t frame, uint32_t space, uint64_t addr,
		      uint64_t time_ns)
{
	struct user_frame u = { .frame = frame, .time_ns = time_ns };
	const struct mapping *m;
	struct image *i = space_image(s, space);
	void *p;

	s->stats.user_frames++;
	m = mapping_at(s, space, addr, time_ns);
	p = m ? grow_array(s->frames, s->n_frames, &s->cap_frames, sizeof(*s->frames)) : NULL;
	if (!p) {
		s->stats.unmapped++;
		return;
	}
	s->frames = p;
	switch (code_files_kind(s->files, m->file)) {
	case CODE_GENERATED:
		u.source = generated_source(s, i);
		u.offset = addr;
		break;
	case CODE_VDSO:
		u.source = m->file;
		/* Another size: the vdso of 32-bit programs on a 64-bit kernel. */
		u.offset = m->end - m->start == s->vdso_len ? addr - m->start : OFFSET_UNKNOWN;
		break;
	case CODE_FILE:
	case CODE_SPECIAL:
		u.source = m->file;
		u.offset = addr - m->start + m->pgoff;
		break;
	}
	if (!u.source) {
		s->stats.unmapped++;
		return;
	}
	if (!(u.source & GENERATED))
		code_files_hold(s->files, u.source);
	s->frames[s->n_frames++] = u;
}

/* ---- for the flight recorder ------------------------------------------------------------------
 */

struct symbolizer_place symbolizer_place(struct symbolizer *s, uint32_t space, uint64_t addr,
					 uint64_t time_ns)
{
	struct symbolizer_place p = { 0 };
	uint32_t n = s->n_frames;

	s->keeps_places = true;
	/* Makes an entry of s->frames, which is taken out again at once. */
	symbolizer_frame(s, 0, space, addr, time_ns);
	if (s->n_frames == n)
		return p;
	s->n_frames = n;
	p.source = s->frames[n].source;
	p.offset = s->frames[n].offset;
	return p;
}

void symbolizer_release(struct symbolizer *s, const struct symbolizer_place *p)
{
	if (p->source && !(p->source & GENERATED))
		code_files_put(s->files, p->source);
}

void symbolizer_placed_frame(struct symbolizer *s, uint32_t frame, const struct symbolizer_place *p)
{
	struct user_frame *grown;

	s->stats.user_frames++;
	grown = p->source ? grow_array(s->frames, s->n_frames, &s->cap_frames, sizeof(*grown))
			  : NULL;
	if (!grown) {
		s->stats.unmapped++;
		return;
	}
	s->frames = grown;
	grown[s->n_frames++] = (struct user_frame) {
		.source = p->source,
		.frame = frame,
		.offset = p->offset,
		.time_ns = UINT64_MAX,
	};
}
