// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "hosts.h"
#include "base/compare.h"
#include "common/xalloc.h"
#include "connections.h"

/* ---- clocks ---------------------------------------------------------------------------------- */

/*
 * How far two machines' clocks are apart, by messages between them
 * (chain-semantics, section 16): each bounds it at one time, and two clocks do not drift apart by
 * more than CLOCK_DRIFT.
 */

/* Clocks drift apart by at most 1 ns in so many: 500 ppm each, which is what NTP may correct. */
#define CLOCK_DRIFT 1000u

/* At at_ns of the first clock, the second one is ahead by at least low_ns and at most high_ns. */
struct clock_bound {
	uint64_t at_ns;
	int64_t low_ns, high_ns; /* INT64_MIN, INT64_MAX: not bounded */
};

static inline bool clock_bound_is_known(const struct clock_bound *b)
{
	return b->low_ns != INT64_MIN && b->high_ns != INT64_MAX;
}

/* Bounds that contradict each other. */
static inline bool clock_bound_is_wrong(const struct clock_bound *b)
{
	return b->low_ns > b->high_ns;
}

/* How far apart they are, of bounds that are known and not wrong. */
static inline uint64_t clock_bound_width(const struct clock_bound *b)
{
	return (uint64_t)b->high_ns - (uint64_t)b->low_ns;
}

/* a, which is known to hold ns away, holds here less exactly. */
static int64_t lower(int64_t low_ns, uint64_t ns)
{
	int64_t drift = (int64_t)(ns / CLOCK_DRIFT) + 1;

	return low_ns < INT64_MIN + drift ? INT64_MIN : low_ns - drift;
}

static int64_t higher(int64_t high_ns, uint64_t ns)
{
	int64_t drift = (int64_t)(ns / CLOCK_DRIFT) + 1;

	return high_ns > INT64_MAX - drift ? INT64_MAX : high_ns + drift;
}

/* Makes b as narrow as its neighbour allows. */
static void narrow(struct clock_bound *b, const struct clock_bound *by)
{
	uint64_t ns = b->at_ns > by->at_ns ? b->at_ns - by->at_ns : by->at_ns - b->at_ns;
	int64_t low = lower(by->low_ns, ns), high = higher(by->high_ns, ns);

	if (by->low_ns != INT64_MIN && low > b->low_ns)
		b->low_ns = low;
	if (by->high_ns != INT64_MAX && high < b->high_ns)
		b->high_ns = high;
}

/* Makes each of n bounds, in order of time, as narrow as all of them together allow. */
static void clock_bounds_tighten(struct clock_bound *b, size_t n)
{
	for (size_t i = 1; i < n; i++)
		narrow(&b[i], &b[i - 1]);
	for (size_t i = n; i-- > 1;)
		narrow(&b[i - 1], &b[i]);
}

/* ---- machines ---------------------------------------------------------------------------------
 */

/* The sleeps of one machine that answers of another one ended, and what each says of the clocks. */
struct messages {
	const struct answered **at;
	struct clock_bound *bounds;
	size_t n;
};

/* Both are times below 2^63. */
static int64_t ahead_ns(uint64_t there_ns, uint64_t here_ns)
{
	return (int64_t)(there_ns - here_ns);
}

/*
 * When the first bytes of a request were there, at the latest. Of one that came together with
 * others the arrival is theirs.
 */
static uint64_t there_by_ns(const struct request *q)
{
	return q->flags & REQUEST_PIPELINED ? q->taken_ns : q->arrival_ns;
}

/* The other clock when the sleep ended: after the answer was begun, before the next request came.
 */
static struct clock_bound bound_of(const struct answered *w)
{
	uint64_t wake_ns = w->wait->wake_ns;

	return (struct clock_bound) {
		.at_ns = wake_ns,
		.low_ns = ahead_ns(w->by->earliest_ns, wake_ns),
		.high_ns = w->next ? ahead_ns(there_by_ns(w->next->request), wake_ns) : INT64_MAX,
	};
}

static bool any_wrong(const struct clock_bound *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (clock_bound_is_wrong(&b[i]))
			return true;
	return false;
}

static int by_connection_and_time(const void *pa, const void *pb)
{
	const struct answered *a = *(const struct answered *const *)pa;
	const struct answered *b = *(const struct answered *const *)pb;

	if (a->key != b->key)
		return compare_numbers(a->key, b->key);
	if (a->by->connection != b->by->connection)
		return compare_numbers(a->by->connection, b->by->connection);
	return compare_numbers(a->wait->wake_ns, b->wait->wake_ns);
}

static bool is_same(const struct answered *a, const struct answered *b)
{
	return a->key == b->key && a->by->connection == b->by->connection;
}

/* Finds the bounds of each connection by its own messages; wrong ones stay so, all of them. */
static void bound_each(struct messages *m)
{
	qsort(m->at, m->n, sizeof(const struct answered *), by_connection_and_time);
	for (size_t i = 0; i < m->n; i++)
		m->bounds[i] = bound_of(m->at[i]);
	for (size_t i = 0, end; i < m->n; i = end) {
		for (end = i + 1; end < m->n && is_same(m->at[i], m->at[end]);)
			end++;
		clock_bounds_tighten(m->bounds + i, end - i);
		if (!any_wrong(m->bounds + i, end - i))
			continue;
		for (; i < end; i++)
			m->bounds[i] = (struct clock_bound) { m->bounds[i].at_ns, 1, 0 };
	}
}

/* By all messages together, unless they contradict each other. */
static void bound_all(struct messages *m)
{
	for (size_t i = 0; i < m->n; i++)
		m->bounds[i] = bound_of(m->at[i]);
	clock_bounds_tighten(m->bounds, m->n);
	if (any_wrong(m->bounds, m->n))
		bound_each(m);
}

/* When the byte that ended the sleep was written, at the latest. */
static uint64_t written_ns(const struct answered *w)
{
	const struct request *q = w->by->request;
	uint32_t byte = w->received - 1 - w->by->answer_seq;

	return byte < q->first_bytes ? q->first_answer_ns : q->answer_ns;
}

/* there_ns by the clock of a sleep, cut to it. */
static uint64_t here_ns(const struct wait *w, uint64_t there_ns, int64_t ahead)
{
	/* Both are within 64 bits, as the other clock's times and this one's are below 2^63. */
	int64_t here = (int64_t)(there_ns - (uint64_t)ahead);

	return here < 0 ? w->out_ns : clip_ns((uint64_t)here, w->out_ns, w->wake_ns);
}

static int join(struct timelines *tl, const struct answered *w, const struct clock_bound *b,
		struct host_pair *p)
{
	struct remote_answer a = { .wait = w->wait, .host = w->by->host, .request = w->by->number };
	uint64_t width;

	p->answers++;
	if (clock_bound_is_wrong(b)) {
		p->contradicting++;
		return 0;
	}
	width = clock_bound_is_known(b) ? clock_bound_width(b) : UINT64_MAX;
	a.ahead_ns = (int64_t)((uint64_t)b->low_ns + width / 2);
	if (width < p->width_ns) {
		p->width_ns = width;
		p->ahead_ns = a.ahead_ns;
	}
	if (width > w->wait->wake_ns - w->wait->out_ns) {
		p->unbounded++;
		return 0;
	}
	p->joined++;
	a.from_ns = here_ns(w->wait, w->by->request->arrival_ns, a.ahead_ns);
	a.to_ns = here_ns(w->wait, written_ns(w), a.ahead_ns);
	if (a.from_ns >= a.to_ns)
		return 0;
	if (!tl->remote)
		tl->remote = remote_answers_new();
	remote_answers_add(tl->remote, &a);
	return 0;
}

/* The sleeps [first, end), of one pair of machines. */
static int join_pair(struct timelines *const *traces, const struct answered *first, size_t n,
		     struct host_pair *p)
{
	struct messages m = {
		.at = xmalloc((n + 1) * sizeof(const struct answered *)),
		.bounds = xmalloc((n + 1) * sizeof(*m.bounds)),
		.n = n,
	};
	int err = m.at && m.bounds ? 0 : -ENOMEM;

	*p = (struct host_pair) { .client = first->host,
				  .server = first->by->host,
				  .width_ns = UINT64_MAX };
	for (size_t i = 0; i < n && !err; i++)
		m.at[i] = &first[i];
	if (!err)
		bound_all(&m);
	for (size_t i = 0; i < n && !err; i++)
		err = join(traces[p->client], m.at[i], &m.bounds[i], p);
	free(m.at);
	free(m.bounds);
	return err;
}

void hosts_share(const struct trace *const *traces, uint32_t n, bool *is_shared)
{
	connections_shared(traces, n, is_shared);
}

int hosts_join(struct timelines *const *traces, uint32_t n, struct host_pair **pairs,
	       size_t *n_pairs)
{
	struct connections c;
	size_t cap = 0;
	int err = 0;

	connections_find(&c, traces, n);
	*pairs = NULL;
	*n_pairs = 0;
	for (size_t i = 0, end; i < c.n_answered && !err; i = end) {
		for (end = i + 1; end < c.n_answered && c.waits[end].host == c.waits[i].host &&
				  c.waits[end].by->host == c.waits[i].by->host;)
			end++;
		XGROW(*pairs, *n_pairs, cap);
		err = join_pair(traces, c.waits + i, end - i, &(*pairs)[*n_pairs]);
		*n_pairs += !err;
	}
	for (uint32_t i = 0; i < n && !err; i++)
		if (traces[i] && traces[i]->remote)
			remote_answers_sort(traces[i]->remote);
	connections_free(&c);
	if (err) {
		free(*pairs);
		*pairs = NULL;
		*n_pairs = 0;
	}
	return err;
}
