/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_times.h - how slow requests are: what they took beyond the median of their route
 * (chain-semantics, section 15).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "timeline/timeline.h"

/* What a request took, and which route of its service it has, by a number of the caller's. */
struct route_time {
	uint32_t route;
	uint32_t others; /* as in struct request */
	uint64_t took_ns;
};

/*
 * Sets median_ns[route] for each route of the n requests of one service, which it sorts. Routes of
 * few requests (REQUESTS_RARE) have one median together.
 */
void route_medians(struct route_time *at, size_t n, uint64_t *median_ns);

static inline uint64_t route_over_ns(uint64_t took_ns, uint64_t median_ns)
{
	return took_ns > median_ns ? took_ns - median_ns : 0;
}

/* Whether the request is explained, and overlaps [from_ns, to_ns). */
bool request_overlaps(const struct request *q, uint64_t from_ns, uint64_t to_ns);
/* The time that the options choose, CLOCK_MONOTONIC. */
void shown_window(const struct timelines *tl, const struct options *o, uint64_t *from_ns,
		  uint64_t *to_ns);
/*
 * What requests are compared with, by the number of their endpoint (of those that are called the
 * same, of the first): the median in ns of the requests that overlap this time. To be freed.
 */
uint64_t *request_medians(const struct timelines *tl, const struct options *o);
/* How long the request took beyond that. */
uint64_t request_over_ns(const struct timelines *tl, const uint64_t *median_ns,
			 const struct request *q);
