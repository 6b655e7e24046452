/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_http2.h - what streams of HTTP/2 ask for (RFC 9113), by the headers that their connection's
 * streams had before them, to which theirs may refer.
 */
#pragma once

#include "route_hpack.h"

/* The frame of headers that begins a stream, with what continues it. */
struct http2_headers {
	const uint8_t *bytes;
	size_t n;
	uint8_t flags; /* of the frame */
	bool is_cut;   /* these are not all bytes */
	bool is_old;   /* those that the connection had first are missing */
};

/*
 * The route of the next stream of a connection: "[HTTP/2 stream]" where its headers do not say it,
 * or refer to some that were not seen.
 */
void route_http2_next(struct hpack *h, const struct http2_headers *headers, struct route *r);
