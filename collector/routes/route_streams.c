// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS 4096u
/*
 * Headers that wait for those that are missing: in all, and of one connection. These may be in the
 * ring of another CPU, which is read when this one has been.
 */
#define WAITING 8192u
#define WAITING_OF_CONNECTION 2048u
/* Streams of which the headers have come, or the request, are in the set that their numbers say. */
#define SETS 4096u
#define STREAMS_OF_SET 4u

struct waiting {
	uint32_t next; /* 0: none */
	uint32_t nth;
	struct http2_headers is; /* bytes: those below */
	uint8_t bytes[HTTP2_HEADERS_BYTES];
};

struct connection {
	uint64_t id;			   /* 0: none */
	uint32_t next;			   /* headers */
	uint32_t waiting, last, n_waiting; /* the first one, by the order of headers; the last */
	struct hpack headers;
};

struct stream {
	uint64_t connection; /* 0: none */
	uint32_t nth;
	uint32_t turn;		 /* when it came */
	struct late_stream late; /* id 0: its request is still to come, and asks for: */
	uint8_t protocol, fixed;
	char name[ROUTE_NAME_MAX];
};

struct route_streams {
	struct stream_calls calls;
	struct connection connections[CONNECTIONS];
	struct waiting waiting[WAITING + 1];
	uint32_t free, used; /* of waiting[], from 1 on */
	uint32_t turn;
	struct stream streams[SETS][STREAMS_OF_SET];
};

static const struct route not_known = { ROUTE_HTTP2, .name = "[HTTP/2 stream]", .fixed = 15 };

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

/* ---- streams --------------------------------------------------------------------------------- */

/* What becomes of it is not known, if its request waits for it. */
static void forget(struct route_streams *s, struct stream *is)
{
	if (is->connection && is->late.id)
		s->calls.resolve(s->calls.ctx, &is->late, &not_known);
	is->connection = 0;
}

/* The one that is there; NULL: none. *place: where one may be, which is free or the oldest. */
static struct stream *find(struct route_streams *s, uint64_t connection, uint32_t nth,
			   struct stream **place)
{
	struct stream *set = s->streams[(connection * 2654435761u + nth) % SETS];

	*place = set;
	for (struct stream *is = set; is < set + STREAMS_OF_SET; is++) {
		if (is->connection == connection && is->nth == nth)
			return is;
		if ((*place)->connection &&
		    (!is->connection || s->turn - is->turn > s->turn - (*place)->turn))
			*place = is;
	}
	return NULL;
}

/* It is known what a stream asks for. */
static void know(struct route_streams *s, uint64_t connection, uint32_t nth, const struct route *r)
{
	struct stream *place, *is = find(s, connection, nth, &place);

	if (is && is->late.id) {
		s->calls.resolve(s->calls.ctx, &is->late, r);
		is->connection = 0;
		return;
	}
	if (is)
		place = is;
	forget(s, place);
	*place = (struct stream) { .connection = connection,
				   .nth = nth,
				   .turn = s->turn++,
				   .protocol = (uint8_t)r->protocol,
				   .fixed = (uint8_t)r->fixed };
	memcpy(place->name, r->name, sizeof(place->name));
}

/* ---- headers --------------------------------------------------------------------------------- */

static void decode(struct route_streams *s, struct connection *c, uint32_t nth,
		   const struct http2_headers *headers)
{
	struct route r;

	route_http2_next(&c->headers, headers, &r);
	know(s, c->id, nth, &r);
}

/* The first headers that wait do not any more. */
static void decode_first(struct route_streams *s, struct connection *c)
{
	uint32_t number = c->waiting;
	struct waiting *w = &s->waiting[number];

	w->is.bytes = w->bytes;
	decode(s, c, w->nth, &w->is);
	c->waiting = w->next;
	c->n_waiting--;
	w->next = s->free;
	s->free = number;
}

/* No headers are waited for any more. */
static void give_up(struct route_streams *s, struct connection *c)
{
	c->headers.is_lost = true;
	while (c->waiting)
		decode_first(s, c);
}

static void wait_for_others(struct route_streams *s, struct connection *c, uint32_t nth,
			    const struct http2_headers *headers)
{
	uint32_t *link = &c->waiting, number = s->free ? s->free : ++s->used;
	struct waiting *w = &s->waiting[number];

	if (s->free)
		s->free = w->next;
	/* Mostly it is the last one. */
	if (c->waiting && s->waiting[c->last].nth < nth)
		link = &s->waiting[c->last].next;
	while (*link && s->waiting[*link].nth < nth)
		link = &s->waiting[*link].next;
	w->next = *link;
	if (!w->next)
		c->last = number;
	w->nth = nth;
	w->is = *headers;
	if (headers->n)
		memcpy(w->bytes, headers->bytes, headers->n);
	*link = number;
	c->n_waiting++;
}

static bool has_room(const struct route_streams *s, const struct connection *c)
{
	return c->n_waiting < WAITING_OF_CONNECTION && (s->free || s->used < WAITING);
}

void route_streams_headers(struct route_streams *s, uint64_t connection, uint32_t nth,
			   const struct http2_headers *headers)
{
	struct connection *c = &s->connections[connection % CONNECTIONS];

	if (!connection)
		return;
	if (c->id != connection) {
		give_up(s, c);
		*c = (struct connection) { .id = connection, .next = 1 };
	}
	c->headers.is_lost |= headers->is_old;
	if (nth != c->next && !c->headers.is_lost) {
		if (nth > c->next && has_room(s, c)) {
			wait_for_others(s, c, nth, headers);
			return;
		}
		give_up(s, c);
	}
	decode(s, c, nth, headers);
	c->next++;
	while (c->waiting && s->waiting[c->waiting].nth == c->next) {
		decode_first(s, c);
		c->next++;
	}
}

/* ---- requests -------------------------------------------------------------------------------- */

uint32_t route_streams_asked(struct route_streams *s, const struct route_asked *asked,
			     struct route *r)
{
	struct stream *place, *is;
	uint32_t id;

	*r = not_known;
	if (!asked->connection)
		return 0;
	is = find(s, asked->connection, asked->nth, &place);
	if (is && !is->late.id) {
		memcpy(r->name, is->name, sizeof(r->name));
		r->protocol = (enum route_protocol)is->protocol;
		r->fixed = is->fixed;
		is->connection = 0;
		return 0;
	}
	id = s->calls.reserve(s->calls.ctx);
	if (!id)
		return 0;
	if (is)
		place = is;
	forget(s, place);
	*place = (struct stream) { .connection = asked->connection,
				   .nth = asked->nth,
				   .turn = s->turn++,
				   .late = { id, asked->endpoint, asked->connection } };
	return id;
}

/* ---- all ------------------------------------------------------------------------------------- */

void route_streams_settle(struct route_streams *s)
{
	for (uint32_t i = 0; i < SETS * STREAMS_OF_SET; i++) {
		struct stream *is = &s->streams[i / STREAMS_OF_SET][i % STREAMS_OF_SET];

		if (is->late.id)
			forget(s, is);
	}
}

void route_streams_each(const struct route_streams *s, void (*fn)(void *ctx, uint32_t id),
			void *ctx)
{
	for (uint32_t i = 0; i < SETS * STREAMS_OF_SET; i++) {
		const struct stream *is = &s->streams[i / STREAMS_OF_SET][i % STREAMS_OF_SET];

		if (is->connection && is->late.id)
			fn(ctx, is->late.id);
	}
}
