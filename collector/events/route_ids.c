// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_ids.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routes/route_table.h"

#define CPUS_MAX 8192u

_Static_assert(WIRE_REQUEST_BYTES <= ROUTE_BYTES && WIRE_HEADERS_BYTES <= HTTP2_HEADERS_BYTES,
	       "all that comes is looked at");

/* What the bytes with this hash were. */
struct known_bytes {
	uint64_t hash; /* 0: free */
	struct route route;
};

struct route_ids {
	struct definition_store store;
	struct route_table *table;
	uint64_t now_ns;
	uint32_t cpus;
	struct known_bytes **known; /* by CPU: WIRE_KNOWN_BYTES; NULL: none were sent */
};

static uint32_t reserve(void *ctx)
{
	struct route_ids *r = ctx;

	return r->store.reserve(r->store.ctx, true, r->now_ns);
}

static int define(void *ctx, uint32_t id, enum route_protocol protocol, const char *text)
{
	struct object_text o = {
		.class = CHAINLOG_CLASS_ROUTE,
		.protocol = route_protocol_name(protocol),
	};
	struct route_ids *r = ctx;

	snprintf(o.name, sizeof(o.name), "%s", text);
	return r->store.object(r->store.ctx, &id, &o, r->now_ns);
}

int route_ids_new(struct route_ids **out, const struct definition_store *store)
{
	struct route_ids *r = calloc(1, sizeof(*r));

	*out = r;
	if (!r)
		return -ENOMEM;
	r->store = *store;
	if (!route_table_new(&r->table, &(struct route_store) { reserve, define, r }))
		return 0;
	free(r);
	*out = NULL;
	return -ENOMEM;
}

void route_ids_free(struct route_ids *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->cpus; i++)
		free(r->known[i]);
	free(r->known);
	route_table_free(r->table);
	free(r);
}

/* What this CPU has sent; NULL: out of memory. */
static struct known_bytes *known_of(struct route_ids *r, uint32_t cpu)
{
	struct known_bytes **all;

	if (cpu >= CPUS_MAX)
		return NULL;
	if (cpu >= r->cpus) {
		all = realloc(r->known, (cpu + 1) * sizeof(*all));
		if (!all)
			return NULL;
		r->known = all;
		while (r->cpus <= cpu)
			all[r->cpus++] = NULL;
	}
	if (!r->known[cpu])
		r->known[cpu] = calloc(WIRE_KNOWN_BYTES, sizeof(**r->known));
	return r->known[cpu];
}

/* What the request asks for, and its bytes; NULL: not known. */
static struct route *find_route(struct route_ids *r, const struct wire_request *w,
				struct route_request *request)
{
	const struct wire_request_bytes *whole = (const void *)w;
	struct known_bytes *known = w->hash ? known_of(r, w->r.cpu) : NULL;

	*request = (struct route_request) { .bytes_read = w->bytes_read };
	if (!known)
		return NULL;
	known += w->hash >> 1 & (WIRE_KNOWN_BYTES - 1);
	if (!w->n_bytes && known->hash != w->hash)
		return NULL;
	if (!w->n_bytes)
		return &known->route;
	request->n = w->n_bytes;
	request->bytes = (const uint8_t *)whole->bytes;
	if (request->bytes_read < request->n)
		request->bytes_read = request->n;
	known->hash = w->hash;
	route_parse(&known->route, request);
	return &known->route;
}

uint32_t route_ids_of(struct route_ids *r, const struct wire_request *w, uint32_t endpoint)
{
	struct route_request request;
	struct route_asked asked = {
		.endpoint = endpoint,
		.connection = w->connection,
		.nth = w->nth,
		.is_old = w->flags & CHAINLOG_REQUEST_OLD,
		.is_stream = w->flags & CHAINLOG_REQUEST_STREAM,
		.request = &request,
	};

	asked.r = find_route(r, w, &request);
	r->now_ns = w->r.time_ns;
	return route_table_id(r->table, &asked);
}

void route_ids_headers(struct route_ids *r, const struct wire_headers *w)
{
	r->now_ns = w->r.time_ns;
	route_table_headers(r->table, w->connection, w->nth,
			    &(struct http2_headers) { (const uint8_t *)w->bytes, w->n_bytes,
						      w->flags, w->is_cut & WIRE_HEADERS_CUT,
						      w->is_cut & WIRE_HEADERS_OLD });
}

const char *route_ids_asked(const struct route_ids *r, uint32_t id)
{
	return route_table_asked(r->table, id);
}

int route_ids_settle(struct route_ids *r)
{
	return route_table_settle(r->table);
}

/* For route_table_each(). */
struct each {
	void (*fn)(void *ctx, bool is_object, uint32_t id);
	void *ctx;
};

static void call(void *ctx, uint32_t id)
{
	struct each *e = ctx;

	e->fn(e->ctx, true, id);
}

void route_ids_each(const struct route_ids *r, void (*fn)(void *ctx, bool is_object, uint32_t id),
		    void *ctx)
{
	route_table_each(r->table, call, &(struct each) { fn, ctx });
}

uint64_t route_ids_no_room(const struct route_ids *r)
{
	return route_table_no_room(r->table);
}
