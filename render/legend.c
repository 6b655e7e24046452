// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "document.h"
#include "page.h"
#include "svg.h"

struct found {
	bool seen[RAMPS];
	double time[RAMPS];    /* counts */
	uint32_t object_depth; /* of the object whose callees come now; 0: none */
};

static bool is_end(enum ramp ramp)
{
	return ramp >= RAMP_INTERRUPT && ramp <= RAMP_UNKNOWN;
}

/* Ends on which there can be more: samples, who had the CPU, the parts of a request, a socket. */
static bool has_more(enum ramp ramp)
{
	return ramp == RAMP_RUNNING || ramp == RAMP_RUNNABLE || ramp == RAMP_PREEMPTED ||
	       ramp == RAMP_DISK || ramp == RAMP_NETWORK;
}

/*
 * Add frame i. Ends: the time below them. A link: the time of all chains that have it, so of its
 * delimiters. Objects: the time of the waits for one. The script does the same for a view:
 * page/legend.js.
 */
static void find(struct found *f, const struct document *d, uint32_t i)
{
	const struct frame *fr = &d->layout->frame[i];
	enum ramp ramp = d->colors.ramp[fr->name];
	bool leaf = i + 1 == d->layout->n || fr[1].depth <= fr->depth;

	if (ramp == RAMP_STACK_DELIM && fr->link && fr->link <= PALETTE_LINKS)
		f->time[palette_link_ramp(fr->link)] += fr->total;
	if (ramp == RAMP_ON_CPU)
		f->time[ramp] += fr->total;
	if (ramp == RAMP_BY_LINK)
		ramp = palette_frame_ramp(fr->link, fr->part);
	f->seen[ramp] = true;
	/* Stacks can have frames like ends, also those above an end. */
	if (is_end(ramp) && (leaf || has_more(ramp)) &&
	    (fr->part == PART_PLAIN || ramp == RAMP_THROTTLED))
		f->time[ramp] += fr->total;
	/* Objects can stand on each other, as a socket on the epoll instance that has it. */
	if (fr->depth <= f->object_depth)
		f->object_depth = 0;
	if (ramp == RAMP_OBJECT && !fr->link && !f->object_depth) {
		f->time[ramp] += fr->total;
		f->object_depth = fr->depth;
	}
}

void legend_fill(struct legend *lg, const struct document *d)
{
	struct found f = { 0 };

	lg->n = 0;
	if (!d->tree->chain && !d->tree->diff)
		return;
	if (d->tree->diff) {
		f.seen[RAMP_MORE] = f.seen[RAMP_LESS] = true;
		f.seen[RAMP_GONE] = d->gone < d->gone_end;
	} else {
		for (uint32_t i = 1; i < d->layout->n; i++)
			find(&f, d, i);
	}
	for (unsigned r = 0; r < RAMPS; r++)
		if (f.seen[r] && palette_legend((enum ramp)r))
			lg->entry[lg->n++] = (struct legend_entry) {
				.ramp = (enum ramp)r,
				.share = f.time[r] > 0 ? 100 * f.time[r] / d->whole : -1,
			};
}

/* Put the text of an entry into buf; returns its length. */
static size_t entry_text(const struct legend_entry *e, char *buf, size_t size)
{
	const char *name = palette_legend(e->ramp);
	int n;

	if (e->share < 0)
		n = snprintf(buf, size, "%s", name);
	else if (e->share < 0.05)
		n = snprintf(buf, size, "%s <0.1 %%", name);
	else
		n = snprintf(buf, size, "%s %.*f %%", name, e->share < 0.95 ? 1 : 0,
			     e->share < 0.95 ? e->share : round(e->share));
	return n < 0 ? 0 : (size_t)n;
}

/* What the script filters by: an end's name, or "link N"; and an entry's text without its share. */
static void put_key(FILE *f, const struct legend_entry *e)
{
	enum ramp ramp = e->ramp;

	if (e->share >= 0)
		fprintf(f, " data-word=\"%s\"", palette_legend(ramp));
	if (ramp == RAMP_ON_CPU && e->share >= 0)
		fputs(" data-key=\"[on-CPU]\"", f);
	else if (is_end(ramp))
		fprintf(f, " data-key=\"[%s]\"", palette_legend(ramp));
	else if (ramp >= RAMP_LINK_1 && ramp < RAMP_LINK_1 + PALETTE_LINKS)
		fprintf(f, " data-key=\"link %d\"", (int)ramp - RAMP_LINK_1 + 1);
}

/* The first pass measures the width, the second writes the legend centred. */
void legend_write(FILE *f, const struct legend *lg, const struct document *d, double y)
{
	const struct page *pg = d->page;
	double box = round(pg->fontsize * 0.9), width = 0, x;

	if (!lg->n)
		return;
	for (int pass = 0; pass < 2; pass++) {
		x = (pg->width - width) / 2;
		if (pass)
			fputs("<g id=\"fg-legend\" class=\"soft\">\n", f);
		for (unsigned k = 0; k < lg->n; k++) {
			const struct legend_entry *e = &lg->entry[k];
			char text[64];
			size_t len = entry_text(e, text, sizeof(text));
			double step = box + 4 + pg->fontsize * (0.6 * (double)len + 1.2);

			if (pass) {
				fprintf(f,
					"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.15g\" "
					"height=\"%.15g\" fill=\"#%06x\"/>",
					x, y, box, box, palette_rgb(e->ramp, PALETTE_SHADES / 2));
				fprintf(f, "<text x=\"%.1f\" y=\"%.1f\"", x + box + 4,
					y + box - pg->fontsize * 0.05);
				put_key(f, e);
				putc_unlocked('>', f);
				svg_text(f, text, len);
				fputs("</text>\n", f);
			}
			x += step;
		}
		width = x - (pg->width - width) / 2;
	}
	fputs("</g>\n", f);
}
