/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - the clock of all records, those of BPF and those of perf's sideband; and CPU time. */
#pragma once

#include <stdint.h>
#include <time.h>

/* A clock in nanoseconds; 0: there is none. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) ? 0
					: (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The CPU time of the calling thread in nanoseconds. */
static inline uint64_t clock_thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* That of a process so far; 0: not known, also if pid is 0. */
static inline uint64_t clock_process_cpu_ns(int pid)
{
	clockid_t clock;

	return pid && !clock_getcpuclockid(pid, &clock) ? clock_ns(clock) : 0;
}
