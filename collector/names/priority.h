/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * priority.h - runs work at idle priority for a while, then at the normal one.
 */
#ifndef PRIORITY_H
#define PRIORITY_H

#include <stdint.h>

/*
 * Runs work(ctx) and returns its result; the caller sleeps meanwhile. For at most patience_ms the
 * work runs in a SCHED_IDLE thread, where it delays nothing else. On a busy machine such a thread
 * hardly runs at all, so after that it continues at the normal priority. Raising the priority again
 * takes CAP_SYS_NICE or RLIMIT_NICE: without them all work runs at the caller's priority.
 */
int priority_run_low(int (*work)(void *ctx), void *ctx, uint32_t patience_ms);

#endif /* PRIORITY_H */
