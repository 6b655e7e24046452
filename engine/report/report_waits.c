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

struct chooser {
	const struct report *r;
	struct best all, resting;
	struct best *rows, *steps;
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
	struct best *row = &c->rows[c->r->row_of[p->thread]];
	struct best *step = &c->steps[report_step(&c->r->counts.steps, report_end_ns(p))];

	if (c->r->in->options->top) {
		keep(&c->all, p);
		return 0;
	}
	if (!fits(&c->all, p) && !fits(&c->resting, p) && !fits(row, p) && !fits(step, p))
		return 0;
	if (p->wait->flags & WAIT_NOT_WOKEN ||
	    wait_filter_is_idle(c->r->filter, p->thread, p->wait)) {
		keep(&c->resting, p);
		return 0;
	}
	keep(&c->all, p);
	keep(row, p);
	keep(step, p);
	return 0;
}

static struct best *bests_new(size_t n, size_t room)
{
	struct best *b = calloc(n + 1, sizeof(*b));
	struct chosen_wait *at = malloc((n * room + 1) * sizeof(*at));

	if (!b || !at) {
		free(b);
		free(at);
		return NULL;
	}
	for (size_t i = 0; i <= n; i++)
		b[i] = (struct best) { .at = at + i * room, .room = i < n ? room : 0 };
	return b;
}

static void bests_free(struct best *b)
{
	if (b)
		free(b[0].at);
	free(b);
}

static size_t take(struct chosen_wait *to, const struct best *b, size_t n_best)
{
	size_t n = 0;

	for (size_t i = 0; i < n_best; i++)
		for (size_t k = 0; k < b[i].n; k++)
			to[n++] = b[i].at[k];
	return n;
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
	size_t n_rows = r->counts.n_rows, n_steps = r->counts.steps.n, n = 0, n_examples;
	size_t most = c->all.n + c->resting.n + n_rows * OF_ROW + n_steps * OF_STEP;
	struct chosen_wait *all = malloc((most + 1) * sizeof(*all));

	r->waits = malloc((r->n_causes + most + 1) * sizeof(*r->waits));
	if (!all || !r->waits) {
		free(all);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->n_causes; i++)
		put(r, r->n_waits, &r->cause[i]->example);
	n_examples = r->n_waits;
	n += take(all, &c->all, 1);
	n += take(all + n, &c->resting, 1);
	n += take(all + n, c->rows, n_rows);
	n += take(all + n, c->steps, n_steps);
	qsort(all, n, sizeof(*all), longest_wait_first);
	for (size_t i = 0; i < n; i++)
		if (!i || all[i].wait != all[i - 1].wait)
			put(r, n_examples, &all[i]);
	free(all);
	return 0;
}

int report_choose_waits(struct report *r)
{
	uint64_t top = r->in->options->top;
	struct chooser c = { .r = r };
	int err = -ENOMEM;

	c.all.room = !top ? OF_ALL : top < TOP_MAX ? (size_t)top : TOP_MAX;
	c.resting.room = OF_RESTING;
	c.all.at = malloc(c.all.room * sizeof(*c.all.at));
	c.resting.at = malloc(c.resting.room * sizeof(*c.resting.at));
	c.rows = bests_new(r->counts.n_rows, OF_ROW);
	c.steps = bests_new(r->counts.steps.n, OF_STEP);
	if (c.all.at && c.resting.at && c.rows && c.steps)
		err = top_waits_walk(r->in->timelines, r->filter, 0, choose, &c);
	if (!err)
		err = gather(&c, r);
	free(c.all.at);
	free(c.resting.at);
	bests_free(c.rows);
	bests_free(c.steps);
	return err;
}
