/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_routes.h - what --format=info says of the routes of requests. */
#pragma once

#include <stdio.h>

#include "trace/trace.h"

/* Requests by their route, an object of the trace. All zero is none. */
struct info_routes {
	uint64_t *requests; /* by object id; NULL: none has a route */
	uint64_t all;	    /* that probes did not mark */
};

/* Counts an event, which need not be of a request. */
void info_routes_event(struct info_routes *r, const struct trace *t, const struct event *ev);
/* Writes lines of "key: value": nothing if there was no request. */
void info_routes_write(const struct info_routes *r, const struct trace *t, FILE *out);
void info_routes_free(struct info_routes *r);
