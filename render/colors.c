// SPDX-License-Identifier: GPL-2.0-or-later
#include "colors.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elide.h"

static void add_ramp(struct colors *c, enum ramp ramp)
{
	if (c->at[ramp] >= 0)
		return;
	c->at[ramp] = (int32_t)c->n;
	for (unsigned s = 0; s < PALETTE_SHADES; s++)
		c->rgb[c->n++] = palette_rgb(ramp, s);
}

int colors_init(struct colors *c, const struct page *pg, const struct tree *t,
		const struct layout *l)
{
	uint32_t names = t->names.n;

	memset(c, 0, sizeof(*c));
	memset(c->at, -1, sizeof(c->at));
	c->rgb = malloc((RAMPS * PALETTE_SHADES + (size_t)(pg->name_color ? names : 0)) *
			sizeof(*c->rgb));
	c->ramp = malloc((size_t)(names + 1) * sizeof(*c->ramp));
	c->shade = malloc((size_t)names + 1);
	if (!c->rgb || !c->ramp || !c->shade)
		return -ENOMEM;
	for (uint32_t i = 0; i < names; i++)
		c->ramp[i] = RAMPS + 1;
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t id = l->frame[i].name;
		const char *name = names_str(&t->names, id);
		size_t len = names_len(&t->names, id);

		if (c->ramp[id] <= RAMPS)
			continue;
		c->ramp[id] = (uint16_t)palette_ramp(pg->palette, name, len);
		c->shade[id] = (uint8_t)palette_shade(
			pg->by == PALETTE_RANDOM ? PALETTE_BY_NAME : pg->by, name, len, 0);
		if (c->ramp[id] < RAMPS)
			add_ramp(c, c->ramp[id]);
		else
			for (uint32_t k = 0; k <= l->max_link && k <= PALETTE_LINKS; k++)
				add_ramp(c, palette_link_ramp(k));
	}
	if (t->diff) {
		add_ramp(c, RAMP_MORE);
		add_ramp(c, RAMP_LESS);
		add_ramp(c, RAMP_GONE);
	}
	if (pg->name_color) {
		c->fixed = c->n;
		memcpy(c->rgb + c->n, pg->name_color, names * sizeof(*c->rgb));
		c->n += names;
	}
	return 0;
}

void colors_free(struct colors *c)
{
	free(c->rgb);
	free(c->ramp);
	free(c->shade);
	memset(c, 0, sizeof(*c));
}

static uint32_t diff_color(const struct colors *c, const struct page *pg, double delta)
{
	double strength = pg->max_delta > 0 ? fabs(delta) / pg->max_delta : 0;
	uint32_t shade = (uint32_t)lround(strength * (PALETTE_SHADES - 1));

	if (shade > PALETTE_SHADES - 1)
		shade = PALETTE_SHADES - 1;
	return (uint32_t)c->at[(delta > 0) != pg->negate ? RAMP_MORE : RAMP_LESS] + shade;
}

bool colors_gone(const struct tree *t, const struct layout *l, uint32_t i)
{
	uint32_t name = l->frame[layout_top(l, i)].name;

	return t->diff && names_len(&t->names, name) == strlen(ELIDE_NAME) &&
	       !memcmp(names_str(&t->names, name), ELIDE_NAME, strlen(ELIDE_NAME));
}

uint32_t colors_frame(const struct colors *c, const struct page *pg, const struct tree *t,
		      const struct layout *l, uint32_t i)
{
	const struct frame *f = &l->frame[i];
	uint32_t ramp = c->ramp[f->name], shade = c->shade[f->name];

	if (ramp != RAMP_STACK_DELIM && ramp != RAMP_PART_DELIM) {
		if (t->diff)
			return colors_gone(t, l, i) ? (uint32_t)c->at[RAMP_GONE]
						    : diff_color(c, pg, l->diff[i].self);
		if (c->fixed)
			return c->fixed + f->name;
		if (pg->by == PALETTE_RANDOM)
			shade = palette_shade(PALETTE_RANDOM, "", 0, i);
	}
	if (ramp == RAMP_BY_LINK)
		ramp = palette_link_ramp(f->link);
	return (uint32_t)c->at[ramp] + shade;
}
