/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * patience.h - for how long the recorder may wait for what need not answer, while the rings fill:
 * 50 ms at once, and a tenth of the time over all, after the first half of a second. A millisecond
 * is always waited.
 */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <stdint.h>

#include "clock.h"

#define PATIENCE_ONCE_NS 50000000u
#define PATIENCE_ALL_NS 500000000u
#define PATIENCE_LEAST_NS 1000000u
#define PATIENCE_PART 10u

struct patience {
	uint64_t left_ns, at_ns; /* zeroed: all of it */
};

/* How long may be waited now, in ns. */
static inline uint64_t patience_now(struct patience *p)
{
	uint64_t now_ns = clock_now_ns();

	p->left_ns += (now_ns - p->at_ns) / PATIENCE_PART;
	if (p->left_ns > PATIENCE_ALL_NS)
		p->left_ns = PATIENCE_ALL_NS;
	p->at_ns = now_ns;
	if (p->left_ns < PATIENCE_LEAST_NS)
		return PATIENCE_LEAST_NS;
	return p->left_ns < PATIENCE_ONCE_NS ? p->left_ns : PATIENCE_ONCE_NS;
}

/* That has been waited since. */
static inline void patience_spend(struct patience *p)
{
	uint64_t spent_ns = clock_now_ns() - p->at_ns;

	if (spent_ns > PATIENCE_LEAST_NS)
		p->left_ns -= spent_ns < p->left_ns ? spent_ns : p->left_ns;
}

#endif /* PATIENCE_H */
