// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_times.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/keyed.h"
#include "common/xalloc.h"

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

static uint64_t key_of(const void *time)
{
	const struct route_time *t = time;

	return key_of_two(t->route, t->took_ns);
}

static size_t count_same(const struct route_time *at, size_t n)
{
	size_t i = 0;

	while (i < n && at[i].route == at[0].route)
		i++;
	return i;
}

static uint64_t count(const struct route_time *at, size_t n)
{
	uint64_t all = n;

	for (size_t i = 0; i < n; i++)
		all += at[i].others;
	return all;
}

/* The lower one of two in the middle. */
static uint64_t middle(const struct route_time *at, size_t n)
{
	uint64_t left = (count(at, n) - 1) / 2;

	for (; at->others < left; at++)
		left -= 1 + (uint64_t)at->others;
	return at->took_ns;
}

void route_medians(struct route_time *at, size_t n, uint64_t *median_ns)
{
	size_t n_rare = 0, same;
	uint64_t rare_ns;

	sort_by_key(at, n, sizeof(*at), key_of, by_route);
	for (size_t i = 0; i < n; i += same) {
		same = count_same(at + i, n - i);
		median_ns[at[i].route] = middle(at + i, same);
		/* Those of rare routes come to the front, where all before them are done with. */
		if (count(at + i, same) >= REQUESTS_RARE)
			continue;
		for (size_t k = i; k < i + same; k++)
			at[n_rare++] = at[k];
	}
	if (!n_rare)
		return;
	qsort(at, n_rare, sizeof(*at), by_time);
	rare_ns = middle(at, n_rare);
	for (size_t i = 0; i < n_rare; i++)
		median_ns[at[i].route] = rare_ns;
}

/* ---- of a trace ----------------------------------------------------------------------------- */

/* A request. */
struct served {
	uint32_t service;
	struct route_time time;
};

static uint64_t key_of_service(const void *served)
{
	return ((const struct served *)served)->service;
}

bool request_overlaps(const struct request *q, uint64_t from_ns, uint64_t to_ns)
{
	return !(q->flags & REQUEST_UNEXPLAINED) && q->answer_ns > from_ns &&
	       q->arrival_ns < to_ns && q->arrival_ns != q->answer_ns;
}

void shown_window(const struct timelines *tl, const struct options *o, uint64_t *from_ns,
		  uint64_t *to_ns)
{
	uint64_t start_ns = timelines_start_ns(tl);

	*from_ns = start_ns > UINT64_MAX - o->from_ns ? UINT64_MAX : start_ns + o->from_ns;
	*to_ns = start_ns > UINT64_MAX - o->to_ns ? UINT64_MAX : start_ns + o->to_ns;
}

uint64_t *request_medians(const struct timelines *tl, const struct options *o)
{
	uint32_t n_endpoints;
	uint64_t from_ns, to_ns;
	const struct request_endpoint *e = timelines_endpoints(tl, &n_endpoints);
	uint64_t *median_ns = xcalloc((size_t)n_endpoints + 1, sizeof(*median_ns));
	size_t n_all, n = 0, same;
	const struct request *all = timelines_requests(tl, &n_all);
	struct served *served = xmalloc((n_all + 1) * sizeof(*served));
	struct route_time *times = xmalloc((n_all + 1) * sizeof(*times));

	shown_window(tl, o, &from_ns, &to_ns);
	for (size_t i = 0; i < n_all; i++)
		if (request_overlaps(&all[i], from_ns, to_ns))
			served[n++] = (struct served) {
				request_service(&e[e[all[i].endpoint].alike]),
				{ e[all[i].endpoint].alike, all[i].others,
				  all[i].answer_ns - all[i].arrival_ns },
			};
	sort_by_key(served, n, sizeof(*served), key_of_service, NULL);
	for (size_t i = 0; i < n; i += same) {
		for (same = 0; i + same < n && served[i + same].service == served[i].service;
		     same++)
			times[same] = served[i + same].time;
		route_medians(times, same, median_ns);
	}
	free(times);
	free(served);
	return median_ns;
}

uint64_t request_over_ns(const struct timelines *tl, const uint64_t *median_ns,
			 const struct request *q)
{
	uint32_t n;

	return route_over_ns(q->answer_ns - q->arrival_ns,
			     median_ns[timelines_endpoints(tl, &n)[q->endpoint].alike]);
}
