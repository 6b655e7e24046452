// SPDX-License-Identifier: GPL-2.0-or-later
#include "sums.h"

#include <errno.h>
#include <stdlib.h>

#include "common/grow.h"
#include "diff.h"
#include "layout.h"

struct adding {
	struct sums *sums;
	const struct tree *t;
	uint32_t *path; /* name ids of the frames on the way to this one */
	size_t depth, cap;
	bool gone; /* in the region of diff_add_gone(), whose stacks are in their places, too */
	int err;
};

static void add(void *ctx, const struct frame *f, const struct tree_delta *delta)
{
	struct adding *a = ctx;
	struct sums_name *s = &a->sums->name[f->name];
	double after, own;

	while (a->depth > f->depth)
		a->sums->name[a->path[--a->depth]].open--;
	if (a->err || !GROW(a->path, a->depth, a->cap)) {
		a->err = -ENOMEM;
		return;
	}
	a->path[a->depth++] = f->name;
	if (f->depth == 1)
		a->gone = a->t->gone > 0 && name_is(&a->t->names, f->name, diff_gone(a->t));
	if (a->gone) {
		s->open++;
		return;
	}
	own = f->own - (delta ? delta->more_self : 0);
	after = f->total - (delta ? delta->more : 0);
	s->own += own;
	s->before_own += delta ? own - delta->self : 0;
	if (s->open++)
		return;
	s->total += after;
	s->before_total += delta ? after - delta->total : 0;
}

struct ranked {
	double count;
	uint32_t name, rank;
};

static int greatest_first(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Lists those with the greatest counts. rank: room for all names. */
static void list(struct sums *s, uint32_t names, bool by_total, struct ranked *rank)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < names; i++) {
		const struct sums_name *name = &s->name[i];
		double count = by_total ? larger(name->total, name->before_total)
					: larger(name->own, name->before_own);

		if (count > 0)
			rank[n++] = (struct ranked) { count, i, s->rank[2 * i] };
	}
	qsort(rank, n, sizeof(*rank), greatest_first);
	for (uint32_t i = 0; i < n && i < SUMS_LISTED; i++) {
		s->listed += !s->name[rank[i].name].listed;
		s->name[rank[i].name].listed = true;
	}
	if (by_total)
		s->names = n;
}

int sums_fill(struct sums *s, const struct tree *t)
{
	uint32_t names = t->names.names.n;
	struct adding a = { .sums = s, .t = t };
	struct ranked *rank = malloc(((size_t)names + 1) * sizeof(*rank));
	int err;

	*s = (struct sums) { .name = calloc((size_t)names + 1, sizeof(*s->name)) };
	err = rank && s->name ? name_table_rank(&t->names, &s->rank) : -ENOMEM;
	if (!err)
		err = layout_walk(t, add, &a);
	free(a.path);
	err = err ? err : a.err;
	for (uint32_t i = 0; i < names && !err; i++)
		if (i == t->label[t->node[0].label] || name_is(&t->names, i, "--") ||
		    name_is(&t->names, i, "-"))
			s->name[i] = (struct sums_name) { 0 };
	if (!err) {
		list(s, names, false, rank);
		list(s, names, true, rank);
	}
	free(rank);
	return err;
}

void sums_free(struct sums *s)
{
	free(s->name);
	free(s->rank);
	*s = (struct sums) { 0 };
}
