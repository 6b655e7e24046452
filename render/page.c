// SPDX-License-Identifier: GPL-2.0-or-later
#include "page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "document.h"
#include "page_css.h"
#include "page_js.h"
#include "sums.h"

/* Heights of the parts above and below the frames, in font sizes; _PX: in pixels. */
#define LEGEND 2.0
#define FOOT 2.0
#define FOOT_PX 10.0

const char flamegraph_script_source[] = page_js_source;
const char flamegraph_style_source[] = page_css_source;

const struct page_range page_width_range = { 100, 1e6 };
const struct page_range page_height_range = { 4, 1000 };
const struct page_range page_fontsize_range = { 1, 1000 };
const struct page_range page_minwidth_range = { 0, 1e6 };

#define FRAMES 100000 /* by default: a file of about 1 MB */

void page_init(struct page *pg)
{
	*pg = (struct page) {
		.fonttype = "Verdana, DejaVu Sans, sans-serif",
		.nametype = "Function:",
		.width = 1200,
		.fluid = true,
		.height = 16,
		.fontsize = 12,
		.fontwidth = 0.59,
		.minwidth = 0.1,
		.factor = 1,
		.max_frames = FRAMES,
	};
}

static bool within(double v, struct page_range r)
{
	return v >= r.least && v <= r.most;
}

bool page_fits(const struct page *pg)
{
	return within(pg->width, page_width_range) && within(pg->height, page_height_range) &&
	       within(pg->fontsize, page_fontsize_range) &&
	       within(pg->minwidth, page_minwidth_range);
}

static const char *default_title(const struct page *pg, const struct tree *t)
{
	return pg->flamechart ? "Flame Chart"
	       : pg->inverted ? "Icicle Graph"
	       : t->diff      ? "Differential Flame Graph"
	       : t->chain     ? "Wakeup Chain Graph"
			      : "Flame Graph";
}

/* How to read a chain graph, with its root on top or below. */
static const char *reading(bool on_top, bool diff)
{
	static const char *const texts[2][2] = {
		{ "Bottom: who waited, and where. Above each dark --: who ended that wait, upside "
		  "down. "
		  "Top: why the chain ends. Width: time.",
		  "Bottom: who waited, and where. Above each dark --: who ended that wait, upside "
		  "down. "
		  "Top: why the chain ends. Red: more time than before, blue: less." },
		{ "Top: who waited, and where. Below each dark --: who ended that wait, upside "
		  "down. "
		  "Bottom: why the chain ends. Width: time.",
		  "Top: who waited, and where. Below each dark --: who ended that wait, upside "
		  "down. "
		  "Bottom: why the chain ends. Red: more time than before, blue: less." },
	};

	return texts[on_top][diff];
}

void page_settle(struct page *pg, struct tree *t, unsigned decimals)
{
	if (!pg->countname)
		pg->countname = t->chain ? "us" : "samples";
	/* Merged from the leaves, a path does not start at the sleeper: links cannot be counted. */
	t->chain &= !pg->reverse;

	if (!pg->palette)
		pg->palette = palette_find(t->chain ? "chain" : "hot");
	if (!pg->background)
		pg->background = t->diff ? "#fafafc" : pg->palette->background;
	if (!pg->title)
		pg->title = pg->remarks.title ? pg->remarks.title : default_title(pg, t);
	/* Chain graphs are new to most readers: explain how to read one. */
	if (!pg->subtitle && t->chain) {
		pg->subtitle = reading(pg->inverted, t->diff);
		pg->turned = reading(!pg->inverted, t->diff);
	}
	if (pg->subtitle && !*pg->subtitle)
		pg->subtitle = NULL;
	/* How long chains took says more than their ends, which are often those of other stacks. */
	if (t->widened && !pg->compares)
		pg->by_total = true;
	pg->decimals = decimals;
	if (t->n && pg->total < t->node[0].total)
		pg->total = 0;
}

static void text(FILE *f, const char *s)
{
	svg_text(f, s, strlen(s));
}

static void attr(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	text(f, value);
	putc_unlocked('"', f);
}

static void number_attr(FILE *f, const char *name, double v)
{
	fprintf(f, " %s=\"%.15g\"", name, v);
}

static void write_head(FILE *f, const struct page *pg, double height, const char *desc)
{
	uint32_t top = 0, bottom = 0;

	palette_background(pg->background, &top, &bottom);
	if (!pg->embedded)
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n", f);
	fputs("<svg class=\"flamegraph\" version=\"1.1\"", f);
	fprintf(f, " width=\"%.15g\" height=\"%.15g\" viewBox=\"0 0 %.15g %.15g\"", pg->width,
		height, pg->width, height);
	fputs(" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"", f);
	if (pg->keys) /* the ids may be those of another graph in the page */
		attr(f, "aria-label", pg->title);
	else
		fputs(" aria-labelledby=\"fg-title fg-desc\"", f);
	if (pg->ui_color)
		attr(f, "color", pg->ui_color);
	attr(f, "font-family", pg->fonttype);
	number_attr(f, "font-size", pg->fontsize);
	fputs(">\n<title>", f);
	text(f, pg->title);
	fputs("</title>\n<desc id=\"fg-desc\">", f);
	text(f, desc);
	fputs("</desc>\n", f);
	if (pg->notes) {
		fputs("<metadata id=\"fg-notes\">", f);
		text(f, pg->notes);
		fputs("</metadata>\n", f);
	}
	/* Without this a phone lays out a lone SVG 980 pixels wide. */
	if (!pg->embedded)
		fputs("<meta xmlns=\"http://www.w3.org/1999/xhtml\" name=\"viewport\" "
		      "content=\"width=device-width, initial-scale=1\"/>\n",
		      f);
	fputs("<style>", f);
	fwrite(page_css, 1, page_css_len, f);
	fputs("</style>\n", f);
	fputs("<defs><linearGradient id=\"fg-ground\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">", f);
	fprintf(f, "<stop offset=\"5%%\" stop-color=\"#%06x\"/>", top);
	fprintf(f, "<stop offset=\"95%%\" stop-color=\"#%06x\"/>", bottom);
	fputs("</linearGradient></defs>\n", f);
	fputs("<rect id=\"fg-back\" width=\"100%\" height=\"100%\" fill=\"url(#fg-ground)\"/>\n",
	      f);
}

/* For a pattern: "file|tcp|..." */
static void write_object_classes(FILE *f)
{
	const char *class;

	for (size_t i = 0; (class = palette_object_class(i)); i++)
		fprintf(f, "%s%s", i ? "|" : " data-objects=\"", class);
	putc_unlocked('"', f);
}

static void write_data_head(FILE *f, const struct document *d)
{
	const struct page *pg = d->page;
	const int32_t *at = d->colors.at;

	fputs("<metadata id=\"fg-graph\"", f);
	number_attr(f, "data-width", pg->width);
	number_attr(f, "data-fluid", pg->fluid);
	number_attr(f, "data-embedded", pg->embedded);
	if (pg->keys)
		attr(f, "data-keys", pg->keys);
	number_attr(f, "data-row", pg->height);
	number_attr(f, "data-font-size", pg->fontsize);
	number_attr(f, "data-font-width", pg->fontwidth);
	number_attr(f, "data-min", pg->minwidth);
	number_attr(f, "data-min-percent", pg->minwidth_percent);
	number_attr(f, "data-inverted", pg->inverted);
	number_attr(f, "data-total", pg->total);
	number_attr(f, "data-factor", pg->factor);
	number_attr(f, "data-scale", data_scale(d));
	number_attr(f, "data-chain", d->tree->chain);
	number_attr(f, "data-frames", d->layout->n);
	number_attr(f, "data-left-out", (double)d->layout->left_out);
	if (d->sums)
		number_attr(f, "data-functions", d->sums->names);
	number_attr(f, "data-ordered", d->tree->in_order);
	if (pg->slices) {
		number_attr(f, "data-slices", pg->slices);
		number_attr(f, "data-slice-factor", pg->slice_factor);
	}
	if (!pg->mean_width)
		fprintf(f, " data-glyphs=\"%s %s\"", label_glyphs[0], label_glyphs[1]);
	if (pg->search_color)
		attr(f, "data-found", pg->search_color);
	if (pg->labels != LABEL_AUTO)
		attr(f, "data-labels", pg->labels == LABEL_START ? "start" : "end");
	attr(f, "data-count", pg->countname);
	attr(f, "data-nametype", pg->nametype);
	fputs(" data-links=\"", f);
	for (uint32_t k = 0; k <= PALETTE_LINKS; k++)
		fprintf(f, "%s%d", k ? " " : "", at[palette_link_ramp(k)]);
	fprintf(f, "\" data-samples=\"%d\" data-on-cpu=\"%d\"", at[RAMP_SAMPLE], at[RAMP_ON_CPU]);
	if (d->tree->chain)
		write_object_classes(f);
	if (d->tree->diff) {
		number_attr(f, "data-max-own", d->tree->max_self);
		number_attr(f, "data-max-total", d->tree->max_total);
		number_attr(f, "data-by-total", pg->by_total);
		number_attr(f, "data-negate", pg->negate);
		number_attr(f, "data-more", at[RAMP_MORE]);
		number_attr(f, "data-less", at[RAMP_LESS]);
		number_attr(f, "data-gone", at[RAMP_GONE]);
		number_attr(f, "data-gone-frame", d->gone);
		number_attr(f, "data-wide", d->tree->widened);
	}
	fputs("/>\n", f);
}

/* Find the region of diff_add_gone() and the counts of each side. */
static void compare(struct document *d)
{
	const struct layout *l = d->layout;
	const struct frame *frame = l->frame;
	uint32_t i = 1;

	d->after = l->total;
	if (!d->tree->diff || !l->n)
		return;
	d->after = document_after(d, 0);
	d->before = document_before(d, 0);
	if (!(d->tree->gone > 0))
		return;
	while (i < l->n && (frame[i].depth != 1 ||
			    !name_is(&d->tree->names, frame[i].name, diff_gone(d->tree))))
		i++;
	d->gone = d->gone_end = i;
	while (d->gone_end < l->n && (d->gone_end == i || frame[d->gone_end].depth > 1))
		d->gone_end++;
}

/* Counts over the full width. */
static double whole_counts(const struct page *pg, const struct tree *t)
{
	return pg->total > 0 ? pg->total : t->node[0].total;
}

/* The least counts of a frame that is drawn at first. */
static double min_counts(const struct page *pg, double whole)
{
	return pg->minwidth_percent ? whole * pg->minwidth / 100
				    : pg->minwidth * whole / (pg->width - 2 * PAGE_XPAD);
}

/*
 * Needles: the rows farthest from the root in which no frame is wider than that, in pixels, and all
 * together are that part of the width at most. If there are as many as that, they become one row:
 * else a single narrow tower makes a picture of which nothing is to be seen on the first screen,
 * or page. page/view.js does the same after a zoom.
 */
#define NEEDLE 4.0
#define NEEDLES_WIDTH 0.05
#define NEEDLES_ROWS 8

struct row {
	double sum, widest; /* counts */
	uint32_t frames;
};

static void fold_needles(struct document *d, const struct row *row)
{
	uint32_t first = d->rows;

	while (first > 1 && row[first - 1].sum <= NEEDLES_WIDTH * d->whole &&
	       row[first - 1].widest * d->px <= NEEDLE)
		first--;
	if (d->rows - first < NEEDLES_ROWS)
		return;
	for (uint32_t k = first; k < d->rows; k++)
		d->needles += row[k].frames;
	d->rows = first + 1;
}

/* Derive the scale and the visible rows from the rest. 0 or -ENOMEM. */
static int measure(struct document *d)
{
	const struct layout *l = d->layout;
	struct row *row = calloc((size_t)l->max_depth + 1, sizeof(*row));

	if (!row)
		return -ENOMEM;
	d->whole = whole_counts(d->page, d->tree);
	d->px = (d->page->width - 2 * PAGE_XPAD) / d->whole;
	d->min_time = min_counts(d->page, d->whole);
	d->rows = 1;
	for (uint32_t i = 0; i < l->n; i++) {
		const struct frame *fr = &l->frame[i];
		struct row *r = &row[fr->depth];

		if (fr->total < d->min_time)
			continue;
		if (fr->depth >= d->rows)
			d->rows = fr->depth + 1;
		r->sum += fr->total;
		r->widest = fmax(r->widest, fr->total);
		r->frames++;
	}
	d->deep = d->rows;
	fold_needles(d, row);
	free(row);
	return 0;
}

static int write_document(FILE *f, const struct page *pg, const struct tree *t,
			  const struct layout *l)
{
	struct document d = { .page = pg, .tree = t, .layout = l };
	char quantity[SVG_QUANTITY_LEN], desc[256];
	struct legend legend;
	struct sums sums = { 0 };
	struct headings headings = { 0 };
	double legend_y;
	int err = colors_init(&d);

	if (!err)
		err = measure(&d);
	if (err)
		goto out;
	compare(&d);
	d.font = (struct label_font) {
		.size = pg->fontsize,
		.width = pg->mean_width ? pg->fontwidth : 0,
		.keep = pg->labels,
	};
	err = legend_fill(&legend, &d);
	if (!err && l->left_out)
		err = sums_fill(&sums, t);
	if (err)
		goto out;
	d.sums = l->left_out ? &sums : NULL;
	err = headings_find(&headings, &d);
	if (err)
		goto out;
	legend_y = headings.height - pg->fontsize * 0.2;
	d.top = headings.height + pg->fontsize * (legend.n ? LEGEND : 0);
	if (legend.n)
		d.top += pg->fontsize * LEGEND_LINE * (legend_lines(&legend, &d) - 1);

	svg_quantity(quantity, l->total * pg->factor, pg->countname);
	snprintf(desc, sizeof(desc), "%s of %s, frames in up to %u rows.",
		 pg->inverted ? "Icicle graph" : "Flame graph", quantity, d.deep);
	write_head(f, pg, d.top + d.rows * pg->height + pg->fontsize * FOOT + FOOT_PX, desc);
	/* The script keeps this in view, on a ground that hides the frames below it. */
	fputs("<g id=\"fg-head\"><rect id=\"fg-head-back\" visibility=\"hidden\" "
	      "fill=\"url(#fg-ground)\"/>\n",
	      f);
	headings_write(f, pg, &headings);
	legend_write(f, &legend, &d, legend_y);
	fputs("</g>\n", f);
	fprintf(f, "<g id=\"fg-frames\" data-top=\"%.15g\"", d.top);
	if (pg->stroke_color)
		attr(f, "stroke", pg->stroke_color);
	fputs(">\n", f);
	err = picture_write(f, &d);
	if (err)
		goto out;
	fputs("</g>\n", f);
	write_data_head(f, &d);
	err = data_write(f, &d);
	if (!err && pg->slices)
		err = slices_of_frames(pg->slices_of, t, l->frame_of);
	if (err)
		goto out;
	if (pg->slices)
		slices_write(f, pg->slices_of);
	fputs("<script><![CDATA[", f);
	fwrite(page_js, 1, page_js_len, f);
	fputs("]]></script>\n</svg>\n", f);
out:
	headings_free(&headings);
	sums_free(&sums);
	colors_free(&d);
	return err;
}

int page_write(FILE *f, const struct page *pg, const struct tree *t)
{
	struct layout l;
	int err;

	if (!t->n || !(t->node[0].total > 0))
		return -ENODATA;
	err = layout_tree(&l, t, min_counts(pg, whole_counts(pg, t)), pg->max_frames);
	if (!err)
		err = write_document(f, pg, t, &l);
	layout_free(&l);
	return err;
}

void page_write_error(FILE *f, const struct page *pg, const char *what)
{
	struct headings hs = { 0 };

	if (!headings_add(&hs, pg, "title", "ERROR: ", what)) {
		write_head(f, pg, pg->fontsize * 2 + hs.height, what);
		headings_write(f, pg, &hs);
		fputs("</svg>\n", f);
	}
	headings_free(&hs);
}
