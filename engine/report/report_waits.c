// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"
#include "common/xalloc.h"

#include <stdlib.h>

/* How many of the longest waits the report has: of all, of each row of threads, of each step. */
enum {
	OF_ALL = 200,
	OF_RESTING = 60, /* waits for work, and unfinished ones */
	OF_ROW = 5,
	OF_STEP = 3,
	OF_CAUSE = 4, /* the example, and those of the names of threads that waited most */
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

static bool choose(void *arg, const struct chosen_wait *p)
{
	struct chooser *c = arg;
	const struct report_counts *counts = &c->r->counts;
	struct best *all = &c->best[BEST_ALL], *resting = &c->best[BEST_RESTING];
	struct best *rows = &c->best[BEST_ROWS], *row = &rows[c->r->row_of[p->thread]];
	struct best *step = &rows[counts->n_rows + report_step(&counts->steps, report_end_ns(p))];

	if (c->r->in->options->top) {
		keep(all, p);
		return true;
	}
	if (!fits(all, p) && !fits(resting, p) && !fits(row, p) && !fits(step, p))
		return true;
	if (p->wait->flags & WAIT_NOT_WOKEN ||
	    wait_filter_is_idle(c->r->filter, p->thread, p->wait)) {
		keep(resting, p);
		return true;
	}
	keep(all, p);
	keep(row, p);
	keep(step, p);
	return true;
}

/* Makes room in each. */
static void make_room(struct chooser *c)
{
	uint64_t top = c->r->in->options->top;
	size_t n_rows = c->r->counts.n_rows;

	c->n = BEST_ROWS + n_rows + c->r->counts.steps.n;
	c->best = xcalloc(c->n, sizeof(*c->best));
	for (size_t i = 0; i < c->n; i++) {
		struct best *b = &c->best[i];

		if (i == BEST_ALL)
			b->room = !top ? OF_ALL : top < TOP_MAX ? (size_t)top : TOP_MAX;
		else if (i == BEST_RESTING)
			b->room = OF_RESTING;
		else
			b->room = i < BEST_ROWS + n_rows ? OF_ROW : OF_STEP;
		b->at = xmalloc(b->room * sizeof(*b->at));
	}
}

/* Appends p, unless it is there already. */
static void put(struct report *r, struct pairs *there, const struct chosen_wait *p, bool sketch)
{
	uint32_t position =
		(uint32_t)(p->wait - timelines_thread(r->in->timelines, p->thread)->waits);
	int is_new;

	pairs_id_new(there, p->thread, position, &is_new);
	if (is_new)
		r->waits[r->n_waits++] = (struct report_wait) {
			*p, wait_filter_is_idle(r->filter, p->thread, p->wait), sketch
		};
}

/* Of each cause the example; then those of the names that waited most for it. */
static void put_examples(struct report *r, struct pairs *there)
{
	for (size_t k = 0; k < OF_CAUSE; k++)
		for (size_t i = 0; i < r->n_shown; i++) {
			size_t n;
			const struct sum *of = causes_victims(r->causes, r->cause[i], &n);
			const struct chosen_wait *p = &r->cause[i]->example;

			if (k)
				p = k <= n ? causes_example_of(r->causes, r->cause[i],
							       of[k - 1].key)
					   : NULL;
			if (p)
				put(r, there, p, k);
		}
}

/* The longest one of each list, then the second of each, and so on. */
static void put_in_turn(struct report *r, struct pairs *there, const struct best *list, size_t n)
{
	size_t room = 0;

	for (size_t i = 0; i < n; i++)
		if (room < list[i].n)
			room = list[i].n;
	for (size_t k = 0; k < room; k++)
		for (size_t i = 0; i < n; i++)
			if (k < list[i].n)
				put(r, there, &list[i].at[k], !r->in->options->top);
}

/*
 * Joins the lists, in the order in which they get room: each cause, each thread, each step, the
 * longest of all; waits for work last.
 */
static void gather(const struct chooser *c, struct report *r)
{
	size_t n = OF_CAUSE * r->n_shown, n_rows = r->counts.n_rows;
	const struct best *rows = c->best + BEST_ROWS;
	struct pairs there = { .cap = 0 };

	for (size_t i = 0; i < c->n; i++)
		n += c->best[i].n;
	r->waits = xmalloc((n + 1) * sizeof(*r->waits));
	put_examples(r, &there);
	put_in_turn(r, &there, rows, n_rows);
	put_in_turn(r, &there, rows + n_rows, c->n - BEST_ROWS - n_rows);
	put_in_turn(r, &there, &c->best[BEST_ALL], 1);
	put_in_turn(r, &there, &c->best[BEST_RESTING], 1);
	pairs_free(&there);
}

void report_choose_waits(struct report *r)
{
	struct chooser c = { .r = r };

	make_room(&c);
	top_waits_walk(r->in->timelines, r->filter, 0, choose, &c);
	gather(&c, r);
	for (size_t i = 0; i < c.n; i++)
		free(c.best[i].at);
	free(c.best);
}
