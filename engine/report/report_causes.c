// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "base/compare.h"
#include "report.h"
#include "common/xalloc.h"

/* Adds a cell to another. */
static struct cause_cell *cell_at(struct pair_table *t, uint32_t key, uint32_t step)
{
	return pair_table_at(t, key, step, sizeof(struct cause_cell));
}

static void add(struct cause_cell *to, const struct cause_cell *from)
{
	to->ns += from->ns;
	to->waits += from->waits;
	if (to->longest_ns < from->longest_ns)
		to->longest_ns = from->longest_ns;
}

/* Two steps become one. */
static void join_steps(struct report_cause_counts *c)
{
	struct pair_table t = { .at = NULL };
	const struct cause_cell *cells = c->cells.at;

	for (uint32_t id = 1; id <= c->cells.keys.n; id++) {
		struct pair key = c->cells.keys.at[id];
		struct cause_cell *to = cell_at(&t, key.a, key.b / 2);

		add(to, &cells[id]);
	}
	pair_table_free(&c->cells);
	c->cells = t;
	c->joined *= 2;
}

uint32_t report_cell_of(const void *arg, const struct chosen_wait *p)
{
	const struct report *r = arg;
	const struct report_steps *s = &r->counts.steps;

	return 1 + r->row_of[p->thread] * s->n + report_step(s, report_end_ns(p));
}

static int by_key(const void *pa, const void *pb, void *keys)
{
	const struct pair *a = (const struct pair *)keys + *(const uint32_t *)pa;
	const struct pair *b = (const struct pair *)keys + *(const uint32_t *)pb;

	return a->a != b->a ? compare_numbers(a->a, b->a) : compare_numbers(a->b, b->b);
}

/* Puts the cells in order: in which they came depends on the workers. */
static void sort_cells(struct report_cause_counts *c)
{
	uint32_t n = c->cells.keys.n, *ids = xmalloc(((size_t)n + 1) * sizeof(*ids));
	const struct cause_cell *cells = c->cells.at;
	struct pair_table t = { .at = NULL };

	for (uint32_t i = 0; i < n; i++)
		ids[i] = i + 1;
	if (n)
		qsort_r(ids, n, sizeof(*ids), by_key, c->cells.keys.at);
	for (uint32_t i = 0; i < n; i++) {
		struct pair key = c->cells.keys.at[ids[i]];
		struct cause_cell *to = cell_at(&t, key.a, key.b);

		*to = cells[ids[i]];
	}
	pair_table_free(&c->cells);
	c->cells = t;
	free(ids);
}

/* By a cause's number its line: that of the table, or that of all others, or that of pauses. */
static uint32_t *lines_of(const struct report *r, uint32_t *n)
{
	size_t n_all, n_no_pauses = causes_without_pauses(r->causes);
	const struct cause *all = causes_list(r->causes, &n_all);
	uint32_t *line;

	*n = 0;
	for (size_t i = 0; i < n_all; i++)
		if (*n < all[i].id)
			*n = all[i].id;
	line = xcalloc((size_t)*n + 1, sizeof(*line));
	for (size_t i = 0; i < n_all; i++)
		line[all[i].id] = (uint32_t)r->n_causes + (i >= n_no_pauses);
	for (size_t i = 0; i < r->n_causes; i++)
		line[r->cause[i]->id] = (uint32_t)i;
	return line;
}

void report_settle_causes(struct report *r)
{
	const struct pair_table *of = causes_cells(r->causes);
	const struct cause_cell *cells = of->at;
	struct report_cause_counts *c = &r->cause_counts;
	uint32_t n, n_rows = r->counts.n_rows, steps = r->counts.steps.n, *line = lines_of(r, &n);

	c->joined = 1;
	for (uint32_t id = 1; id <= of->keys.n; id++) {
		struct pair key = of->keys.at[id];
		uint32_t row = (key.b - 1) / steps, step = (key.b - 1) % steps;
		struct cause_cell *to;

		if (key.a > n)
			continue;
		to = cell_at(&c->cells, line[key.a] * n_rows + row, step);
		add(to, &cells[id]);
	}
	free(line);
	while (c->cells.keys.n > REPORT_CAUSE_CELLS && c->joined < steps)
		join_steps(c);
	sort_cells(c);
}
