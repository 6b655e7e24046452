// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_table.h"

#include "route_settle.h"
#include "route_statements.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENDPOINTS 1024u
#define BUCKETS 8192u
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
	uint8_t misfits;
	uint32_t first; /* route; 0: none */
	uint32_t routes;
	uint32_t full_for; /* requests: it has no room meanwhile */
};

struct route_table {
	struct route_store store;
	struct route_statements *statements;
	uint32_t free; /* the first one of those that were used before */
	uint32_t used; /* of at[], from 1 on */
	uint32_t buckets[BUCKETS];
	struct endpoint endpoints[ENDPOINTS];
	struct asked_route at[ROUTES_MAX + 1];
};

int route_table_new(struct route_table **out, const struct route_store *store)
{
	struct route_table *t = calloc(1, sizeof(*t));

	*out = NULL;
	if (!t || route_statements_new(&t->statements)) {
		free(t);
		return -ENOMEM;
	}
	t->store = *store;
	*out = t;
	return 0;
}

void route_table_free(struct route_table *t)
{
	if (!t)
		return;
	route_statements_free(t->statements);
	free(t);
}

/* ---- routes --------------------------------------------------------------------------------- */

static uint32_t hash_of(uint32_t endpoint, const char *name)
{
	uint32_t h = 2166136261u ^ endpoint; /* FNV-1a */

	while (*name)
		h = (h ^ (uint8_t)*name++) * 16777619u;
	return h ^ h >> 15;
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

/* Gives the place of a route back, after it was told without its words. */
static void forget(struct route_table *t, uint32_t number)
{
	struct asked_route *r = &t->at[number];
	uint32_t *at = find(t, r->endpoint, r->hash, r->name);
	char text[ROUTE_NAME_MAX];

	if (!r->is_told) {
		route_without_words(r, text);
		(void)t->store.define(t->store.ctx, r->id, text);
	}
	*at = r->chained;
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

static struct endpoint *endpoint_of(struct route_table *t, uint32_t id)
{
	struct endpoint *e = &t->endpoints[id % ENDPOINTS];

	if (e->is_used && e->id == id)
		return e;
	forget_rare(t, e, UINT64_MAX);
	*e = (struct endpoint) { .id = id, .is_used = true };
	return e;
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
	uint32_t hash = hash_of(e->id, route->name), id;
	uint32_t *at = find(t, e->id, hash, route->name), number = *at;
	struct asked_route *r;

	if (number)
		return number;
	number = new_place(t, e);
	if (!number)
		return 0;
	id = t->store.reserve(t->store.ctx);
	at = find(t, e->id, hash, route->name); /* some were forgotten */
	r = &t->at[number];
	*r = (struct asked_route) {
		.fixed = (uint8_t)route->fixed,
		.endpoint = e->id,
		.id = id,
		.is_told = !id,
		.hash = hash,
		.generation = r->generation,
		.next = e->first,
	};
	memcpy(r->name, route->name, sizeof(r->name));
	e->first = *at = number;
	e->routes++;
	return number;
}

static uint32_t count(struct route_table *t, uint32_t number, uint64_t connection)
{
	struct asked_route *r = &t->at[number];

	if (!number)
		return 0;
	if (!r->requests)
		r->connection = connection;
	r->is_several |= r->connection != connection;
	r->requests++;
	r->lately++;
	return r->id;
}

/* ---- protocols ------------------------------------------------------------------------------ */

/* Whether the request is of the protocol that its endpoint speaks. */
static bool fits(struct endpoint *e, const struct route *r)
{
	if (r->protocol == ROUTE_TLS)
		return false;
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

void route_table_missed(struct route_table *t, uint64_t connection)
{
	route_statements_missed(t->statements, connection);
}

/* The route of what was prepared as this statement; 0: not known. */
static uint32_t prepared(struct route_table *t, const struct route_asked *asked)
{
	struct statement s;

	if (!route_statements_find(t->statements, asked, &s) ||
	    t->at[s.route].generation != s.generation || t->at[s.route].endpoint != asked->endpoint)
		return 0;
	return s.route;
}

uint32_t route_table_id(struct route_table *t, const struct route_asked *asked)
{
	static const struct route unknown = { .name = "EXECUTE [not known]", .fixed = 19 };
	struct endpoint *e = endpoint_of(t, asked->endpoint);
	const struct route *r = asked->r;
	bool is_known = fits(e, r);
	uint32_t number = 0;

	route_statements_see(t->statements, asked, is_known);
	if (!is_known || !*r->name)
		return 0;
	if (r->use == ROUTE_EXECUTES) {
		number = prepared(t, asked);
		return count(t, number ? number : number_of(t, e, &unknown), asked->connection);
	}
	number = number_of(t, e, r);
	if (r->use == ROUTE_PREPARES)
		route_statements_prepare(
			t->statements, asked,
			&(struct statement) { number, number ? t->at[number].generation : 0 });
	return count(t, number, asked->connection);
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
		if (routes[i]->is_told)
			continue;
		err = t->store.define(t->store.ctx, routes[i]->id, texts[i]);
		routes[i]->is_told = true;
	}
	return err;
}

int route_table_settle(struct route_table *t)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < ENDPOINTS; i++)
		err = settle_endpoint(t, &t->endpoints[i]);
	return err;
}

void route_table_each(const struct route_table *t, void (*fn)(void *ctx, uint32_t id), void *ctx)
{
	for (uint32_t i = 1; i <= t->used; i++)
		if (t->at[i].id && !t->at[i].is_told)
			fn(ctx, t->at[i].id);
}
