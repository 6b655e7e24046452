/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route_writer.h - what of a request gets into the name of its route: words, verbs, names of
 * tables. */
#pragma once

#include "bytes.h"
#include "route.h"

/* A route's name as it is written. What does not fit is left out. */
struct route_writer {
	struct route *route;
	size_t len;
};

void route_put(struct route_writer *w, uint8_t c);
/* Puts a text of ours: at the beginning of a name it is fixed. */
void route_put_text(struct route_writer *w, const char *text);

/* The name of a method of HTTP; NULL: it is none that is known. */
const char *route_http_method(struct bytes method);
/* Puts a path's template (route_words.c): up to its end, or to a ?, # or ;. */
void route_put_path(struct route_writer *w, struct bytes path);

/*
 * Puts a statement's (route_sql.c): its verb and its table. is_cut: its end is missing. False: it
 * is no statement.
 */
bool route_put_sql(struct route_writer *w, struct bytes sql, bool is_cut);
/* Puts the name of a table or the like, in lower case, with * for digits from three on. */
void route_put_table(struct route_writer *w, struct bytes name);

/* A route with no name as yet, and a writer of that. */
static inline struct route_writer route_begin(struct route *r, enum route_protocol protocol,
					      bool is_weak)
{
	*r = (struct route) { .protocol = protocol, .is_weak = is_weak };
	return (struct route_writer) { .route = r };
}
