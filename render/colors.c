// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "page.h"

static void add_ramp(struct colors *c, enum ramp ramp)
{
	if (c->at[ramp] >= 0)
		return;
	c->at[ramp] = (int32_t)c->n;
	for (unsigned s = 0; s < PALETTE_SHADES; s++)
		c->rgb[c->n++] = palette_rgb(ramp, s);
}

enum ramp colors_ramp(const struct document *d, uint32_t name)
{
	const struct name_table *names = &d->tree->names;

	if (d->colors.ramp[name] <= RAMPS)
		return (enum ramp)d->colors.ramp[name];
	return palette_ramp(d->page->palette, name_str(names, name), name_len(names, name));
}

static void add_links(struct document *d)
{
	for (uint32_t k = 0; k <= d->layout->max_link && k <= PALETTE_LINKS; k++)
		add_ramp(&d->colors, palette_link_ramp(k));
}

static void add_name(struct document *d, uint32_t id)
{
	const char *name = name_str(&d->tree->names, id);
	size_t len = name_len(&d->tree->names, id);
	struct colors *c = &d->colors;

	c->ramp[id] = (uint16_t)palette_ramp(d->page->palette, name, len);
	c->shade[id] = (uint8_t)palette_shade(name, len);
	if (c->ramp[id] < RAMPS)
		add_ramp(c, c->ramp[id]);
	else
		add_links(d);
	if (c->ramp[id] == RAMP_RUNNING)
		add_ramp(c, RAMP_SAMPLE);
	if (c->ramp[id] == RAMP_ON_CPU)
		add_ramp(c, RAMP_ON_CPU);
}

/* Has frame i the name of an end, although it is none? */
static bool is_function(const struct document *d, uint32_t i)
{
	const struct frame *fr = &d->layout->frame[i];
	uint32_t ramp = d->colors.ramp[fr->name];

	return ramp >= RAMP_ON_CPU && ramp <= RAMP_UNKNOWN && !document_ends(d, fr);
}

int colors_init(struct document *d)
{
	uint32_t names = d->tree->names.names.n;
	struct colors *c = &d->colors;

	memset(c, 0, sizeof(*c));
	memset(c->at, -1, sizeof(c->at));
	c->rgb = malloc(RAMPS * PALETTE_SHADES * sizeof(*c->rgb));
	c->ramp = malloc((size_t)(names + 1) * sizeof(*c->ramp));
	c->shade = malloc((size_t)names + 1);
	if (!c->rgb || !c->ramp || !c->shade)
		return -ENOMEM;
	for (uint32_t i = 0; i < names; i++)
		c->ramp[i] = RAMPS + 1;
	for (uint32_t i = 0; i < d->layout->n; i++) {
		if (c->ramp[d->layout->frame[i].name] > RAMPS)
			add_name(d, d->layout->frame[i].name);
		if (is_function(d, i))
			add_links(d);
	}
	if (d->tree->diff) {
		add_ramp(c, RAMP_MORE);
		add_ramp(c, RAMP_LESS);
		add_ramp(c, RAMP_GONE);
	}
	return 0;
}

void colors_free(struct document *d)
{
	free(d->colors.rgb);
	free(d->colors.ramp);
	free(d->colors.shade);
	d->colors = (struct colors) { 0 };
}

static uint32_t delta_color(const struct document *d, const struct tree_delta *change)
{
	const struct page *pg = d->page;
	double delta = pg->by_total ? change->total : change->self;
	double most = pg->by_total ? d->tree->max_total : d->tree->max_self;
	double strength = most > 0 ? fabs(delta) / most : 0;
	uint32_t shade = (uint32_t)lround(strength * (PALETTE_SHADES - 1));

	if (shade > PALETTE_SHADES - 1)
		shade = PALETTE_SHADES - 1;
	return (uint32_t)d->colors.at[(delta > 0) != pg->negate ? RAMP_MORE : RAMP_LESS] + shade;
}

uint32_t colors_frame(const struct document *d, uint32_t i)
{
	const struct frame *fr = &d->layout->frame[i];
	const struct colors *c = &d->colors;
	uint32_t ramp = c->ramp[fr->name], shade = c->shade[fr->name];

	if (d->tree->diff && ramp != RAMP_STACK_DELIM && ramp != RAMP_PART_DELIM)
		return document_gone(d, i) ? (uint32_t)c->at[RAMP_GONE]
					   : delta_color(d, &d->layout->delta[i]);
	if (is_function(d, i)) { /* the script does not know another shade */
		ramp = RAMP_BY_LINK;
		shade = PALETTE_SHADES / 2;
	}
	if (ramp == RAMP_BY_LINK)
		ramp = palette_frame_ramp(fr->link, fr->part);
	return (uint32_t)c->at[ramp] + shade;
}
