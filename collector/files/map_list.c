// SPDX-License-Identifier: GPL-2.0-or-later
#include "map_list.h"

#include <stdlib.h>

#include "common/grow.h"
#include "common/lower_bound.h"

/* So many new ones are looked at one by one, before they are sorted in. */
#define UNSORTED_MAX 256u
/* Mappings for each of which map_list.reach has an end. */
#define BLOCK 64u
/* So many mappings may be looked at each time; so many more, some 0.1 s, in a window. */
#define USUAL_STEPS 512u
#define STEPS_MAX (50u << 20)
#define WINDOW_NS 5000000000u

bool map_list_add(struct map_list *l, const struct mapping *m)
{
	if (!GROW(l->list, l->n, l->cap))
		return false;
	l->list[l->n++] = *m;
	return true;
}

void map_list_free(struct map_list *l)
{
	if (!l)
		return;
	free(l->list);
	free(l->sorted);
	free(l->reach);
	free(l->exe);
	free(l->name);
	free(l);
}

bool map_list_is_exhausted(struct map_list *l, uint64_t time_ns)
{
	if (time_ns > l->window_ns && time_ns - l->window_ns > WINDOW_NS) {
		l->window_ns = time_ns;
		l->steps = 0;
	}
	return l->steps > STEPS_MAX;
}

static int by_start(const void *pa, const void *pb, void *list)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct mapping *m = list;

	if (m[a].start != m[b].start)
		return m[a].start < m[b].start ? -1 : 1;
	return a < b ? -1 : 1;
}

/* Sorts in what has been added, if it is much. Without memory it stays as it is. */
static void sort_in(struct map_list *l)
{
	uint32_t old = l->n_sorted, new = l->n - old, blocks = (l->n + BLOCK - 1) / BLOCK;
	uint32_t *to, *from, at = 0, taken = 0;
	uint64_t *reach, highest = 0;

	if (new <= UNSORTED_MAX)
		return;
	to = malloc(l->n * sizeof(*to));
	from = malloc(new * sizeof(*from)); /* the new ones */
	reach = realloc(l->reach, blocks * sizeof(*reach));
	if (reach)
		l->reach = reach;
	if (!to || !from || !reach) {
		free(to);
		free(from);
		return;
	}
	for (uint32_t i = 0; i < new; i++)
		from[i] = old + i;
	qsort_r(from, new, sizeof(*from), by_start, l->list);
	for (uint32_t n = 0; n < l->n; n++) {
		bool is_old = at < old &&
			      (taken == new || by_start(&l->sorted[at], &from[taken], l->list) < 0);

		to[n] = is_old ? l->sorted[at++] : from[taken++];
		if (l->list[to[n]].end > highest)
			highest = l->list[to[n]].end;
		reach[n / BLOCK] = highest;
	}
	l->steps += l->n / 8;
	free(from);
	free(l->sorted);
	l->sorted = to;
	l->n_sorted = l->n;
}

/* Calls fn for each mapping that has something of [start, end), until it returns true. */
static bool each(struct map_list *l, uint64_t start, uint64_t end,
		 bool (*fn)(void *ctx, uint32_t k), void *ctx)
{
	uint32_t below, steps = 0;
	bool is_found = false;

	sort_in(l);
	below = (uint32_t)LOWER_BOUND(i, l->n_sorted, l->list[l->sorted[i]].start < end);
	while (!is_found && below-- && l->reach[below / BLOCK] > start) {
		uint32_t k = l->sorted[below];

		steps++;
		is_found = l->list[k].end > start && fn(ctx, k);
	}
	for (uint32_t k = l->n_sorted; !is_found && k < l->n; k++)
		is_found = l->list[k].start < end && l->list[k].end > start && fn(ctx, k);
	if (steps > USUAL_STEPS)
		l->steps += steps;
	return is_found;
}

struct found {
	const struct map_list *l;
	uint64_t time_ns;
	uint32_t valid, later; /* numbers + 1; 0: none */
};

/* Of those that are valid the last one holds, of later ones the first. */
static bool take(void *found, uint32_t k)
{
	struct found *f = found;

	if (f->l->list[k].time_ns <= f->time_ns) {
		if (k + 1 > f->valid)
			f->valid = k + 1;
	} else if (!f->later || k + 1 < f->later) {
		f->later = k + 1;
	}
	return false;
}

const struct mapping *map_list_find(struct map_list *l, uint64_t addr, uint64_t time_ns,
				    const struct mapping **later)
{
	struct found f = { .l = l, .time_ns = time_ns };

	*later = NULL;
	if (map_list_is_exhausted(l, time_ns) || addr == UINT64_MAX)
		return NULL;
	each(l, addr, addr + 1, take, &f);
	if (f.valid)
		return &l->list[f.valid - 1];
	*later = f.later ? &l->list[f.later - 1] : NULL;
	return NULL;
}

struct asked {
	const struct map_list *l;
	bool (*fn)(const void *ctx, const struct mapping *m);
	const void *ctx;
};

static bool ask(void *asked, uint32_t k)
{
	const struct asked *a = asked;

	return a->fn(a->ctx, &a->l->list[k]);
}

bool map_list_any(struct map_list *l, uint64_t start, uint64_t end, uint64_t time_ns,
		  bool (*fn)(const void *ctx, const struct mapping *m), const void *ctx)
{
	struct asked a = { .l = l, .fn = fn, .ctx = ctx };

	return !map_list_is_exhausted(l, time_ns) && each(l, start, end, ask, &a);
}
