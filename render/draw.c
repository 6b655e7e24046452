// SPDX-License-Identifier: GPL-2.0-or-later
#include "draw.h"

#include <errno.h>

#include "layout.h"
#include "palette.h"

void draw_init(struct draw *d)
{
	*d = (struct draw) {
		.page = {
			.fonttype = "Verdana, DejaVu Sans, sans-serif",
			.nametype = "Function:",
			.width = 1200,
			.fluid = true,
			.height = 16,
			.fontsize = 12,
			.fontwidth = 0.59,
			.minwidth = 0.1,
			.factor = 1,
		},
		.max_frames = DRAW_FRAMES,
	};
}

static bool within(double v, struct page_range r)
{
	return v >= r.least && v <= r.most;
}

bool draw_fits(const struct draw *d)
{
	const struct page *pg = &d->page;

	return within(pg->width, page_width_range) && within(pg->height, page_height_range) &&
	       within(pg->fontsize, page_fontsize_range) &&
	       within(pg->minwidth, page_minwidth_range);
}

static const char *title(const struct draw *d, const struct tree *t)
{
	return d->flamechart	  ? "Flame Chart"
	       : d->page.inverted ? "Icicle Graph"
	       : t->diff	  ? "Differential Flame Graph"
	       : t->chain	  ? "Wakeup Chain Graph"
				  : "Flame Graph";
}

void draw_settle(struct draw *d, struct tree *t, unsigned decimals)
{
	struct page *pg = &d->page;

	if (!pg->countname)
		pg->countname = t->chain ? "us" : "samples";
	/* Merged from the leaves, a path does not start at the sleeper: links cannot be counted. */
	t->chain &= !d->reverse;

	if (!pg->palette)
		pg->palette = palette_find(t->chain ? "chain" : "hot");
	if (!pg->background)
		pg->background = t->diff ? "#fafafc" : pg->palette->background;
	if (!pg->title)
		pg->title = title(d, t);
	/* Chain graphs are new to most readers: explain how to read one. */
	if (!pg->subtitle && t->chain && !t->diff && !d->page.inverted)
		pg->subtitle = "Bottom: who waited, and where. Above each dark --: who ended "
			       "that wait. Top: why the chain ends. Width: time.";
	if (pg->subtitle && !*pg->subtitle)
		pg->subtitle = NULL;
	pg->decimals = decimals;
	if (t->n && pg->total < t->node[0].total)
		pg->total = 0;
}

int draw_write(FILE *f, const struct draw *d, const struct tree *t)
{
	struct layout l;
	int err;

	if (!t->n || !(t->node[0].total > 0))
		return -ENODATA;
	err = layout_tree(&l, t, 0, d->max_frames);
	if (!err)
		err = page_write(f, &d->page, t, &l);
	layout_free(&l);
	return err;
}
