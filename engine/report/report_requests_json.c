// SPDX-License-Identifier: GPL-2.0-or-later
/* The requests of a report's data: see report_requests.h. */
#include <stdlib.h>

#include "formats/format_requests.h"
#include "report_json.h"
#include "report_requests.h"
#include "words/request_words.h"
#include "common/xalloc.h"

/* Size limit of the requests that are shown one by one, in turn one of each endpoint. */
#define REQUESTS_BYTES 600000

static void put_endpoint(struct report_writer *w, const struct report_endpoint *e)
{
	json_on_line(&w->j, NULL, '{');
	json_number(&w->j, "name", report_string(w, e->name));
	json_number(&w->j, "slowest", e->slowest);
	json_begin(&w->j, "edges", '[');
	report_put_numbers(w, e->edge_ns, e->n_steps + 1);
	json_end(&w->j, ']');
	json_begin(&w->j, "counts", '[');
	for (size_t i = 0; i < e->n_steps; i++)
		report_put(w, e->steps[i].n);
	json_end(&w->j, ']');
	json_begin(&w->j, "where", '[');
	for (size_t i = 0; i < e->n_where; i++) {
		json_on_line(&w->j, NULL, '{');
		json_number(&w->j, "text", report_string(w, e->where[i].text));
		json_begin(&w->j, "ns", '[');
		report_put_numbers(w, e->where[i].ns, e->n_steps);
		json_end(&w->j, ']');
		json_end(&w->j, '}');
	}
	json_end(&w->j, ']');
	json_number(&w->j, "endsNs", e->ends_ns);
	json_begin(&w->j, "ends", '[');
	for (size_t i = 0; i < e->n_ends; i++) {
		report_put(w, report_string(w, e->ends[i].who));
		report_put(w, report_string(w, e->ends[i].at));
		report_put(w, report_string(w, e->ends[i].words));
		report_put(w, e->ends[i].ns);
	}
	json_end(&w->j, ']');
	json_end(&w->j, '}');
}

/* The number of a text that is not in names yet; -1 as it is written if it is empty. */
static int64_t string_of(struct report_writer *w, const char *s)
{
	uint32_t text = *s ? names_clean(w->r->names, s) : 0;

	return *s ? (int64_t)report_string(w, text) : -1;
}

static void put_command(struct report_writer *w, const struct chosen_wait *p)
{
	char *text = NULL;
	size_t len;
	FILE *f = xmemstream(&text, &len);

	request_put_example(f, w->r->in, p);
	xmemstream_close(f, &text);
	json_number(&w->j, "command", report_string(w, names_adopt(w->r->names, text)));
	free(text);
}

static void put_request(struct report_writer *w, struct report_chain *chain, size_t endpoint,
			const struct chosen_wait *p, bool sketch)
{
	const struct timelines *tl = w->r->in->timelines;
	const struct request *q = timelines_request_of(tl, p->wait);
	const struct report_wait wait = { *p, false, sketch };
	char trace[TRACE_ID_SIZE];
	int64_t label = string_of(w, request_label(tl, q));
	int64_t id = string_of(w, trace_id_text(trace, timelines_context(tl, q)));

	json_on_line(&w->j, NULL, '{');
	json_number(&w->j, "endpoint", endpoint);
	json_number(&w->j, "took", request_took_ns(p));
	json_number(&w->j, "queued", q->taken_ns - q->arrival_ns);
	json_signed(&w->j, "trace", id);
	json_signed(&w->j, "label", label);
	put_command(w, p);
	report_put_wait(w, "wait", chain, &wait);
	json_end(&w->j, '}');
}

void report_put_requests(struct report_writer *w)
{
	const struct report_requests *q = w->r->requests;
	struct report_chain chain;
	size_t string_bytes = w->string_bytes, begin;

	report_chain_init(&chain, w->r->in->timelines, &w->r->cause_options, w->r->names);
	json_on_line(&w->j, "endpoints", '[');
	for (size_t i = 0; q && i < q->n; i++)
		put_endpoint(w, &q->at[i]);
	json_end(&w->j, ']');
	json_on_line(&w->j, "requests", '[');
	begin = w->j.b.len;
	for (size_t k = 0; q && k < REPORT_REQUESTS; k++) {
		for (size_t i = 0; i < q->n; i++) {
			if (k >= q->at[i].n_shown)
				continue;
			if (w->j.b.len - begin + w->string_bytes - string_bytes > REQUESTS_BYTES)
				break;
			put_request(w, &chain, i, q->at[i].shown[k], k);
		}
	}
	json_end(&w->j, ']');
	report_chain_free(&chain);
}
