// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/id_index.h"
#include "route_statements.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Statements that are known: so many in a set, so many sets. */
#define SET 8u
#define SETS 2048u
#define CONNECTIONS 4096u
/* What waits for requests that are missing: in all, and of one connection. */
#define WAITING 8192u
#define WAITING_OF_CONNECTION 64u

/* A statement that was prepared, or executions of one. */
struct waiting {
	uint32_t next;	/* 0: none */
	uint32_t first; /* request; of executions the first one of all */
	uint64_t name;
	struct statement prepared;
	struct late_executions executed; /* id 0: it was prepared */
};

/* How far the statements of a connection are counted. */
struct numbering {
	uint64_t connection; /* 0: none */
	uint32_t next;	     /* request */
	uint32_t missing;    /* requests before it that have not come, as they are in other rings */
	uint32_t first_command, last_odd; /* requests; 0: none. Before commands is the login */
	uint32_t waiting, n_waiting;	  /* the first one, by the order of requests */
	uint64_t prepared;
	bool is_unsure; /* of statements that are prepared from now on */
	bool is_given_up;
};

struct named {
	uint64_t connection, name;
	uint32_t nth; /* request */
	bool is_reused;
	struct statement prepared;
};

struct route_statements {
	struct statement_calls calls;
	uint64_t seed; /* of hashes */
	uint64_t no_room;
	struct named sets[SETS][SET];
	struct numbering numberings[CONNECTIONS];
	struct waiting waiting[WAITING + 1];
	uint32_t free, used; /* of waiting[], from 1 on */
};

int route_statements_new(struct route_statements **out, const struct statement_calls *calls)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->calls = *calls;
	(*out)->seed = hash_seed();
	return 0;
}

void route_statements_free(struct route_statements *s)
{
	free(s);
}

/* ---- statements that have a name ------------------------------------------------------------ */

/* The set in which it is, if it is known. Clients choose names. */
static size_t set_of(const struct route_statements *s, uint64_t connection, uint64_t name)
{
	uint64_t key[] = { connection, name };

	return hash_bytes(s->seed, key, sizeof(key)) % SETS;
}

/* Its place in the set; SET: it has none. */
static uint32_t place_in(const struct named *set, uint64_t connection, uint64_t name)
{
	uint32_t i = 0;

	while (i < SET && (set[i].connection != connection || set[i].name != name))
		i++;
	return i;
}

/*
 * What the name meant before the nth request; route 0: not known, as where it may have got another
 * meaning by a request that is missing.
 */
static struct statement find(const struct route_statements *s, const struct numbering *n,
			     uint64_t connection, uint64_t name, uint32_t nth)
{
	const struct named *set = s->sets[set_of(s, connection, name)], *is;
	uint32_t place = place_in(set, connection, name);

	is = &set[place];
	if (!connection || place == SET || is->nth >= nth ||
	    (n && n->missing && is->is_reused && is->nth + 1 != nth))
		return (struct statement) { 0 };
	return is->prepared;
}

/* Of two of one name the later request's holds, whichever comes first. */
static void put(struct route_statements *s, uint64_t connection, uint64_t name, uint32_t nth,
		struct statement prepared)
{
	struct named *set = s->sets[set_of(s, connection, name)];
	uint32_t place = place_in(set, connection, name);
	bool is_reused = place < SET;

	if (!connection || (is_reused && set[place].nth > nth))
		return;
	/* The first is the newest; the oldest has to go. */
	memmove(set + 1, set, (is_reused ? place : SET - 1) * sizeof(*set));
	set[0] = (struct named) { connection, name, nth, is_reused, prepared };
}

static void count_no_room(struct route_statements *s, uint64_t requests)
{
	__atomic_fetch_add(&s->no_room, requests, __ATOMIC_RELAXED);
}

/* Whether a statement that is not known may have been: it was forgotten, or had no room. */
static bool had_no_room(const struct route_statements *s, const struct numbering *n,
			const struct route_asked *asked)
{
	const struct named *set = s->sets[set_of(s, asked->connection, asked->r->statement)];
	uint32_t place = place_in(set, asked->connection, asked->r->statement);

	if (asked->is_old || !asked->connection)
		return false;
	if (asked->r->protocol == ROUTE_MYSQL && (!n || n->is_given_up))
		return true;
	return place == SET ? set[SET - 1].connection : !set[place].prepared.route;
}

/* ---- what waits ------------------------------------------------------------------------------ */

static void end_waiting(struct route_statements *s, struct numbering *n, uint32_t *link)
{
	uint32_t number = *link;

	*link = s->waiting[number].next;
	s->waiting[number] = (struct waiting) { .next = s->free };
	s->free = number;
	n->n_waiting--;
}

/* Resolves all executions of the connection. */
static void resolve(struct route_statements *s, struct numbering *n, bool is_known)
{
	uint32_t *link = &n->waiting;

	while (*link) {
		struct waiting *w = &s->waiting[*link];
		struct statement is = { 0 };

		if (!w->executed.id) {
			link = &w->next;
			continue;
		}
		if (is_known)
			is = find(s, n, n->connection, w->name, w->first);
		else if (w->executed.is_sure)
			count_no_room(s, w->executed.requests);
		s->calls.resolve(s->calls.ctx, &w->executed, is);
		end_waiting(s, n, link);
	}
}

static void give_up(struct route_statements *s, struct numbering *n)
{
	resolve(s, n, false);
	while (n->waiting)
		end_waiting(s, n, &n->waiting);
	n->is_unsure = n->is_given_up = true;
}

/* Room for what the nth request did, in their order; NULL: there is none, and there was too much.
 */
static struct waiting *new_waiting(struct route_statements *s, struct numbering *n, uint32_t nth)
{
	uint32_t *link = &n->waiting, number = s->free;

	if (n->n_waiting >= WAITING_OF_CONNECTION || (!number && s->used == WAITING)) {
		give_up(s, n);
		return NULL;
	}
	if (number)
		s->free = s->waiting[number].next;
	else
		number = ++s->used;
	while (*link && s->waiting[*link].first < nth)
		link = &s->waiting[*link].next;
	s->waiting[number] = (struct waiting) { .next = *link, .first = nth };
	*link = number;
	n->n_waiting++;
	return &s->waiting[number];
}

/* ---- connections ----------------------------------------------------------------------------- */

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

static struct numbering *begin(struct route_statements *s, const struct route_asked *asked)
{
	struct numbering *n = &s->numberings[asked->connection % CONNECTIONS];

	if (n->connection)
		give_up(s, n);
	*n = (struct numbering) { .connection = asked->connection,
				  .next = 1,
				  .is_unsure = asked->is_old };
	return n;
}

void route_statements_see(struct route_statements *s, const struct route_asked *asked,
			  bool is_known, bool may_begin)
{
	const struct route *r = asked->r;
	bool is_mysql = r->protocol == ROUTE_MYSQL && (is_known || may_begin);
	struct numbering *n = numbering_of(s, asked->connection);

	if (!n && may_begin && asked->connection)
		n = begin(s, asked);
	if (!n)
		return;
	if (asked->nth >= n->next) {
		n->missing += asked->nth - n->next;
		n->next = asked->nth + 1;
	} else if (n->missing) {
		n->missing--;
	}
	if (is_mysql && (!n->first_command || asked->nth < n->first_command))
		n->first_command = asked->nth;
	if ((!is_mysql || (r->use == ROUTE_NO_STATEMENT && counts_by_itself(r))) &&
	    asked->nth > n->last_odd)
		n->last_odd = asked->nth;
	n->is_unsure |= !n->missing && n->first_command && n->last_odd >= n->first_command;
}

void route_statements_prepare(struct route_statements *s, const struct route_asked *asked,
			      struct statement prepared)
{
	struct numbering *n = numbering_of(s, asked->connection);
	struct waiting *w;

	if (asked->r->protocol != ROUTE_MYSQL) {
		put(s, asked->connection, asked->r->statement, asked->nth, prepared);
		return;
	}
	if (!n || n->is_unsure)
		return;
	w = new_waiting(s, n, asked->nth);
	if (w)
		w->prepared = prepared;
}

void route_statements_order(struct route_statements *s, uint64_t connection)
{
	struct numbering *n = numbering_of(s, connection);
	uint32_t *link;

	if (!n || !n->waiting || n->missing)
		return;
	for (link = &n->waiting; *link;) {
		struct waiting *w = &s->waiting[*link];

		if (w->executed.id) {
			link = &w->next;
			continue;
		}
		if (!n->is_unsure)
			put(s, connection, ++n->prepared, w->first, w->prepared);
		end_waiting(s, n, link);
	}
	resolve(s, n, true);
}

/* The executions of a statement that wait, this one among them; 0: it cannot wait. */
static uint32_t wait_late(struct route_statements *s, struct numbering *n,
			  const struct route_asked *asked, bool is_known)
{
	uint64_t name = asked->r->statement;
	struct waiting *w;

	for (uint32_t i = n->waiting; i; i = w->next) {
		w = &s->waiting[i];
		if (!w->executed.id || w->name != name || w->executed.endpoint != asked->endpoint)
			continue;
		/* Without a change of their order, as they are resolved by it only when all are
		 * known. */
		if (asked->nth < w->first)
			w->first = asked->nth;
		w->executed.requests++;
		w->executed.is_sure |= is_known;
		return w->executed.id;
	}
	w = new_waiting(s, n, asked->nth);
	if (!w)
		return 0;
	w->name = name;
	w->executed = (struct late_executions) {
		.id = s->calls.reserve(s->calls.ctx),
		.endpoint = asked->endpoint,
		.connection = asked->connection,
		.requests = 1,
		.protocol = asked->r->protocol,
		.is_sure = is_known,
	};
	return w->executed.id;
}

struct statement route_statements_execute(struct route_statements *s,
					  const struct route_asked *asked, bool is_known,
					  uint32_t *late)
{
	struct numbering *n = numbering_of(s, asked->connection);
	struct statement is = find(s, n, asked->connection, asked->r->statement, asked->nth);

	*late = 0;
	if (!is.route && n && n->missing && !n->is_given_up)
		*late = wait_late(s, n, asked, is_known);
	if (!is.route && !*late && is_known && had_no_room(s, n, asked))
		count_no_room(s, 1);
	return is;
}

/* ---- all ------------------------------------------------------------------------------------- */

void route_statements_settle(struct route_statements *s)
{
	for (uint32_t i = 0; i < CONNECTIONS; i++)
		resolve(s, &s->numberings[i], true);
}

void route_statements_each(const struct route_statements *s, void (*fn)(void *ctx, uint32_t id),
			   void *ctx)
{
	for (uint32_t i = 1; i <= s->used; i++)
		if (s->waiting[i].executed.id)
			fn(ctx, s->waiting[i].executed.id);
}

uint64_t route_statements_no_room(const struct route_statements *s)
{
	return __atomic_load_n(&s->no_room, __ATOMIC_RELAXED);
}
