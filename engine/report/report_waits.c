// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <errno.h>
#include <stdlib.h>

/* How many of the longest waits the report has: of all, of each row of threads, of each step. */
enum {
	OF_ALL = 200,
	OF_RESTING = 60, /* waits for work, and unfinished ones */
	OF_ROW = 3,
	OF_STEP = 3,
	TOP_MAX = 2000,
};

/* The longest waits so far, in order. */
struct best {
	struct chosen_wait *at;
	size_t n, room;
};

/* Of all, of resting ones, of each row, of each step. */
enum { BEST_ALL, BEST_RESTING, BEST_ROWS };

struct chooser {
	const struct report *r;
	struct best *best;
	size_t n;
};

static void keep(struct best *b, const struct chosen_wait *p)
{
	size_t i;

	if (b->n == b->room && (!b->n || longest_wait_first(&b->at[b->n - 1], p) < 0))
		return;
	i = b->n < b->room ? b->n++ : b->n - 1;
	for (; i && longest_wait_first(p, &b->at[i - 1]) < 0; i--)
		b->at[i] = b->at[i - 1];
	b->at[i] = *p;
}

/* False: keep() would drop it, and its stack need not be examined. */
static bool fits(const struct best *b, const struct chosen_wait *p)
{
	return b->n < b->room || (b->n && longest_wait_first(p, &b->at[b->n - 1]) < 0);
}

static int choose(void *arg, const struct chosen_wait *p)
{
	struct chooser *c = arg;
	const struct report_counts *counts = &c->r->counts;
	struct best *all = &c->best[BEST_ALL], *resting = &c->best[BEST_RESTING];
	struct best *rows = &c->best[BEST_ROWS], *row = &rows[c->r->row_of[p->thread]];
	struct best *step = &rows[counts->n_rows + report_step(&counts->steps, report_end_ns(p))];

	if (c->r->in->options->top) {
		keep(all, p);
		return 0;
	}
	if (!fits(all, p) && !fits(resting, p) && !fits(row, p) && !fits(step, p))
		return 0;
	if (p->wait->flags & WAIT_NOT_WOKEN ||
	    wait_filter_is_idle(c->r->filter, p->thread, p->wait)) {
		keep(resting, p);
		return 0;
	}
	keep(all, p);
	keep(row, p);
	keep(step, p);
	return 0;
}

/* Makes room in each. 0 or -ENOMEM. */
static int make_room(struct chooser *c)
{
	uint64_t top = c->r->in->options->top;
	size_t n_rows = c->r->counts.n_rows;

	c->n = BEST_ROWS + n_rows + c->r->counts.steps.n;
	c->best = calloc(c->n, sizeof(*c->best));
	for (size_t i = 0; c->best && i < c->n; i++) {
		struct best *b = &c->best[i];

		if (i == BEST_ALL)
			b->room = !top ? OF_ALL : top < TOP_MAX ? (size_t)top : TOP_MAX;
		else if (i == BEST_RESTING)
			b->room = OF_RESTING;
		else
			b->room = i < BEST_ROWS + n_rows ? OF_ROW : OF_STEP;
		b->at = malloc(b->room * sizeof(*b->at));
		if (!b->at)
			return -ENOMEM;
	}
	return c->best ? 0 : -ENOMEM;
}

/* Appends p, unless it is one of the first n_examples, those of causes. */
static void put(struct report *r, size_t n_examples, const struct chosen_wait *p)
{
	for (size_t i = 0; i < n_examples; i++)
		if (r->waits[i].chosen.wait == p->wait)
			return;
	r->waits[r->n_waits++] =
		(struct report_wait) { *p, wait_filter_is_idle(r->filter, p->thread, p->wait) };
}

/* Joins the lists; each wait appears once. */
static int gather(const struct chooser *c, struct report *r)
{
	size_t n = 0, n_examples;
	struct chosen_wait *all;

	for (size_t i = 0; i < c->n; i++)
		n += c->best[i].n;
	all = malloc((n + 1) * sizeof(*all));
	r->waits = malloc((r->n_causes + n + 1) * sizeof(*r->waits));
	if (!all || !r->waits) {
		free(all);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->n_causes; i++)
		put(r, r->n_waits, &r->cause[i]->example);
	n_examples = r->n_waits;
	n = 0;
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->best[i].n; k++)
			all[n++] = c->best[i].at[k];
	qsort(all, n, sizeof(*all), longest_wait_first);
	for (size_t i = 0; i < n; i++)
		if (!i || all[i].wait != all[i - 1].wait)
			put(r, n_examples, &all[i]);
	free(all);
	return 0;
}

int report_choose_waits(struct report *r)
{
	struct chooser c = { .r = r };
	int err = make_room(&c);

	if (!err)
		err = top_waits_walk(r->in->timelines, r->filter, 0, choose, &c);
	if (!err)
		err = gather(&c, r);
	for (size_t i = 0; c.best && i < c.n; i++)
		free(c.best[i].at);
	free(c.best);
	return err;
}
