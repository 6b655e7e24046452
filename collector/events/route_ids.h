/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_ids.h - from the first bytes of requests to the ids of their routes in a store. The bytes
 * are parsed here and go no further; of those that a CPU sent before, as their hash says, it is
 * known what they were.
 */
#pragma once

#include "definition_store.h"

struct route_ids;

/* store is copied. Returns 0 or -ENOMEM. */
int route_ids_new(struct route_ids **out, const struct definition_store *store);
void route_ids_free(struct route_ids *r);

/* The id of the route of a request whose endpoint has this id; 0: it has none. */
uint32_t route_ids_of(struct route_ids *r, const struct wire_request *w, uint32_t endpoint);

/* What a stream is asked for by, before its request; checked (translator_check()). */
void route_ids_headers(struct route_ids *r, const struct wire_headers *w);

/* See route_table_asked(). */
const char *route_ids_asked(const struct route_ids *r, uint32_t id);
/* Defines all ids that are not defined yet. Returns 0, -ENOMEM or the store's error. */
int route_ids_settle(struct route_ids *r);
/* Calls fn for each of these. */
void route_ids_each(const struct route_ids *r, void (*fn)(void *ctx, bool is_object, uint32_t id),
		    void *ctx);
/* See route_table_no_room(). */
uint64_t route_ids_no_room(const struct route_ids *r);
