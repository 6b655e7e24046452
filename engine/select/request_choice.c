// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_choice.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"

#define WHOLE_PPM 1000000u

/* A request, by how long it took; of those that took as long, by when it began. */
struct rank {
	uint64_t took_ns, arrival_ns;
	uint32_t endpoint; /* the first of those called the same */
	uint32_t request;
};

/* Of an endpoint. */
struct choice {
	bool fits; /* it was named, or none was */
	/* Of the first of those called the same: the last that is among the slowest; request
	 * UINT32_MAX: all are */
	struct rank last;
};

struct request_choice {
	const struct timelines *timelines;
	const struct options *options;
	struct choice *of; /* by endpoint */
};

static int slowest_first(const void *pa, const void *pb)
{
	const struct rank *a = pa, *b = pb;

	if (a->endpoint != b->endpoint)
		return compare_numbers(a->endpoint, b->endpoint);
	if (a->took_ns != b->took_ns)
		return compare_numbers(b->took_ns, a->took_ns);
	if (a->arrival_ns != b->arrival_ns)
		return compare_numbers(a->arrival_ns, b->arrival_ns);
	return compare_numbers(a->request, b->request);
}

static struct rank rank_of(const struct timelines *tl, const struct request *q)
{
	size_t n;

	uint32_t n_endpoints;

	return (struct rank) { q->answer_ns - q->arrival_ns, q->arrival_ns,
			       timelines_endpoints(tl, &n_endpoints)[q->endpoint].alike,
			       (uint32_t)(q - timelines_requests(tl, &n)) };
}

/* The first requests of connections to an address are left out, unless there are no others. */
static int leave_out_first(struct request_choice *c, const size_t *n_of)
{
	uint32_t n;
	const struct request_endpoint *e = timelines_endpoints(c->timelines, &n);
	bool *has_others = calloc((size_t)n + 1, sizeof(*has_others)); /* by address */

	for (uint32_t i = 0; i < n && has_others; i++)
		has_others[e[i].address] |= !e[i].first && n_of[i];
	for (uint32_t i = 0; i < n && has_others; i++)
		if (e[i].first && has_others[e[i].address])
			c->of[i].fits = false;
	free(has_others);
	return has_others ? 0 : -ENOMEM;
}

static int find_slowest(struct request_choice *c, uint64_t from_ns, uint64_t to_ns)
{
	size_t n_all, n = 0;
	uint32_t n_endpoints;
	const struct request *all = timelines_requests(c->timelines, &n_all);
	struct rank *ranks = malloc((n_all + 1) * sizeof(*ranks));
	size_t *n_of;
	int err;

	timelines_endpoints(c->timelines, &n_endpoints);
	n_of = calloc((size_t)n_endpoints + 1, sizeof(*n_of));
	for (size_t i = 0; i < n_all && ranks && n_of; i++) {
		const struct request *q = &all[i];

		if (q->flags & REQUEST_UNEXPLAINED || q->answer_ns <= from_ns ||
		    q->arrival_ns >= to_ns || q->arrival_ns == q->answer_ns)
			continue;
		ranks[n] = rank_of(c->timelines, q);
		n_of[ranks[n++].endpoint]++;
	}
	if (ranks && n_of)
		qsort(ranks, n, sizeof(*ranks), slowest_first);
	for (size_t i = 0; ranks && n_of && i < n;) {
		uint32_t endpoint = ranks[i].endpoint;
		uint64_t chosen = (uint64_t)n_of[endpoint] * c->options->slowest_ppm / WHOLE_PPM;

		c->of[endpoint].last = ranks[i + (chosen ? chosen : 1) - 1];
		i += n_of[endpoint];
	}
	err = ranks && n_of ? leave_out_first(c, n_of) : -ENOMEM;
	free(ranks);
	free(n_of);
	return err;
}

int request_choice_new(struct request_choice **out, const struct timelines *tl,
		       const struct options *o, uint64_t from_ns, uint64_t to_ns)
{
	struct request_choice *c = calloc(1, sizeof(*c));
	const struct trace *t = timelines_trace(tl);
	const struct request_endpoint *e;
	uint32_t n;
	int err = -ENOMEM;

	*out = NULL;
	e = timelines_endpoints(tl, &n);
	if (c)
		c->of = calloc((size_t)n + 1, sizeof(*c->of));
	if (c && c->of) {
		c->timelines = tl;
		c->options = o;
		for (uint32_t i = 0; i < n; i++) {
			c->of[i].last.request = UINT32_MAX;
			c->of[i].fits =
				!o->endpoints.n ||
				regex_list_match(&o->endpoints, trace_string(t, e[i].name)) ||
				regex_list_match(&o->endpoints, trace_string(t, e[i].process));
		}
		err = o->slowest_ppm ? find_slowest(c, from_ns, to_ns) : 0;
	}
	if (err)
		request_choice_free(c);
	else
		*out = c;
	return err;
}

void request_choice_free(struct request_choice *c)
{
	if (!c)
		return;
	free(c->of);
	free(c);
}

static bool is_of_trace(const struct request_choice *c, const struct request *q)
{
	const uint64_t *id = c->options->trace_id;
	const struct context *context = timelines_context(c->timelines, q);

	return !(id[0] | id[1]) ||
	       (context && context->trace[0] == id[0] && context->trace[1] == id[1]);
}

bool request_choice_has(const struct request_choice *c, const struct wait *w)
{
	const struct request *q = timelines_request_of(c->timelines, w);
	struct rank rank = rank_of(c->timelines, q);
	const struct rank *last = &c->of[rank.endpoint].last;

	if (!c->of[q->endpoint].fits || q->answer_ns - q->arrival_ns < c->options->min_request_ns)
		return false;
	if (!is_of_trace(c, q))
		return false;
	return last->request == UINT32_MAX || slowest_first(&rank, last) <= 0;
}
