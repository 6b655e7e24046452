// SPDX-License-Identifier: GPL-2.0-or-later
#include "paragraph.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "style.h"

static void put_paragraph(FILE *out, const char *text, size_t columns, int indent)
{
	size_t column = 0;
	bool first = true;

	while (*text) {
		size_t spaces = strspn(text, " "), len = strcspn(text + spaces, " ");
		size_t width;

		/* A unit is on the line of its number. */
		while (!strncmp(text + spaces + len, " %", 2) ||
		       !strncmp(text + spaces + len, " ms", 3))
			len += 1 + strcspn(text + spaces + len + 1, " ");
		width = text_columns(text + spaces, len);

		if (!first && column + spaces + width > columns) {
			fprintf(out, "\n%*s", indent, "");
			column = (size_t)indent;
			text += spaces;
			spaces = 0;
		}
		fprintf(out, "%.*s", (int)(spaces + len), text);
		column += spaces + width;
		text += spaces + len;
		first = false;
	}
	putc('\n', out);
}

int paragraph_begin(struct paragraph *p)
{
	*p = (struct paragraph) { .columns = PARAGRAPH_COLUMNS };
	p->f = open_memstream(&p->text, &p->len);
	return p->f ? 0 : -ENOMEM;
}

int paragraph_end(struct paragraph *p, FILE *out, int indent)
{
	int err = fclose(p->f) ? -ENOMEM : 0;

	if (!err)
		put_paragraph(out, p->text, p->columns, indent);
	free(p->text);
	return err;
}

/* Whether the first len bytes end in a style that is to be stopped. */
static bool in_style(const char *s, size_t len)
{
	const char *last = memrchr(s, '\033', len);

	return last && strncmp(last, STYLE_STOP, strlen(STYLE_STOP));
}

int paragraph_end_cut(struct paragraph *p, FILE *out)
{
	int err = fclose(p->f) ? -ENOMEM : 0;

	if (!err && text_columns(p->text, p->len) > p->columns) {
		size_t len = text_fitting(p->text, p->columns - 3);

		fprintf(out, "%.*s%s...\n", (int)len, p->text,
			in_style(p->text, len) ? STYLE_STOP : "");
	} else if (!err) {
		fprintf(out, "%s\n", p->text);
	}
	free(p->text);
	return err;
}

void paragraph_drop(struct paragraph *p)
{
	fclose(p->f);
	free(p->text);
}

size_t paragraph_lines(const char *text, size_t screen)
{
	size_t lines = 0;

	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		size_t columns = text_columns(text, (size_t)(end - text));

		lines += columns ? (columns + screen - 1) / screen : 1;
	}
	return lines;
}
