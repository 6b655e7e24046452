// SPDX-License-Identifier: GPL-2.0-or-later
/* What a differential graph says about a frame. The script says the same: page/change.js. */
#include <math.h>

#include "document.h"
#include "page.h"
#include "svg.h"

double document_before(const struct document *d, uint32_t i)
{
	double after = d->layout->frame[i].total;

	/* The region lies in the root once more, but no input has it. */
	return after - d->layout->delta[i].total - (i ? 0 : d->tree->gone);
}

static void put_side(FILE *f, const struct page *pg, const char *when, double v, double whole)
{
	char count[SVG_COUNT_LEN];

	svg_count(count, v * pg->factor);
	fprintf(f, "%s %s (%.2f%%)", when, count, whole > 0 ? 100 * v / whole : 0);
}

void document_change(FILE *f, const struct document *d, uint32_t i)
{
	const struct page *pg = d->page;
	const struct tree_delta *change = &d->layout->delta[i];
	double first, second; /* counts of the two sides, in the order of time */
	double least = 1e-9 * (d->before + d->after); /* less is an error of rounding */

	if (document_gone(d, i)) {
		fputs(pg->negate ? ", only after" : ", only before", f);
		return;
	}
	second = pg->by_total ? d->layout->frame[i].total - (i ? 0 : d->tree->gone)
			      : d->layout->frame[i].own;
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
	else
		fprintf(f, ": %+.2f%%", 100 * (second - first) / first);
}
