/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_settle.h - what is told of the routes of an endpoint: which words of them, and which of
 * them by name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route.h"

#define ROUTES_TOLD 200u /* that many routes are told of an endpoint, the rest as this one: */
#define ROUTE_OTHER "[other]"
#define ROUTE_REQUESTS 3u     /* a word was in so many requests */
#define ROUTE_WORDS 20u	      /* words in one place, without those that are frequent there */
#define ROUTE_FIRST_WORDS 40u /* the same in the first place of a path */

/* A route that was asked for. */
struct asked_route {
	char name[ROUTE_NAME_MAX];
	uint8_t fixed;	   /* as of struct route, */
	uint8_t protocol;  /* and this */
	bool is_several;   /* of connections */
	bool is_told;	   /* the store has its text */
	uint32_t endpoint; /* place in struct route_table; of a free one: unused */
	uint32_t id;	   /* of the store */
	uint32_t hash;
	uint32_t generation; /* of what uses this place */
	uint32_t next;	     /* of the endpoint; of a free one: the next free one. 0: none */
	uint32_t chained;    /* the next with the same hash; 0: none, */
	uint32_t by_id;	     /* and with such an id */
	uint32_t others;     /* its other ids, in struct route_table; 0: none */
	uint64_t connection; /* of the first request */
	uint64_t requests;
	uint64_t lately; /* requests since routes were forgotten */
};

/*
 * The texts of n routes of an endpoint: texts[i] is that of routes[i]. Returns 0 or -ENOMEM.
 */
int route_settle(struct asked_route *const *routes, size_t n, char (*texts)[ROUTE_NAME_MAX]);
/* The text of a route of which no word is to be told. */
void route_without_words(const struct asked_route *r, char text[ROUTE_NAME_MAX]);
