/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait_sums.h - the figures of waits that a table adds up in a row. */
#ifndef ENGINE_WAIT_SUMS_H
#define ENGINE_WAIT_SUMS_H

#include <stdint.h>

struct wait_sums {
	uint64_t waits, total_ns, longest_ns;
};

static inline void wait_sums_count(struct wait_sums *s, uint64_t ns)
{
	s->waits++;
	s->total_ns += ns;
	if (s->longest_ns < ns)
		s->longest_ns = ns;
}

static inline void wait_sums_add(struct wait_sums *s, const struct wait_sums *other)
{
	s->waits += other->waits;
	s->total_ns += other->total_ns;
	if (s->longest_ns < other->longest_ns)
		s->longest_ns = other->longest_ns;
}

#endif /* ENGINE_WAIT_SUMS_H */
