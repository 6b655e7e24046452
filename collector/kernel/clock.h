/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - the clock of all records, those of BPF and those of perf's sideband; and CPU time. */
#pragma once

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The CPU time of the calling thread in nanoseconds. */
static inline uint64_t clock_thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* That of a process so far; 0: not known, also if pid is 0. */
static inline uint64_t clock_process_cpu_ns(int pid)
{
	struct timespec t;
	clockid_t clock;

	if (!pid || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
