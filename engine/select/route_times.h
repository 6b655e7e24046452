/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_times.h - how slow requests are: what they took beyond the median of their route
 * (chain-semantics, section 15).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What a request took, and which route of its service it has, by a number of the caller's. */
struct route_time {
	uint32_t route;
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
