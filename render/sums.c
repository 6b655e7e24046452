// SPDX-License-Identifier: GPL-2.0-or-later
#include "sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* A name that may be listed. */
struct ranked {
	double count;
	uint32_t name;
	const struct name_table *names;
};

/* By the names if the counts are equal, as ids depend on the input's order. */
static int greatest_first(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	size_t nx, ny;
	int way;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	nx = name_len(x->names, x->name);
	ny = name_len(x->names, y->name);
	way = memcmp(name_str(x->names, x->name), name_str(x->names, y->name), nx < ny ? nx : ny);
	return way ? way : (nx > ny) - (nx < ny);
}

/* heap: the first n are so that none comes after its parent; puts the one at i in its place. */
static void sift_down(struct ranked *heap, uint32_t n, uint32_t i)
{
	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		struct ranked it = heap[i];

		if (child + 1 < n && greatest_first(&heap[child], &heap[child + 1]) < 0)
			child++;
		if (greatest_first(&it, &heap[child]) >= 0)
			return;
		heap[i] = heap[child];
		heap[child] = it;
	}
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Lists those with the greatest counts. heap: room for SUMS_LISTED. Returns how many have any. */
static uint32_t list(struct sums *s, const struct name_table *names, bool by_total,
		     struct ranked *heap)
{
	uint32_t n = 0, any = 0;

	for (uint32_t i = 0; i < names->names.n; i++) {
		const struct sums_name *name = &s->name[i];
		struct ranked it = {
			.count = by_total ? larger(name->total, name->before_total)
					  : larger(name->own, name->before_own),
			.name = i,
			.names = names,
		};

		if (!(it.count > 0))
			continue;
		any++;
		if (n < SUMS_LISTED) {
			heap[n++] = it;
			for (uint32_t k = n == SUMS_LISTED ? n / 2 : 0; k-- > 0;)
				sift_down(heap, n, k);
		} else if (greatest_first(&it, &heap[0]) < 0) {
			heap[0] = it;
			sift_down(heap, n, 0);
		}
	}
	qsort(heap, n, sizeof(*heap), greatest_first);
	for (uint32_t i = 0; i < n; i++)
		if (!s->name[heap[i].name].place)
			s->name[heap[i].name].place = ++s->listed;
	return any;
}

int sums_fill(struct sums *s, const struct tree *t)
{
	uint32_t names = t->names.names.n;
	struct adding a = { .sums = s, .t = t };
	struct ranked *heap = malloc(SUMS_LISTED * sizeof(*heap));
	int err;

	*s = (struct sums) { .name = calloc((size_t)names + 1, sizeof(*s->name)) };
	err = heap && s->name ? layout_walk(t, add, &a) : -ENOMEM;
	free(a.path);
	err = err ? err : a.err;
	for (uint32_t i = 0; i < names && !err; i++)
		if (i == t->label[t->node[0].label] || name_is(&t->names, i, "--") ||
		    name_is(&t->names, i, "-"))
			s->name[i] = (struct sums_name) { 0 };
	if (!err) {
		list(s, &t->names, false, heap);
		s->names = list(s, &t->names, true, heap);
	}
	free(heap);
	return err;
}

void sums_free(struct sums *s)
{
	free(s->name);
	*s = (struct sums) { 0 };
}
