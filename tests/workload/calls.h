/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - the few ways in which the scenarios sleep, wake and look at the clock. They call the C
 * library as any program does: distributions build it without frame pointers, and a stack that is
 * right in these workloads is right in theirs.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INLINED static inline __attribute__((always_inline))

/* Functions that must be found in a stack under their own name: never inlined, cloned or folded. */
#if defined(__has_attribute)
#if __has_attribute(noipa)
#define IN_STACK static __attribute__((noipa))
#endif
#endif
#ifndef IN_STACK
#define IN_STACK static __attribute__((noinline))
#endif

/*
 * Does a call that returns a number of bytes until no signal interrupts it. 0 if it was exactly
 * len bytes, else a negative errno (-EPIPE at the end of file).
 */
#define TRANSFER(call, len)                                                                \
	({                                                                                 \
		ssize_t transfer_done;                                                     \
		do                                                                         \
			transfer_done = (call);                                            \
		while (transfer_done < 0 && errno == EINTR);                               \
		transfer_done < 0 ? -errno : transfer_done == (ssize_t)(len) ? 0 : -EPIPE; \
	})

/* The clock in nanoseconds. */
INLINED uint64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Sleeps until CLOCK_MONOTONIC shows deadline_ns. */
INLINED void sleep_until(uint64_t deadline_ns)
{
	struct timespec until = { (time_t)(deadline_ns / 1000000000u),
				  (long)(deadline_ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}
