// SPDX-License-Identifier: GPL-2.0-or-later

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_private.h"
#include "base/compare.h"
#include "base/keyed.h"
#include "common/xalloc.h"
#include "processes.h"

/* ---- endpoints ------------------------------------------------------------------------------ */

/* The thread whose process is the request's server; THREAD_NONE: it is not known. */
static uint32_t server_thread(const struct request *q)
{
	return q->writer != THREAD_NONE ? q->writer : q->reader;
}

/* A number that the threads of a process have in common, and no others. */
static uint32_t process_number(const struct timelines *tl, const struct processes *p,
			       uint32_t thread)
{
	uint32_t leader = thread == THREAD_NONE ? THREAD_NONE : process_leader(p, thread);
	const struct thread *th;

	if (thread == THREAD_NONE || leader != THREAD_NONE)
		return leader;
	th = timelines_thread(tl, thread);
	return 1u << 31 | (th->tgid ? th->tgid : th->tid);
}

/* The id of a made-up text: before + the endpoint + after. */
static uint32_t name_of(const struct trace *t, const char *before, const char *endpoint,
			const char *after)
{
	char *text = xasprintf("%s%s%s", before, endpoint, after);
	uint32_t id = trace_make_string(t, text);

	free(text);
	return id;
}

/* What an endpoint is called, to be freed. */
static char *endpoint_text(const struct trace *t, const struct request_endpoint *e,
			   uint32_t of_route, bool first)
{
	const struct trace_object *o = trace_object(t, e->object);
	const struct trace_object *called = trace_object(t, of_route);
	const char *class = o ? trace_string(t, o->class) : "", *name = "";
	const char *route = called ? trace_string(t, called->name) : "";

	if (o && o->name)
		name = trace_string(t, o->name);
	if (!strcmp(class, CHAINLOG_CLASS_REQUEST) && *name) {
		class = name;
		name = "";
	}
	return xasprintf("%s%s%s%s%s%s", *class ? class : "unknown", *name ? " " : "", name,
			 *route ? " " : "", route, first ? " first" : "");
}

/* The process's name (string id); without a leader that of one of its threads. */
static uint32_t server_name(const struct timelines *tl, const struct processes *p, uint32_t thread)
{
	if (thread == THREAD_NONE)
		return 0;
	if (process_leader(p, thread) != THREAD_NONE)
		return process_name(p, thread);
	return timelines_thread(tl, thread)->name;
}

static void name_endpoint(const struct timelines *tl, const struct processes *p,
			  struct request_endpoint *e)
{
	const struct trace *t = timelines_trace(tl);
	char *text = endpoint_text(t, e, e->route, e->first), *after = NULL;
	char *service = endpoint_text(t, e, 0, e->first);
	const char *server;

	e->process = server_name(tl, p, e->thread);
	server = trace_string(t, e->process);
	after = xasprintf("]%s%s", *server ? " " : "", server);
	e->name = name_of(t, "", text, "");
	e->service = name_of(t, "", service, "");
	e->client = name_of(t, "[request ", text, after);
	e->for_it = name_of(t, "[for ", text, "]");
	free(text);
	free(service);
	free(after);
}

/* Sets the numbers by which endpoints with equal names are known. */
static void find_alike(struct request_list *r, const struct trace *t)
{
	struct pairs addresses = { .n = 0 };
	struct pair_table alike = { .cap = 0 }; /* 1 + the first endpoint */

	for (uint32_t i = 0; i < r->n_endpoints; i++) {
		struct request_endpoint *e = &r->endpoints[i];
		char *text = endpoint_text(t, e, 0, false);
		uint32_t name = name_of(t, "", text, ""), *first;

		free(text);
		e->address = pairs_id(&addresses, name, e->process);
		first = pair_table_at(&alike, e->name, e->process, sizeof(*first));
		if (!*first)
			*first = 1 + i;
		e->alike = *first - 1;
	}
	pairs_free(&addresses);
	pair_table_free(&alike);
}

/* Sets a request's route. Returns its name, a string; 0: it has none. */
static uint32_t find_route(const struct request_list *r, const struct trace *t, struct request *q)
{
	const struct trace_object *o;

	if (q->context && r->contexts.at[q->context].route)
		q->route = r->contexts.at[q->context].route;
	o = trace_object(t, q->route);
	if (!o || strcmp(trace_string(t, o->class), CHAINLOG_CLASS_ROUTE))
		q->route = 0; /* of a recorder that was killed before it told it */
	return q->route ? o->name : 0;
}

/* Gives each request its endpoint. */
static void find_endpoints(struct request_list *r, const struct timelines *tl,
			   const struct processes *p)
{
	struct pairs addresses = { .n = 0 }, routes = { .n = 0 }, endpoints = { .n = 0 };
	size_t cap = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct request *q = &r->at[i];
		uint32_t thread = server_thread(q), id, called;
		uint32_t address = pairs_id(&addresses, q->object, process_number(tl, p, thread));
		/* Several objects may be one route. */
		uint32_t route = find_route(r, timelines_trace(tl), q);
		bool first = !route && q->flags & REQUEST_FIRST;
		struct request_endpoint *e;
		int is_new;

		called = pairs_id(&routes, address, route);
		id = pairs_id_new(&endpoints, called, first, &is_new);
		XGROW(r->endpoints, id - 1, cap);
		e = &r->endpoints[id - 1];
		if (is_new) {
			*e = (struct request_endpoint) {
				.object = q->object,
				.route = q->route,
				.thread = thread,
				.first = first,
			};
			name_endpoint(tl, p, e);
			r->n_endpoints = id;
		}
		e->requests++;
		q->endpoint = id - 1;
	}
	pairs_free(&addresses);
	pairs_free(&routes);
	pairs_free(&endpoints);
	find_alike(r, timelines_trace(tl));
}

/* ---- clients -------------------------------------------------------------------------------- */

/* A request that is explained, as the wait of a client. */
struct client_wait {
	uint64_t arrival_ns, answer_ns;
	uint32_t endpoint, request, client;
};

static uint64_t arrival_of(const void *wait)
{
	return ((const struct client_wait *)wait)->arrival_ns;
}

static uint64_t endpoint_of(const void *wait)
{
	return ((const struct client_wait *)wait)->endpoint;
}

static int by_time(const void *pa, const void *pb)
{
	const struct client_wait *a = pa, *b = pb;

	if (a->arrival_ns != b->arrival_ns)
		return compare_numbers(a->arrival_ns, b->arrival_ns);
	if (a->answer_ns != b->answer_ns)
		return compare_numbers(a->answer_ns, b->answer_ns);
	return compare_numbers(a->request, b->request);
}

/* A client of the endpoint that is looked at: those that are free first are first in a heap. */
struct free_client {
	uint64_t from_ns;
	uint32_t client;
};

struct free_clients {
	struct free_client *at;
	size_t n, cap;
};

static bool is_before(struct free_client a, struct free_client b)
{
	return a.from_ns != b.from_ns ? a.from_ns < b.from_ns : a.client < b.client;
}

static void sift_down(struct free_clients *f)
{
	struct free_client x = f->at[0];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < f->n) {
		if (child + 1 < f->n && is_before(f->at[child + 1], f->at[child]))
			child++;
		if (!is_before(f->at[child], x))
			break;
		f->at[i] = f->at[child];
		i = child;
	}
	f->at[i] = x;
}

static void push(struct free_clients *f, struct free_client x)
{
	size_t i = f->n;

	XGROW(f->at, f->n, f->cap);
	for (; i && is_before(x, f->at[(i - 1) / 2]); i = (i - 1) / 2)
		f->at[i] = f->at[(i - 1) / 2];
	f->at[i] = x;
	f->n++;
}

/*
 * Gives each wait, in order, to the client of its endpoint that is free first, or to a new one, the
 * next number. *n_clients: how many there are.
 */
static void give_to_clients(struct client_wait *waits, size_t n, uint32_t *n_clients)
{
	struct free_clients f = { .n = 0 };

	*n_clients = 0;
	for (size_t i = 0; i < n; i++) {
		struct client_wait *w = &waits[i];

		if (i && w->endpoint != w[-1].endpoint)
			f.n = 0;
		if (f.n && f.at[0].from_ns <= w->arrival_ns) {
			w->client = f.at[0].client;
			f.at[0].from_ns = w->answer_ns;
			sift_down(&f);
			continue;
		}
		w->client = (*n_clients)++;
		push(&f, (struct free_client) { w->answer_ns, w->client });
	}
	free(f.at);
}

/* The requests that are explained, by endpoint and time. */
static struct client_wait *find_waits(const struct request_list *r, size_t *n)
{
	struct client_wait *waits = xmalloc((r->n + 1) * sizeof(*waits));

	*n = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->at[i];

		/* A wait of no length is none. */
		if (!(q->flags & REQUEST_UNEXPLAINED) && q->arrival_ns < q->answer_ns)
			waits[(*n)++] = (struct client_wait) { q->arrival_ns, q->answer_ns,
							       q->endpoint, (uint32_t)i, 0 };
	}
	sort_by_key(waits, *n, sizeof(*waits), arrival_of, by_time);
	sort_by_key(waits, *n, sizeof(*waits), endpoint_of, NULL);
	return waits;
}

/* The pair of no stacks and an endpoint, which differs from that of a stack not recorded. */
static uint32_t endpoint_pair(struct timelines *tl, uint32_t object)
{
	if (!tl->no_stacks)
		tl->no_stacks = pairs_id(&tl->pairs, 0, 0);
	if (!tl->no_stacks || !object || object >= TRACE_PAIR_IDS)
		return tl->no_stacks;
	return pairs_id(&tl->pairs, TRACE_PAIR_OBJECT | object, tl->no_stacks);
}

/* Puts the waits behind each other, client by client, and appends the clients to the threads. */
static void append_clients(struct request_list *r, struct timelines *tl,
			   const struct client_wait *waits, size_t n, uint32_t n_clients)
{
	size_t n_all = tl->n_threads + n_clients;
	struct thread *threads = xreallocarray(tl->threads, n_all + 1, sizeof(*threads));
	uint32_t *first_rename = xreallocarray(tl->first_rename, n_all + 1, sizeof(*first_rename));

	tl->threads = threads;
	tl->first_rename = first_rename;
	r->waits = xmalloc((n + 1) * sizeof(*r->waits));
	r->of_wait = xmalloc((n + 1) * sizeof(*r->of_wait));
	r->wait_of = xcalloc(r->n + 1, sizeof(*r->wait_of));
	r->n_waits = n;
	threads += tl->n_threads;
	first_rename += tl->n_threads;
	memset(threads, 0, n_clients * sizeof(*threads));
	for (uint32_t i = 0; i < n_clients; i++)
		first_rename[i] = 0;
	for (size_t i = 0; i < n; i++)
		threads[waits[i].client].n_waits++;
	for (uint32_t i = 0, at = 0; i < n_clients; at += threads[i++].n_waits)
		threads[i].waits = r->waits + at;
	for (uint32_t i = 0; i < n_clients; i++)
		threads[i].n_waits = 0;
	for (size_t i = 0; i < n; i++) {
		const struct request *q = &r->at[waits[i].request];
		const struct request_endpoint *e = &r->endpoints[q->endpoint];
		struct thread *th = &threads[waits[i].client];
		struct wait *w = &th->waits[th->n_waits++];

		if (th->n_waits == 1) {
			th->flags = THREAD_CLIENT;
			th->name = e->client;
			th->parent = e->thread;
			if (e->thread != THREAD_NONE)
				th->tid = th->tgid = tl->threads[e->thread].tgid;
			th->begin_ns = tl->start_ns;
			th->end_ns = tl->end_ns;
		}
		*w = (struct wait) {
			.out_ns = q->arrival_ns,
			.wake_ns = q->answer_ns,
			.in_ns = q->answer_ns,
			.stack = endpoint_pair(tl, q->object),
			.waker_stack = q->pair,
			.waker = q->writer & THREAD_NONE,
			.flags = q->writer == THREAD_NONE ? WAIT_NO_WAKING : 0,
			.kind = WAIT_SLEEP,
			.state = 'S',
		};
		r->of_wait[w - r->waits] = waits[i].request;
		r->wait_of[waits[i].request] = (uint32_t)(w - r->waits) + 1;
	}
	tl->n_clients = n_clients;
}

static void make_clients(struct request_list *r, struct timelines *tl)
{
	uint32_t n_clients;
	size_t n;
	struct client_wait *waits = find_waits(r, &n);

	give_to_clients(waits, n, &n_clients);
	/* Numbers of threads have few bits. */
	if (n_clients >= THREADS_MAX - tl->n_threads)
		out_of_memory();
	if (n)
		append_clients(r, tl, waits, n, n_clients);
	free(waits);
}

/* Whether the thread lived at that time; that it had the tid then is taken from the event. */
static bool lived(const struct timelines *tl, uint32_t thread, uint64_t at_ns)
{
	const struct thread *th = timelines_thread(tl, thread);

	return th->begin_ns <= at_ns && at_ns <= th->end_ns;
}

static void check(const struct timelines *tl, struct request *q)
{
	if (q->writer != THREAD_NONE && !lived(tl, q->writer, q->answer_ns))
		q->writer = THREAD_NONE;
	if (q->reader != THREAD_NONE && !lived(tl, q->reader, q->taken_ns))
		q->reader = THREAD_NONE;
	if (q->arrival_ns < timelines_start_ns(tl))
		q->flags |= REQUEST_BEFORE;
}

void request_clients_make(struct timelines *tl)
{
	struct request_list *r = &tl->requests;
	struct processes *p;

	requests_complete(r);
	if (!r->n)
		return;
	for (size_t i = 0; i < r->n; i++)
		check(tl, &r->at[i]);
	requests_index(r, timelines_threads(tl));
	processes_new(&p, tl);
	find_endpoints(r, tl, p);
	processes_free(p);
	r->queued = trace_make_string(timelines_trace(tl), "[queued]");
	make_clients(r, tl);
}

const struct wait *timelines_wait_for(const struct timelines *tl, uint32_t number, uint32_t *client)
{
	const struct request_list *r = &tl->requests;
	const struct wait *w =
		r->wait_of && r->wait_of[number] ? &r->waits[r->wait_of[number] - 1] : NULL;
	uint32_t low = timelines_threads(tl), high = timelines_clients_end(tl);

	/* The waits of clients follow each other, in the order of clients. */
	while (w && high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (timelines_thread(tl, middle)->waits <= w)
			low = middle;
		else
			high = middle;
	}
	*client = low;
	return w;
}
