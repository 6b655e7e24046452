// SPDX-License-Identifier: GPL-2.0-or-later
#include "pool_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/pairs.h"
#include "common/lower_bound.h"
#include "common/xalloc.h"
#include "connection_pools.h"
#include "crowd.h"
#include "select/wait_nature.h"

/* So many requests to an endpoint have to wait so. */
#define WAITED_LEAST 2

/* A process of this machine asked a server that is recorded, too. */
struct ask {
	uint64_t arrival_ns, answer_ns;
	uint32_t client;     /* the process */
	uint32_t connection; /* a number in .connections */
};

/* Of a connection. */
struct line {
	uint32_t client; /* the process at its other end; 0: not known */
	uint32_t pool;	 /* a number in .pools */
	uint64_t first_ns, last_ns;
};

/* The connections of a process to a server. */
struct pool {
	uint32_t endpoint;    /* a number */
	uint32_t connections; /* so many of them were in use at once, at most */
	uint32_t waiting;     /* so many requests waited for one at once, at most */
};

struct lent {
	uint64_t from_ns, to_ns;
	uint32_t pool;	 /* 0: it did not wait so */
	uint32_t holder; /* a request's number + 1; 0: not known */
};

struct pool_waits {
	const struct timelines *timelines;
	struct object_names *objects;
	bool looked;
	struct pair_table connections; /* struct line, by the halves of their numbers */
	struct pair_table pools;       /* struct pool, by (process, address of the endpoint) */
	struct pair_table asked_by;    /* uint32_t: who asks, by (address, 0) */
	struct pairs servers;	       /* (process that is asked, 0) */
	struct ask *asks;	       /* by client and arrival */
	struct ask *answers;	       /* the same by client and answer */
	size_t n_asks, cap_asks;
	struct lent *of;	   /* by request; NULL: there are none */
	struct pair_table certain; /* uint32_t: how many waited so, by (pool, endpoint) */
};

void pool_waits_new(struct pool_waits **out, const struct timelines *tl,
		    struct object_names *objects)
{
	struct pool_waits *p = xcalloc(1, sizeof(*p));

	*out = p;
	p->timelines = tl;
	p->objects = objects;
}

void pool_waits_free(struct pool_waits *p)
{
	if (!p)
		return;
	pair_table_free(&p->connections);
	pair_table_free(&p->pools);
	pair_table_free(&p->asked_by);
	pairs_free(&p->servers);
	free(p->asks);
	free(p->answers);
	pair_table_free(&p->certain);
	free(p->of);
	free(p);
}

static struct pool *pool_at(const struct pool_waits *p, uint32_t pool)
{
	return (struct pool *)p->pools.at + pool;
}

static const struct line *line_at(const struct pool_waits *p, uint32_t connection)
{
	return (const struct line *)p->connections.at + connection;
}

/* ---- who asked ------------------------------------------------------------------------------- */

/* The process at the other end of what a thread slept for; 0: not known. */
static uint32_t peer_of(const struct pool_waits *p, const struct wait *w, bool of_one)
{
	const struct stack_pair pair = timelines_pair(p->timelines, w->stack);
	uint32_t object = w->kind == WAIT_SLEEP ? wait_message_object(p->timelines, w->stack) : 0;

	return object && (!of_one || object == pair.object) ? object_names_peer(p->objects, object)
							    : 0;
}

/*
 * Who sent a request: by the connection for which its reader slept until it came; or sleeps after
 * its answer, where that is not for any of several.
 */
static uint32_t client_of(const struct pool_waits *p, const struct request *q)
{
	const struct thread *th;
	uint32_t i, peer = 0;

	if (q->reader == THREAD_NONE)
		return 0;
	th = timelines_thread(p->timelines, q->reader);
	i = thread_position(th, q->taken_ns);
	if (i && th->waits[i - 1].wake_ns >= q->arrival_ns)
		peer = peer_of(p, &th->waits[i - 1], false);
	for (i = thread_position(th, q->answer_ns);
	     !peer && i < th->n_waits && th->waits[i].kind != WAIT_SLEEP; i++)
		;
	return peer || i == th->n_waits ? peer : peer_of(p, &th->waits[i], true);
}

static uint32_t tgid_of(const struct timelines *tl, uint32_t thread)
{
	return thread == THREAD_NONE ? 0 : timelines_thread(tl, thread)->tgid;
}

static bool is_whole(const struct request *q)
{
	/* Streams share a connection: none waits for one. */
	return !(q->flags & (REQUEST_UNEXPLAINED | REQUEST_PROBED | REQUEST_STREAM)) &&
	       q->connection;
}

static uint32_t address_of(const struct timelines *tl, const struct request *q)
{
	uint32_t n;

	return timelines_endpoints(tl, &n)[q->endpoint].address;
}

#define SEVERAL UINT32_MAX

/* Who asks where a request came; SEVERAL: not just one. 0: not known so far. */
static uint32_t *asked_by(struct pool_waits *p, const struct request *q)
{
	return pair_table_at(&p->asked_by, address_of(p->timelines, q), 0, sizeof(uint32_t));
}

static void note_ask(struct pool_waits *p, const struct request *q)
{
	uint32_t *of;
	struct line *l = pair_table_at(&p->connections, (uint32_t)(q->connection >> 32),
				       (uint32_t)q->connection, sizeof(*l));

	if (!l->first_ns || q->arrival_ns < l->first_ns)
		l->first_ns = q->arrival_ns;
	if (q->answer_ns > l->last_ns)
		l->last_ns = q->answer_ns;
	if (l->client)
		return;
	l->client = client_of(p, q);
	of = asked_by(p, q);
	if (l->client && *of != l->client)
		*of = *of ? SEVERAL : l->client;
}

/* Only who answers itself can wait for a connection meanwhile. */
static bool is_server(const struct pool_waits *p, uint32_t process)
{
	return pairs_find(&p->servers, process, 0);
}

static void add_ask(struct pool_waits *p, const struct request *q)
{
	uint32_t id = pairs_find(&p->connections.keys, (uint32_t)(q->connection >> 32),
				 (uint32_t)q->connection);
	struct line *l = (struct line *)p->connections.at + id;
	struct pool *pool;

	/* Of a short connection it may not be known who has its other end. */
	if (!l->client && *asked_by(p, q) != SEVERAL)
		l->client = *asked_by(p, q);
	if (!l->client || l->client == tgid_of(p->timelines, q->reader) || !is_server(p, l->client))
		return;
	pool = pair_table_at(&p->pools, l->client, address_of(p->timelines, q), sizeof(*pool));
	pool->endpoint = q->endpoint;
	l->pool = (uint32_t)(pool - (struct pool *)p->pools.at);
	XAPPEND(p->asks, p->n_asks, p->cap_asks) =
		(struct ask) { q->arrival_ns, q->answer_ns, l->client, id };
}

static uint64_t client_of_ask(const void *ask)
{
	return ((const struct ask *)ask)->client;
}

static uint64_t arrival_of_ask(const void *ask)
{
	return ((const struct ask *)ask)->arrival_ns;
}

static uint64_t answer_of_ask(const void *ask)
{
	return ((const struct ask *)ask)->answer_ns;
}

/* By client, then by time. */
static void sort_asks(struct ask *at, size_t n, uint64_t (*time)(const void *ask))
{
	sort_by_key(at, n, sizeof(*at), time, NULL);
	sort_by_key(at, n, sizeof(*at), client_of_ask, NULL);
}

static void find_asks(struct pool_waits *p, const struct request *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_whole(&at[i])) {
			note_ask(p, &at[i]);
			pairs_id(&p->servers, tgid_of(p->timelines, at[i].reader), 0);
		}
	for (size_t i = 0; i < n; i++)
		if (is_whole(&at[i]))
			add_ask(p, &at[i]);
	if (!p->n_asks)
		return;
	p->answers = xmalloc(p->n_asks * sizeof(*p->answers));
	memcpy(p->answers, p->asks, p->n_asks * sizeof(*p->answers));
	sort_asks(p->answers, p->n_asks, answer_of_ask);
	sort_asks(p->asks, p->n_asks, arrival_of_ask);
}

/* ---- how many there are ---------------------------------------------------------------------- */

/* For crowd_end(). */
static void set_connections(void *arg, uint32_t pool, uint32_t most)
{
	pool_at(arg, pool)->connections = most;
}

static void set_waiting(void *arg, uint32_t pool, uint32_t most)
{
	pool_at(arg, pool)->waiting = most;
}

static void count_connections(struct pool_waits *p)
{
	struct crowd c = { .n = 0 };

	for (uint32_t i = 1; i <= p->connections.keys.n; i++)
		if (line_at(p, i)->pool)
			crowd_add(&c, line_at(p, i)->pool, line_at(p, i)->first_ns,
				  line_at(p, i)->last_ns);
	crowd_end(&c, set_connections, p);
}

static void count_waiting(struct pool_waits *p, size_t n_requests)
{
	struct crowd c = { .n = 0 };

	for (size_t i = 0; i < n_requests; i++)
		if (p->of[i].pool)
			crowd_add(&c, p->of[i].pool, p->of[i].from_ns, p->of[i].to_ns);
	crowd_end(&c, set_waiting, p);
}

/* ---- who waited ------------------------------------------------------------------------------ */

/* Whether the thread that answered the request slept at a time until another one of its process let
 * it go on: of that, connection_pools.h knows. */
static bool sleeps_itself(const struct timelines *tl, const struct request *q, uint64_t at_ns)
{
	const struct thread *th = timelines_thread(tl, q->writer);
	uint32_t i = thread_position(th, at_ns);
	const struct wait *w = i < th->n_waits ? &th->waits[i] : NULL;

	return w && w->kind == WAIT_SLEEP && w->out_ns <= at_ns &&
	       wait_is_between_threads(tl, w->stack);
}

/* Of one process. */
struct asks {
	const struct ask *at, *answered; /* by arrival, by answer */
	size_t n;
};

static struct asks asks_of(const struct pool_waits *p, uint32_t client)
{
	size_t first = LOWER_BOUND(i, p->n_asks, p->asks[i].client < client);
	size_t end = LOWER_BOUND(i, p->n_asks, p->asks[i].client <= client);

	return (struct asks) { p->asks + first, p->answers + first, end - first };
}

/* So many answers after the one that let requests go on are looked at. */
#define ANSWERS_LATER 64

/*
 * The request that was answered first after such an answer to its process, and taken before what
 * that answers was asked: it had the connection. at[i] waited for it. Its number + 1; 0: not known.
 */
static uint32_t holder_of(const struct pool_waits *p, const struct request *at, size_t i,
			  const struct ask *given)
{
	const struct request *q = &at[i];
	uint32_t holder = 0, looked = 0;

	while (i-- > 0 && at[i].answer_ns > given->answer_ns && looked++ < ANSWERS_LATER)
		if (at[i].taken_ns < given->arrival_ns && is_whole(&at[i]) &&
		    tgid_of(p->timelines, at[i].reader) == tgid_of(p->timelines, q->reader))
			holder = (uint32_t)i + 1;
	return holder;
}

/* So many questions while a request was answered are looked at. */
#define ASKS_WITHIN 256

/* The longest time in which a request was answered and its process asked nobody: up to *own. */
static uint64_t longest_silence(const struct asks *a, const struct request *q,
				const struct ask **own)
{
	size_t first = LOWER_BOUND(i, a->n, a->at[i].arrival_ns < q->taken_ns);
	uint64_t last_ns = q->taken_ns, from_ns = 0, ns = 0;

	*own = NULL;
	for (size_t i = first; i < a->n && i - first < ASKS_WITHIN; i++) {
		const struct ask *at = &a->at[i];

		if (at->arrival_ns >= q->answer_ns)
			break;
		if (at->arrival_ns - last_ns > ns) {
			ns = at->arrival_ns - last_ns;
			from_ns = last_ns;
			*own = at;
		}
		last_ns = at->arrival_ns;
	}
	return from_ns;
}

/*
 * When a request waited for a connection: for half of the time at least its process asked nobody,
 * while as many answers were owed to it as it has connections to that server, until one of them
 * came, and it asked again, by a connection that had been used before.
 */
static struct lent lent_to(const struct pool_waits *p, const struct request *at, size_t number)
{
	const struct lent none = { .pool = 0 };
	const struct request *q = &at[number];
	struct asks a = asks_of(p, tgid_of(p->timelines, q->reader));
	const struct ask *own, *given;
	uint64_t from_ns = longest_silence(&a, q, &own);
	size_t asked, answered, until;
	const struct line *l;

	if (!own || own->answer_ns > q->answer_ns ||
	    own->arrival_ns - from_ns < (q->answer_ns - q->taken_ns) / 2)
		return none;
	asked = LOWER_BOUND(i, a.n, a.at[i].arrival_ns <= from_ns);
	answered = LOWER_BOUND(i, a.n, a.answered[i].answer_ns <= from_ns);
	until = LOWER_BOUND(i, a.n, a.answered[i].answer_ns <= own->arrival_ns);
	l = line_at(p, own->connection);
	if (until == answered || l->first_ns >= q->taken_ns ||
	    asked - answered < pool_at(p, l->pool)->connections)
		return none;
	given = &a.answered[until - 1];
	if (own->arrival_ns - given->answer_ns > (own->arrival_ns - from_ns) / 2 ||
	    sleeps_itself(p->timelines, q, from_ns + (given->answer_ns - from_ns) / 2))
		return none;
	return (struct lent) { from_ns, own->arrival_ns, l->pool, holder_of(p, at, number, given) };
}

/*
 * Whether the process asked nobody since it took the request: then it waited for somebody else's
 * answer.
 */
static bool is_certain(const struct lent *l, const struct request *q)
{
	return l->pool && l->from_ns == q->taken_ns;
}

static uint32_t *certain_of(struct pool_waits *p, const struct lent *l, const struct request *q)
{
	return pair_table_at(&p->certain, l->pool, q->endpoint, sizeof(uint32_t));
}

/* Where the process asked somebody else before, it may have done so for another request, if
 * requests of this kind wait so for certain, and another one was answered first. */
static void leave_out_doubtful(struct pool_waits *p, const struct request *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_certain(&p->of[i], &at[i]))
			++*certain_of(p, &p->of[i], &at[i]);
	for (size_t i = 0; i < n; i++) {
		struct lent *l = &p->of[i];

		if (l->pool && (*certain_of(p, l, &at[i]) < WAITED_LEAST ||
				(!is_certain(l, &at[i]) && !l->holder)))
			l->pool = 0;
	}
}

static void look(struct pool_waits *p)
{
	size_t n;
	const struct request *at = timelines_requests(p->timelines, &n);

	p->looked = true;
	find_asks(p, at, n);
	if (!p->n_asks)
		return;
	count_connections(p);
	p->of = xcalloc(n, sizeof(*p->of));
	for (size_t i = 0; i < n; i++)
		if (is_whole(&at[i]) && at[i].reader != THREAD_NONE && at[i].writer != THREAD_NONE)
			p->of[i] = lent_to(p, at, i);
	leave_out_doubtful(p, at, n);
	count_waiting(p, n);
}

struct pool_wait pool_waits_of(struct pool_waits *p, const struct request *q)
{
	const struct request_endpoint *endpoints;
	const struct pool *pool;
	struct lent of = { .pool = 0 };
	size_t n_requests;
	uint32_t n;

	if (!p->looked)
		look(p);
	if (p->of)
		of = p->of[q - timelines_requests(p->timelines, &n_requests)];
	if (!of.pool)
		return (struct pool_wait) { .connections = 0 };
	pool = pool_at(p, of.pool);
	endpoints = timelines_endpoints(p->timelines, &n);
	return (struct pool_wait) {
		.from_ns = of.from_ns,
		.to_ns = of.to_ns,
		.connections = pool->connections,
		.waiting = pool->waiting,
		.endpoint = &endpoints[pool->endpoint],
		.holder = of.holder ? timelines_request(p->timelines, of.holder - 1) : NULL
	};
}
