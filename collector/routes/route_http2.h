/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_http2.h - what requests of HTTP/2 ask for (RFC 9113): by themselves, and by what their
 * connection's requests had before them, to which their headers may refer.
 */
#pragma once

#include "route_hpack.h"

struct http2_connection {
	struct hpack headers;
	uint64_t in_frame; /* bytes of the last request's last frame that are still to come */
};

/* Whether a connection begins to speak HTTP/2 with this request. */
bool route_http2_begins(const struct route_request *request);

/*
 * The route of the next request of a connection. False: it is no HTTP/2, or there are no bytes of
 * it, and c is lost from there on; *r may be anything.
 */
bool route_http2_next(struct http2_connection *c, const struct route_request *request,
		      struct route *r);
