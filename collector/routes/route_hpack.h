/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_hpack.h - the method and the path in a header block of HTTP/2 (RFC 7541). Of what the
 * connection's blocks before it had, nothing is kept but how long it was, and of paths what may be
 * told of them (route_put_path()): no value of another header, no query string.
 */
#pragma once

#include "bytes.h"
#include "route.h"

/* What a connection may keep at first, as the RFC says; more is not followed. */
#define HPACK_TABLE_MAX 4096u
#define HPACK_ENTRIES (HPACK_TABLE_MAX / 32)
#define HPACK_TEXTS 16u
/* Of a block so many bytes are looked at, at most. */
#define HTTP2_HEADERS_BYTES 1024

enum hpack_name {
	HPACK_OTHER, /* any header that makes no route */
	HPACK_METHOD,
	HPACK_PATH,
	HPACK_CONTENT_TYPE,
	HPACK_UNKNOWN /* it refers to what is not known */
};

/* What stands for a content type that begins so. */
#define HPACK_GRPC "application/grpc"

/* A header that a connection had. */
struct hpack_entry {
	uint16_t name_len, value_len;
	uint8_t name; /* enum hpack_name */
	uint8_t text; /* its place in texts, from 1 on; 0: it is kept no longer */
};

/* What the blocks of a connection have been so far; all zero: there were none, see is_lost. */
struct hpack {
	bool is_lost; /* some were not seen: what refers to them is not known */
	uint16_t newest, n;
	uint32_t max_less, bytes; /* how much less than HPACK_TABLE_MAX it may be, and what it is */
	uint8_t last_text;
	struct hpack_entry entries[HPACK_ENTRIES]; /* a ring */
	char texts[HPACK_TEXTS][ROUTE_NAME_MAX];   /* methods, templates of paths, HPACK_GRPC */
};

/* What a block asks for; "": not known. */
struct hpack_asked {
	char method[ROUTE_NAME_MAX];
	char path[ROUTE_NAME_MAX];
	bool has_path; /* it asks for something: it is no trailer */
	bool is_grpc;  /* it calls a method of gRPC */
};

/*
 * Decodes a whole block of the connection, after those before it. False: it is none, and h is lost
 * from there on.
 */
bool route_hpack_decode(struct hpack *h, struct bytes block, struct hpack_asked *asked);
