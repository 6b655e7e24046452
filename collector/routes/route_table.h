/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_table.h - the routes of all endpoints that requests asked for, and what is told of them.
 * The words in a route are strangers': of a path, a table, a command. None of them leaves this
 * table as long as it may be one person's: a word is told if three requests on two connections had
 * it, and if it is not one of too many in its place; else a * stands there. So all is told late: a
 * route has an id at once, and a text when route_table_settle() is called, or when it is forgotten.
 *
 * It also knows which protocol an endpoint speaks, by the signs of its requests, and which
 * statement is executed that was prepared on the same connection. All is bounded.
 */
#pragma once

#include "route_asked.h"
#include "route_http2.h"

#define ROUTES_MAX 8192u	/* in all, */
#define ROUTES_OF_ENDPOINT 512u /* and of one endpoint, before they are told */

struct route_table;

/* Where routes are told. */
struct route_store {
	/* A new id for a route; 0: out of memory. */
	uint32_t (*reserve)(void *ctx);
	/* Its text, and its requests' protocol. Returns 0 or a negative errno. */
	int (*define)(void *ctx, uint32_t id, enum route_protocol protocol, const char *text);
	void *ctx;
};

/* store is copied. Returns 0 or -ENOMEM. */
int route_table_new(struct route_table **out, const struct route_store *store);
void route_table_free(struct route_table *t);

/*
 * The id of a request's route; 0: it has none. asked->r NULL: how it begins is not known; it may
 * have prepared a statement. An id that is never told means that it has none, either.
 */
uint32_t route_table_id(struct route_table *t, const struct route_asked *asked);
/* The headers with number nth, from 1 on, of a connection of HTTP/2. */
void route_table_headers(struct route_table *t, uint64_t connection, uint32_t nth,
			 const struct http2_headers *headers);

/*
 * The route with this id as it was asked for, with words that may be one person's: for comparing,
 * never to be written. NULL: it is not, or no longer, known. Valid until the table changes.
 */
const char *route_table_asked(const struct route_table *t, uint32_t id);

/* Tells all routes that have no text yet. Returns 0 or the store's error, or -ENOMEM. */
int route_table_settle(struct route_table *t);
/* Calls fn for each id that was not told yet. */
void route_table_each(const struct route_table *t, void (*fn)(void *ctx, uint32_t id), void *ctx);

/*
 * Requests so far that lack their route, or words of it, as there were too many endpoints, routes
 * or statements. Any thread may ask.
 */
uint64_t route_table_no_room(const struct route_table *t);
