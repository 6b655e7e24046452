/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * priority.h - work that is to disturb nobody, but is not to be late either.
 */
#ifndef PRIORITY_H
#define PRIORITY_H

#include <stdint.h>

/*
 * Runs work(ctx) to its end and returns what it returned; the caller sleeps meanwhile. For at most
 * patience_ms it is done by a thread of the lowest scheduling class (SCHED_IDLE): where a CPU has
 * nothing else to do, and the disk neither. Where all CPUs are taken such a thread hardly runs at
 * all, so it goes on as any other after that. Coming back is a right: without CAP_SYS_NICE or
 * RLIMIT_NICE all of it is done at the caller's priority.
 */
int priority_run_low(int (*work)(void *ctx), void *ctx, uint32_t patience_ms);

#endif /* PRIORITY_H */
