/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock_bounds.h - how far two machines' clocks are apart, by messages between them
 * (chain-semantics, section 16): each bounds it at one time, and two clocks do not drift apart by
 * more than CLOCK_DRIFT.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Clocks drift apart by at most 1 ns in so many: 500 ppm each, which is what NTP may correct. */
#define CLOCK_DRIFT 1000u

/* At at_ns of the first clock, the second one is ahead by at least low_ns and at most high_ns. */
struct clock_bound {
	uint64_t at_ns;
	int64_t low_ns, high_ns; /* INT64_MIN, INT64_MAX: not bounded */
};

/* Makes each of n bounds, in order of time, as narrow as all of them together allow. */
void clock_bounds_tighten(struct clock_bound *b, size_t n);

static inline bool clock_bound_is_known(const struct clock_bound *b)
{
	return b->low_ns != INT64_MIN && b->high_ns != INT64_MAX;
}

/* Bounds that contradict each other. */
static inline bool clock_bound_is_wrong(const struct clock_bound *b)
{
	return b->low_ns > b->high_ns;
}

/* How far apart they are, of bounds that are known and not wrong. */
static inline uint64_t clock_bound_width(const struct clock_bound *b)
{
	return (uint64_t)b->high_ns - (uint64_t)b->low_ns;
}
