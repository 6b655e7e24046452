/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * service.h - an endpoint with all its routes: its requests, and the slowest of them, by how long
 * they took beyond the median of their route (chain-semantics, section 15).
 */
#pragma once

#include "endpoint_requests.h"

/* A route of a service. */
struct service_route {
	const struct endpoint_requests *requests;
	uint64_t median_ns; /* that its requests are compared with */
	uint64_t over_ns;   /* of the slowest: what they took beyond that, in sum, */
	size_t slow;	    /* and how many they are */
};

struct service {
	struct endpoint_requests requests; /* of all routes; the endpoint is called without them */
	struct requests_taken slowest;	   /* as requests_slowest(); the quickest first */
	uint64_t over_ns;		   /* of these */
	struct service_route *routes;	   /* most of over_ns first, then most time */
	size_t n_routes;
	/* Private. */
	struct request_endpoint endpoint;
	struct chosen_wait *waits;
};

/*
 * Of the service that at[0] is a route of, among n endpoints of request_table_list(), which stay as
 * they are. To be freed.
 */
void service_new(struct service **out, const struct endpoint_requests *at, size_t n);
void service_free(struct service *s);
