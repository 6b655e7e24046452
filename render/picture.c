// SPDX-License-Identifier: GPL-2.0-or-later
#include "picture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A rectangle without a name: one narrow frame, or neighbours in a row that touch and have one
 * colour, or that are together no wider than a pixel and take the colour of the widest.
 */
struct narrow {
	double start, end, widest; /* in counts */
	uint32_t depth, color;
};

struct narrows {
	struct narrow *v;
	size_t n, cap;
	struct narrow *open; /* by depth: the rectangle that may still grow; .end 0: none */
	uint32_t depths;
};

size_t picture_room(const struct page *pg, double width)
{
	double room = width / (pg->fontsize * pg->fontwidth);

	return room < 3 ? 0 : room > 1e6 ? 1000000 : (size_t)room;
}

uint32_t picture_max_depth(const struct layout *l, double min_time)
{
	uint32_t max = 0;

	for (uint32_t i = 0; i < l->n; i++)
		if (l->frame[i].total >= min_time && l->frame[i].depth > max)
			max = l->frame[i].depth;
	return max;
}

static double row_y(const struct picture *pic, const struct page *pg, uint32_t depth)
{
	double row = pg->inverted ? depth : pic->rows - 1 - depth;

	return pic->top + row * pg->height;
}

/* With --total the root stands for all of it. */
static double frame_time(const struct page *pg, const struct frame *fr)
{
	return !fr->depth && pg->total > fr->total ? pg->total : fr->total;
}

static void write_title(FILE *f, const struct page *pg, const struct tree *t,
			const struct layout *l, const struct frame *fr)
{
	double whole = pg->total > 0 ? pg->total : l->total;
	const char *name = names_str(&t->names, fr->name);
	char count[SVG_COUNT_LEN];

	svg_count(count, frame_time(pg, fr) * pg->factor);
	fputs("<title>", f);
	svg_text(f, pg->encoding, name, palette_bare_len(name, names_len(&t->names, fr->name)),
		 SIZE_MAX);
	fprintf(f, " (%s ", count);
	svg_text(f, SVG_UTF8, pg->countname, strlen(pg->countname), SIZE_MAX);
	if (fr->depth)
		fprintf(f, ", %.2f%%", 100 * fr->total / whole);
	else
		fputs(", 100%", f);
	if (colors_gone(t, l, (uint32_t)(fr - l->frame)))
		fputs(", only before", f);
	else if (t->diff && fr->depth)
		fprintf(f, "; %+.2f%%",
			(pg->negate ? -100 : 100) * l->diff[fr - l->frame].total / whole);
	fputs(")</title>", f);
}

static bool is_named(const struct tree *t, const struct layout *l, uint32_t i, const char *name)
{
	return names_len(&t->names, l->frame[i].name) == strlen(name) &&
	       !memcmp(names_str(&t->names, l->frame[i].name), name, strlen(name));
}

/*
 * Names of threads stand out in a chain graph: the sleeper's, and each waker's, which ends its
 * link, unless the stack in which the waker itself had slept is shown on top of it.
 */
static bool is_thread(const struct tree *t, const struct layout *l, const struct colors *c,
		      uint32_t i)
{
	uint32_t above;

	if (!t->chain || !l->frame[i].depth)
		return false;
	if (l->frame[i].depth == 1)
		return true;
	if (is_named(t, l, i, "__schedule") || is_named(t, l, i, "schedule"))
		return false;
	if (!l->frame[i].link || i + 1 == l->n || l->frame[i + 1].parent != i)
		return false;
	above = c->ramp[l->frame[i + 1].name];
	return above == RAMP_STACK_DELIM || (above > RAMP_INTERRUPT && above <= RAMP_UNKNOWN);
}

static void write_wide(FILE *f, const struct picture *pic, const struct page *pg,
		       const struct tree *t, const struct layout *l, const struct colors *c,
		       uint32_t i)
{
	const struct frame *fr = &l->frame[i];
	const char *name = names_str(&t->names, fr->name);
	size_t len = palette_bare_len(name, names_len(&t->names, fr->name));
	bool bold = is_thread(t, l, c, i);
	double x = PAGE_XPAD + fr->start * pic->px, y = row_y(pic, pg, fr->depth);
	double width = frame_time(pg, fr) * pic->px;
	size_t room = picture_room(pg, width);

	if (bold)
		room -= room / 9; /* its letters are so much wider */
	fputs("<g>", f);
	write_title(f, pg, t, l, fr);
	fputs("<rect x=\"", f);
	svg_fixed(f, x);
	fputs("\" y=\"", f);
	svg_fixed(f, y);
	fputs("\" width=\"", f);
	svg_fixed(f, width);
	fputs("\" height=\"", f);
	svg_fixed(f, pg->height - 1);
	fprintf(f, "\" fill=\"#%06x\"%s/><text x=\"", c->rgb[colors_frame(c, pg, t, l, i)],
		colors_gone(t, l, i) ? " class=\"gone\"" : "");
	svg_fixed(f, x + 3);
	fputs("\" y=\"", f);
	svg_fixed(f, y + (pg->height - 1) / 2 + pg->fontsize * 0.34);
	fputs(bold ? "\" font-weight=\"bold\">" : "\">", f);
	if (svg_chars(pg->encoding, name, len, room + 1) <= room) {
		svg_text(f, pg->encoding, name, len, SIZE_MAX);
	} else {
		svg_text(f, pg->encoding, name, len, room - 2);
		fputs("..", f);
	}
	fputs("</text></g>\n", f);
}

static uint32_t narrow_key(const struct narrow *nar, bool by_color)
{
	return by_color ? nar->color : nar->depth;
}

/* Stable counting sort of from[0..n) into to by colour or depth; keys are below `keys`. */
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

/* By depth, then colour, then place: each row's came from left to right, and stay so. */
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
 * One path a row and colour. Each rectangle starts from where the one before did, so that the
 * numbers stay short: parsing the paths is what a browser spends most of its time on before it
 * can paint. (Strokes as wide as a row are shorter still, but take twice as long to draw.)
 */
static void write_narrow(FILE *f, const struct picture *pic, const struct page *pg,
			 const struct colors *c, const struct narrow *nar, size_t n)
{
	char height[SVG_FIXED_LEN + 1];

	*svg_put_fixed(height, pg->height - 1) = 0;
	for (size_t i = 0; i < n;) {
		const struct narrow *first = &nar[i];
		double last_x = 0;

		fprintf(f, "<path fill=\"#%06x\" d=\"M0 ", c->rgb[first->color]);
		svg_fixed(f, row_y(pic, pg, first->depth));
		for (; i < n && nar[i].depth == first->depth && nar[i].color == first->color; i++) {
			double x = tenth(PAGE_XPAD + nar[i].start * pic->px);
			double width = (nar[i].end - nar[i].start) * pic->px;
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
	if (ns->n == ns->cap) {
		size_t cap = ns->cap ? ns->cap * 2 : 1024;
		struct narrow *v = realloc(ns->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		ns->v = v;
		ns->cap = cap;
	}
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

int picture_write(FILE *f, const struct picture *pic, const struct page *pg, const struct tree *t,
		  const struct layout *l, const struct colors *c)
{
	struct narrows ns = { .depths = picture_max_depth(l, pic->min_time) + 1 };
	int err = 0;

	ns.open = calloc(ns.depths, sizeof(*ns.open));
	if (!ns.open)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n && !err; i++) {
		const struct frame *fr = &l->frame[i];

		if (fr->total >= pic->min_time && !picture_room(pg, frame_time(pg, fr) * pic->px))
			err = add_narrow(&ns, fr, colors_frame(c, pg, t, l, i), pic->px);
	}
	for (uint32_t d = 0; d < ns.depths && !err; d++)
		if (ns.open[d].end > 0)
			err = keep(&ns, &ns.open[d]);
	if (err)
		goto out;
	if (ns.n)
		err = sort_narrows(&ns, c->n);
	if (err)
		goto out;
	write_narrow(f, pic, pg, c, ns.v, ns.n);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct frame *fr = &l->frame[i];

		if (fr->total >= pic->min_time && picture_room(pg, frame_time(pg, fr) * pic->px))
			write_wide(f, pic, pg, t, l, c, i);
	}
out:
	free(ns.v);
	free(ns.open);
	return err;
}
