/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - the clock of all records: those of BPF and those of perf's sideband. */
#ifndef COLLECTOR_CLOCK_H
#define COLLECTOR_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif /* COLLECTOR_CLOCK_H */
