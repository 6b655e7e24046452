// SPDX-License-Identifier: GPL-2.0-or-later
#include "endpoint_requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/keyed.h"
#include "common/xalloc.h"

/* Up to so many are the slowest, if others are nearly as slow. */
#define SLOW_LEAST 5

struct request_table {
	const struct timelines *timelines;
	struct chosen_wait *waits; /* by endpoint, then the quickest first */
	size_t n_waits, cap_waits; /* less than 2^32: there are no more requests */
	struct endpoint_requests *at;
	size_t n;
};

static bool add_wait(void *arg, const struct chosen_wait *p)
{
	struct request_table *t = arg;

	XGROW(t->waits, t->n_waits, t->cap_waits);
	t->waits[t->n_waits] = *p;
	t->waits[t->n_waits++].others = timelines_request_of(t->timelines, p->wait)->others;
	return true;
}

/* The first of the endpoints that are called as the request's. */
static uint32_t alike(const struct timelines *tl, const struct request *q)
{
	uint32_t n;

	return timelines_endpoints(tl, &n)[q->endpoint].alike;
}

/* What decides a request's place. */
struct place {
	uint64_t took_ns;
	const struct request *request;
	uint32_t alike, wait; /* wait: number in waits[] */
};

/* Among requests that took as long, the last one first: so --slowest leaves out these first. */
static int quickest_first(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->alike != b->alike)
		return compare_numbers(a->alike, b->alike);
	if (a->took_ns != b->took_ns)
		return compare_numbers(a->took_ns, b->took_ns);
	if (a->request->arrival_ns != b->request->arrival_ns)
		return compare_numbers(b->request->arrival_ns, a->request->arrival_ns);
	return compare_numbers((uintptr_t)b->request, (uintptr_t)a->request);
}

static uint64_t key_of_place(const void *place)
{
	return key_of_two(((const struct place *)place)->alike,
			  ((const struct place *)place)->took_ns);
}

static void sort_waits(struct request_table *t)
{
	const struct timelines *tl = t->timelines;
	struct place *places = xmalloc((t->n_waits + 1) * sizeof(*places));
	struct chosen_wait *sorted = xmalloc((t->n_waits + 1) * sizeof(*sorted));

	for (size_t i = 0; i < t->n_waits; i++) {
		const struct request *q = timelines_request_of(tl, t->waits[i].wait);

		places[i] = (struct place) { request_took_ns(&t->waits[i]), q, alike(tl, q),
					     (uint32_t)i };
	}
	sort_by_key(places, t->n_waits, sizeof(*places), key_of_place, quickest_first);
	for (size_t i = 0; i < t->n_waits; i++)
		sorted[i] = t->waits[places[i].wait];
	free(places);
	free(t->waits);
	t->waits = sorted;
}

static void count(struct request_counts *c, const struct request *q)
{
	c->pipelined += !!(q->flags & REQUEST_PIPELINED);
	c->several += !!(q->flags & REQUEST_SEVERAL);
	c->old += !!(q->flags & REQUEST_OLD);
	c->unsent += !!(q->flags & REQUEST_UNSENT);
	if (q->flags & REQUEST_OPEN)
		c->open++;
	else if (q->flags & REQUEST_BEFORE)
		c->before++;
	else if (q->flags & REQUEST_INCOMPLETE)
		c->incomplete++;
}

static int most_time_first(const void *pa, const void *pb, void *trace)
{
	const struct endpoint_requests *a = pa, *b = pb;

	if (a->endpoint->first != b->endpoint->first)
		return a->endpoint->first - b->endpoint->first;
	if (a->total_ns != b->total_ns)
		return compare_numbers(b->total_ns, a->total_ns);
	return strcmp(trace_string(trace, a->endpoint->client),
		      trace_string(trace, b->endpoint->client));
}

/* Sorts the waits, and finds each endpoint's; at[] is by number of endpoint. */
static void find_waits(struct request_table *t, struct endpoint_requests *at)
{
	const struct timelines *tl = t->timelines;
	size_t end;

	sort_waits(t);
	for (size_t i = 0; i < t->n_waits; i = end) {
		uint32_t endpoint = alike(tl, timelines_request_of(tl, t->waits[i].wait));
		struct endpoint_requests *e = &at[endpoint];

		for (end = i; end < t->n_waits; end++) {
			if (alike(tl, timelines_request_of(tl, t->waits[end].wait)) != endpoint)
				break;
			e->total_ns +=
				request_took_ns(&t->waits[end]) * request_weight(&t->waits[end]);
		}
		e->all = (struct requests_taken) { &t->waits[i], end - i };
	}
}

/* Whether the options leave out requests: those that are not explained are not asked. */
static bool leaves_out(const struct options *o)
{
	return o->command || o->given & (GIVEN_WHO | GIVEN_WITHIN | GIVEN_RANGE | GIVEN_WAIT |
					 GIVEN_STATE | GIVEN_OF_OBJECTS | GIVEN_REQUESTS);
}

void request_table_new(struct request_table **out, const struct timelines *tl,
		       const struct options *o, struct wait_filter *f)
{
	struct request_table *t = xcalloc(1, sizeof(*t));
	const struct request_endpoint *endpoints;
	const struct request *requests;
	size_t n_requests;
	uint32_t n;

	*out = t;
	requests = timelines_requests(tl, &n_requests);
	endpoints = timelines_endpoints(tl, &n);
	t->at = xcalloc((size_t)n + 1, sizeof(*t->at));
	t->timelines = tl;
	top_waits_walk(tl, f, 0, add_wait, t);
	find_waits(t, t->at);
	for (size_t i = 0; i < n_requests; i++)
		count(&t->at[alike(tl, &requests[i])].counts, &requests[i]);
	for (uint32_t i = 0; i < n; i++)
		t->at[endpoints[i].alike].processes++;
	for (uint32_t i = 0; i < n; i++) {
		t->at[i].endpoint = &endpoints[i];
		if (t->at[i].processes && (t->at[i].all.n || !leaves_out(o)))
			t->at[t->n++] = t->at[i];
	}
	if (t->n)
		qsort_r(t->at, t->n, sizeof(*t->at), most_time_first,
			(struct trace *)timelines_trace(tl));
}

void request_table_free(struct request_table *t)
{
	if (!t)
		return;
	free(t->waits);
	free(t->at);
	free(t);
}

const struct endpoint_requests *request_table_list(const struct request_table *t, size_t *n)
{
	*n = t->n;
	return t->at;
}

uint64_t requests_count(struct requests_taken of)
{
	uint64_t n = 0;

	for (size_t i = 0; i < of.n; i++)
		n += request_weight(&of.at[i]);
	return n;
}

/* So many of the quickest are the first n requests, or nearly: the one with the n-th is there. */
static size_t quickest(struct requests_taken all, uint64_t n)
{
	size_t i = 0;

	for (uint64_t before = 0; i < all.n; i++) {
		before += request_weight(&all.at[i]);
		if (before > n)
			break;
	}
	return i;
}

uint64_t requests_percentile(struct requests_taken all, unsigned int per_mille)
{
	uint64_t rank = (requests_count(all) * per_mille + 999) / 1000;

	return request_took_ns(&all.at[quickest(all, rank - 1)]);
}

uint64_t requests_hundredth(uint64_t all)
{
	return all / 100 || !all ? all / 100 : 1;
}

bool requests_also_slow(uint64_t all, uint64_t n, uint64_t over_ns, uint64_t most_over_ns)
{
	return n < SLOW_LEAST && n < all / 10 && over_ns &&
	       over_ns >= most_over_ns - most_over_ns / 2;
}

struct requests_taken requests_slowest(struct requests_taken all)
{
	uint64_t count = requests_count(all), hundredth = requests_hundredth(count), slow = 0;
	uint64_t median_ns = all.n ? requests_percentile(all, 500) : 0;
	uint64_t most_ns = all.n ? request_took_ns(&all.at[all.n - 1]) - median_ns : 0;
	size_t n = 0;

	for (; n < all.n && slow < hundredth; n++)
		slow += request_weight(&all.at[all.n - 1 - n]);
	while (n < all.n / 2 &&
	       requests_also_slow(count, slow, request_took_ns(&all.at[all.n - 1 - n]) - median_ns,
				  most_ns))
		slow += request_weight(&all.at[all.n - 1 - n++]);
	return (struct requests_taken) { all.at + (all.n - n), n };
}

struct requests_taken requests_median(struct requests_taken all)
{
	uint64_t count = requests_count(all);
	size_t from = quickest(all, count * 45 / 100), to = quickest(all, count * 55 / 100);

	if (from == to && all.n) {
		from = quickest(all, (count - 1) / 2);
		to = from + 1;
	}
	return (struct requests_taken) { all.at + from, to - from };
}

uint64_t requests_shown_ns(struct requests_taken of)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < of.n; i++)
		ns += chosen_wait_ns(&of.at[i]) * request_weight(&of.at[i]);
	return ns;
}
