// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_table.h"

#include "common/id_index.h"
#include "route_settle.h"
#include "route_statements.h"
#include "route_streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Endpoints are in the set that their id says, and stay there by what is asked of them. */
#define SETS 64u
#define ENDPOINTS_OF_SET 16u
#define CREDIT_MAX 64u
#define BUCKETS 8192u
#define OTHERS_MAX 16384u
/* A protocol that is told by weak signs only, and one that is given up: so many in a row. */
#define WEAK_SIGNS 8u
#define MISFITS 64u
/* After routes were forgotten, so many requests of the endpoint have no new ones if that made no
 * room.
 */
#define FORGET_EVERY 4096u

/* What is known of an endpoint, at its place. */
struct endpoint {
	uint32_t id;
	bool is_used;
	uint8_t protocol;		   /* enum route_protocol */
	uint8_t weak_protocol, weak_signs; /* of a row of requests */
	uint8_t tls_signs;		   /* WEAK_SIGNS: it has connections that are enciphered */
	uint8_t misfits;
	uint8_t credit; /* requests of it, less those for which others had no room */
	uint32_t first; /* route; 0: none */
	uint32_t routes;
	uint32_t full_for; /* requests: it has no room meanwhile */
};

/* One more id of a route, which its requests had before it was known that they are of it. */
struct other_id {
	uint32_t id;
	uint32_t next; /* of the route; of a free one: the next free one. 0: none */
};

struct route_table {
	struct route_store store;
	struct route_statements *statements;
	struct route_streams *streams;
	uint64_t seed;	  /* of hashes */
	uint64_t no_room; /* see route_table_no_room() */
	uint32_t free;	  /* the first one of those that were used before */
	uint32_t used;	  /* of at[], from 1 on */
	uint32_t free_other, used_others;
	uint32_t buckets[BUCKETS], ids[BUCKETS]; /* routes by hash, by id */
	struct endpoint endpoints[SETS][ENDPOINTS_OF_SET];
	struct asked_route at[ROUTES_MAX + 1];
	struct other_id others[OTHERS_MAX + 1];
};

static const struct route not_known = { .name = "EXECUTE [not known]", .fixed = 19 };

/* ---- routes --------------------------------------------------------------------------------- */

static void count_no_room(struct route_table *t, uint64_t requests)
{
	__atomic_fetch_add(&t->no_room, requests, __ATOMIC_RELAXED);
}

/* Whoever asks chooses the name. */
static uint32_t hash_of(const struct route_table *t, uint32_t endpoint, const char *name)
{
	return hash_bytes(t->seed + endpoint, name, strlen(name));
}

/* The place of a route, or of the end of its chain. */
static uint32_t *find(struct route_table *t, uint32_t endpoint, uint32_t hash, const char *name)
{
	uint32_t *at = &t->buckets[hash % BUCKETS];

	while (*at && (t->at[*at].hash != hash || t->at[*at].endpoint != endpoint ||
		       strcmp(t->at[*at].name, name)))
		at = &t->at[*at].chained;
	return at;
}

static int define(struct route_table *t, uint32_t id, const struct asked_route *r, const char *text)
{
	return t->store.define(t->store.ctx, id, (enum route_protocol)r->protocol, text);
}

/* Tells the route's other ids. Returns 0 or the store's error. */
static int tell_others(struct route_table *t, struct asked_route *r, const char *text)
{
	int err = 0;

	for (uint32_t number; !err && (number = r->others);) {
		struct other_id *o = &t->others[number];

		err = define(t, o->id, r, text);
		r->others = o->next;
		*o = (struct other_id) { .next = t->free_other };
		t->free_other = number;
	}
	return err;
}

static void forget_id(struct route_table *t, uint32_t number)
{
	uint32_t *at = &t->ids[t->at[number].id % BUCKETS];

	while (*at != number)
		at = &t->at[*at].by_id;
	*at = t->at[number].by_id;
}

const char *route_table_asked(const struct route_table *t, uint32_t id)
{
	uint32_t number = id ? t->ids[id % BUCKETS] : 0;

	while (number && t->at[number].id != id)
		number = t->at[number].by_id;
	return number ? t->at[number].name : NULL;
}

/* Gives the place of a route back, after it was told without its words. */
static void forget(struct route_table *t, uint32_t number)
{
	struct asked_route *r = &t->at[number];
	uint32_t *at = find(t, r->endpoint, r->hash, r->name);
	char text[ROUTE_NAME_MAX];

	route_without_words(r, text);
	if (!r->is_told) {
		(void)define(t, r->id, r, text);
		if (strcmp(text, r->name))
			count_no_room(t, r->requests);
	}
	(void)tell_others(t, r, text);
	*at = r->chained;
	forget_id(t, number);
	*r = (struct asked_route) { .generation = r->generation + 1, .next = t->free };
	t->free = number;
}

/* Forgets the routes of an endpoint that were asked for less than so often lately. */
static void forget_rare(struct route_table *t, struct endpoint *e, uint64_t requests)
{
	uint32_t *link = &e->first, number;

	while ((number = *link)) {
		struct asked_route *r = &t->at[number];

		if (r->lately >= requests) {
			r->lately = 0;
			link = &r->next;
			continue;
		}
		*link = r->next;
		e->routes--;
		forget(t, number);
	}
}

/*
 * Its place; NULL: there is none, as more is asked of those that have one. Who has many endpoints
 * of his own pushes out one of which much is asked only by asking as much.
 */
static struct endpoint *endpoint_of(struct route_table *t, uint32_t id)
{
	struct endpoint *set = t->endpoints[id % SETS], *least = set;

	for (struct endpoint *e = set; e < set + ENDPOINTS_OF_SET; e++) {
		if (e->is_used && e->id == id) {
			if (e->credit < CREDIT_MAX)
				e->credit++;
			return e;
		}
		if (e->credit < least->credit)
			least = e;
	}
	if (least->credit) {
		least->credit--;
		return NULL;
	}
	forget_rare(t, least, UINT64_MAX);
	*least = (struct endpoint) { .id = id, .is_used = true, .credit = 1 };
	return least;
}

/* Room for one more route of the endpoint; 0: there is none. */
static uint32_t new_place(struct route_table *t, struct endpoint *e)
{
	uint32_t number;

	if (e->full_for) {
		e->full_for--;
		return 0;
	}
	if (e->routes >= ROUTES_OF_ENDPOINT || (!t->free && t->used == ROUTES_MAX)) {
		forget_rare(t, e, ROUTE_REQUESTS);
		if (e->routes > ROUTES_OF_ENDPOINT / 8 * 7 || (!t->free && t->used == ROUTES_MAX))
			e->full_for = FORGET_EVERY;
		if (e->routes >= ROUTES_OF_ENDPOINT || (!t->free && t->used == ROUTES_MAX))
			return 0;
	}
	number = t->free;
	if (number)
		t->free = t->at[number].next;
	else
		number = ++t->used;
	return number;
}

/* The number of a route, which may be new; 0: there is no room. */
static uint32_t number_of(struct route_table *t, struct endpoint *e, const struct route *route)
{
	uint32_t hash = hash_of(t, e->id, route->name), id;
	uint32_t *at = find(t, e->id, hash, route->name), number = *at;
	struct asked_route *r;

	if (number)
		return number;
	number = new_place(t, e);
	if (!number) {
		count_no_room(t, 1);
		return 0;
	}
	id = t->store.reserve(t->store.ctx);
	at = find(t, e->id, hash, route->name); /* some were forgotten */
	r = &t->at[number];
	*r = (struct asked_route) {
		.fixed = (uint8_t)route->fixed,
		.protocol = (uint8_t)route->protocol,
		.endpoint = e->id,
		.id = id,
		.is_told = !id,
		.hash = hash,
		.generation = r->generation,
		.next = e->first,
		.by_id = t->ids[id % BUCKETS],
	};
	memcpy(r->name, route->name, sizeof(r->name));
	e->first = *at = t->ids[id % BUCKETS] = number;
	e->routes++;
	return number;
}

/* So many requests of a connection were of the route. Returns its id, of route 0 that is 0. */
static uint32_t count(struct route_table *t, uint32_t number, uint64_t connection,
		      uint64_t requests)
{
	struct asked_route *r = &t->at[number];

	if (!number)
		return 0;
	if (!r->requests)
		r->connection = connection;
	r->is_several |= r->connection != connection;
	r->requests += requests;
	r->lately += requests;
	return r->id;
}

/* ---- protocols ------------------------------------------------------------------------------ */

/* Whatever an endpoint speaks, it may do so within TLS, and on some connections only. */
static bool is_tls(struct endpoint *e, bool is_weak)
{
	if (!is_weak)
		e->tls_signs = WEAK_SIGNS;
	else if (e->tls_signs < WEAK_SIGNS)
		e->tls_signs++;
	return e->tls_signs == WEAK_SIGNS;
}

/* Whether the request is of the protocol that its endpoint speaks. */
static bool fits(struct endpoint *e, const struct route *r)
{
	if (r->protocol == ROUTE_TLS)
		return is_tls(e, r->is_weak);
	if (e->tls_signs < WEAK_SIGNS)
		e->tls_signs = 0;
	if (e->protocol) {
		if (e->protocol == r->protocol) {
			e->misfits = 0;
			return true;
		}
		if (++e->misfits >= MISFITS)
			e->protocol = e->misfits = e->weak_signs = 0;
		return false;
	}
	if (!r->protocol)
		return false;
	if (e->weak_protocol != r->protocol)
		e->weak_signs = 0;
	e->weak_protocol = (uint8_t)r->protocol;
	if (!r->is_weak || ++e->weak_signs >= WEAK_SIGNS)
		e->protocol = (uint8_t)r->protocol;
	return e->protocol;
}

/* ---- requests ------------------------------------------------------------------------------- */

/* The route of a statement of the endpoint; 0: there is none, or not any more. */
static uint32_t route_of(const struct route_table *t, struct statement s, uint32_t endpoint)
{
	const struct asked_route *r = &t->at[s.route];

	return s.route && r->generation == s.generation && r->endpoint == endpoint ? s.route : 0;
}

static uint32_t reserve(void *ctx)
{
	struct route_table *t = ctx;

	return t->store.reserve(t->store.ctx);
}

/* One more id of a route, of so many requests of a connection. */
static void add_id(struct route_table *t, uint32_t number, uint32_t id, uint64_t connection,
		   uint64_t requests)
{
	uint32_t other = t->free_other;
	char text[ROUTE_NAME_MAX];

	count(t, number, connection, requests);
	if (!other && t->used_others == OTHERS_MAX) {
		route_without_words(&t->at[number], text);
		(void)define(t, id, &t->at[number], text);
		count_no_room(t, requests);
		return;
	}
	if (other)
		t->free_other = t->others[other].next;
	else
		other = ++t->used_others;
	t->others[other] = (struct other_id) { id, t->at[number].others };
	t->at[number].others = other;
}

/* What was executed before it was known; where it stays unknown, its endpoint's protocol may. */
static void resolve(void *ctx, const struct late_executions *late, struct statement is)
{
	struct route_table *t = ctx;
	uint32_t number = route_of(t, is, late->endpoint);

	if (number)
		add_id(t, number, late->id, late->connection, late->requests);
	else if (late->is_sure)
		(void)t->store.define(t->store.ctx, late->id, late->protocol, not_known.name);
}

/* What a request of HTTP/2 asked for, which came before others of its connection. */
static void resolve_stream(void *ctx, const struct late_stream *late, const struct route *is)
{
	struct route_table *t = ctx;
	struct endpoint *e = endpoint_of(t, late->endpoint);
	uint32_t number = e ? number_of(t, e, is) : 0;

	if (number)
		add_id(t, number, late->id, late->connection, 1);
	else
		(void)t->store.define(t->store.ctx, late->id, ROUTE_HTTP2, "[HTTP/2 stream]");
}

static uint32_t execute(struct route_table *t, struct endpoint *e, const struct route_asked *asked,
			bool is_known)
{
	uint32_t number, late;
	struct statement is = route_statements_execute(t->statements, asked, is_known, &late);

	number = route_of(t, is, e->id);
	if (late || !is_known)
		return late;
	if (!number) {
		struct route unknown = not_known;

		unknown.protocol = asked->r->protocol;
		number = number_of(t, e, &unknown);
	}
	return count(t, number, asked->connection, 1);
}

static uint32_t id_of_stream(struct route_table *t, struct endpoint *e,
			     const struct route_asked *asked)
{
	struct route is;
	uint32_t late = route_streams_asked(t->streams, asked, &is);

	return late ? late : count(t, number_of(t, e, &is), asked->connection, 1);
}

void route_table_headers(struct route_table *t, uint64_t connection, uint32_t nth,
			 const struct http2_headers *headers)
{
	route_streams_headers(t->streams, connection, nth, headers);
}

static bool has_statements(enum route_protocol p)
{
	return p == ROUTE_UNKNOWN || p == ROUTE_MYSQL || p == ROUTE_POSTGRES;
}

uint32_t route_table_id(struct route_table *t, const struct route_asked *request)
{
	static const struct route unknown = { .protocol = ROUTE_UNKNOWN };
	struct endpoint *e = endpoint_of(t, request->endpoint);
	struct route_asked asked = *request;
	struct route route = asked.r ? *asked.r : unknown, *r = &route;
	bool is_known, may_begin;
	uint32_t number = 0;

	if (!e) {
		count_no_room(t, 1);
		return 0;
	}
	if (asked.is_stream)
		return id_of_stream(t, e, &asked);
	is_known = asked.r && fits(e, r);
	may_begin = has_statements((enum route_protocol)e->protocol) && has_statements(r->protocol);
	asked.r = r;
	route_statements_see(t->statements, &asked, is_known, may_begin);
	if (is_known && r->use != ROUTE_EXECUTES && *r->name)
		number = number_of(t, e, r);
	if (is_known && r->use == ROUTE_PREPARES)
		route_statements_prepare(t->statements, &asked,
					 (struct statement) { number, t->at[number].generation });
	route_statements_order(t->statements, asked.connection);
	if (r->use == ROUTE_EXECUTES && (is_known || !e->protocol))
		return execute(t, e, &asked, is_known);
	return count(t, number, asked.connection, 1);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

int route_table_new(struct route_table **out, const struct route_store *store)
{
	struct route_table *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return -ENOMEM;
	t->store = *store;
	t->seed = hash_seed();
	if (!route_statements_new(&t->statements,
				  &(struct statement_calls) { reserve, resolve, t }) &&
	    !route_streams_new(&t->streams, &(struct stream_calls) { reserve, resolve_stream, t }))
		return 0;
	route_table_free(t);
	*out = NULL;
	return -ENOMEM;
}

void route_table_free(struct route_table *t)
{
	if (!t)
		return;
	route_statements_free(t->statements);
	route_streams_free(t->streams);
	free(t);
}

/* ---- telling -------------------------------------------------------------------------------- */

static int settle_endpoint(struct route_table *t, const struct endpoint *e)
{
	struct asked_route *routes[ROUTES_OF_ENDPOINT] = { NULL };
	char texts[ROUTES_OF_ENDPOINT][ROUTE_NAME_MAX];
	size_t n = 0;
	int err;

	for (uint32_t i = e->first; i && n < ROUTES_OF_ENDPOINT; i = t->at[i].next)
		routes[n++] = &t->at[i];
	err = route_settle(routes, n, texts);
	for (size_t i = 0; !err && i < n; i++) {
		if (!routes[i]->is_told)
			err = define(t, routes[i]->id, routes[i], texts[i]);
		routes[i]->is_told = true;
		err = err ? err : tell_others(t, routes[i], texts[i]);
	}
	return err;
}

int route_table_settle(struct route_table *t)
{
	int err = 0;

	route_statements_settle(t->statements);
	route_streams_settle(t->streams);
	for (uint32_t i = 0; !err && i < SETS * ENDPOINTS_OF_SET; i++)
		err = settle_endpoint(t, &t->endpoints[i / ENDPOINTS_OF_SET][i % ENDPOINTS_OF_SET]);
	return err;
}

void route_table_each(const struct route_table *t, void (*fn)(void *ctx, uint32_t id), void *ctx)
{
	for (uint32_t i = 1; i <= t->used; i++)
		if (t->at[i].id && !t->at[i].is_told)
			fn(ctx, t->at[i].id);
	for (uint32_t i = 1; i <= t->used_others; i++)
		if (t->others[i].id)
			fn(ctx, t->others[i].id);
	route_statements_each(t->statements, fn, ctx);
	route_streams_each(t->streams, fn, ctx);
}

uint64_t route_table_no_room(const struct route_table *t)
{
	return __atomic_load_n(&t->no_room, __ATOMIC_RELAXED) +
	       route_statements_no_room(t->statements);
}
