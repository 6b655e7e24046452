// SPDX-License-Identifier: GPL-2.0-or-later
#include "paragraph.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "style.h"
#include "table.h"
#include "common/xalloc.h"

/* Whether a unit is at s, behind a space. */
static bool is_unit(const char *s)
{
	static const char *const units[] = { "%", "s", "ms", "us", "ns" };

	for (size_t i = 0; *s == ' ' && i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(units[i]);

		if (!strncmp(s + 1, units[i], len) && !isalnum((unsigned char)s[1 + len]))
			return true;
	}
	return false;
}

/* The bytes of the word at s, with the unit if it is a number. */
static size_t word_bytes(const char *s)
{
	size_t len = strcspn(s, " ");

	while (is_unit(s + len))
		len += 1 + strcspn(s + len + 1, " ");
	return len;
}

static void put_cut_word(FILE *out, const char *s, size_t len, size_t width)
{
	char *word = xstrndup(s, len);

	table_put_cut(out, word, width);
	free(word);
}

/* cut: words that no line has room for are cut in their middle. */
static void put_paragraph(FILE *out, const char *text, size_t columns, int indent, bool cut)
{
	size_t column = 0;
	bool first = true;

	while (*text) {
		size_t spaces = strspn(text, " "), len = word_bytes(text + spaces);
		size_t width = text_columns(text + spaces, len);

		if (!first && column + spaces + width > columns) {
			fprintf(out, "\n%*s", indent, "");
			column = (size_t)indent;
			text += spaces;
			spaces = 0;
		}
		fprintf(out, "%*s", (int)spaces, "");
		column += spaces;
		if (cut && column + width > columns)
			put_cut_word(out, text + spaces, len, columns - column);
		else
			fprintf(out, "%.*s", (int)len, text + spaces);
		column += width;
		text += spaces + len;
		first = false;
	}
	putc('\n', out);
}

void paragraph_begin(struct paragraph *p)
{
	*p = (struct paragraph) { .columns = PARAGRAPH_COLUMNS };
	p->f = xmemstream(&p->text, &p->len);
}

/* The text is complete. */
static void close_text(struct paragraph *p)
{
	xmemstream_close(p->f, &p->text);
	if (p->plain)
		text_drop_addresses(p->text);
}

void paragraph_end(struct paragraph *p, FILE *out, int indent)
{
	close_text(p);
	put_paragraph(out, p->text, p->columns, indent, false);
	free(p->text);
}

/* Whether the first len bytes end in a style that is to be stopped. */
static bool in_style(const char *s, size_t len)
{
	const char *last = memrchr(s, '\033', len);

	return last && strncmp(last, STYLE_STOP, strlen(STYLE_STOP));
}

void paragraph_end_cut(struct paragraph *p, FILE *out)
{
	close_text(p);
	if (text_columns(p->text, SIZE_MAX) > p->columns) {
		size_t len = text_fitting(p->text, p->columns - 3);

		fprintf(out, "%.*s%s...\n", (int)len, p->text,
			in_style(p->text, len) ? STYLE_STOP : "");
	} else {
		fprintf(out, "%s\n", p->text);
	}
	free(p->text);
}

/* One line, of len bytes. */
static void put_wrapped(FILE *out, char *line, size_t columns)
{
	size_t spaces = strspn(line, " "), most = columns / 2, indent;
	char *hang = strstr(line, PARAGRAPH_HANG);

	indent = hang ? text_columns(line, (size_t)(hang - line)) : spaces + 2;
	if (hang)
		memmove(hang, hang + 1, strlen(hang + 1) + 1);
	if (!hang && spaces > most)
		line += spaces - most;
	put_paragraph(out, line, columns, (int)(indent > most ? most : indent), true);
}

void paragraph_end_lines(struct paragraph *p, FILE *out)
{
	xmemstream_close(p->f, &p->text);
	for (char *line = p->text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		put_wrapped(out, line, p->columns);
	}
	free(p->text);
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
