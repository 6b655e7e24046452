/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * priority.h - runs work that somebody waits for at idle priority first, then in a hurry.
 */
#pragma once

#include <stdint.h>

/*
 * Runs work(ctx) and returns its result; the caller sleeps meanwhile. For at most idle_ms the
 * work runs in a SCHED_IDLE thread, where it delays nothing else. On a busy machine such a thread
 * hardly runs at all, so it continues with the nice value NICE_RECORDING for at most hurry_ms (if
 * the caller's is 0: another one is its user's wish), and then at the caller's priority, however
 * long it takes. Raising the priority again takes CAP_SYS_NICE or RLIMIT_NICE: without them all
 * work runs at the caller's priority.
 */
int priority_run_low(int (*work)(void *ctx), void *ctx, uint32_t idle_ms, uint32_t hurry_ms);
