// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_times.h"

#include <stdlib.h>

#include "base/compare.h"
#include "timeline/requests.h"

static int by_time(const void *pa, const void *pb)
{
	const struct route_time *a = pa, *b = pb;

	return compare_numbers(a->took_ns, b->took_ns);
}

static int by_route(const void *pa, const void *pb)
{
	const struct route_time *a = pa, *b = pb;

	return a->route != b->route ? compare_numbers(a->route, b->route) : by_time(a, b);
}

static size_t count_same(const struct route_time *at, size_t n)
{
	size_t i = 0;

	while (i < n && at[i].route == at[0].route)
		i++;
	return i;
}

/* The lower one of two in the middle. */
static uint64_t middle(const struct route_time *at, size_t n)
{
	return at[(n - 1) / 2].took_ns;
}

void route_medians(struct route_time *at, size_t n, uint64_t *median_ns)
{
	size_t n_rare = 0, same;
	uint64_t rare_ns;

	qsort(at, n, sizeof(*at), by_route);
	for (size_t i = 0; i < n; i += same) {
		same = count_same(at + i, n - i);
		median_ns[at[i].route] = middle(at + i, same);
		/* Those of rare routes come to the front, where all before them are done with. */
		for (size_t k = i; k < i + same && same < REQUESTS_RARE; k++)
			at[n_rare++] = at[k];
	}
	if (!n_rare)
		return;
	qsort(at, n_rare, sizeof(*at), by_time);
	rare_ns = middle(at, n_rare);
	for (size_t i = 0; i < n_rare; i++)
		median_ns[at[i].route] = rare_ns;
}
