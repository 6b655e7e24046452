// SPDX-License-Identifier: GPL-2.0-or-later
#include "folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

#define NS_PER_US 1000u

void folded_free(struct folded *l)
{
	text_free(&l->texts);
	free(l->lines);
	*l = (struct folded) { .n = 0 };
}

/* ---- joining -------------------------------------------------------------------------------- */

/* Lists of frames as text, joined once: the same ones come in many rows. */
struct joined {
	const struct frame_lists *lists;
	struct text_buf text;
	struct span {
		size_t at, len;
	} * of; /* by list; len 0: not joined yet, or empty */
};

static void put_part(struct text_buf *b, const char *s, size_t len)
{
	if (b->len && b->p[b->len - 1])
		text_put(b, ";", 1);
	text_put(b, s, len);
}

static struct span join(struct joined *j, uint32_t list)
{
	struct span *s = &j->of[list];
	size_t n = frame_list_len(j->lists, list);

	if (s->len || !n)
		return *s;
	s->at = j->text.len;
	for (size_t i = 0; i < n; i++) {
		if (i)
			text_put(&j->text, ";", 1);
		text_puts(&j->text, frame_at(j->lists, frame_list_at(j->lists, list, i)).text);
	}
	s->len = j->text.len - s->at;
	return *s;
}

static int add_row(struct folded *l, struct joined *j, const struct chain_rows *rows,
		   const struct chain_row *row, const char *root)
{
	struct folded_line *p = grow_array(l->lines, l->n, &l->cap, sizeof(*p));
	const char *end = chain_row_end(rows, row);
	uint32_t path[CHAIN_PATH_MAX];
	size_t n = chain_row_path(rows, row, path);

	if (!p)
		return -ENOMEM;
	l->lines = p;
	p[l->n++] = (struct folded_line) { l->texts.len, row->ns };
	if (root)
		names_put(&l->texts, root);
	while (n-- > 0) {
		struct span s = join(j, path[n]);

		if (s.len)
			put_part(&l->texts, j->text.p + s.at, s.len);
	}
	if (end)
		put_part(&l->texts, end, strlen(end));
	text_put(&l->texts, "", 1);
	return j->text.failed || l->texts.failed ? -ENOMEM : 0;
}

int folded_add(struct folded *l, struct fold *f, const char *root)
{
	const struct chain_rows *rows = fold_rows(f);
	struct joined j = { .lists = chain_parts_lists(rows->parts) };
	int err = 0;

	j.of = calloc(frame_lists_end(j.lists), sizeof(*j.of));
	if (!j.of)
		return -ENOMEM;
	for (size_t i = 0; i < rows->n && !err; i++)
		if (rows->at[i].ns)
			err = add_row(l, &j, rows, &rows->at[i], root);
	text_free(&j.text);
	free(j.of);
	return err;
}

/* ---- writing -------------------------------------------------------------------------------- */

struct line {
	const char *text;
	uint64_t ns;
};

/* A line on its way out. */
struct weighed {
	uint64_t ns, weight;
	size_t line;
};

static int by_text(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

/* Sorts the lines and sums up those with the same text. Returns how many are left. */
static size_t merge_lines(struct line *lines, size_t n_lines)
{
	size_t n = 0;

	if (n_lines)
		qsort(lines, n_lines, sizeof(*lines), by_text);
	for (size_t i = 0; i < n_lines; i++) {
		if (n && !strcmp(lines[n - 1].text, lines[i].text))
			lines[n - 1].ns += lines[i].ns;
		else
			lines[n++] = lines[i];
	}
	return n;
}

/* Widest first; among equals the order of the lines. */
static int by_width(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int by_remainder(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;
	uint64_t ra = a->ns % NS_PER_US, rb = b->ns % NS_PER_US;

	if (ra != rb)
		return ra > rb ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int by_line_text(const void *pa, const void *pb, void *arg)
{
	const struct weighed *a = pa, *b = pb;
	const struct line *lines = arg;

	return strcmp(lines[a->line].text, lines[b->line].text);
}

static int by_line(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	return a->line < b->line ? -1 : a->line > b->line;
}

/*
 * Rounds to microseconds by largest remainders: thousands of lines of some hundred nanoseconds
 * each would otherwise vanish together, or all count as one microsecond.
 */
static void round_to_us(struct weighed *w, size_t n)
{
	uint64_t remainder = 0, up;

	for (size_t i = 0; i < n; i++) {
		w[i].weight = w[i].ns / NS_PER_US;
		remainder += w[i].ns % NS_PER_US;
	}
	up = (remainder + NS_PER_US / 2) / NS_PER_US;
	qsort(w, n, sizeof(*w), by_remainder);
	for (size_t i = 0; i < n && up; i++, up--)
		w[i].weight++;
}

/* Keeps the `top` widest of n lines, and one more line with the sum of the others. */
static size_t keep_top(struct weighed *w, size_t n, size_t top, struct line *other)
{
	other->text = CHAIN_OTHER;
	other->ns = 0;
	qsort(w, n, sizeof(*w), by_width);
	for (size_t i = top; i < n; i++)
		other->ns += w[i].ns;
	w[top] = (struct weighed) { other->ns, other->ns, n };
	return top + 1;
}

int folded_write(const struct folded *l, const struct options *o, FILE *out)
{
	struct line *lines = malloc((l->n + 1) * sizeof(*lines));
	struct weighed *w = malloc((l->n + 1) * sizeof(*w));
	bool top;
	size_t n;

	if (!lines || !w) {
		free(lines);
		free(w);
		return -ENOMEM;
	}
	for (size_t i = 0; i < l->n; i++)
		lines[i] = (struct line) { l->texts.p + l->lines[i].text, l->lines[i].ns };
	n = merge_lines(lines, l->n);
	for (size_t i = 0; i < n; i++)
		w[i] = (struct weighed) { lines[i].ns, lines[i].ns, i };
	top = o->top && o->top < n;
	if (top)
		n = keep_top(w, n, (size_t)o->top, &lines[n]);
	if (o->unit == UNIT_US)
		round_to_us(w, n);
	if (top)
		qsort_r(w, n, sizeof(*w), by_line_text, lines);
	else
		qsort(w, n, sizeof(*w), by_line);
	for (size_t i = 0; i < n; i++)
		if (w[i].weight)
			fprintf(out, "%s %" PRIu64 "\n", lines[w[i].line].text, w[i].weight);
	free(lines);
	free(w);
	return 0;
}

int fold_write(struct fold *f, const struct options *o, FILE *out)
{
	struct folded l = { .n = 0 };
	int err = folded_add(&l, f, NULL);

	if (!err)
		err = folded_write(&l, o, out);
	folded_free(&l);
	return err;
}
