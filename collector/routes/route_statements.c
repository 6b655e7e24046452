// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_statements.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STATEMENTS 16384u
#define CONNECTIONS 4096u

/* How far the statements of a connection are counted. */
struct numbering {
	uint64_t connection; /* 0: none */
	uint32_t next;	     /* request */
	uint32_t missing;    /* requests before it that have not come, as they are in other rings */
	uint64_t prepared;
	bool is_begun;	/* a command was seen: what comes before is the login */
	bool is_unsure; /* of statements that are prepared from now on */
};

struct route_statements {
	struct {
		uint64_t connection, name;
		struct statement prepared;
	} at[STATEMENTS];
	struct numbering numberings[CONNECTIONS];
};

int route_statements_new(struct route_statements **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void route_statements_free(struct route_statements *s)
{
	free(s);
}

static size_t place_of(uint64_t connection, uint64_t name)
{
	uint64_t h = (connection * 0x9e3779b97f4a7c15ull ^ name) * 0xff51afd7ed558ccdull;

	return (h >> 32) % STATEMENTS;
}

/* NULL: its statements are not counted. */
static struct numbering *numbering_of(struct route_statements *s, uint64_t connection)
{
	struct numbering *n = &s->numberings[connection % CONNECTIONS];

	return n->connection == connection && connection ? n : NULL;
}

/* Statements that the server has prepared by commands of SQL have numbers as well. */
static bool counts_by_itself(const struct route *r)
{
	return !strncmp(r->name, "PREPARE", 7) || !strncmp(r->name, "EXECUTE", 7) ||
	       !strncmp(r->name, "CALL", 4) || !strcmp(r->name, "CHANGE USER") ||
	       !strcmp(r->name, "RESET CONNECTION");
}

void route_statements_see(struct route_statements *s, const struct route_asked *asked,
			  bool is_known)
{
	const struct route *r = asked->r;
	bool is_mysql = is_known && r->protocol == ROUTE_MYSQL;
	struct numbering *n = numbering_of(s, asked->connection);

	if (asked->nth == 1 && !asked->is_old && (is_mysql || !r->protocol)) {
		n = &s->numberings[asked->connection % CONNECTIONS];
		*n = (struct numbering) { .connection = asked->connection, .next = 1 };
	}
	if (!n)
		return;
	if (asked->nth >= n->next) {
		n->missing += asked->nth - n->next;
		n->next = asked->nth + 1;
	} else if (n->missing) {
		/* One that was missing: what it prepares would have had a number before others. */
		n->missing--;
		n->is_unsure |= r->use == ROUTE_PREPARES;
	}
	n->is_begun |= is_mysql;
	n->is_unsure |=
		n->is_begun && (!is_mysql || (r->use == ROUTE_NO_STATEMENT && counts_by_itself(r)));
}

void route_statements_missed(struct route_statements *s, uint64_t connection)
{
	struct numbering *n = numbering_of(s, connection);

	if (n)
		n->is_unsure |= n->is_begun;
}

void route_statements_prepare(struct route_statements *s, const struct route_asked *asked,
			      const struct statement *prepared)
{
	uint64_t name = asked->r->statement;
	struct numbering *n = NULL;
	size_t place;

	if (asked->r->protocol == ROUTE_MYSQL) {
		n = numbering_of(s, asked->connection);
		if (!n || n->is_unsure || n->missing) {
			if (n)
				n->is_unsure = true;
			return;
		}
		name = ++n->prepared;
	}
	place = place_of(asked->connection, name);
	s->at[place].connection = asked->connection;
	s->at[place].name = name;
	s->at[place].prepared = *prepared;
}

bool route_statements_find(const struct route_statements *s, const struct route_asked *asked,
			   struct statement *found)
{
	size_t place = place_of(asked->connection, asked->r->statement);

	*found = s->at[place].prepared;
	return s->at[place].connection == asked->connection &&
	       s->at[place].name == asked->r->statement && found->route;
}
