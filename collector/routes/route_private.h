/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route_private.h - bytes that are looked at one after the other, and the parsers of route_parse.c.
 */
#pragma once

#include <string.h>

#include "route.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What is left of some bytes: nothing can be read beyond the end. */
struct bytes {
	const uint8_t *at, *end;
};

static inline size_t left(const struct bytes *b)
{
	return (size_t)(b->end - b->at);
}

/* The byte that comes next, without taking it; 0 at the end. */
static inline uint8_t peek(const struct bytes *b)
{
	return b->at < b->end ? *b->at : 0;
}

/* Takes a number of 1 to 8 bytes. False: there are not as many. */
static inline bool take_big_endian(struct bytes *b, size_t size, uint64_t *number)
{
	if (left(b) < size)
		return false;
	*number = 0;
	for (size_t i = 0; i < size; i++)
		*number = *number << 8 | *b->at++;
	return true;
}

static inline bool take_little_endian(struct bytes *b, size_t size, uint64_t *number)
{
	if (left(b) < size)
		return false;
	*number = 0;
	for (size_t i = 0; i < size; i++)
		*number |= (uint64_t)*b->at++ << 8 * i;
	return true;
}

/* Takes a text that must come next. */
static inline bool take_text(struct bytes *b, const char *text)
{
	size_t n = strlen(text);

	if (left(b) < n || memcmp(b->at, text, n))
		return false;
	b->at += n;
	return true;
}

/* Takes the bytes up to one, and that one. False: it does not come. */
static inline bool take_until(struct bytes *b, uint8_t end, struct bytes *taken)
{
	const uint8_t *found = memchr(b->at, end, left(b));

	if (!found)
		return false;
	*taken = (struct bytes) { b->at, found };
	b->at = found + 1;
	return true;
}

static inline bool is_upper(uint8_t c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool is_lower(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool is_letter(uint8_t c)
{
	return is_upper(c) || is_lower(c);
}

static inline bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_one_of(uint8_t c, const char *set)
{
	return c && strchr(set, c);
}

static inline uint8_t to_lower(uint8_t c)
{
	return is_upper(c) ? (uint8_t)(c - 'A' + 'a') : c;
}

static inline uint8_t to_upper(uint8_t c)
{
	return is_lower(c) ? (uint8_t)(c - 'a' + 'A') : c;
}

/* A route's name as it is written. What does not fit is left out. */
struct route_writer {
	struct route *route;
	size_t len;
};

void route_put(struct route_writer *w, uint8_t c);
void route_put_text(struct route_writer *w, const char *text);

/* Puts a path's template (route_words.c): up to its end, or to a ?, # or ;. */
void route_put_path(struct route_writer *w, struct bytes path);

/*
 * Puts a statement's (route_sql.c): its verb and its table. is_cut: its end is missing. False: it
 * is no statement.
 */
bool route_put_sql(struct route_writer *w, struct bytes sql, bool is_cut);
/* Puts the name of a table or the like, in lower case, with * for digits from three on. */
void route_put_table(struct route_writer *w, struct bytes name);

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

/* A route with no name as yet, and a writer of that. */
static inline struct route_writer route_begin(struct route *r, enum route_protocol protocol,
					      bool is_weak)
{
	*r = (struct route) { .protocol = protocol, .is_weak = is_weak };
	return (struct route_writer) { .route = r };
}

static inline struct bytes all_of(const struct route_request *request)
{
	return (struct bytes) { request->bytes, request->bytes + request->n };
}

/* Whether these bytes are the request's beginning only. */
static inline bool is_cut(const struct route_request *request)
{
	return request->bytes_read > request->n;
}
