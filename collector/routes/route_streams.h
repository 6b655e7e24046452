/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_streams.h - what requests of HTTP/2 ask for whose headers refer to those of requests before
 * them on their connection. Of a connection that is not seen from its beginning, or of which a
 * request is missing, only what does not refer to others is known from there on.
 *
 * Requests come out of order, as those of one connection are in the rings of several CPUs. What
 * refers to one that is still to come has an id of its own, and which route that is is known later.
 */
#pragma once

#include "route_asked.h"

struct route_streams;

/* A request that came too early. */
struct late_stream {
	uint32_t id; /* of the store */
	uint32_t endpoint;
	uint64_t connection;
};

struct stream_calls {
	/* A new id for a request; 0: out of memory. */
	uint32_t (*reserve)(void *ctx);
	/* What it asks for is known now. */
	void (*resolve)(void *ctx, const struct late_stream *late, const struct route *is);
	void *ctx;
};

/* calls is copied. Returns 0 or -ENOMEM. */
int route_streams_new(struct route_streams **out, const struct stream_calls *calls);
void route_streams_free(struct route_streams *s);

/*
 * Any request. *r: what it asks for by itself; if more is known by its connection, that. Returns
 * the id that it has if that is to be known later, else 0.
 */
uint32_t route_streams_see(struct route_streams *s, const struct route_asked *asked,
			   struct route *r);
/* What is not known by now stays so. */
void route_streams_settle(struct route_streams *s);
/* Calls fn for each id that is not resolved. */
void route_streams_each(const struct route_streams *s, void (*fn)(void *ctx, uint32_t id),
			void *ctx);
