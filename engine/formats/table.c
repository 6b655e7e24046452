// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_object.h"
#include "common/xalloc.h"

#define COLUMNS_MAX 32
#define SHARES_SHOWN 3
/* Columns are left out before texts are cut to less than this. */
#define TEXT_WIDTH 20
#define TEXT_WIDTH_MIN 4
/* On paper a longer text does not widen its column. */
#define PAPER_WIDTH_MAX 64

/* ---- JSON ----------------------------------------------------------------------------------- */

/* The key of a column, and `more` behind it. */
static const char *key_of(char name[64 + 16], const struct column *c, bool time, const char *more)
{
	size_t n = 0;

	for (const char *s = c->key ? c->key : c->title; *s && n < 63; s++) {
		bool plain = (*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9');

		if (*s >= 'A' && *s <= 'Z')
			name[n++] = (char)(*s - 'A' + 'a');
		else
			name[n++] = plain ? *s : '_';
	}
	name[n] = '\0';
	strcat(name, time && !c->key ? "_ns" : "");
	return strcat(name, more);
}

/* Who has how much of what a cell has shares of. */
static void put_shares(struct json_object *j, const char *key, const struct cell *cell)
{
	size_t n;
	const struct sum *of = sums_of(cell->sums, cell->thing, &n);

	json_begin(j, key, '[');
	for (size_t i = 0; i < n; i++) {
		json_begin(j, NULL, '{');
		json_exact(j, "name", of[i].text ? names_text(cell->names, of[i].text) : NULL);
		json_number(j, "ns", of[i].amount);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_member(struct json_object *j, const struct column *c, const struct cell *cell)
{
	bool time = cell->kind == CELL_TIME || cell->kind == CELL_SHARES;
	char key[64 + 16];

	if (c->key && !*c->key)
		return;
	key_of(key, c, time, "");
	switch (cell->kind) {
	case CELL_TEXT:
		json_exact(j, key, cell->text);
		if (cell->n)
			json_number(j, key_of(key, c, false, "_others"), cell->n);
		break;
	case CELL_NUMBER:
	case CELL_TIME:
		json_number(j, key, cell->n);
		break;
	case CELL_DECIMAL:
		json_ready(j, key, cell->text);
		break;
	case CELL_NONE:
		json_exact(j, key, NULL);
		break;
	case CELL_SHARES:
		put_shares(j, key, cell);
		break;
	}
}

static void put_object(struct table *t, const struct cell *cells, size_t n)
{
	struct json_object j = { .most = 0 };

	json_begin(&j, NULL, '{');
	if (t->in->key)
		json_exact(&j, t->in->key, t->in->label);
	if (t->kind)
		json_exact(&j, "table", t->kind);
	if (t->endpoint)
		json_exact(&j, "endpoint", t->endpoint);
	for (size_t i = 0; i < n; i++)
		put_member(&j, &t->columns[i], &cells[i]);
	json_end(&j, '}');
	text_puts(&j.b, "\n");
	json_flush(&j, t->out);
	text_free(&j.b);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void put_share_text(struct text_buf *b, const struct cell *cell)
{
	char *text;
	size_t len;
	FILE *f = xmemstream(&text, &len);
	bool any;

	any = sums_write(cell->sums, cell->names, cell->thing, SHARES_SHOWN, "", "[unknown]", f);
	xmemstream_close(f, &text);
	text_puts(b, any ? text : "-");
	free(text);
}

static void put_cell(struct table *t, const struct cell *cell)
{
	char text[TEXT_MS_SIZE];

	switch (cell->kind) {
	case CELL_TEXT:
		text_puts(&t->text, cell->text);
		if (cell->n) {
			snprintf(text, sizeof(text), " +%" PRIu64, cell->n);
			text_puts(&t->text, text);
		}
		break;
	case CELL_NUMBER:
		snprintf(text, sizeof(text), "%" PRIu64, cell->n);
		text_puts(&t->text, text);
		break;
	case CELL_TIME:
		text_puts(&t->text, format_time(text, t->in->options, cell->n));
		break;
	case CELL_DECIMAL:
	case CELL_NONE:
		text_puts(&t->text, cell->text);
		break;
	case CELL_SHARES:
		put_share_text(&t->text, cell);
		break;
	}
}

void table_sum_row(struct table *t, const struct cell *cells, size_t n)
{
	if (t->in->options->json)
		return;
	for (size_t i = 0; i < t->n; i++) {
		if (i < n && t->columns[i].title)
			put_cell(t, &cells[i]);
		text_put(&t->text, "", 1);
	}
	t->rows++;
}

void table_row(struct table *t, const struct cell *cells, size_t n)
{
	if (t->in->options->json)
		put_object(t, cells, n);
	else
		table_sum_row(t, cells, n);
}

struct cell cell_most(const struct sums *by_row, uint32_t row, const struct names *names)
{
	size_t n;
	const struct sum *of = sums_of(by_row, row, &n);

	return n ? (struct cell) { .text = names_text(names, of->text), .n = n - 1 }
		 : cell_none("");
}

/* ---- widths --------------------------------------------------------------------------------- */

size_t table_width(const char *s)
{
	return text_columns(s, SIZE_MAX);
}

void table_put_cut(FILE *out, const char *s, size_t width)
{
	size_t all = table_width(s), head = (width - 1) / 2, tail = width - 2 - head;

	if (all <= width || width < TEXT_WIDTH_MIN) {
		fputs(s, out);
		return;
	}
	fprintf(out, "%.*s..%s", (int)text_fitting(s, head), s, s + text_fitting(s, all - tail));
}

void table_put_padded(FILE *out, const char *s, size_t width)
{
	size_t all = table_width(s);

	table_put_cut(out, s, width);
	fprintf(out, "%*s", all < width ? (int)(width - all) : 0, "");
}

struct layout {
	size_t screen; /* its width; 0: paper */
	size_t width[COLUMNS_MAX];
	bool out[COLUMNS_MAX]; /* there is no room for it */
};

static bool is_text(const struct column *c)
{
	return c->width <= 0;
}

/* The width of all, if no text is wider than text_width. */
static size_t whole_width(const struct table *t, const struct layout *l, size_t text_width)
{
	size_t all = 0;

	for (size_t i = 0; i < t->n; i++) {
		size_t width = l->width[i];

		if (l->out[i])
			continue;
		if (is_text(&t->columns[i]) && width > text_width)
			width = text_width;
		all += width + (!i ? 0 : t->columns[i].apart ? 2 : 1);
	}
	return all;
}

/* Leaves out the column that can be spared best. False: there is none. */
static bool leave_out(const struct table *t, struct layout *l)
{
	size_t which = t->n;

	for (size_t i = 0; i < t->n; i++)
		if (!l->out[i] && t->columns[i].drop &&
		    (which == t->n || t->columns[i].drop >= t->columns[which].drop))
			which = i;
	if (which < t->n)
		l->out[which] = true;
	return which < t->n;
}

static void fit(const struct table *t, struct layout *l)
{
	size_t text_width = TEXT_WIDTH_MIN;

	while (whole_width(t, l, t->text_width ? t->text_width : TEXT_WIDTH) > l->screen &&
	       leave_out(t, l))
		;
	while (text_width < l->screen && whole_width(t, l, text_width + 1) <= l->screen)
		text_width++;
	for (size_t i = 0; i < t->n; i++)
		if (is_text(&t->columns[i]) && l->width[i] > text_width)
			l->width[i] = text_width;
}

static void widen(const struct table *t, struct layout *l, size_t i, size_t width)
{
	if (!l->screen && is_text(&t->columns[i]) && width > PAPER_WIDTH_MAX)
		width = PAPER_WIDTH_MAX;
	if (l->width[i] < width)
		l->width[i] = width;
}

static void lay_out(const struct table *t, struct layout *l)
{
	const char *s = t->text.p;

	l->screen = t->in->options->columns;
	for (size_t i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];

		l->out[i] = !c->title;
		l->width[i] = c->title ? table_width(c->title) : 0;
		if (!l->screen)
			widen(t, l, i, (size_t)abs(c->width));
	}
	for (size_t row = 0; row < t->rows; row++)
		for (size_t i = 0; i < t->n; i++, s += strlen(s) + 1)
			widen(t, l, i, table_width(s));
	if (l->screen)
		fit(t, l);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* A line; texts are n, the last of which may be empty: then nothing is behind the others. */
static void put_line(const struct table *t, const struct layout *l, const char *const *texts)
{
	size_t last = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!l->out[i] && *texts[i])
			last = i;
	for (size_t i = 0; i <= last; i++) {
		const struct column *c = &t->columns[i];
		size_t width = table_width(texts[i]);
		int pad = (int)(width < l->width[i] ? l->width[i] - width : 0);

		if (l->out[i])
			continue;
		fprintf(t->out, "%s%*s", !i ? "" : c->apart ? "  " : " ", is_text(c) ? 0 : pad, "");
		if (is_text(c) && l->screen)
			table_put_cut(t->out, texts[i], l->width[i]);
		else
			fputs(texts[i], t->out);
		fprintf(t->out, "%*s", is_text(c) && i < last ? pad : 0, "");
	}
	putc('\n', t->out);
}

static void put_note(const struct table *t, const struct layout *l, const char *note, va_list args)
{
	size_t left_out = 0;

	for (size_t i = 0; i < t->n; i++)
		left_out += l->out[i] && t->columns[i].title;
	putc('(', t->out);
	vfprintf(t->out, note, args);
	if (left_out)
		fprintf(t->out, "; --wide shows %zu more column%s", left_out,
			left_out == 1 ? "" : "s");
	fputs(")\n", t->out);
}

static void put_all(const struct table *t, struct layout *l)
{
	const char *texts[COLUMNS_MAX], *s = t->text.p;

	lay_out(t, l);
	for (size_t i = 0; i < t->n; i++)
		texts[i] = t->columns[i].title ? t->columns[i].title : "";
	put_line(t, l, texts);
	for (size_t row = 0; row < t->rows; row++) {
		for (size_t i = 0; i < t->n; i++, s += strlen(s) + 1)
			texts[i] = s;
		put_line(t, l, texts);
	}
}

void table_end(struct table *t, const char *note, ...)
{
	struct layout l;
	va_list args;

	if (!t->in->options->json) {
		put_all(t, &l);
		va_start(args, note);
		if (note)
			put_note(t, &l, note, args);
		va_end(args);
	}
	text_free(&t->text);
	t->text = (struct text_buf) { 0 };
	t->rows = 0;
}
