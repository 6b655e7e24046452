/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_statements.h - which statement of a connection is executed: by its name (PostgreSQL), or by
 * the number that the server gives to each that is prepared, 1, 2, ... (MySQL, MariaDB). A number
 * is never guessed: where a request may be missing that prepared one, those from there on have no
 * number. What there is no room for is forgotten.
 */
#pragma once

#include "route_asked.h"

struct route_statements;

/* What was prepared: a place in struct route_table, and its generation. */
struct statement {
	uint32_t route, generation;
};

/* Returns 0 or -ENOMEM. */
int route_statements_new(struct route_statements **out);
void route_statements_free(struct route_statements *s);

/* Any request, before the following; is_known: it is of the endpoint's protocol. */
void route_statements_see(struct route_statements *s, const struct route_asked *asked,
			  bool is_known);
/* A request of which nothing is known. */
void route_statements_missed(struct route_statements *s, uint64_t connection);
/* It prepares a statement. */
void route_statements_prepare(struct route_statements *s, const struct route_asked *asked,
			      const struct statement *prepared);
/* The one that it executes. False: not known. */
bool route_statements_find(const struct route_statements *s, const struct route_asked *asked,
			   struct statement *found);
