// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_requests.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/compare.h"
#include "formats/chain_ends.h"
#include "formats/format_requests.h"
#include "report_cells.h"
#include "common/xalloc.h"

/* ---- steps ---------------------------------------------------------------------------------- */

/* Steps of a latency: each power of two is divided into 1 << fine equal ones. */
#define FINEST 5u

static unsigned int step_of(uint64_t ns, unsigned int fine)
{
	unsigned int power;

	ns |= 1u << FINEST;
	power = 63 - (unsigned int)__builtin_clzll(ns);
	return (power << fine) + (unsigned int)(ns >> (power - fine)) - (1u << fine);
}

static uint64_t step_begins(unsigned int step, unsigned int fine)
{
	unsigned int power = step >> fine;
	uint64_t part = (1u << fine) + (step & ((1u << fine) - 1));

	return part << (power - fine);
}

/* Makes of the step with the quickest of the slowest requests two, of which the second has those.
 */
static void split_at_slowest(struct report_endpoint *e)
{
	struct requests_taken slowest = requests_slowest(e->requests->all), *step = e->steps;
	size_t i = 0;

	while (slowest.at >= step[i].at + step[i].n)
		i++;
	e->slowest = i + (slowest.at > step[i].at);
	if (e->slowest == i)
		return;
	for (size_t k = e->n_steps; k > i; k--) {
		e->steps[k] = e->steps[k - 1];
		e->edge_ns[k + 1] = e->edge_ns[k];
	}
	step[i].n = (size_t)(slowest.at - step[i].at);
	step[i + 1] = (struct requests_taken) { slowest.at, step[i + 1].n - step[i].n };
	e->edge_ns[i + 1] = request_took_ns(slowest.at);
	e->n_steps++;
}

/*
 * Divides the requests, which are sorted, into as fine steps as there is room for: one less, as the
 * slowest begin a step.
 */
static void make_steps(struct report_endpoint *e)
{
	struct requests_taken all = e->requests->all;
	unsigned int fine = FINEST + 1, first, last;

	do {
		fine--;
		first = step_of(request_took_ns(&all.at[0]), fine);
		last = step_of(request_took_ns(&all.at[all.n - 1]), fine);
	} while (last - first >= REPORT_LATENCIES - 1 && fine);
	if (last - first >= REPORT_LATENCIES - 1)
		first = last - REPORT_LATENCIES + 2;
	e->n_steps = last - first + 1;
	for (size_t i = 0, at = 0; i < e->n_steps; i++) {
		size_t begin = at;

		e->edge_ns[i] = step_begins(first + (unsigned int)i, fine);
		e->edge_ns[i + 1] = step_begins(first + (unsigned int)i + 1, fine);
		while (at < all.n &&
		       (i + 1 == e->n_steps || request_took_ns(&all.at[at]) < e->edge_ns[i + 1]))
			at++;
		e->steps[i] = (struct requests_taken) { all.at + begin, at - begin };
	}
	split_at_slowest(e);
}

/* ---- where the time went -------------------------------------------------------------------- */

struct weight {
	uint64_t ns;
	const struct request_time *row;
};

static int most_first(const void *pa, const void *pb)
{
	const struct weight *a = pa, *b = pb;

	return a->ns != b->ns ? compare_numbers(b->ns, a->ns)
			      : (a->row > b->row) - (a->row < b->row);
}

static void put_row(struct report_endpoint *e, struct names *names, const struct request_time *row,
		    size_t i)
{
	struct report_where *to = &e->where[i < REPORT_WHERE ? i : REPORT_WHERE - 1];
	struct text_buf b = { 0 };

	for (size_t k = 0; k < e->n_steps; k++)
		to->ns[k] += row->ns[k];
	if (i >= REPORT_WHERE) {
		to->text = names_adopt(names, CHAIN_OTHER);
	} else {
		e->n_where = i + 1;
		request_time_put(&b, names, row);
		to->text = names_adopt(names, b.p);
	}
	text_free(&b);
}

static void find_where(struct report_endpoint *e, const struct report *r,
		       struct request_times *times)
{
	struct weight *weights;
	const struct request_time *rows;
	size_t n;

	request_times_explain(times, e->steps, e->n_steps);
	rows = request_times_list(times, &n);
	weights = xcalloc(n + 1, sizeof(*weights));
	for (size_t i = 0; i < n; i++) {
		weights[i].row = &rows[i];
		for (size_t k = 0; k < e->n_steps; k++)
			weights[i].ns += rows[i].ns[k];
	}
	qsort(weights, n, sizeof(*weights), most_first);
	for (size_t i = 0; i < n; i++)
		put_row(e, r->names, weights[i].row, i);
	free(weights);
}

/* ---- what they came down to ------------------------------------------------------------------ */

/* The text in the report's names. */
static uint32_t taken_over(const struct report *r, const struct names *from, uint32_t text)
{
	return names_adopt(r->names, text ? names_text(from, text) : "");
}

static void find_ends(struct report_endpoint *e, const struct report *r, const struct subjects *s)
{
	struct requests_taken slowest = requests_slowest(e->requests->all);
	struct chain_steps *steps;
	struct chain_end_sum *ends;
	size_t n;

	chain_steps_new(&steps, r->in->timelines, &s->of_requests, s->names, s->known);
	for (size_t i = 0; i < slowest.n; i++)
		chain_steps_add(steps, &slowest.at[i]);
	chain_steps_end(steps);
	ends = chain_ends(steps, s->names, &n);
	e->ends_ns = chain_steps_total_ns(steps);
	e->n_ends = n < REPORT_ENDS ? n : REPORT_ENDS;
	for (size_t i = 0; i < e->n_ends; i++) {
		e->ends[i].who = taken_over(r, s->names, ends[i].who);
		e->ends[i].at = taken_over(r, s->names, ends[i].at);
		e->ends[i].words = taken_over(r, s->names, ends[i].words);
		e->ends[i].ns = ends[i].ns;
	}
	free(ends);
	chain_steps_free(steps);
}

void report_requests_find_ends(const struct report *r, const struct subjects *answer)
{
	for (size_t i = 0; r->requests && i < r->requests->n; i++)
		find_ends(&r->requests->at[i], r, answer);
}

/* ---- one by one ----------------------------------------------------------------------------- */

static void show(struct report_endpoint *e, const struct chosen_wait *p)
{
	for (size_t i = 0; i < e->n_shown; i++)
		if (e->shown[i] == p)
			return;
	if (e->n_shown < REPORT_REQUESTS)
		e->shown[e->n_shown++] = p;
}

/* Those that are sorted behind others took longer: all are of one array. */
static int slowest_first(const void *pa, const void *pb)
{
	const struct chosen_wait *a = *(const struct chosen_wait *const *)pa;
	const struct chosen_wait *b = *(const struct chosen_wait *const *)pb;

	return (a < b) - (a > b);
}

/* The slowest ones; of each step the one in the middle, and the slowest. */
static void choose_shown(struct report_endpoint *e)
{
	struct requests_taken all = e->requests->all;
	size_t slowest = requests_slowest(all).n;

	slowest = slowest < 20 ? 20 : slowest > REPORT_SLOWEST ? REPORT_SLOWEST : slowest;
	for (size_t i = 0; i < slowest && i < all.n; i++)
		show(e, &all.at[all.n - 1 - i]);
	for (size_t i = 0; i < e->n_steps; i++) {
		if (!e->steps[i].n)
			continue;
		show(e, &e->steps[i].at[(e->steps[i].n - 1) / 2]);
		show(e, &e->steps[i].at[e->steps[i].n - 1]);
	}
	qsort(e->shown, e->n_shown, sizeof(*e->shown), slowest_first);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void make_endpoint(struct report_endpoint *e, const struct report *r,
			  struct request_times *times, const struct endpoint_requests *requests)
{
	struct text_buf b = { 0 };

	e->requests = requests;
	request_endpoint_put(&b, r->in, requests);
	e->name = names_adopt(r->names, b.p);
	text_free(&b);
	make_steps(e);
	choose_shown(e);
	find_where(e, r, times);
}

void report_requests_new(struct report_requests **out, const struct report *r,
			 const struct options *o)
{
	struct report_requests *q = xcalloc(1, sizeof(*q));
	const struct endpoint_requests *all;
	struct request_times *times = NULL;
	size_t n;

	*out = q;
	q->options = *o;
	q->options.requests = true;
	wait_filter_new(&q->filter, r->in->timelines, &q->options, r->names);
	request_table_new(&q->table, r->in->timelines, &q->options, q->filter);
	all = request_table_list(q->table, &n);
	q->at = xcalloc(REPORT_ENDPOINTS, sizeof(*q->at));
	if (n)
		request_times_new(&times, r->in->timelines, &q->options, r->names, r->cpu_holders);
	for (size_t i = 0; i < n; i++) {
		if (!all[i].all.n)
			continue;
		if (q->n < REPORT_ENDPOINTS)
			make_endpoint(&q->at[q->n++], r, times, &all[i]);
		q->n_all++;
	}
	request_times_free(times);
	if (!q->n) {
		report_requests_free(q);
		*out = NULL;
	}
}

void report_requests_free(struct report_requests *q)
{
	if (!q)
		return;
	free(q->at);
	request_table_free(q->table);
	wait_filter_free(q->filter);
	free(q);
}

/* ---- the table ------------------------------------------------------------------------------ */

static bool has_routes(const struct report_requests *q)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->at[i].requests->endpoint->route)
			return true;
	return false;
}

static void put_endpoint(FILE *out, const struct report *r, const struct report_endpoint *e,
			 bool with_route)
{
	static const unsigned int per_mille[] = { 500, 900, 990, 999, 1000 };
	struct requests_taken all = e->requests->all;
	uint64_t count = requests_count(all);
	char *rate = request_rate(r->in, r->requests->filter, count);
	struct text_buf service = { 0 }, route = { 0 };

	request_service_put(&service, &route, r->in, e->requests);
	fputs("<tr><td><bdi>", out);
	print_html(out, service.p);
	fputs(with_route ? "</bdi></td><td><bdi>" : "", out);
	print_html(out, route.len ? route.p : "");
	text_free(&service);
	text_free(&route);
	fprintf(out,
		"</bdi></td><td data-v=\"%" PRIu64 "\">%" PRIu64 "</td><td data-v=\"%s\">%s</td>",
		count, count, rate, rate);
	free(rate);
	report_put_time_cell(out, e->requests->total_ns / count);
	for (size_t i = 0; i < sizeof(per_mille) / sizeof(*per_mille); i++)
		report_put_time_cell(out, requests_percentile(all, per_mille[i]));
	fputs("</tr>\n", out);
}

void report_requests_put(FILE *out, const struct report *r)
{
	const struct report_requests *q = r->requests;
	uint64_t untold = trace_info(r->in->trace)->left_out[CHAINLOG_LEFT_REQUESTS];
	bool with_route;

	if (!q)
		return;
	with_route = has_routes(q);
	fprintf(out,
		"<section id=\"requests\">\n<h2>Requests</h2>\n<p class=\"note\">How long clients "
		"waited for servers here, by endpoint, from the arrival of a request to its "
		"answer.</p>\n<p class=\"note\" id=\"requests-said\"></p>\n"
		"<div class=\"scroll "
		"endpoints%s\"><table><thead><tr><th>Endpoint</th>%s<th>Requests</th>"
		"<th>Per second</th><th>Mean</th><th>p50</th><th>p90</th><th>p99</th><th>p99.9</th>"
		"<th>Longest</th></tr></thead>\n<tbody>\n",
		with_route ? " routes" : "", with_route ? "<th>Route</th>" : "");
	for (size_t i = 0; i < q->n; i++)
		put_endpoint(out, r, &q->at[i], with_route);
	fputs("</tbody></table></div>\n", out);
	if (q->n_all > q->n)
		fprintf(out, "<p class=\"note\">and %zu more endpoints, with less time.</p>\n",
			q->n_all - q->n);
	if (untold)
		fprintf(out,
			"<p class=\"note\">%" PRIu64
			" more requests were not recorded: they came too fast.</p>\n",
			untold);
	fputs("<div id=\"requests-view\"></div>\n</section>\n", out);
}
