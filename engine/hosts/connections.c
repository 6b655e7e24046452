// SPDX-License-Identifier: GPL-2.0-or-later
#include "connections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "common/intern.h"
#include "words/kernel_stacks.h"

/* Connections of the same four addresses, one after the other, that are looked at. */
#define REUSED_MAX 64u
/* How far back a writer's last sleep is looked for. */
#define SLEEPS_BACK 64u

/* ---- addresses ------------------------------------------------------------------------------ */

/* Addresses are compared as texts: at most "[", 39 characters, "]:65535". */
#define ADDRESS_MAX 64u

static bool is_local(const char *address)
{
	return !strncmp(address, "127.", 4) || !strncmp(address, "[::1]", 5);
}

/* The number of a connection's addresses, the client's first; 0: it is none. */
static uint32_t key_of(struct intern *keys, const struct trace *t, uint32_t object, bool is_server)
{
	const struct trace_object *o = trace_object(t, object);
	const char *own = o && o->own ? trace_string(t, o->own) : "";
	const char *peer = o && o->name ? trace_string(t, o->name) : "";
	char text[2 * ADDRESS_MAX + 2];
	int len;

	if (strncmp(own, "tcp ", 4) || *peer == ':' || !*peer || strlen(peer) > ADDRESS_MAX ||
	    strlen(own += 4) > ADDRESS_MAX || is_local(own) || is_local(peer))
		return 0;
	len = snprintf(text, sizeof(text), "%s %s", is_server ? peer : own, is_server ? own : peer);
	return xintern(keys, text, (size_t)len, NULL);
}

/* The traces in which a connection has an end, as bits. */
struct seen_in {
	uint32_t client, server;
};

static bool is_seen_in_two(struct seen_in s)
{
	uint32_t all = s.client | s.server;

	return s.client && s.server && all & (all - 1);
}

/* Either end may be the server's: an object does not say which one it is of. */
void connections_shared(const struct trace *const *traces, uint32_t n, bool *is_shared)
{
	struct intern keys = { .n = 0 };
	struct seen_in *seen = NULL;
	size_t cap = 0;

	*is_shared = false;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t o = 1; o < trace_objects_end(traces[i]) && !*is_shared; o++) {
			uint32_t client = key_of(&keys, traces[i], o, false);
			uint32_t server = key_of(&keys, traces[i], o, true);
			size_t before = cap;

			if (!client || !server)
				continue;
			XGROW(seen, keys.n, cap);
			memset(seen + before, 0, (cap - before) * sizeof(*seen));
			seen[client].client |= 1u << i;
			seen[server].server |= 1u << i;
			*is_shared = is_seen_in_two(seen[client]) || is_seen_in_two(seen[server]);
		}
	free(seen);
	intern_free(&keys);
}

/* ---- what the traces have ------------------------------------------------------------------- */

/* When a writer can have begun to write an answer at the earliest. */
static uint64_t earliest_ns(const struct timelines *tl, const struct request *q)
{
	const struct thread *th;
	uint32_t i, left = SLEEPS_BACK;

	if (q->writer == THREAD_NONE)
		return q->taken_ns;
	th = timelines_thread(tl, q->writer);
	/* A write that has to wait for room sleeps at its socket, when it has written already. */
	for (i = thread_position(th, q->first_answer_ns); i-- > 0 && left--;) {
		const struct wait *w = &th->waits[i];

		if (w->in_ns <= q->taken_ns)
			break;
		if (w->kind == WAIT_SLEEP && timelines_pair(tl, w->stack).object != q->socket)
			return w->in_ns;
	}
	return q->taken_ns;
}

static void add_answers(struct connections *c, struct intern *keys, const struct timelines *tl,
			uint32_t host)
{
	size_t n;
	const struct request *q = timelines_requests(tl, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t key = q[i].socket && !(q[i].flags & REQUEST_UNEXPLAINED)
				       ? key_of(keys, timelines_trace(tl), q[i].socket, true)
				       : 0;

		if (!key)
			continue;
		XAPPEND(c->answers, c->n_answers, c->cap_answers) = (struct answer) {
			.key = key,
			.host = host,
			.connection = q[i].connection,
			.number = (uint32_t)i,
			.request_seq = q[i].request_seq,
			.answer_seq = q[i].answer_seq,
			.request = &q[i],
			.earliest_ns = earliest_ns(tl, &q[i]),
		};
	}
}

/* The sleep of a thread that ended then; NULL: there is none. */
static const struct wait *sleep_until(const struct thread *th, uint64_t wake_ns)
{
	uint32_t i = thread_position(th, wake_ns);

	/* One that ended on a CPU at once is over by then. */
	for (i = i ? i - 1 : 0; i < th->n_waits && th->waits[i].out_ns <= wake_ns; i++)
		if (th->waits[i].kind == WAIT_SLEEP && th->waits[i].wake_ns == wake_ns &&
		    !(th->waits[i].flags & WAIT_NOT_WOKEN))
			return &th->waits[i];
	return NULL;
}

static bool is_by_network(const struct timelines *tl, struct kernel_stacks *k, const struct wait *w)
{
	struct waker_context context;

	if (w->waker == THREAD_NONE)
		return false;
	context = waker_context(k, tl, w);
	return context.interrupt && context.source == IRQ_NETWORK;
}

static void add_waits(struct connections *c, struct intern *keys, const struct timelines *tl,
		      uint32_t host)
{
	struct kernel_stacks *k;

	kernel_stacks_new(&k, timelines_trace(tl));
	for (size_t i = 0; i < tl->streams.n; i++) {
		const struct stream_point *p = &tl->streams.at[i];
		const struct wait *w = sleep_until(timelines_thread(tl, p->thread), p->wake_ns);
		struct stack_pair slept;
		uint32_t key;

		if (!w || !is_by_network(tl, k, w))
			continue;
		slept = timelines_pair(tl, w->stack);
		key = key_of(keys, timelines_trace(tl), slept.ready ? slept.ready : slept.object,
			     false);
		if (!key)
			continue;
		XAPPEND(c->waits, c->n_waits, c->cap_waits) = (struct answered) {
			.key = key,
			.host = host,
			.written = p->written,
			.received = p->received,
			.wait = w,
		};
	}
	kernel_stacks_free(k);
}

/* ---- which answer ended which sleep --------------------------------------------------------- */

static int by_connection(const void *pa, const void *pb)
{
	const struct answer *a = pa, *b = pb;

	if (a->key != b->key)
		return compare_numbers(a->key, b->key);
	if (a->host != b->host)
		return compare_numbers(a->host, b->host);
	if (a->connection != b->connection)
		return compare_numbers(a->connection, b->connection);
	if (a->answer_seq != b->answer_seq)
		return compare_numbers(a->answer_seq, b->answer_seq);
	return compare_numbers(a->number, b->number);
}

static bool is_same(const struct answer *a, const struct answer *b)
{
	return a->key == b->key && a->host == b->host && a->connection == b->connection;
}

/* Whether its numbers are used more than once. */
static bool wraps(const struct answer *a, size_t n)
{
	uint64_t read = 0, written = 0;

	for (size_t i = 0; i < n; i++) {
		read += a[i].request->bytes_read & UINT32_MAX;
		written += a[i].request->bytes_written & UINT32_MAX;
	}
	return (read | written) >> 32;
}

/* The last answer of a connection that begins with this byte or one before it. */
static const struct answer *answer_with(const struct answer *a, size_t n, uint32_t seq)
{
	size_t low = 0, high = n;
	const struct answer *found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a[middle].answer_seq <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	/* Numbers begin again after the last one. */
	found = &a[low ? low - 1 : n - 1];
	return seq - found->answer_seq < found->request->bytes_written ? found : NULL;
}

/* The first request of a connection that begins with this byte or one behind it. */
static const struct answer *request_from(const struct answer *const *by_request, size_t n,
					 uint32_t seq)
{
	size_t low = 0, high = n;
	const struct answer *found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_request[middle]->request_seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	found = by_request[low < n ? low : 0];
	return found->request_seq - seq < UINT32_MAX / 2 ? found : NULL;
}

static int by_request_seq(const void *pa, const void *pb)
{
	const struct answer *const *a = pa, *const *b = pb;

	if ((*a)->request_seq != (*b)->request_seq)
		return compare_numbers((*a)->request_seq, (*b)->request_seq);
	return compare_numbers((*a)->number, (*b)->number);
}

/* The answers of one connection. */
struct group {
	const struct answer *at;
	const struct answer *const *by_request;
	size_t n;
};

/* The only answer that has the byte before `received`, of connections with the same addresses. */
static void find_answer(struct answered *w, const struct group *groups, size_t n)
{
	const struct group *in = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct answer *a;

		if (groups[i].at->host == w->host)
			continue;
		a = answer_with(groups[i].at, groups[i].n, w->received - 1);
		if (a && w->by) {
			w->by = NULL;
			return;
		}
		if (a) {
			w->by = a;
			in = &groups[i];
		}
	}
	if (w->by)
		w->next = request_from(in->by_request, in->n, w->written);
}

static int by_key(const void *pa, const void *pb)
{
	const struct answered *a = pa, *b = pb;

	return compare_numbers(a->key, b->key);
}

/* Of the sleeps and answers of one key. */
static void find_answers(struct answered *waits, size_t n_waits, const struct answer *answers,
			 size_t n, const struct answer **by_request)
{
	struct group groups[REUSED_MAX];
	size_t n_groups = 0;

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && is_same(&answers[i], &answers[end]);)
			end++;
		if (wraps(answers + i, end - i))
			continue;
		if (n_groups == REUSED_MAX)
			return;
		for (size_t k = i; k < end; k++)
			by_request[k] = &answers[k];
		qsort(by_request + i, end - i, sizeof(const struct answer *), by_request_seq);
		groups[n_groups++] = (struct group) { answers + i, by_request + i, end - i };
	}
	for (size_t i = 0; i < n_waits; i++)
		find_answer(&waits[i], groups, n_groups);
}

static int by_hosts_and_time(const void *pa, const void *pb)
{
	const struct answered *a = pa, *b = pb;

	if (!a->by != !b->by)
		return !a->by - !b->by;
	if (a->host != b->host)
		return compare_numbers(a->host, b->host);
	if (a->by && a->by->host != b->by->host)
		return compare_numbers(a->by->host, b->by->host);
	return compare_numbers(a->wait->wake_ns, b->wait->wake_ns);
}

static void match(struct connections *c)
{
	const struct answer **by_request =
		xmalloc((c->n_answers + 1) * sizeof(const struct answer *));
	size_t a = 0;

	if (c->n_answers)
		qsort(c->answers, c->n_answers, sizeof(*c->answers), by_connection);
	if (c->n_waits)
		qsort(c->waits, c->n_waits, sizeof(*c->waits), by_key);
	for (size_t i = 0, end; i < c->n_waits; i = end) {
		size_t a_end;

		for (end = i + 1; end < c->n_waits && c->waits[end].key == c->waits[i].key;)
			end++;
		while (a < c->n_answers && c->answers[a].key < c->waits[i].key)
			a++;
		for (a_end = a; a_end < c->n_answers && c->answers[a_end].key == c->waits[i].key;)
			a_end++;
		find_answers(c->waits + i, end - i, c->answers + a, a_end - a, by_request);
		a = a_end;
	}
	free(by_request);
	if (c->n_waits)
		qsort(c->waits, c->n_waits, sizeof(*c->waits), by_hosts_and_time);
	while (c->n_answered < c->n_waits && c->waits[c->n_answered].by)
		c->n_answered++;
}

void connections_find(struct connections *c, struct timelines *const *traces, uint32_t n)
{
	struct intern keys = { .n = 0 };

	*c = (struct connections) { .n_waits = 0 };
	for (uint32_t i = 0; i < n; i++) {
		if (traces[i])
			add_answers(c, &keys, traces[i], i);
	}
	for (uint32_t i = 0; i < n && c->n_answers; i++)
		if (traces[i])
			add_waits(c, &keys, traces[i], i);
	intern_free(&keys);
	match(c);
}

void connections_free(struct connections *c)
{
	free(c->answers);
	free(c->waits);
}
