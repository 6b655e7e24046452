/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_requests.h - the requests of a report: the endpoints with most time; for each how many
 * requests took how long, in steps, where the time of each step's requests went, and some of them
 * to be shown one by one.
 */
#pragma once

#include "formats/request_time.h"
#include "formats/subjects.h"
#include "report.h"

enum {
	REPORT_ENDPOINTS = 30,		       /* the most */
	REPORT_LATENCIES = REQUEST_GROUPS_MAX, /* steps of an endpoint, the most */
	REPORT_SLOWEST = 60, /* of the slowest ones as many are shown one by one, the most */
	REPORT_WHERE = 40,   /* rows of where the time went, the most */
	REPORT_ENDS = 12,    /* rows of what the slowest came down to, the most */
	REPORT_REQUESTS = REPORT_SLOWEST + 2 * REPORT_LATENCIES, /* of an endpoint, the most */
};

/* A kind of time, as request_times_list() has it; the last may be all that have no room. */
struct report_where {
	uint32_t text; /* in names */
	uint64_t ns[REPORT_LATENCIES];
};

/* What the chains of the slowest came down to (formats/chain_ends.h); texts are of the report. */
struct report_end {
	uint32_t who, at, words;
	uint64_t ns;
};

/* An endpoint's requests by how long they took. */
struct report_endpoint {
	const struct endpoint_requests *requests;
	uint32_t name; /* text: "tcp :80 nginx/900" */
	/*
	 * Those of step i took at least edge_ns[i], and less than edge_ns[i + 1]. From step slowest
	 * on they are requests_slowest(): what the first screen explains.
	 */
	size_t n_steps, slowest;
	struct requests_taken steps[REPORT_LATENCIES];
	uint64_t edge_ns[REPORT_LATENCIES + 1];
	struct report_where where[REPORT_WHERE];
	size_t n_where;
	/* Most time first; ends_ns: with those that have no room. */
	struct report_end ends[REPORT_ENDS];
	size_t n_ends;
	uint64_t ends_ns;
	const struct chosen_wait *shown[REPORT_REQUESTS]; /* one by one, the slowest first */
	size_t n_shown;
};

struct report_requests {
	struct options options;
	struct wait_filter *filter;
	struct request_table *table;
	struct report_endpoint *at; /* most time first */
	size_t n, n_all;	    /* n_all: how many endpoints there are */
};

/* Those that the options o choose, in the names of r: *out, to be freed; NULL if there are none. */
void report_requests_new(struct report_requests **out, const struct report *r,
			 const struct options *o);
/* Finds what they came down to, as the answer has it, which is known by then. */
void report_requests_find_ends(const struct report *r, const struct subjects *answer);
void report_requests_free(struct report_requests *q);
/* The section of the page, as it is visible without a script. */
void report_requests_put(FILE *out, const struct report *r);
