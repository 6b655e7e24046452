// SPDX-License-Identifier: GPL-2.0-or-later
#include "requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/keyed.h"
#include "common/xalloc.h"
#include "cpus.h"
#include "trace/trace.h"

/* Requests have numbers of 32 bits. */
#define REQUESTS_MAX (UINT32_MAX - 1)

/* ---- events --------------------------------------------------------------------------------- */

static bool may_be_incomplete(const struct request_list *r, const struct request *q)
{
	return !(q->flags & (REQUEST_SEVERAL | REQUEST_OPEN)) &&
	       r->lost_until_ns >= q->first_answer_ns && r->lost_until_ns;
}

/* The place of the connection's last request: its number + 1, 0 for none. NULL: a datagram's. */
static uint32_t *last_of(struct request_list *r, uint64_t connection)
{
	return pair_table_at(&r->connections, (uint32_t)(connection >> 32), (uint32_t)connection,
			     sizeof(uint32_t));
}

/* The connection has another request from here on: the one before it gets no more. */
static void follow_on(struct request_list *r, uint64_t connection, uint32_t next)
{
	uint32_t *last;

	if (!connection)
		return;
	last = last_of(r, connection);
	if (*last && may_be_incomplete(r, &r->at[*last - 1]))
		r->at[*last - 1].flags |= REQUEST_INCOMPLETE;
	*last = next;
}

static void add(struct request_list *r, const struct request *q)
{
	if (r->n >= REQUESTS_MAX)
		out_of_memory();
	XAPPEND(r->at, r->n, r->cap) = *q;
	follow_on(r, q->connection, (uint32_t)r->n);
}

/* More of an answer was written. */
static void more(struct request_list *r, const struct event *ev, uint32_t writer)
{
	uint32_t *last = ev->request.connection ? last_of(r, ev->request.connection) : NULL;
	struct request *q = last && *last ? &r->at[*last - 1] : NULL;

	if (!q || q->flags & (REQUEST_OPEN | REQUEST_SEVERAL) ||
	    q->first_answer_ns != ev->request.arrival_ns ||
	    ev->request.answer_ns < q->first_answer_ns)
		return; /* of a request that is not there */
	q->answer_ns = ev->request.answer_ns;
	q->writer = writer;
	q->bytes_written = ev->request.bytes_written;
	q->flags &= ~(uint32_t)REQUEST_UNSENT;
	q->flags |= REQUEST_SEVERAL | (ev->request.flags & REQUEST_RECORDED);
}

void requests_event(struct request_list *r, const struct event *ev, uint32_t writer,
		    uint32_t reader)
{
	struct request q = {
		.arrival_ns = ev->request.arrival_ns,
		.taken_ns = ev->request.taken_ns,
		.first_answer_ns = ev->request.answer_ns,
		.answer_ns = ev->request.answer_ns,
		.connection = ev->request.connection,
		.bytes_read = ev->request.bytes_read,
		.bytes_written = ev->request.flags & REQUEST_PROBED ? 0 : ev->request.bytes_written,
		.first_bytes = ev->request.flags & REQUEST_PROBED ? 0 : ev->request.bytes_written,
		.reader = reader,
		.writer = writer,
		.pair = ev->pair,
		.flags = ev->request.flags & REQUEST_RECORDED,
		.others = (ev->request.flags >> CHAINLOG_REQUEST_OTHERS) & UINT16_MAX,
		.object = ev->request.endpoint,
		.label = ev->request.flags & REQUEST_PROBED ? ev->request.label : 0,
		.route = ev->request.flags & REQUEST_PROBED ? 0 : ev->request.label,
	};

	if (ev->kind == EVENT_REQUEST_MORE) {
		more(r, ev, writer);
		return;
	}
	if (ev->kind == EVENT_REQUEST_OPEN) {
		q.first_answer_ns = q.answer_ns = 0;
		q.writer = THREAD_NONE;
		q.flags |= REQUEST_OPEN;
	}
	/* It was read with the answer; where probes mark the end, only in between. */
	q.context =
		contexts_last(&r->contexts, q.writer, q.flags & REQUEST_PROBED ? q.taken_ns : 0);
	add(r, &q);
}

/* Other CPUs' requests of the same time may come between. */
#define REQUESTS_BETWEEN 16u

void requests_stream(struct request_list *r, const struct event *ev, uint32_t writer)
{
	for (size_t i = r->n; i > 0 && r->n - i < REQUESTS_BETWEEN; i--) {
		struct request *q = &r->at[i - 1];

		if (q->writer != writer || q->flags & (REQUEST_OPEN | REQUEST_PROBED) ||
		    q->first_answer_ns > ev->time_ns)
			continue;
		if (!q->socket) {
			q->socket = ev->stream.object;
			q->answer_seq = (uint32_t)ev->stream.written;
			q->request_seq = (uint32_t)ev->stream.received;
		}
		return;
	}
}

void requests_lost(struct request_list *r, uint64_t last_ns)
{
	if (r->lost_until_ns < last_ns)
		r->lost_until_ns = last_ns;
}

void requests_hidden(struct request_list *r, uint64_t last_ns)
{
	if (r->hidden_until_ns < last_ns)
		r->hidden_until_ns = last_ns;
}

void requests_complete(struct request_list *r)
{
	const uint32_t *last = r->connections.at;

	for (uint32_t i = 1; i <= r->connections.keys.n; i++)
		if (last[i] && may_be_incomplete(r, &r->at[last[i] - 1]))
			r->at[last[i] - 1].flags |= REQUEST_INCOMPLETE;
	pair_table_free(&r->connections);
}

/* ---- indexes -------------------------------------------------------------------------------- */

struct at_thread {
	uint64_t ns, then_ns;
	uint32_t thread, request;
};

static uint64_t time_of(const void *at)
{
	return ((const struct at_thread *)at)->ns;
}

static uint64_t thread_of(const void *at)
{
	return ((const struct at_thread *)at)->thread;
}

static int in_time(const void *pa, const void *pb)
{
	const struct at_thread *a = pa, *b = pb;

	if (a->ns != b->ns)
		return compare_numbers(a->ns, b->ns);
	return a->then_ns != b->then_ns ? compare_numbers(a->then_ns, b->then_ns)
					: compare_numbers(a->request, b->request);
}

/* Sorts n places of threads, and says at which of them each of n_threads begins. */
static void sort_by_thread(struct at_thread *at, size_t n, size_t *first, uint32_t n_threads)
{
	size_t k = 0;

	sort_by_key(at, n, sizeof(*at), time_of, in_time);
	sort_by_key(at, n, sizeof(*at), thread_of, NULL);
	for (uint32_t i = 0; i <= n_threads; i++) {
		while (k < n && at[k].thread < i)
			k++;
		first[i] = k;
	}
}

/*
 * An index of the requests at sockets whose reader, or writer, is known. A call of a function may
 * be part of such a request: it would be a second one that a thread works for.
 */
static void make_index(const struct request_list *r, uint32_t n_threads, bool of_writer,
		       uint32_t **by, size_t **first)
{
	struct at_thread *at = xmalloc((r->n + 1) * sizeof(*at));
	size_t n = 0;

	*by = xmalloc((r->n + 1) * sizeof(**by));
	*first = xmalloc(((size_t)n_threads + 1) * sizeof(**first));
	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->at[i];
		uint32_t thread = of_writer ? q->writer : q->reader;

		if (thread != THREAD_NONE && !(q->flags & REQUEST_PROBED))
			at[n++] = (struct at_thread) { of_writer ? q->answer_ns : q->arrival_ns,
						       q->taken_ns, thread, (uint32_t)i };
	}
	sort_by_thread(at, n, *first, n_threads);
	for (size_t i = 0; i < n; i++)
		(*by)[i] = at[i].request;
	free(at);
}

/* A request is taken, or answered. */
struct edge {
	uint64_t ns;
	uint32_t request;
	bool taken;
};

static uint64_t time_of_edge(const void *edge)
{
	return ((const struct edge *)edge)->ns;
}

static int by_time(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	if (a->ns != b->ns)
		return compare_numbers(a->ns, b->ns);
	if (a->taken != b->taken)
		return compare_numbers(a->taken, b->taken);
	return compare_numbers(a->request, b->request);
}

/*
 * Appends the spans of one thread, whose edges are given: of all requests that are taken at one
 * time, the sum of their numbers is kept, which is the number if there is only one. A request that
 * is missing was answered up to hidden_until_ns, and may have been taken at any time before.
 */
static size_t find_spans(const struct edge *edges, size_t n, uint64_t hidden_until_ns,
			 struct request_span *to)
{
	uint64_t sum = 0, count = 0;
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		count += edges[i].taken ? 1 : -UINT64_C(1);
		sum += edges[i].taken ? edges[i].request : -(uint64_t)edges[i].request;
		if (count == 1 && i + 1 < n && edges[i + 1].ns > hidden_until_ns &&
		    edges[i].ns < edges[i + 1].ns)
			to[found++] = (struct request_span) { edges[i].ns > hidden_until_ns
								      ? edges[i].ns
								      : hidden_until_ns,
							      edges[i + 1].ns, (uint32_t)sum };
	}
	return found;
}

/* Of all threads; alone: only of the requests that their writer has read, too. */
static void make_spans(const struct request_list *r, uint32_t n_threads, bool alone,
		       struct request_spans *s)
{
	struct edge *edges = xmalloc((2 * r->n + 1) * sizeof(*edges));
	size_t n = 0;

	s->at = xmalloc((2 * r->n + 1) * sizeof(*s->at));
	s->first = xcalloc((size_t)n_threads + 1, sizeof(*s->first));
	for (uint32_t i = 0; i < n_threads; i++) {
		size_t n_edges = 0;

		s->first[i] = n;
		for (size_t k = r->first_by_writer[i]; k < r->first_by_writer[i + 1]; k++) {
			uint32_t number = r->by_writer[k];
			const struct request *q = &r->at[number];

			/* An answer of no duration is over before it begins, in the order of edges.
			 */
			if (q->taken_ns >= q->answer_ns || (alone && q->reader != i))
				continue;
			edges[n_edges++] = (struct edge) { q->taken_ns, number, true };
			edges[n_edges++] = (struct edge) { q->answer_ns, number, false };
		}
		sort_by_key(edges, n_edges, sizeof(*edges), time_of_edge, by_time);
		n += find_spans(edges, n_edges, r->hidden_until_ns, s->at + n);
	}
	s->first[n_threads] = n;
	free(edges);
}

static int by_trace_and_time(const void *pa, const void *pb, void *list)
{
	const struct request_list *r = list;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct context *x = &r->contexts.at[r->at[a].context];
	const struct context *y = &r->contexts.at[r->at[b].context];

	for (int i = 0; i < 2; i++)
		if (x->trace[i] != y->trace[i])
			return compare_numbers(x->trace[i], y->trace[i]);
	if (r->at[a].arrival_ns != r->at[b].arrival_ns)
		return compare_numbers(r->at[a].arrival_ns, r->at[b].arrival_ns);
	return compare_numbers(a, b);
}

static void index_traces(struct request_list *r)
{
	if (!r->contexts.n)
		return;
	r->by_trace = xmalloc((r->n + 1) * sizeof(*r->by_trace));
	for (size_t i = 0; i < r->n; i++) {
		const struct context *c = &r->contexts.at[r->at[i].context];

		if (c->trace[0] | c->trace[1])
			r->by_trace[r->n_by_trace++] = (uint32_t)i;
	}
	qsort_r(r->by_trace, r->n_by_trace, sizeof(*r->by_trace), by_trace_and_time, r);
}

void requests_index(struct request_list *r, uint32_t n_threads)
{
	make_index(r, n_threads, true, &r->by_writer, &r->first_by_writer);

	make_index(r, n_threads, false, &r->by_reader, &r->first_by_reader);
	make_spans(r, n_threads, false, &r->written);
	make_spans(r, n_threads, true, &r->served);
	index_traces(r);
}

/* Whether the trace id of a request of by_trace comes before this one. */
static bool is_trace_before(const struct request_list *r, uint32_t number, const uint64_t trace[2])
{
	const struct context *c = &r->contexts.at[r->at[number].context];

	return c->trace[0] != trace[0] ? c->trace[0] < trace[0] : c->trace[1] < trace[1];
}

const uint32_t *requests_of_trace(const struct request_list *r, const uint64_t trace[2], size_t *n)
{
	size_t low = 0, high = r->n_by_trace, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_trace_before(r, r->by_trace[middle], trace))
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < r->n_by_trace; end++)
		if (memcmp(r->contexts.at[r->at[r->by_trace[end]].context].trace, trace,
			   2 * sizeof(*trace)) != 0)
			break;
	*n = end - low;
	return r->by_trace + low;
}

void requests_free(struct request_list *r)
{
	free(r->at);
	free(r->endpoints);
	free(r->by_writer);
	free(r->by_reader);
	free(r->first_by_writer);
	free(r->first_by_reader);
	free(r->written.at);
	free(r->written.first);
	free(r->served.at);
	free(r->served.first);
	contexts_free(&r->contexts);
	free(r->by_trace);
	free(r->waits);
	free(r->of_wait);
	free(r->wait_of);
	pair_table_free(&r->connections);
}
