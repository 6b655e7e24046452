/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interrupts.h - how much of the time between two switches of a CPU went to interrupts and
 * softirqs. When in that time they came is not known: a part of it has its share. Times are
 * CLOCK_MONOTONIC ns.
 */
#ifndef ENGINE_INTERRUPTS_H
#define ENGINE_INTERRUPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interrupts;

/*
 * What of [from_ns, to_ns) went to interrupts: on a CPU; or of what a thread ran. The results of
 * parts add up to that of the whole, and none is longer than its part. 0 where i is NULL.
 */
uint64_t interrupts_of_cpu(const struct interrupts *i, uint32_t cpu, uint64_t from_ns,
			   uint64_t to_ns);
uint64_t interrupts_of_thread(const struct interrupts *i, uint32_t thread, uint64_t from_ns,
			      uint64_t to_ns);

/* ---- for timeline_build.c; all but interrupts_new() do nothing where i is NULL --------------- */

/* NULL: out of memory. start_ns: when the trace begins. */
struct interrupts *interrupts_new(uint64_t start_ns);
void interrupts_free(struct interrupts *i);
/*
 * The CPU switches at at_ns; thread, a number or THREAD_IDLE, goes off it, and ran since
 * ran_from_ns.
 */
void interrupts_switch(struct interrupts *i, uint32_t cpu, uint32_t thread, uint64_t ran_from_ns,
		       uint64_t at_ns);
/* ns of the time up to that switch went to interrupts. Without a switch at at_ns it says nothing.
 */
void interrupts_took(struct interrupts *i, uint32_t cpu, uint64_t at_ns, uint64_t ns);
/* Switches of the CPU (UINT32_MAX: of any) are missing up to until_ns. */
void interrupts_lost(struct interrupts *i, uint32_t cpu, uint64_t until_ns);
/* There are no more; threads: how many there are. */
void interrupts_finish(struct interrupts *i, uint32_t threads);
/* True: some of it is missing as there was no memory. */
bool interrupts_failed(const struct interrupts *i);

#endif /* ENGINE_INTERRUPTS_H */
