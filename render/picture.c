// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/figures.h"
#include "common/grow.h"
#include "document.h"
#include "page.h"

/*
 * A rectangle without a name: one narrow frame, or touching neighbours in a row, merged because
 * they have the same colour or are at most a pixel wide together (the widest gives the colour).
 */
struct narrow {
	double start, end, widest; /* in counts */
	uint32_t depth, color;
};

struct narrows {
	struct narrow *v;
	size_t n, cap;
	struct narrow *open; /* by depth: the rectangle that can still grow; .end 0: none */
	uint32_t depths;
};

/* Is a frame this wide drawn with its name? */
static bool has_room(const struct page *pg, double width)
{
	return width >= 3 * pg->fontsize * pg->fontwidth;
}

static double row_y(const struct document *d, uint32_t depth)
{
	double row = d->page->inverted ? depth : d->rows - 1.0 - depth;

	return d->top + row * d->page->height;
}

/* With --total the root is as wide as that. */
static double frame_time(const struct document *d, const struct frame *fr)
{
	return !fr->depth && d->page->total > fr->total ? d->page->total : fr->total;
}

/* The counts that a frame's share is of: in a difference, those of its own side. */
static double share_of(const struct document *d, uint32_t i)
{
	if (!d->tree->diff || d->tree->widened)
		return d->whole;
	return document_gone(d, i) ? d->before : d->after;
}

double document_after(const struct document *d, uint32_t i)
{
	/* The region lies in the root once more, but no input has it. */
	return d->layout->frame[i].total - d->layout->delta[i].more - (i ? 0 : d->tree->gone);
}

double document_before(const struct document *d, uint32_t i)
{
	return document_after(d, i) - d->layout->delta[i].total;
}

static void put_side(FILE *f, const struct page *pg, const char *when, double v, double whole)
{
	char quantity[SVG_QUANTITY_LEN], percent[FIGURE_LEN];

	svg_quantity(quantity, v * pg->factor, pg->countname);
	figure_percent(percent, whole > 0 ? 100 * v / whole : 0);
	fprintf(f, "%s ", when);
	svg_text(f, quantity, strlen(quantity));
	fprintf(f, " (%s)", percent);
}

/* "+50.0 %" */
static void put_ratio(FILE *f, double v)
{
	char percent[FIGURE_LEN];

	figure_percent(percent, 100 * fabs(v));
	fputs(v < 0 ? ": \u2212" : ": +", f);
	svg_text(f, percent, strlen(percent));
}

/*
 * The comparison that the colour of frame i shows, for its title: both counts, each with its share
 * of its side, and the change. The script says the same: page/change.js.
 */
static void write_change(FILE *f, const struct document *d, uint32_t i)
{
	const struct page *pg = d->page;
	const struct tree_delta *change = &d->layout->delta[i];
	double first, second; /* counts of the two sides, in the order of time */
	double least = 1e-9 * (d->before + d->after); /* less is an error of rounding */

	if (document_gone(d, i)) {
		fputs(pg->negate ? ", only after" : ", only before", f);
		return;
	}
	second = pg->by_total ? document_after(d, i) : d->layout->frame[i].own - change->more_self;
	first = pg->by_total ? document_before(d, i) : second - change->self;
	fputs(pg->by_total ? "; total " : "; own ", f);
	if (pg->negate) { /* the graph draws what was before */
		double drawn = second;

		second = first;
		first = drawn;
	}
	put_side(f, pg, "before", first, pg->negate ? d->after : d->before);
	put_side(f, pg, ", after", second, pg->negate ? d->before : d->after);
	if (fabs(second - first) <= least)
		fputs(": unchanged", f);
	else if (first <= least)
		fputs(": new", f);
	else if (second <= least)
		fputs(": gone", f);
	else
		put_ratio(f, (second - first) / first);
}

static void write_title(FILE *f, const struct document *d, uint32_t i, const char *name, size_t len)
{
	const struct frame *fr = &d->layout->frame[i];
	const struct page *pg = d->page;
	char quantity[SVG_QUANTITY_LEN], percent[FIGURE_LEN];

	svg_quantity(quantity, frame_time(d, fr) * pg->factor, pg->countname);
	figure_percent(percent, fr->depth ? 100 * fr->total / share_of(d, i) : 100);
	fputs("<title>", f);
	svg_text(f, name, len);
	fputs(" (", f);
	svg_text(f, quantity, strlen(quantity));
	fputs(", ", f);
	svg_text(f, percent, strlen(percent));
	if (d->tree->diff)
		write_change(f, d, i);
	fputs(")</title>", f);
}

/*
 * In a chain graph, names of threads are bold: the sleeper's, and each waker's, which is the last
 * frame of its link. With chainwalk --blocked-stacks the last frame is the function in which the
 * waker slept instead.
 */
static bool is_thread(const struct document *d, uint32_t i)
{
	const struct name_table *names = &d->tree->names;
	const struct frame *fr = &d->layout->frame[i];
	uint32_t above;

	if (!d->tree->chain || !fr->depth)
		return false;
	if (fr->depth == 1)
		return true;
	if (name_is(names, fr->name, "__schedule") || name_is(names, fr->name, "schedule"))
		return false;
	if (!fr->link || i + 1 == d->layout->n || fr[1].parent != i)
		return false;
	above = d->colors.ramp[fr[1].name];
	return above == RAMP_STACK_DELIM || (above >= RAMP_RUNNING && document_ends(d, &fr[1]));
}

/* Is it part of a waker's stack? */
static bool in_waker(const struct document *d, uint32_t i)
{
	const struct frame *fr = &d->layout->frame[i];
	uint32_t ramp = d->colors.ramp[fr->name];

	return d->tree->chain && fr->link && fr->part == PART_PLAIN && ramp != RAMP_STACK_DELIM &&
	       ramp != RAMP_PART_DELIM && !document_ends(d, fr);
}

static void write_wide(FILE *f, const struct document *d, uint32_t i)
{
	const struct page *pg = d->page;
	const struct frame *fr = &d->layout->frame[i];
	const char *name = name_str(&d->tree->names, fr->name);
	size_t len = palette_bare_len(name, name_len(&d->tree->names, fr->name));
	double x = PAGE_XPAD + fr->start * d->px, y = row_y(d, fr->depth);
	double width = frame_time(d, fr) * d->px;
	uint32_t rgb = d->colors.rgb[colors_frame(d, i)];
	bool bold = is_thread(d, i);
	char buf[LABEL_BUF];
	struct label label = label_fit(&d->font, name, len, width - 6, bold, buf);

	fputs("<g>", f);
	write_title(f, d, i, name, len);
	fputs("<rect x=\"", f);
	svg_fixed(f, x);
	fputs("\" y=\"", f);
	svg_fixed(f, y);
	fputs("\" width=\"", f);
	svg_fixed(f, width);
	fputs("\" height=\"", f);
	svg_fixed(f, pg->height - 1);
	fprintf(f, "\" fill=\"#%06x\"%s/><text x=\"", rgb,
		document_gone(d, i) ? " class=\"gone\"" : "");
	svg_fixed(f, x + 3);
	fputs("\" y=\"", f);
	svg_fixed(f, y + (pg->height - 1) / 2 + pg->fontsize * 0.34);
	fputs(label_light(rgb) ? "\" fill=\"#fff\"" : "\"", f);
	fputs(bold ? " font-weight=\"bold\">" : ">", f);
	fputs(label.dots_before ? ".." : "", f);
	svg_text(f, label.p, label.len);
	fputs(label.dots_after ? "..</text></g>\n" : "</text></g>\n", f);
}

static bool is_wide(const struct document *d, uint32_t i)
{
	const struct frame *fr = &d->layout->frame[i];

	return fr->total >= d->min_time && fr->depth < d->rows &&
	       has_room(d->page, frame_time(d, fr) * d->px);
}

/* The frames of one waker, up to its name, have one edge; page/view.js draws the same. */
static void write_edges(FILE *f, const struct document *d)
{
	bool any = false;

	for (uint32_t i = 0; i < d->layout->n; i++) {
		const struct frame *fr = &d->layout->frame[i];

		if (!is_wide(d, i) || !in_waker(d, i))
			continue;
		fputs(any ? "M" : "<path class=\"side\" fill=\"#101010\" d=\"M", f);
		svg_fixed(f, PAGE_XPAD + fr->start * d->px);
		putc_unlocked(' ', f);
		svg_fixed(f, row_y(d, fr->depth));
		fprintf(f, "h2v%.15gh-2z", d->page->height);
		any = true;
	}
	fputs(any ? "\"/>\n" : "", f);
}

static uint32_t narrow_key(const struct narrow *nar, bool by_color)
{
	return by_color ? nar->color : nar->depth;
}

/* Stable counting sort of from[0..n) into to, by colour or depth; all keys are below `keys`. */
static int sort_by(const struct narrow *from, struct narrow *to, size_t n, bool by_color,
		   uint32_t keys)
{
	size_t *at = calloc((size_t)keys + 1, sizeof(*at));

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		at[narrow_key(&from[i], by_color) + 1]++;
	for (uint32_t k = 0; k < keys; k++)
		at[k + 1] += at[k];
	for (size_t i = 0; i < n; i++)
		to[at[narrow_key(&from[i], by_color)]++] = from[i];
	free(at);
	return 0;
}

/* Sort by depth, then colour, then position: each row is in order of position already. */
static int sort_narrows(struct narrows *ns, uint32_t colors)
{
	struct narrow *tmp = malloc((ns->n + 1) * sizeof(*tmp));
	int err = tmp ? 0 : -ENOMEM;

	if (!err)
		err = sort_by(ns->v, tmp, ns->n, true, colors);
	if (!err)
		err = sort_by(tmp, ns->v, ns->n, false, ns->depths);
	free(tmp);
	return err;
}

static double tenth(double v)
{
	return round(v * 10) / 10;
}

/*
 * One path for each row and colour. The start of a rectangle is relative to the start of the one
 * before, which keeps numbers short: before the first paint, a browser spends most of its time on
 * parsing the paths. Strokes as wide as a row would be shorter, but take twice as long to draw.
 */
static void write_narrow(FILE *f, const struct document *d, const struct narrow *nar, size_t n)
{
	char height[SVG_FIXED_LEN + 1];

	*svg_put_fixed(height, d->page->height - 1) = 0;
	for (size_t i = 0; i < n;) {
		const struct narrow *first = &nar[i];
		double last_x = 0;

		fprintf(f, "<path fill=\"#%06x\" d=\"M0 ", d->colors.rgb[first->color]);
		svg_fixed(f, row_y(d, first->depth));
		for (; i < n && nar[i].depth == first->depth && nar[i].color == first->color; i++) {
			double x = tenth(PAGE_XPAD + nar[i].start * d->px);
			double width = (nar[i].end - nar[i].start) * d->px;
			char buf[4 * SVG_FIXED_LEN + 8], *p = buf;

			*p++ = 'm';
			p = svg_put_fixed(p, x - last_x);
			p = stpcpy(p, " 0h");
			p = svg_put_fixed(p, width);
			*p++ = 'v';
			p = stpcpy(p, height);
			*p++ = 'h';
			p = svg_put_fixed(p, -width);
			*p++ = 'z';
			fwrite(buf, 1, (size_t)(p - buf), f);
			last_x = x;
		}
		fputs("\"/>\n", f);
	}
}

static int keep(struct narrows *ns, const struct narrow *nar)
{
	if (!GROW(ns->v, ns->n, ns->cap))
		return -ENOMEM;
	ns->v[ns->n++] = *nar;
	return 0;
}

static int add_narrow(struct narrows *ns, const struct frame *fr, uint32_t color, double px)
{
	struct narrow *open = &ns->open[fr->depth];
	double end = fr->start + fr->total;
	int err = 0;

	if (open->end > 0 && (fr->start - open->end) * px < 0.05 &&
	    (open->color == color || (end - open->start) * px <= 1)) {
		open->end = end;
		if (fr->total > open->widest) {
			open->widest = fr->total;
			open->color = color;
		}
		return 0;
	}
	if (open->end > 0)
		err = keep(ns, open);
	*open = (struct narrow) { .start = fr->start,
				  .end = end,
				  .widest = fr->total,
				  .depth = fr->depth,
				  .color = color };
	return err;
}

/* What the last row stands for, on the side where the widest of them is not; as page/view.js. */
static void write_needles(FILE *f, const struct document *d)
{
	const struct page *pg = d->page;
	const struct frame *widest = NULL;
	bool left;

	if (!d->needles)
		return;
	for (uint32_t i = 0; i < d->layout->n; i++) {
		const struct frame *fr = &d->layout->frame[i];

		if (fr->depth == d->rows - 1 && (!widest || fr->total > widest->total))
			widest = fr;
	}
	left = widest && widest->start > d->whole / 2;
	fputs("<text class=\"needles\" x=\"", f);
	svg_fixed(f, left ? PAGE_XPAD : pg->width - PAGE_XPAD);
	fputs("\" y=\"", f);
	svg_fixed(f, row_y(d, d->rows - 1) + (pg->height - 1) / 2 + pg->fontsize * 0.34);
	fprintf(f, left ? "\">" : "\" text-anchor=\"end\">");
	fprintf(f, "... %u narrow frames in %u rows</text>\n", d->needles, d->deep - d->rows + 1);
}

int picture_write(FILE *f, const struct document *d)
{
	const struct layout *l = d->layout;
	struct narrows ns = { .depths = d->rows, .open = calloc(d->rows, sizeof(*ns.open)) };
	int err = ns.open ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < l->n && !err; i++) {
		const struct frame *fr = &l->frame[i];

		if (fr->total >= d->min_time && fr->depth < d->rows && !is_wide(d, i))
			err = add_narrow(&ns, fr, colors_frame(d, i), d->px);
	}
	for (uint32_t k = 0; k < ns.depths && !err; k++)
		if (ns.open[k].end > 0)
			err = keep(&ns, &ns.open[k]);
	if (!err && ns.n)
		err = sort_narrows(&ns, d->colors.n);
	if (err)
		goto out;
	write_narrow(f, d, ns.v, ns.n);
	for (uint32_t i = 0; i < l->n; i++)
		if (is_wide(d, i))
			write_wide(f, d, i);
	write_edges(f, d);
	write_needles(f, d);
out:
	free(ns.v);
	free(ns.open);
	return err;
}
