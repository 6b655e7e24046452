// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/grow.h"
#include "format.h"

static void put(const struct table *t, size_t i, const char *text, uint64_t others)
{
	const struct column *c = &t->columns[i];
	int len = c->width < 0 ? -c->width : 0;

	fputs(!i ? "" : c->apart ? "  " : " ", t->out);
	len -= fprintf(t->out, "%*s", c->width > 0 ? c->width : 0, text);
	if (others)
		len -= fprintf(t->out, " +%" PRIu64, others);
	if (len > 0)
		fprintf(t->out, "%*s", len, "");
}

void table_titles(const struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		put(t, i, t->columns[i].title, 0);
	putc('\n', t->out);
}

void table_cells(const struct table *t, const struct cell *cells, size_t n)
{
	char text[TEXT_MS_SIZE];

	for (size_t i = 0; i < n; i++) {
		uint64_t v = cells[i].n;

		switch (cells[i].kind) {
		case CELL_TEXT:
			put(t, i, cells[i].text, v);
			continue;
		case CELL_NUMBER:
			snprintf(text, sizeof(text), "%" PRIu64, v);
			break;
		case CELL_TIME:
			format_time(text, t->options, v);
			break;
		}
		put(t, i, text, 0);
	}
}

/* ---- rows ----------------------------------------------------------------------------------- */

void wait_sums_count(struct wait_sums *s, uint64_t ns)
{
	s->waits++;
	s->total_ns += ns;
	if (s->longest_ns < ns)
		s->longest_ns = ns;
}

static void add_sums(struct wait_sums *s, const struct wait_sums *other)
{
	s->waits += other->waits;
	s->total_ns += other->total_ns;
	if (s->longest_ns < other->longest_ns)
		s->longest_ns = other->longest_ns;
}

struct table_sums table_sums(size_t n, uint64_t top, int width_max)
{
	return (struct table_sums) {
		.top = top && top < n ? (size_t)top : n,
		.width = 16,
		.width_max = width_max,
	};
}

void table_sums_add(struct table_sums *t, const char *name, const struct wait_sums *s)
{
	size_t len = strlen(name);

	add_sums(&t->total, s);
	if (t->added++ >= t->top)
		add_sums(&t->other, s);
	else if (len > (size_t)t->width)
		t->width = len < (size_t)t->width_max ? (int)len : t->width_max;
}

int row_lengths_add(struct row_lengths *l, uint32_t row, uint64_t ns)
{
	if (!GROW(l->at, l->n, l->cap))
		return -ENOMEM;
	l->at[l->n++] = (struct row_length) { row, ns };
	return 0;
}

static int by_row_and_length(const void *pa, const void *pb)
{
	const struct row_length *a = pa, *b = pb;

	if (a->row != b->row)
		return compare_numbers(a->row, b->row);
	return compare_numbers(a->ns, b->ns);
}

/* The shortest of n sorted lengths that is not below p percent of all. */
static uint64_t percentile(const struct row_length *sorted, size_t n, unsigned int p)
{
	return sorted[(n * p + 99) / 100 - 1].ns;
}

void row_lengths_percentiles(struct row_lengths *l, void *rows, size_t size, size_t offset)
{
	const struct row_length *at = l->at;
	size_t end;

	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), by_row_and_length);
	for (size_t i = 0; i < l->n; i = end) {
		struct row_percentiles *p = (void *)((char *)rows + at[i].row * size + offset);

		for (end = i + 1; end < l->n && at[end].row == at[i].row;)
			end++;
		*p = (struct row_percentiles) {
			end - i,
			percentile(&at[i], end - i, 50),
			percentile(&at[i], end - i, 99),
		};
	}
}

struct cell cell_most(const struct sums *by_row, uint32_t row, const struct names *names)
{
	size_t n;
	const struct sum *of = sums_of(by_row, row, &n);

	return n ? (struct cell) { CELL_TEXT, names_text(names, of->text), n - 1 } : cell_text("");
}
