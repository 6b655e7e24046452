// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"
#include "report.h"

/* As many cells as are held while it is not known which causes are shown: beyond, steps get longer.
 */
#define HELD (1u << 20)

/* Adds a cell to another; NULL: out of memory. */
static struct report_cause_cell *cell_at(struct pair_table *t, uint32_t key, uint32_t step)
{
	return pair_table_at(t, key, step, sizeof(struct report_cause_cell));
}

static void add(struct report_cause_cell *to, const struct report_cause_cell *from)
{
	to->ns += from->ns;
	to->waits += from->waits;
	if (to->longest_ns < from->longest_ns)
		to->longest_ns = from->longest_ns;
}

/* Two steps become one. 0 or -ENOMEM. */
static int join_steps(struct report_cause_counts *c)
{
	struct pair_table t = { .at = NULL };
	const struct report_cause_cell *cells = c->cells.at;

	for (uint32_t id = 1; id <= c->cells.keys.n; id++) {
		struct pair key = c->cells.keys.at[id];
		struct report_cause_cell *to = cell_at(&t, key.a, key.b / 2);

		if (!to) {
			pair_table_free(&t);
			return -ENOMEM;
		}
		add(to, &cells[id]);
	}
	pair_table_free(&c->cells);
	c->cells = t;
	c->joined *= 2;
	return 0;
}

/* Joins steps until no more cells are there than are held. 0 or -ENOMEM. */
static int hold(const struct report *r, struct report_cause_counts *c)
{
	int err = 0;

	while (!err && c->cells.keys.n > HELD && c->joined < r->counts.steps.n)
		err = join_steps(c);
	return err;
}

/* A causes_watcher's. */
static int see(void *arg, uint32_t worker, uint32_t cause, const struct chosen_wait *p, uint64_t ns,
	       uint64_t longest_ns)
{
	struct report *r = arg;
	struct report_cause_counts *c = &r->cause_counts[worker];
	uint32_t n_rows = r->counts.n_rows, step;
	struct report_cause_cell *cell;

	if (cause >= UINT32_MAX / n_rows)
		return -ENOMEM;
	step = report_step(&r->counts.steps, report_end_ns(p)) / c->joined;
	cell = cell_at(&c->cells, cause * n_rows + r->row_of[p->thread], step);
	if (!cell)
		return -ENOMEM;
	add(cell, &(struct report_cause_cell) { ns, 1, longest_ns });
	return hold(r, c);
}

/* Likewise. Steps are joined as they would be if one worker saw all: as few as they must be. */
static int join(void *arg, uint32_t worker, const uint32_t *ids)
{
	struct report *r = arg;
	struct report_cause_counts *to = &r->cause_counts[0], *from = &r->cause_counts[worker];
	const struct report_cause_cell *cells = from->cells.at;
	uint32_t n_rows = r->counts.n_rows;
	int err = 0;

	while (to->joined < from->joined && !err)
		err = join_steps(to);
	for (uint32_t id = 1; id <= from->cells.keys.n && !err; id++) {
		struct pair key = from->cells.keys.at[id];
		uint32_t cause = ids[key.a / n_rows];
		struct report_cause_cell *cell;

		if (cause >= UINT32_MAX / n_rows)
			return -ENOMEM;
		cell = cell_at(&to->cells, cause * n_rows + key.a % n_rows,
			       key.b / (to->joined / from->joined));
		err = cell ? 0 : -ENOMEM;
		if (cell)
			add(cell, &cells[id]);
		if (!err)
			err = hold(r, to);
	}
	pair_table_free(&from->cells);
	return err;
}

struct causes_watcher report_watcher(struct report *r)
{
	for (uint32_t i = 0; i < CPUS_USED_MAX; i++)
		r->cause_counts[i].joined = 1;
	return (struct causes_watcher) { r, see, join };
}

static int by_key(const void *pa, const void *pb, void *keys)
{
	const struct pair *a = (const struct pair *)keys + *(const uint32_t *)pa;
	const struct pair *b = (const struct pair *)keys + *(const uint32_t *)pb;

	return a->a != b->a ? compare_numbers(a->a, b->a) : compare_numbers(a->b, b->b);
}

/* Puts the cells in order: in which they came depends on the workers. 0 or -ENOMEM. */
static int sort_cells(struct report_cause_counts *c)
{
	uint32_t n = c->cells.keys.n, *ids = malloc(((size_t)n + 1) * sizeof(*ids));
	const struct report_cause_cell *cells = c->cells.at;
	struct pair_table t = { .at = NULL };
	int err = ids ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && !err; i++)
		ids[i] = i + 1;
	if (n && !err)
		qsort_r(ids, n, sizeof(*ids), by_key, c->cells.keys.at);
	for (uint32_t i = 0; i < n && !err; i++) {
		struct pair key = c->cells.keys.at[ids[i]];
		struct report_cause_cell *to = cell_at(&t, key.a, key.b);

		err = to ? 0 : -ENOMEM;
		if (to)
			*to = cells[ids[i]];
	}
	pair_table_free(&c->cells);
	c->cells = t;
	free(ids);
	return err;
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
	line = calloc((size_t)*n + 1, sizeof(*line));
	for (size_t i = 0; line && i < n_all; i++)
		line[all[i].id] = (uint32_t)r->n_causes + (i >= n_no_pauses);
	for (size_t i = 0; line && i < r->n_causes; i++)
		line[r->cause[i]->id] = (uint32_t)i;
	return line;
}

int report_settle_causes(struct report *r)
{
	struct report_cause_counts *c = &r->cause_counts[0];
	const struct report_cause_cell *cells = c->cells.at;
	struct pair_table t = { .at = NULL };
	uint32_t n, n_rows = r->counts.n_rows, *line = lines_of(r, &n);
	int err = line ? 0 : -ENOMEM;

	for (uint32_t id = 1; id <= c->cells.keys.n && !err; id++) {
		struct pair key = c->cells.keys.at[id];
		uint32_t cause = key.a / n_rows, row = key.a % n_rows;
		struct report_cause_cell *to;

		if (cause > n)
			continue;
		to = cell_at(&t, line[cause] * n_rows + row, key.b);
		if (to)
			add(to, &cells[id]);
		else
			err = -ENOMEM;
	}
	free(line);
	pair_table_free(&c->cells);
	c->cells = t;
	while (!err && c->cells.keys.n > REPORT_CAUSE_CELLS && c->joined < r->counts.steps.n)
		err = join_steps(c);
	return err ? err : sort_cells(c);
}
