/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route.h - what a request asks for, by its first bytes: "GET /users", "SELECT orders", "HGETALL".
 * The bytes are a stranger's. Each function here is pure: it looks at these bytes only, allocates
 * nothing, takes time in proportion to their number, and what it puts out consists of letters,
 * digits, blanks and / * . _ - ~ : + [ ]. No value of a request gets into a route: no literal, key,
 * query string or header.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROUTE_BYTES 256	  /* of a request that are looked at, at most */
#define ROUTE_NAME_MAX 64 /* bytes of a route, with its zero */

enum route_protocol {
	ROUTE_UNKNOWN,
	ROUTE_HTTP,
	ROUTE_HTTP2,
	ROUTE_GRPC,
	ROUTE_FASTCGI,
	ROUTE_REDIS,
	ROUTE_MYSQL,
	ROUTE_POSTGRES,
	ROUTE_MEMCACHED,
	ROUTE_MONGODB,
	ROUTE_KAFKA,
	ROUTE_DNS,
	ROUTE_TLS, /* what is in it is not seen */
	ROUTE_PROTOCOLS
};

/* What a request does with a prepared statement of its connection. */
enum route_use {
	ROUTE_NO_STATEMENT,
	ROUTE_PREPARES, /* the name is the statement's */
	ROUTE_EXECUTES, /* the name is that of an execution of which nothing is known */
};

struct route {
	enum route_protocol protocol;
	bool is_weak; /* other protocols' requests may look the same: not to be believed alone */
	enum route_use use;
	/*
	 * Which statement: a number of the server's (MySQL, EXECUTES only: it numbers them 1, 2,
	 * ... in the order of PREPARES), or a hash of its name (PostgreSQL).
	 */
	uint64_t statement;
	char name[ROUTE_NAME_MAX]; /* "": the protocol is known, the route is not */
	size_t fixed; /* bytes at its beginning that are no stranger's words: "GET", "SELECT" */
};

/* A request's first bytes. */
struct route_request {
	const uint8_t *bytes;
	size_t n;	     /* how many there are, at most ROUTE_BYTES */
	uint64_t bytes_read; /* of the whole request, as far as it has been read: n or more */
};

/* Finds a request's protocol and route. Returns the protocol: ROUTE_UNKNOWN if it looks like none.
 */
enum route_protocol route_parse(struct route *r, const struct route_request *request);

/* As in outputs: "HTTP", "PostgreSQL", ... */
const char *route_protocol_name(enum route_protocol protocol);
