/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_streams.h - what streams of HTTP/2 ask for. Their headers come when they are read, their
 * requests when they are answered, and either may come out of order, as those of one connection are
 * in the rings of several CPUs. What a stream asks for whose headers are still to come, or refer to
 * some that are, is known later; where headers are missing, only what does not refer to others is
 * known from there on.
 */
#pragma once

#include "route_asked.h"
#include "route_http2.h"

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

/* The headers with number nth, from 1 on, of a connection. */
void route_streams_headers(struct route_streams *s, uint64_t connection, uint32_t nth,
			   const struct http2_headers *headers);
/*
 * The request of the stream that has these headers. Returns the id that it has if *r, what it asks
 * for, is to be known later, else 0.
 */
uint32_t route_streams_asked(struct route_streams *s, const struct route_asked *asked,
			     struct route *r);
/* What is not known by now stays so. */
void route_streams_settle(struct route_streams *s);
/* Calls fn for each id that is not resolved. */
void route_streams_each(const struct route_streams *s, void (*fn)(void *ctx, uint32_t id),
			void *ctx);
