// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All frames of the layout in a compact form. The script draws from it after a zoom, so frames that
 * are too narrow at first become visible. The elements:
 *
 *   colors  the colour table: #rrggbb, separated by blanks
 *   names   one name a line; only the names in use, the most frequent first
 *   nodes   numbers (svg_put_vlq()) without separators. First the style of each name: 0..15 is a
 *           shade of the ramp of the frame's link, 16 + n is colour n. Then the frames in preorder,
 *           for each:
 *             rows to go up from below the frame before
 *             index of the name
 *             gap between the end of the left sibling (or the start of the caller) and its start
 *             gap between its end and the end of its caller; for the root its end
 *             differential input only: counts before, with those of its callees; if widths are
 *             the larger counts: by how much the frame is wider than its counts after
 *           Positions and counts are counts times data_scale().
 *   processes only if the input says whose stacks are whose: a process, and how stacks of it begin,
 *           by turns, each a line
 *   rest    only if frames are left out: numbers, for each frame some of whose callees are not in
 *           the file how many frames it comes after the one before (from 0 on) and the counts of
 *           these callees; differential input: their counts before; if widths are the larger
 *           counts: what of their counts is not after. The script takes them for a frame of their
 *           own, the first of the callees; slices.h numbers frames with these.
 *   sums    then, too: numbers, for each listed name (sums.h) its index, its own and its total
 *           counts; differential input: both before
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "page.h"
#include "sums.h"

struct use {
	uint32_t name, times;
	uint32_t first; /* frame with this name, or else its place in the list: breaks ties, as ids
			   depend on the input's order */
};

double data_scale(const struct document *d)
{
	double total = fmax(d->layout->total, d->before), scale = 1;

	/* Below 2^53, whole numbers are exact in the script. */
	for (unsigned i = 0; i < d->page->decimals && total * scale * 10 < 9e15; i++)
		scale *= 10;
	while (total * scale > 9e15)
		scale /= 2;
	return scale;
}

/* Round v < 2^53 to a whole number; 0 if negative. Inline: round() is a call, millions of times. */
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

static void put(FILE *f, uint64_t v)
{
	char buf[SVG_VLQ_LEN];
	const char *end = svg_put_vlq(buf, v);

	fwrite(buf, 1, (size_t)(end - buf), f);
}

/* Each as the names are, which they are compared with. */
static void write_lines(FILE *f, const char *lines)
{
	for (const char *end; (end = strchr(lines, '\n')); lines = end + 1) {
		svg_text(f, lines, (size_t)(end - lines));
		putc_unlocked('\n', f);
	}
	svg_text(f, lines, strlen(lines));
}

static void write_names(FILE *f, const struct document *d, const struct use *use, uint32_t n)
{
	const struct name_table *names = &d->tree->names;
	const struct colors *c = &d->colors;

	fputs("<metadata id=\"fg-names\">", f);
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			putc_unlocked('\n', f);
		svg_text(f, name_str(names, use[i].name), name_len(names, use[i].name));
	}
	fputs("</metadata>\n<metadata id=\"fg-nodes\">", f);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = use[i].name, ramp = c->ramp[id];

		if (ramp == RAMP_BY_LINK)
			put(f, c->shade[id]);
		else if (ramp > RAMPS) /* of no frame in the file */
			put(f, 0);
		else
			put(f, 16 + (uint32_t)c->at[ramp] + c->shade[id]);
	}
}

/* The last frame at a depth: the end of its last callee so far, or its start; and its end. */
struct open {
	uint64_t filled, end;
};

#define FRAME_CHARS (7 * SVG_VLQ_LEN) /* at most, of one frame */

/*
 * Gaps are between rounded edges, so rounding errors do not add up. index: by name id; open: by
 * depth. Output is buffered here, as millions of short fwrite() calls are slow.
 */
static void write_frames(FILE *f, const struct document *d, const uint32_t *index,
			 struct open *open)
{
	const struct layout *l = d->layout;
	double scale = data_scale(d);
	char buf[8192], *p = buf;
	uint32_t depth = 0; /* of the frame before, plus one */

	for (uint32_t i = 0; i < l->n; i++) {
		const struct frame *fr = &l->frame[i];
		uint64_t start = whole(fr->start * scale);
		uint64_t end = whole((fr->start + fr->total) * scale);

		p = svg_put_vlq(p, depth - fr->depth);
		p = svg_put_vlq(p, index[fr->name]);
		if (i) {
			struct open *up = &open[fr->depth - 1];

			p = svg_put_vlq(p, start > up->filled ? start - up->filled : 0);
			p = svg_put_vlq(p, up->end > end ? up->end - end : 0);
			up->filled = end;
		} else {
			p = svg_put_vlq(p, 0);
			p = svg_put_vlq(p, end);
		}
		if (l->delta)
			p = svg_put_vlq(p, whole(document_before(d, i) * scale));
		if (d->tree->widened)
			p = svg_put_vlq(p, whole(l->delta[i].more * scale));
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

static bool is_listed(const struct document *d, uint32_t name)
{
	return d->sums && d->sums->name[name].place;
}

static void write_sums(FILE *f, const struct document *d, const struct use *use, uint32_t n)
{
	double scale = data_scale(d);

	fputs("<metadata id=\"fg-sums\">", f);
	for (uint32_t i = 0; i < n; i++) {
		const struct sums_name *name = &d->sums->name[use[i].name];

		if (!name->place)
			continue;
		put(f, i);
		put(f, whole(name->own * scale));
		put(f, whole(name->total * scale));
		if (!d->tree->diff)
			continue;
		put(f, whole(name->before_own * scale));
		put(f, whole(name->before_total * scale));
	}
	fputs("</metadata>\n", f);
}

static void write_rest(FILE *f, const struct document *d)
{
	const struct layout *l = d->layout;
	double scale = data_scale(d);
	uint32_t frame = 0;

	fputs("<metadata id=\"fg-rest\">", f);
	for (uint32_t i = 0; i < l->rests; i++) {
		const struct layout_rest *r = &l->rest[i];

		put(f, r->frame - frame);
		frame = r->frame;
		put(f, whole(r->total * scale));
		if (l->delta)
			put(f, whole((r->total - r->delta.more - r->delta.total) * scale));
		if (d->tree->widened)
			put(f, whole(r->delta.more * scale));
	}
	fputs("</metadata>\n", f);
}

int data_write(FILE *f, const struct document *d)
{
	const struct layout *l = d->layout;
	uint32_t names = d->tree->names.names.n, used = 0;
	struct use *use = calloc((size_t)names + 1, sizeof(*use));
	uint32_t *index = calloc((size_t)names + 1, sizeof(*index));
	struct open *open = calloc((size_t)l->max_depth + 1, sizeof(*open));
	int err = use && index && open ? 0 : -ENOMEM;

	if (err)
		goto out;
	for (uint32_t i = 0; i < names; i++)
		use[i].name = i;
	for (uint32_t i = 0; i < names; i++) /* if it has none */
		use[i].first = is_listed(d, i) ? d->sums->name[i].place : UINT32_MAX;
	for (uint32_t i = l->n; i-- > 0;) {
		use[l->frame[i].name].times++;
		use[l->frame[i].name].first = i;
	}
	qsort(use, names, sizeof(*use), most_used_first);
	for (; used < names && (use[used].times || is_listed(d, use[used].name)); used++)
		index[use[used].name] = used;

	fputs("<metadata id=\"fg-colors\">", f);
	for (uint32_t i = 0; i < d->colors.n; i++)
		fprintf(f, "%s#%06x", i ? " " : "", d->colors.rgb[i]);
	fputs("</metadata>\n", f);
	write_names(f, d, use, used);
	write_frames(f, d, index, open);
	fputs("</metadata>\n", f);
	if (d->page->remarks.processes_len) {
		fputs("<metadata id=\"fg-processes\">", f);
		write_lines(f, d->page->remarks.processes);
		fputs("</metadata>\n", f);
	}
	if (d->sums) {
		write_rest(f, d);
		write_sums(f, d, use, used);
	}
out:
	free(use);
	free(index);
	free(open);
	return err;
}
