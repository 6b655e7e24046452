// SPDX-License-Identifier: GPL-2.0-or-later
#include "service.h"

#include "route_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/keyed.h"
#include "common/xalloc.h"

/* A request, and which of the service's routes it has. */
struct slow {
	const struct chosen_wait *wait;
	uint64_t over_ns;
	size_t route;
};

static int quickest_first(const void *pa, const void *pb)
{
	const struct chosen_wait *a = pa, *b = pb;

	if (request_took_ns(a) != request_took_ns(b))
		return compare_numbers(request_took_ns(a), request_took_ns(b));
	return compare_numbers((uintptr_t)a->wait, (uintptr_t)b->wait);
}

static uint64_t key_of_wait(const void *wait)
{
	return request_took_ns(wait);
}

/* Those that took longer than usual come first, then the others, of which there are many. */
static uint64_t key_of_slow(const void *slow)
{
	const uint64_t half = UINT64_MAX / 2;
	const struct slow *s = slow;
	uint64_t took_ns = request_took_ns(s->wait);

	if (s->over_ns)
		return s->over_ns < half ? half - s->over_ns : 0;
	return took_ns < half ? UINT64_MAX - took_ns : UINT64_MAX - half;
}

static int most_over_first(const void *pa, const void *pb)
{
	const struct slow *a = pa, *b = pb;

	if (a->over_ns != b->over_ns)
		return compare_numbers(b->over_ns, a->over_ns);
	return quickest_first(b->wait, a->wait);
}

static int most_first(const void *pa, const void *pb)
{
	const struct service_route *a = pa, *b = pb;

	if (a->over_ns != b->over_ns)
		return compare_numbers(b->over_ns, a->over_ns);
	if (a->requests->total_ns != b->requests->total_ns)
		return compare_numbers(b->requests->total_ns, a->requests->total_ns);
	return compare_numbers((uintptr_t)a->requests, (uintptr_t)b->requests);
}

/* Sets the medians of all routes. */
static void find_medians(struct service *s)
{
	struct route_time *times = xmalloc(s->requests.all.n * sizeof(*times));
	uint64_t *median_ns = xcalloc(s->n_routes, sizeof(*median_ns));
	size_t n = 0;

	for (size_t i = 0; i < s->n_routes; i++) {
		struct requests_taken all = s->routes[i].requests->all;

		for (size_t k = 0; k < all.n; k++)
			times[n++] = (struct route_time) { (uint32_t)i, all.at[k].others,
							   request_took_ns(&all.at[k]) };
	}
	route_medians(times, n, median_ns);
	for (size_t i = 0; i < s->n_routes; i++)
		s->routes[i].median_ns = median_ns[i];
	free(median_ns);
	free(times);
}

/* slow: room for all requests. */
static void find_slowest(struct service *s, struct slow *slow)
{
	uint64_t count = 0, n_of_slow = 0;
	size_t n = 0, n_slow = 0;
	struct chosen_wait *slowest = s->waits + s->requests.all.n;

	for (size_t i = 0; i < s->n_routes; i++)
		for (size_t k = 0; k < s->routes[i].requests->all.n; k++) {
			const struct chosen_wait *w = &s->routes[i].requests->all.at[k];

			count += request_weight(w);
			slow[n++] = (struct slow) {
				w, route_over_ns(request_took_ns(w), s->routes[i].median_ns), i
			};
		}
	sort_by_key(slow, n, sizeof(*slow), key_of_slow, most_over_first);
	while (n_slow < n &&
	       (n_of_slow < requests_hundredth(count) ||
		requests_also_slow(count, n_of_slow, slow[n_slow].over_ns, slow[0].over_ns)))
		n_of_slow += request_weight(slow[n_slow++].wait);
	for (size_t i = 0; i < n_slow; i++) {
		slowest[i] = *slow[i].wait;
		s->routes[slow[i].route].over_ns += slow[i].over_ns;
		s->routes[slow[i].route].slow++;
		s->over_ns += slow[i].over_ns;
	}
	qsort(slowest, n_slow, sizeof(*slowest), quickest_first);
	s->slowest = (struct requests_taken) { slowest, n_slow };
}

static void add_counts(struct request_counts *to, const struct request_counts *c)
{
	to->pipelined += c->pipelined;
	to->several += c->several;
	to->old += c->old;
	to->unsent += c->unsent;
	to->open += c->open;
	to->before += c->before;
	to->incomplete += c->incomplete;
}

static void add_route(struct service *s, const struct endpoint_requests *e)
{
	if (e->processes > s->requests.processes)
		s->requests.processes = e->processes;
	s->requests.all.n += e->all.n;
	s->requests.total_ns += e->total_ns;
	add_counts(&s->requests.counts, &e->counts);
	if (e->all.n)
		s->routes[s->n_routes++] = (struct service_route) { .requests = e };
}

void service_new(struct service **out, const struct endpoint_requests *at, size_t n)
{
	struct service *s = xcalloc(1, sizeof(*s));
	struct slow *slow;
	size_t all = 0;

	*out = s;
	s->routes = xcalloc(n, sizeof(*s->routes));
	for (size_t i = 0; i < n; i++)
		if (request_service(at[i].endpoint) == request_service(at[0].endpoint))
			add_route(s, &at[i]);
	s->endpoint = *at[0].endpoint;
	s->endpoint.name = s->endpoint.service;
	s->endpoint.route = 0;
	s->requests.endpoint = &s->endpoint;
	/* All, and the slowest. */
	s->waits = xmalloc((2 * s->requests.all.n + 1) * sizeof(*s->waits));
	slow = xmalloc((s->requests.all.n + 1) * sizeof(*slow));
	if (s->requests.all.n) {
		find_medians(s);
		find_slowest(s, slow);
	}
	for (size_t i = 0; i < s->n_routes; i++) {
		memcpy(s->waits + all, s->routes[i].requests->all.at,
		       s->routes[i].requests->all.n * sizeof(*s->waits));
		all += s->routes[i].requests->all.n;
	}
	sort_by_key(s->waits, all, sizeof(*s->waits), key_of_wait, quickest_first);
	s->requests.all.at = s->waits;
	qsort(s->routes, s->n_routes, sizeof(*s->routes), most_first);
	free(slow);
}

void service_free(struct service *s)
{
	if (!s)
		return;
	free(s->waits);
	free(s->routes);
	free(s);
}
