// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "document.h"
#include "page.h"
#include "svg.h"

#define LEAST_SHARE 0.1 /* percent: less is left out */

/* Does it stand for the ends of chains, of which the shares are? */
static bool is_end(const struct legend_entry *e)
{
	return e->share >= 0 && e->ramp >= RAMP_ON_CPU && e->ramp <= RAMP_UNKNOWN;
}

struct found {
	const struct document *d;
	bool seen[RAMPS];
	double time[RAMPS];    /* counts */
	uint32_t object_depth; /* of the object whose callees come now; 0: none */
};

/*
 * Add a frame. Ends: the time below them. A link: the time of all chains that have it, so of its
 * delimiters. Objects: the time of the waits for one. The script does the same for a view:
 * page/legend.js.
 */
static void find(void *ctx, const struct frame *fr, const struct tree_delta *delta)
{
	struct found *f = ctx;
	enum ramp ramp = colors_ramp(f->d, fr->name);
	bool ends = palette_is_end(ramp, (enum layout_part)fr->part, fr->leaf, fr->last);

	(void)delta;
	if (!fr->depth)
		return;
	if (ramp == RAMP_STACK_DELIM && fr->link && fr->link <= PALETTE_LINKS)
		f->time[palette_link_ramp(fr->link)] += fr->total;
	if (ends && (fr->part == PART_PLAIN || ramp == RAMP_THROTTLED))
		f->time[ramp] += fr->total;
	if (ramp == RAMP_BY_LINK || (!ends && ramp >= RAMP_ON_CPU && ramp <= RAMP_UNKNOWN))
		ramp = palette_frame_ramp(fr->link, (enum layout_part)fr->part);
	f->seen[ramp] = true;
	/* Objects can stand on each other, as a socket on the epoll instance that has it. */
	if (fr->depth <= f->object_depth)
		f->object_depth = 0;
	if (ramp == RAMP_OBJECT && !fr->link && !f->object_depth) {
		f->time[ramp] += fr->total;
		f->object_depth = fr->depth;
	}
}

/* What became of a wait, as a word of a sentence: "73 % ran". */
static const char *sentence_word(enum ramp ramp)
{
	switch (ramp) {
	case RAMP_RUNNING:
		return "ran";
	case RAMP_RUNNABLE:
		return "no CPU";
	case RAMP_NOT_WOKEN:
		return "never woken";
	default:
		return palette_legend(ramp);
	}
}

/* The ends of chains come first, the largest share before the others. */
static int by_share(const void *pa, const void *pb)
{
	const struct legend_entry *a = pa, *b = pb;
	bool ends_a = is_end(a), ends_b = is_end(b);

	if (ends_a != ends_b)
		return ends_a ? -1 : 1;
	if (ends_a && a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return (int)a->ramp - (int)b->ramp;
}

int legend_fill(struct legend *lg, const struct document *d)
{
	struct found f = { .d = d };
	int err = 0;

	lg->n = 0;
	if (!d->tree->chain && !d->tree->diff)
		return 0;
	if (d->tree->diff) {
		f.seen[RAMP_MORE] = f.seen[RAMP_LESS] = true;
		f.seen[RAMP_GONE] = d->gone < d->gone_end;
	} else {
		err = layout_walk(d->tree, find, &f);
	}
	for (unsigned r = 0; r < RAMPS; r++) {
		double share = f.time[r] > 0 ? 100 * f.time[r] / d->whole : -1;

		if (!f.seen[r] || !palette_legend((enum ramp)r) ||
		    (share >= 0 && share < LEAST_SHARE))
			continue;
		lg->entry[lg->n++] = (struct legend_entry) {
			.ramp = (enum ramp)r,
			.word = r == RAMP_GONE && d->tree->negated ? "only after"
								   : sentence_word((enum ramp)r),
			.share = share,
		};
	}
	qsort(lg->entry, lg->n, sizeof(*lg->entry), by_share);
	return err;
}

/* Put the text of an entry into buf; returns its length. */
static size_t entry_text(const struct legend_entry *e, char *buf, size_t size)
{
	int n;

	if (e->share < 0)
		n = snprintf(buf, size, "%s", e->word);
	else
		n = snprintf(buf, size, "%.*f %% %s", e->share < 0.95 ? 1 : 0,
			     e->share < 0.95 ? e->share : round(e->share), e->word);
	return n < 0 ? 0 : (size_t)n;
}

/* What the script filters by: an end's name, or "link N"; and an entry's text without its share. */
static void put_key(FILE *f, const struct legend_entry *e)
{
	enum ramp ramp = e->ramp;

	if (e->share >= 0)
		fprintf(f, " data-word=\"%s\"", e->word);
	if (ramp == RAMP_ON_CPU && e->share >= 0)
		fputs(" data-key=\"[on-CPU]\"", f);
	else if (ramp >= RAMP_INTERRUPT && ramp <= RAMP_UNKNOWN)
		fprintf(f, " data-key=\"[%s]\"", palette_legend(ramp));
	else if (ramp >= RAMP_LINK_1 && ramp < RAMP_LINK_1 + PALETTE_LINKS)
		fprintf(f, " data-key=\"link %d\"", (int)ramp - RAMP_LINK_1 + 1);
}

static double box_size(const struct page *pg)
{
	return round(pg->fontsize * 0.9);
}

/* How wide entry k is, with the space after it. */
static double entry_width(const struct legend *lg, unsigned k, const struct page *pg)
{
	char text[64];

	return box_size(pg) + 4 +
	       pg->fontsize * (0.6 * (double)entry_text(&lg->entry[k], text, sizeof(text)) + 1.2);
}

/* The end of the line that begins with entry `from`; its width into *width. */
static unsigned line_end(const struct legend *lg, unsigned from, const struct page *pg,
			 double *width)
{
	unsigned k = from;

	for (*width = 0; k < lg->n; k++) {
		double more = entry_width(lg, k, pg);

		if (k > from && *width + more > pg->width - 2 * PAGE_XPAD)
			break;
		*width += more;
	}
	return k;
}

unsigned legend_lines(const struct legend *lg, const struct document *d)
{
	unsigned lines = 0;
	double width;

	for (unsigned k = 0; k < lg->n; k = line_end(lg, k, d->page, &width))
		lines++;
	return lines;
}

static void write_entry(FILE *f, const struct legend_entry *e, const struct page *pg, double x,
			double y)
{
	double box = box_size(pg);
	char text[64];
	size_t len = entry_text(e, text, sizeof(text));

	fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.15g\" height=\"%.15g\" fill=\"#%06x\"/>",
		x, y, box, box, palette_rgb(e->ramp, PALETTE_SHADES / 2));
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\"", x + box + 4, y + box - pg->fontsize * 0.05);
	put_key(f, e);
	putc_unlocked('>', f);
	svg_text(f, text, len);
	fputs("</text>\n", f);
}

void legend_write(FILE *f, const struct legend *lg, const struct document *d, double y)
{
	const struct page *pg = d->page;

	if (!lg->n)
		return;
	fputs("<g id=\"fg-legend\" class=\"soft\">\n", f);
	for (unsigned k = 0; k < lg->n; y += pg->fontsize * LEGEND_LINE) {
		double width, x;
		unsigned end = line_end(lg, k, pg, &width);

		for (x = (pg->width - width) / 2; k < end; k++) {
			write_entry(f, &lg->entry[k], pg, x, y);
			x += entry_width(lg, k, pg);
		}
	}
	fputs("</g>\n", f);
}
