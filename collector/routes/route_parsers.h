/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route_parsers.h - a parser for each protocol, which route_parse() asks one after the other. */
#pragma once

#include "bytes.h"
#include "route.h"

/*
 * Each parser gets a request with all its bytes left, and returns whether it is of its protocol.
 * Then it has set the protocol, and whether the sign was weak. Else the route may be anything.
 */
typedef bool (*route_parser)(struct route *r, const struct route_request *request);
bool route_parse_http(struct route *r, const struct route_request *request);
bool route_parse_http2(struct route *r, const struct route_request *request);
bool route_parse_tls(struct route *r, const struct route_request *request);
bool route_parse_fastcgi(struct route *r, const struct route_request *request);
bool route_parse_redis(struct route *r, const struct route_request *request);
bool route_parse_mysql(struct route *r, const struct route_request *request);
bool route_parse_postgres(struct route *r, const struct route_request *request);
bool route_parse_memcached(struct route *r, const struct route_request *request);
bool route_parse_mongodb(struct route *r, const struct route_request *request);
bool route_parse_kafka(struct route *r, const struct route_request *request);
bool route_parse_dns(struct route *r, const struct route_request *request);

static inline struct bytes all_of(const struct route_request *request)
{
	return (struct bytes) { request->bytes, request->bytes + request->n };
}

/* Whether these bytes are the request's beginning only. */
static inline bool is_cut(const struct route_request *request)
{
	return request->bytes_read > request->n;
}
