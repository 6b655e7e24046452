/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_statements.h - which statement of a connection is executed: by its name (PostgreSQL), or by
 * the number that the server gives to each that is prepared, 1, 2, ... (MySQL, MariaDB). A number
 * is never guessed: where a request may be missing that prepared one, those from there on have no
 * number. What there is no room for is forgotten.
 *
 * Requests come out of order, as those of one connection are in the rings of several CPUs. Where
 * what prepared a statement is still to come, its executions have an id of their own, and which
 * statement it was is known later, when no request is missing.
 */
#pragma once

#include "route_asked.h"

struct route_statements;

/* What was prepared: a place in struct route_table, and its generation. */
struct statement {
	uint32_t route, generation; /* route 0: not known */
};

/* Executions of one statement of a connection that came too early. */
struct late_executions {
	uint32_t id; /* of the store */
	uint32_t endpoint;
	uint64_t connection;
	uint64_t requests;
	enum route_protocol protocol;
	bool is_sure; /* they are of the endpoint's protocol */
};

struct statement_calls {
	/* A new id for executions; 0: out of memory. */
	uint32_t (*reserve)(void *ctx);
	/* What they have executed is known now, or it is known that it will not be. */
	void (*resolve)(void *ctx, const struct late_executions *late, struct statement is);
	void *ctx;
};

/* calls is copied. Returns 0 or -ENOMEM. */
int route_statements_new(struct route_statements **out, const struct statement_calls *calls);
void route_statements_free(struct route_statements *s);

/*
 * Any request, before the following; asked->r is not NULL. is_known: it is of the endpoint's
 * protocol; may_begin: or may be, for all that is known of the endpoint.
 */
void route_statements_see(struct route_statements *s, const struct route_asked *asked,
			  bool is_known, bool may_begin);
/* It prepares a statement. */
void route_statements_prepare(struct route_statements *s, const struct route_asked *asked,
			      struct statement prepared);
/* What the connection's requests have executed, if none is missing now. */
void route_statements_order(struct route_statements *s, uint64_t connection);
/* What the request executes. If that is to be known later: not known, and *late is set, else 0. */
struct statement route_statements_execute(struct route_statements *s,
					  const struct route_asked *asked, bool is_known,
					  uint32_t *late);
/* What is not known by now stays so. */
void route_statements_settle(struct route_statements *s);
/* Calls fn for each id that is not resolved. */
void route_statements_each(const struct route_statements *s, void (*fn)(void *ctx, uint32_t id),
			   void *ctx);
/* Requests whose statement was forgotten, or not kept. Any thread may ask. */
uint64_t route_statements_no_room(const struct route_statements *s);
