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
static double whole(double v)
{
	return v > 0 ? (double)(uint64_t)(v + 0.5) : 0;
}

static int most_used_first(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->times != y->times)
		return x->times > y->times ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void write_names(FILE *f, const struct page *pg, const struct tree *t,
			const struct colors *c, const struct use *use, uint32_t n)
{
	fputs("<metadata id=\"names\">", f);
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			putc_unlocked('\n', f);
		svg_text(f, pg->encoding, names_str(&t->names, use[i].name),
			 names_len(&t->names, use[i].name), SIZE_MAX);
	}
	fputs("</metadata>\n<metadata id=\"nodes\">", f);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = use[i].name, ramp = c->ramp[id];
		bool delim = ramp == RAMP_STACK_DELIM || ramp == RAMP_PART_DELIM;

		if (c->fixed && !delim)
			svg_vlq(f, 16.0 + c->fixed + id);
		else if (ramp == RAMP_BY_LINK)
			svg_vlq(f, c->shade[id]);
		else
			svg_vlq(f, 16.0 + c->at[ramp] + c->shade[id]);
	}
}

static void write_difference(FILE *f, double v)
{
	svg_vlq(f, v < 0 ? -2 * v - 1 : 2 * v);
}

static void write_frames(FILE *f, const struct tree *t, const struct layout *l, double scale,
			 const uint32_t *number, double *cursor)
{
	uint32_t depth = 0; /* of the frame before, plus one */

	/*
	 * Gaps are taken between rounded edges, so that rounding never adds up. cursor[i] is how
	 * far frame i is filled from the left.
	 */
	for (uint32_t i = 0; i < l->n; i++) {
		const struct frame *fr = &l->frame[i], *up = &l->frame[fr->parent];
		double start = whole(fr->start * scale);
		double end = whole((fr->start + fr->total) * scale);
		double up_end = whole((up->start + up->total) * scale);

		svg_vlq(f, depth - fr->depth);
		svg_vlq(f, number[fr->name]);
		svg_vlq(f, i ? start - cursor[fr->parent] : 0);
		svg_vlq(f, i ? up_end - end : end);
		if (t->diff) {
			write_difference(f, round(l->diff[i].self * scale));
			write_difference(f, round(l->diff[i].total * scale));
		}
		cursor[i] = start;
		if (i)
			cursor[fr->parent] = end;
		depth = fr->depth + 1;
	}
}

int data_write(FILE *f, const struct page *pg, const struct tree *t, const struct layout *l,
	       const struct colors *c)
{
	struct use *use = calloc((size_t)t->names.n + 1, sizeof(*use));
	uint32_t *number = calloc((size_t)t->names.n + 1, sizeof(*number));
	double *cursor = malloc(((size_t)l->n + 1) * sizeof(*cursor));
	uint32_t used = 0;
	int ret = -ENOMEM;

	if (!use || !number || !cursor)
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

	fputs("<metadata id=\"colors\">", f);
	for (uint32_t i = 0; i < c->n; i++)
		fprintf(f, "%s#%06x", i ? " " : "", c->rgb[i]);
	fputs("</metadata>\n", f);
	write_names(f, pg, t, c, use, used);
	write_frames(f, t, l, data_scale(pg, l), number, cursor);
	fputs("</metadata>\n", f);
	ret = 0;
out:
	free(use);
	free(number);
	free(cursor);
	return ret;
}
