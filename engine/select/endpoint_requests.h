/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * endpoint_requests.h - the chosen requests (timeline/requests.h) of each endpoint, by how long
 * they took: for percentiles, and to compare the slowest with those in the middle.
 */
#pragma once

#include "top_waits.h"

/* Of all requests of an endpoint, also of those that are not explained. */
struct request_counts {
	uint64_t pipelined, several, old, unsent;
	/* Not answered; arrived before the recording; a part of the answer may be missing. */
	uint64_t open, before, incomplete;
};

/* Requests that are explained, as waits of clients, the quickest first. */
struct requests_taken {
	const struct chosen_wait *at;
	size_t n;
};

/* Of one endpoint, or of several that are called the same. */
struct endpoint_requests {
	const struct request_endpoint *endpoint; /* the first of them */
	uint32_t processes;			 /* how many there are */
	struct requests_taken all;
	uint64_t total_ns; /* of these, and those that are like them */
	struct request_counts counts;
};

struct request_table;

/*
 * Of the waits that f chooses, by the options o, which have requests set. To be freed with
 * request_table_free().
 */
void request_table_new(struct request_table **out, const struct timelines *tl,
		       const struct options *o, struct wait_filter *f);
void request_table_free(struct request_table *t);
/*
 * Endpoints of which requests were chosen, or where all were, of which there are any: most time
 * first, but first requests of connections after all others.
 */
const struct endpoint_requests *request_table_list(const struct request_table *t, size_t *n);

/* How long a request took, whatever part of it is shown. */
static inline uint64_t request_took_ns(const struct chosen_wait *p)
{
	return p->wait->in_ns - p->wait->out_ns;
}
/* How many it is, with those that are not told and are like it. */
static inline uint64_t request_weight(const struct chosen_wait *p)
{
	return 1 + (uint64_t)p->others;
}
/* Of all. */
uint64_t requests_count(struct requests_taken of);
/* What per_mille of the requests took at most: the nearest rank. There is at least one. */
uint64_t requests_percentile(struct requests_taken all, unsigned int per_mille);
/* A hundredth of so many, or one; 0 of 0. */
uint64_t requests_hundredth(uint64_t all);
/*
 * Of `all` requests n are the slowest; those take up to most_over_ns beyond the median. Whether the
 * next one, with over_ns, is one of them, too: as one or two may be chance, there are up to five,
 * if that is a tenth at most, that are half as slow.
 */
bool requests_also_slow(uint64_t all, uint64_t n, uint64_t over_ns, uint64_t most_over_ns);
/* The slowest: a hundredth and those; the tenth in the middle, or the middle one. */
struct requests_taken requests_slowest(struct requests_taken all);
struct requests_taken requests_median(struct requests_taken all);
/* What is shown of them, and of those that are like them. */
uint64_t requests_shown_ns(struct requests_taken of);
