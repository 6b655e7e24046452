// SPDX-License-Identifier: GPL-2.0-or-later
#include "document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "svg.h"

/* Heights, in font sizes: of the title with the space around it, of a line below it. */
#define HEAD 3.0
#define SUBTITLE 1.6
#define HEADING_LINE 1.3 /* from line to line of one heading, in its sizes */
#define HEADING_LINES 8u /* at most; the script shows all of what is longer */

static struct label_font heading_font(const struct page *pg, double size)
{
	return (struct label_font) {
		.size = size,
		.width = pg->mean_width ? pg->fontwidth : 0,
	};
}

/* The end of a heading's line that begins at p: of as many words as fit. */
static const char *heading_line(const struct page *pg, const struct heading *h, const char *p)
{
	struct label_font font = heading_font(pg, h->size);

	return label_line(&font, p, p + strlen(p), pg->width - 2 * PAGE_XPAD);
}

int headings_add(struct headings *hs, const struct page *pg, const char *id, const char *text,
		 const char *rest)
{
	struct heading *h = &hs->v[hs->n++];

	h->id = id;
	h->size = pg->fontsize + (hs->n == 1 ? 5 : 0);
	if (asprintf(&h->text, "%s%s", text, rest) < 0) {
		h->text = NULL;
		return -ENOMEM;
	}
	for (const char *p = h->text; *p && h->lines < HEADING_LINES; p += *p == ' ') {
		p = heading_line(pg, h, p);
		h->lines++;
	}
	hs->height += pg->fontsize * (hs->n == 1 ? HEAD : SUBTITLE);
	if (h->lines)
		hs->height += (h->lines - 1) * h->size * HEADING_LINE;
	return 0;
}

int headings_find(struct headings *hs, const struct document *d)
{
	static const char *const remark_ids[] = { "remark0", "remark1", "remark2", "remark3" };
	const struct page *pg = d->page;
	char change[CHANGE_LEN];
	int err = headings_add(hs, pg, "title", pg->title, "");

	_Static_assert(sizeof(remark_ids) / sizeof(remark_ids[0]) == REMARKS_MAX, "one for each");
	if (!err && pg->subtitle)
		err = headings_add(hs, pg, "subtitle", pg->subtitle, "");
	if (!err && d->tree->widened) {
		err = change_sentence(d, change, sizeof(change));
		err = err ? err : headings_add(hs, pg, "change", change, "");
	}
	for (unsigned i = 0; i < pg->remarks.n && !err; i++) {
		const char *more = pg->remarks.more && i + 1 == pg->remarks.n ? " ..." : "";

		err = headings_add(hs, pg, remark_ids[i], pg->remarks.text[i], more);
	}
	return err;
}

void headings_free(struct headings *hs)
{
	for (unsigned i = 0; i < hs->n; i++)
		free(hs->v[i].text);
}

static void write_heading(FILE *f, const struct page *pg, const struct heading *h, double y)
{
	bool title = !strcmp(h->id, "title");
	const char *p = h->text;

	fprintf(f, "<text id=\"fg-%s\" x=\"%.15g\" y=\"%.15g\" text-anchor=\"middle\"", h->id,
		pg->width / 2, y);
	if (title)
		fprintf(f, " font-size=\"%.15g\"", h->size);
	else
		fputs(" class=\"soft\"", f);
	if (pg->turned && !strcmp(h->id, "subtitle")) {
		fputs(" data-turned=\"", f);
		svg_text(f, pg->turned, strlen(pg->turned));
		putc_unlocked('"', f);
	}
	putc_unlocked('>', f);
	for (unsigned k = 1; k < h->lines; k++) {
		const char *end = heading_line(pg, h, p);

		fprintf(f, "<tspan x=\"%.15g\" dy=\"%.15g\">", pg->width / 2,
			k > 1 ? h->size * HEADING_LINE : 0);
		end += *end == ' '; /* so that the text remains one */
		svg_text(f, p, (size_t)(end - p));
		fputs("</tspan>", f);
		p = end;
	}
	if (h->lines > 1)
		fprintf(f, "<tspan x=\"%.15g\" dy=\"%.15g\">", pg->width / 2,
			h->size * HEADING_LINE);
	svg_text(f, p, strlen(p));
	fputs(h->lines > 1 ? "</tspan></text>\n" : "</text>\n", f);
}

void headings_write(FILE *f, const struct page *pg, const struct headings *hs)
{
	double y = pg->fontsize * 2;

	for (unsigned i = 0; i < hs->n; i++) {
		const struct heading *h = &hs->v[i];

		y += i ? pg->fontsize * SUBTITLE : 0;
		write_heading(f, pg, h, y);
		if (h->lines)
			y += (h->lines - 1) * h->size * HEADING_LINE;
	}
}
