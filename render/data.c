// SPDX-License-Identifier: GPL-2.0-or-later
#include "data.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct use {
	uint32_t name, times;
	uint32_t first; /* frame that has it: not the order of the input, which must not matter */
};

double data_scale(const struct page *pg, const struct layout *l)
{
	double scale = 1;

	/* Numbers stay whole and exact in the script: below 2^53. */
	for (unsigned i = 0; i < pg->decimals && l->total * scale * 10 < 9e15; i++)
		scale *= 10;
	while (l->total * scale > 9e15)
		scale /= 2;
	return scale;
}

/* To the nearest whole number from 0 on, for v < 2^53; round() is a call, and this runs millions of
 * times. */
static uint64_t whole(double v)
{
	return v > 0 ? (uint64_t)(v + 0.5) : 0;
}

static int most_used_first(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->times != y->times)
		return x->times > y->times ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void put_style(FILE *f, uint64_t style)
{
	char buf[SVG_VLQ_LEN];
	const char *end = svg_put_vlq(buf, style);

	fwrite(buf, 1, (size_t)(end - buf), f);
}

static void write_names(FILE *f, const struct page *pg, const struct tree *t,
			const struct colors *c, const struct use *use, uint32_t n)
{
	fputs("<metadata id=\"fg-names\">", f);
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			putc_unlocked('\n', f);
		svg_text(f, pg->encoding, names_str(&t->names, use[i].name),
			 names_len(&t->names, use[i].name), SIZE_MAX);
	}
	fputs("</metadata>\n<metadata id=\"fg-nodes\">", f);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = use[i].name, ramp = c->ramp[id];
		bool delim = ramp == RAMP_STACK_DELIM || ramp == RAMP_PART_DELIM;

		if (c->fixed && !delim)
			put_style(f, 16 + c->fixed + id);
		else if (ramp == RAMP_BY_LINK)
			put_style(f, c->shade[id]);
		else
			put_style(f, 16 + (uint32_t)c->at[ramp] + c->shade[id]);
	}
}

static uint64_t difference(double v)
{
	v = round(v);
	return whole(fmin(v < 0 ? -2 * v - 1 : 2 * v, 0x1p54)); /* what was before has no bound */
}

/* How far the frame open at a depth is filled from the left, and where it ends. */
struct open {
	uint64_t filled, end;
};

#define FRAME_CHARS (6 * SVG_VLQ_LEN) /* of one frame at most */

/*
 * Gaps are taken between rounded edges, so that rounding never adds up. open: for each depth. This
 * runs for each of many frames: what is written is gathered here.
 */
static void write_frames(FILE *f, const struct tree *t, const struct layout *l, double scale,
			 const uint32_t *number, struct open *open)
{
	char buf[8192], *p = buf;
	uint32_t depth = 0; /* of the frame before, plus one */

	for (uint32_t i = 0; i < l->n; i++) {
		const struct frame *fr = &l->frame[i];
		uint64_t start = whole(fr->start * scale);
		uint64_t end = whole((fr->start + fr->total) * scale);

		p = svg_put_vlq(p, depth - fr->depth);
		p = svg_put_vlq(p, number[fr->name]);
		if (i) {
			struct open *up = &open[fr->depth - 1];

			p = svg_put_vlq(p, start > up->filled ? start - up->filled : 0);
			p = svg_put_vlq(p, up->end > end ? up->end - end : 0);
			up->filled = end;
		} else {
			p = svg_put_vlq(p, 0);
			p = svg_put_vlq(p, end);
		}
		if (t->diff) {
			p = svg_put_vlq(p, difference(l->diff[i].self * scale));
			p = svg_put_vlq(p, difference(l->diff[i].total * scale));
		}
		open[fr->depth] = (struct open) { .filled = start, .end = end };
		depth = fr->depth + 1;
		if (buf + sizeof(buf) - p < FRAME_CHARS) {
			fwrite(buf, 1, (size_t)(p - buf), f);
			p = buf;
		}
	}
	if (p > buf)
		fwrite(buf, 1, (size_t)(p - buf), f);
}

int data_write(FILE *f, const struct page *pg, const struct tree *t, const struct layout *l,
	       const struct colors *c)
{
	struct use *use = calloc((size_t)t->names.n + 1, sizeof(*use));
	uint32_t *number = calloc((size_t)t->names.n + 1, sizeof(*number));
	struct open *open = calloc((size_t)l->max_depth + 1, sizeof(*open));
	uint32_t used = 0;
	int ret = -ENOMEM;

	if (!use || !number || !open)
		goto out;
	for (uint32_t i = 0; i < t->names.n; i++)
		use[i].name = i;
	for (uint32_t i = l->n; i-- > 0;) {
		use[l->frame[i].name].times++;
		use[l->frame[i].name].first = i;
	}
	qsort(use, t->names.n, sizeof(*use), most_used_first);
	while (used < t->names.n && use[used].times) {
		number[use[used].name] = used;
		used++;
	}

	fputs("<metadata id=\"fg-colors\">", f);
	for (uint32_t i = 0; i < c->n; i++)
		fprintf(f, "%s#%06x", i ? " " : "", c->rgb[i]);
	fputs("</metadata>\n", f);
	write_names(f, pg, t, c, use, used);
	write_frames(f, t, l, data_scale(pg, l), number, open);
	fputs("</metadata>\n", f);
	ret = 0;
out:
	free(use);
	free(number);
	free(open);
	return ret;
}
