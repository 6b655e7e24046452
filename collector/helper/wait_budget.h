/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_budget.h - for how long the recorder may wait for what need not answer, while the rings
 * fill: 50 ms at once, and a tenth of the time over all, after the first half of a second. A
 * millisecond is always waited.
 */
#pragma once

#include <stdint.h>

#include "kernel/clock.h"

#define WAIT_ONCE_NS 50000000u
#define WAIT_ALL_NS 500000000u
#define WAIT_LEAST_NS 1000000u
#define WAIT_PART 10u

struct wait_budget {
	uint64_t left_ns, at_ns; /* zeroed: all of it */
};

/* How long may be waited now, in ns. */
static inline uint64_t wait_budget_now(struct wait_budget *p)
{
	uint64_t now_ns = clock_now_ns();

	p->left_ns += (now_ns - p->at_ns) / WAIT_PART;
	if (p->left_ns > WAIT_ALL_NS)
		p->left_ns = WAIT_ALL_NS;
	p->at_ns = now_ns;
	if (p->left_ns < WAIT_LEAST_NS)
		return WAIT_LEAST_NS;
	return p->left_ns < WAIT_ONCE_NS ? p->left_ns : WAIT_ONCE_NS;
}

/* That has been waited since. */
static inline void wait_budget_spend(struct wait_budget *p)
{
	uint64_t spent_ns = clock_now_ns() - p->at_ns;

	if (spent_ns > WAIT_LEAST_NS)
		p->left_ns -= spent_ns < p->left_ns ? spent_ns : p->left_ns;
}
