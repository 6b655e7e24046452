// SPDX-License-Identifier: GPL-2.0-or-later
#include "flamegraph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "page.h"
#include "palette.h"
#include "folded.h"
#include "input_reader.h"
#include "slices.h"
#include "tree.h"

struct flamegraph {
	struct page page;
	struct tree tree;
	struct input_reader reader;
	bool open; /* the reader is open */
	bool written;
	struct folded_stats stats;
	struct slices slices;
	uint32_t slice; /* of the lines that are read now */
};

static int take_options(struct page *pg, const struct flamegraph_options *o)
{
	uint32_t top, bottom;

	page_init(pg);
	pg->reverse = o->reverse;
	pg->flamechart = o->flamechart;
	if (o->max_frames)
		pg->max_frames = o->max_frames;
	pg->title = o->title;
	pg->subtitle = o->subtitle;
	pg->notes = o->notes;
	pg->countname = o->countname;
	pg->inverted = o->inverted;
	pg->embedded = o->embedded;
	pg->keys = o->keys;
	pg->slices = o->slices;
	pg->slice_factor = o->slice_factor > 0 ? o->slice_factor : 1;
	pg->mean_width = o->fonttype != NULL;
	if (o->nametype)
		pg->nametype = o->nametype;
	if (o->fonttype)
		pg->fonttype = o->fonttype;
	if (o->colors)
		pg->palette = palette_find(o->colors);
	if (o->colors && !pg->palette)
		return -EINVAL;
	pg->background = o->bgcolors;
	if (pg->background && !palette_background(pg->background, &top, &bottom))
		return -EINVAL;
	if (o->width > 0) {
		pg->width = o->width;
		pg->fluid = o->embedded;
	}
	if (o->height > 0)
		pg->height = o->height;
	if (o->fontsize > 0)
		pg->fontsize = o->fontsize;
	if (o->minwidth > 0)
		pg->minwidth = o->minwidth;
	return page_fits(pg) ? 0 : -EINVAL;
}

int flamegraph_new(struct flamegraph **out, const struct flamegraph_options *o)
{
	struct flamegraph *g = calloc(1, sizeof(*g));
	int err = -ENOMEM;

	*out = NULL;
	if (!g)
		return err;
	err = take_options(&g->page, o);
	if (err)
		goto out;
	err = tree_init(&g->tree);
	if (err)
		goto out;
	g->tree.in_order = o->flamechart;
	g->open = true;
	err = input_reader_open(&g->reader, &g->tree, o->reverse, COUNTS_ASK);
	if (!err)
		*out = g;
out:
	if (err)
		flamegraph_free(g);
	return err;
}

static int on_line(void *ctx, const struct folded_line *line)
{
	struct flamegraph *g = ctx;
	int err = remarks_take(&g->page.remarks, line);

	return err ? (err < 0 ? err : 0) : input_reader_line(&g->reader, line);
}

static int on_bad(void *ctx, uint64_t line_no, enum folded_err err)
{
	(void)ctx, (void)line_no, (void)err;
	return 0;
}

int flamegraph_add(struct flamegraph *g, const char *text, size_t len)
{
	return g->open ? folded_scan(text, len, &g->stats, on_line, on_bad, g) : -EINVAL;
}

static int on_slice_line(void *ctx, const struct folded_line *line)
{
	struct flamegraph *g = ctx;

	return slices_add(&g->slices, &g->tree, line, g->slice);
}

int flamegraph_add_slice(struct flamegraph *g, const char *text, size_t len, uint32_t slice)
{
	int err = g->open ? input_reader_close(&g->reader) : 0;

	g->open = false;
	if (!err && (slice >= g->page.slices || g->tree.diff || g->tree.in_order ||
		     g->page.reverse || g->written))
		err = -EINVAL;
	g->slice = slice;
	return err ? err : folded_scan(text, len, &g->stats, on_slice_line, on_bad, g);
}

uint64_t flamegraph_bad_lines(const struct flamegraph *g)
{
	return g->stats.bad;
}

int flamegraph_write(struct flamegraph *g, FILE *f)
{
	int err = g->written ? -EINVAL : g->open ? input_reader_close(&g->reader) : 0;

	g->open = false;
	g->written = true;
	if (!err && diff_is_wide(&g->tree, g->page.reverse))
		diff_widen(&g->tree);
	if (!err)
		err = tree_finish(&g->tree);
	if (err)
		return err;
	page_settle(&g->page, &g->tree, g->reader.decimals);
	g->page.slices_of = &g->slices;
	g->tree.sliced = g->page.slices;
	return page_write(f, &g->page, &g->tree);
}

uint32_t flamegraph_frame_color(const char *name)
{
	size_t len = strlen(name);
	enum ramp ramp = palette_ramp(palette_find("chain"), name, len);

	return palette_rgb(ramp == RAMP_BY_LINK ? palette_link_ramp(0) : ramp,
			   palette_shade(name, len));
}

void flamegraph_free(struct flamegraph *g)
{
	if (!g)
		return;
	if (g->open)
		input_reader_close(&g->reader);
	slices_free(&g->slices);
	remarks_free(&g->page.remarks);
	tree_free(&g->tree);
	free(g);
}
