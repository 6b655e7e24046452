// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_streams.h"

#include "route_http2.h"

#include <errno.h>
#include <stdlib.h>

#define CONNECTIONS 4096u
/* What waits for requests that are missing: in all, and of one connection. */
#define WAITING 1024u
#define WAITING_OF_CONNECTION 32u

struct waiting {
	uint32_t next; /* 0: none */
	uint32_t nth;
	struct late_stream late; /* id 0: it has its route */
	uint64_t bytes_read;
	uint32_t n;
	uint8_t bytes[ROUTE_BYTES];
};

struct connection {
	uint64_t id;		     /* 0: none */
	uint32_t next;		     /* request; 0: not known, as its beginning is still to come */
	uint32_t waiting, n_waiting; /* the first one, by the order of requests */
	struct http2_connection is;
};

struct route_streams {
	struct stream_calls calls;
	struct connection connections[CONNECTIONS];
	struct waiting waiting[WAITING + 1];
	uint32_t free, used; /* of waiting[], from 1 on */
};

int route_streams_new(struct route_streams **out, const struct stream_calls *calls)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->calls = *calls;
	return 0;
}

void route_streams_free(struct route_streams *s)
{
	free(s);
}

/* ---- what waits ------------------------------------------------------------------------------ */

static void resolve(struct route_streams *s, struct waiting *w, const struct route *is)
{
	/* What is not of HTTP/2 behind its beginning is not known to be anything. */
	static const struct route no_stream = { ROUTE_HTTP2, .name = "[HTTP/2]", .fixed = 8 };

	if (w->late.id)
		s->calls.resolve(s->calls.ctx, &w->late,
				 is->protocol == ROUTE_HTTP2 ? is : &no_stream);
	w->late.id = 0;
}

/* Each that waits is known by itself only; it stays, as others need its turn. */
static void resolve_alone(struct route_streams *s, struct waiting *w)
{
	struct route_request request = { w->bytes, w->n, w->bytes_read };
	struct route r;

	if (!w->late.id)
		return;
	route_parse(&r, &request);
	resolve(s, w, &r);
}

/* The first one that waits does not any more. */
static void end_first(struct route_streams *s, struct connection *c)
{
	uint32_t number = c->waiting;
	struct waiting *w = &s->waiting[number];

	resolve_alone(s, w);
	c->waiting = w->next;
	c->n_waiting--;
	w->next = s->free;
	s->free = number;
}

/* The next request of a connection. */
static void take_turn(struct route_streams *s, struct connection *c,
		      const struct route_request *request, struct route *r)
{
	struct route is;

	if (route_http2_next(&c->is, request, &is))
		*r = is;
	c->next++;
	while (c->waiting && s->waiting[c->waiting].nth == c->next) {
		struct waiting *w = &s->waiting[c->waiting];

		if (route_http2_next(
			    &c->is, &(struct route_request) { w->bytes, w->n, w->bytes_read }, &is))
			resolve(s, w, &is);
		end_first(s, c);
		c->next++;
	}
}

/* No request is waited for any more. */
static void give_up(struct route_streams *s, struct connection *c)
{
	while (c->waiting)
		end_first(s, c);
	c->next = UINT32_MAX;
}

static void wait_for_others(struct route_streams *s, struct connection *c,
			    const struct route_asked *asked, uint32_t id)
{
	const struct route_request *request = asked->request;
	uint32_t *link = &c->waiting, number = s->free ? s->free : ++s->used;
	struct waiting *w = &s->waiting[number];

	if (s->free)
		s->free = w->next;
	while (*link && s->waiting[*link].nth < asked->nth)
		link = &s->waiting[*link].next;
	w->next = *link;
	w->nth = asked->nth;
	w->late = (struct late_stream) { id, asked->endpoint, asked->connection };
	w->bytes_read = request->bytes_read;
	w->n = (uint32_t)request->n;
	if (w->n)
		memcpy(w->bytes, request->bytes, w->n);
	*link = number;
	c->n_waiting++;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* NULL: nothing is known of its connection. */
static struct connection *connection_of(struct route_streams *s, const struct route_asked *asked,
					const struct route *r)
{
	struct connection *c = &s->connections[asked->connection % CONNECTIONS];

	if (!asked->connection)
		return NULL;
	if (c->id == asked->connection)
		return c;
	if (asked->is_old || r->protocol != ROUTE_HTTP2 || !asked->request)
		return NULL;
	give_up(s, c);
	*c = (struct connection) { .id = asked->connection };
	return c;
}

static bool has_room(const struct route_streams *s, const struct connection *c)
{
	return c->n_waiting < WAITING_OF_CONNECTION && (s->free || s->used < WAITING);
}

uint32_t route_streams_see(struct route_streams *s, const struct route_asked *asked,
			   struct route *r)
{
	struct connection *c = connection_of(s, asked, r);
	uint32_t id = 0;

	if (!c || c->next == UINT32_MAX)
		return 0;
	if (!asked->request || (asked->nth != c->next && !has_room(s, c))) {
		give_up(s, c);
		return 0;
	}
	if (!c->next && route_http2_begins(asked->request)) {
		c->next = asked->nth;
		while (c->waiting && s->waiting[c->waiting].nth < c->next)
			end_first(s, c);
	}
	if (c->next && asked->nth < c->next)
		return 0; /* it was before the beginning */
	if (asked->nth == c->next) {
		take_turn(s, c, asked->request, r);
		return 0;
	}
	/* What is known by itself needs only its turn. */
	if (*r->name == '[' || r->protocol != ROUTE_HTTP2)
		id = s->calls.reserve(s->calls.ctx);
	wait_for_others(s, c, asked, id);
	return id;
}

/* ---- all ------------------------------------------------------------------------------------- */

void route_streams_settle(struct route_streams *s)
{
	for (uint32_t i = 1; i <= s->used; i++)
		resolve_alone(s, &s->waiting[i]);
}

void route_streams_each(const struct route_streams *s, void (*fn)(void *ctx, uint32_t id),
			void *ctx)
{
	for (uint32_t i = 1; i <= s->used; i++)
		if (s->waiting[i].late.id)
			fn(ctx, s->waiting[i].late.id);
}
