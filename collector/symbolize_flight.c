// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize_flight.h"

#include <stdlib.h>
#include <unistd.h>

#include "symbolize_private.h"

struct symbolizer_place symbolizer_place(struct symbolizer *s, uint32_t space, uint64_t addr,
					 uint64_t time_ns)
{
	struct symbolizer_place p = { 0 };
	uint32_t n = s->n_frames;

	/* It is kept here and not there, where it would stay. */
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

static void forget_generated(struct symbolizer *s, struct image *i)
{
	struct generated *g = &s->generated[i->generated - 1];

	perfmap_forget(&g->place);
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
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

uint64_t symbolizer_sideband_lost(const struct symbolizer *s)
{
	return s->sideband ? sideband_lost(s->sideband) : 0;
}

void symbolizer_write_to(struct symbolizer *s, struct encoder *enc)
{
	/* A process that was forked to write has not got the rings. */
	s->unwatched = s->sideband;
	s->sideband = NULL;
	s->enc = enc;
	s->n_frames = 0;
	s->n_nameless = 0;
	s->n_modules = 0;
	s->stats = (struct symbolizer_stats) { 0 };
}

void symbolizer_placed_frame(struct symbolizer *s, uint32_t frame, const struct symbolizer_place *p)
{
	struct user_frame *grown;

	s->stats.user_frames++;
	grown = p->source ? symbolize_grow(s->frames, s->n_frames, &s->cap_frames, sizeof(*grown))
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
	};
}
