/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stolen_time.h - how much of the time between two switches of a CPU was taken from what ran there,
 * by interrupts and softirqs, or by a hypervisor; each of the two has a table. The trace does not
 * say when in that time it was: a part of it has its share. Times are CLOCK_MONOTONIC ns.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stolen_time;

/*
 * What of [from_ns, to_ns) was taken: of what a thread ran; or on a CPU, for times in ascending
 * order; *hint: 0 at first. The results of parts add up to that of the whole, and none is longer
 * than its part. 0 where i is NULL.
 */
uint64_t stolen_time_of_thread(const struct stolen_time *i, uint32_t thread, uint64_t from_ns,
			       uint64_t to_ns);
uint64_t stolen_time_of_cpu_next(const struct stolen_time *i, uint32_t cpu, uint64_t from_ns,
				 uint64_t to_ns, size_t *hint);
/* After that, with to_ns: up to when nothing else is taken; to_ns: it may be at once. */
uint64_t stolen_time_none_until(const struct stolen_time *i, uint32_t cpu, uint64_t to_ns,
				size_t hint);

/* ---- for timeline_build.c; all but stolen_time_new() do nothing where i is NULL -------------- */

/* start_ns: when the trace begins. */
void stolen_time_new(struct stolen_time **out, uint64_t start_ns);
void stolen_time_free(struct stolen_time *i);
/*
 * The CPU switches at at_ns; thread, a number or THREAD_IDLE, goes off it, and ran since
 * ran_from_ns.
 */
void stolen_time_switch(struct stolen_time *i, uint32_t cpu, uint32_t thread, uint64_t ran_from_ns,
			uint64_t at_ns);
/* ns of the time up to that switch were taken. Without a switch at at_ns it says nothing. */
void stolen_time_add(struct stolen_time *i, uint32_t cpu, uint64_t at_ns, uint64_t ns);
/* Switches of the CPU (UINT32_MAX: of any) are missing up to until_ns. */
void stolen_time_lost(struct stolen_time *i, uint32_t cpu, uint64_t until_ns);
/* There are no more; threads: how many there are. */
void stolen_time_finish(struct stolen_time *i, uint32_t threads);
