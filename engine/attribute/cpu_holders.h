/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_holders.h - who had the CPU while a thread was ready and had none (chain-semantics, section
 * 9): whoever ran on the CPU on whose queue it waited.
 */
#pragma once

#include "holder.h"
#include "timeline/timeline.h"

/*
 * "[idle CPU]", "[throttled]", "[no events]", "[interrupts]", "[steal]", "[recorder]",
 * "[throttled SCHED_DEADLINE]", "[throttled realtime]"; NULL: a name, that of a group, or not
 * known.
 */
const char *cpu_holder_text(uint32_t who);
/*
 * A sums_text_fn: a name cleaned, what a group is called, "[throttled GROUP]", or
 * cpu_holder_text().
 */
uint32_t cpu_holder_name(struct names *names, uint32_t who);

struct cpu_holders;

/*
 * *out is NULL if tl does not have what CPUs ran (timelines_new_with_cpus()); cpu_holders_share()
 * then knows nothing. taken: of the time that a CPU was in interrupts they had it, not the thread
 * that they interrupted, and of what a hypervisor took it had it, if the trace has these. tl must
 * outlive it. Several threads may use it.
 */
void cpu_holders_new(struct cpu_holders **out, const struct timelines *tl, bool taken);
void cpu_holders_free(struct cpu_holders *r);

/* ns of the time went to who; may be called several times for one who. */
typedef void (*cpu_holders_fn)(void *arg, uint32_t who, uint64_t ns);
/* A cpu_holders_fn, arg being a struct sums: adds to its thing 0. */
void cpu_holders_add(void *sums, uint32_t who, uint64_t ns);

/*
 * Shares out [from_ns, to_ns), in which the thread was ready: a part of [wake_ns, in_ns) of w, one
 * of its sleeps or preempted intervals. What fn gets adds up to to_ns - from_ns.
 */
void cpu_holders_share(const struct cpu_holders *r, uint32_t thread, const struct wait *w,
		       uint64_t from_ns, uint64_t to_ns, cpu_holders_fn fn, void *arg);

/*
 * The same of many waits, for sums by key: fn is told of all time under a key, whoever had the CPU
 * in it, by cpu_holders_sums_add() or cpu_holders_sums_end(). The fewer keys, the faster. r must
 * outlive it; NULL: nothing is known. For one thread.
 */
typedef void (*cpu_holders_sums_fn)(void *arg, uint32_t key, uint32_t who, uint64_t ns);
struct cpu_holders_sums;
void cpu_holders_sums_new(struct cpu_holders_sums **out, const struct cpu_holders *r,
			  cpu_holders_sums_fn fn, void *arg);
void cpu_holders_sums_free(struct cpu_holders_sums *s);
/* What cpu_holders_share() shares out, `count` times, under a key. */
struct ready_time {
	uint32_t key, thread;
	const struct wait *wait;
	uint64_t from_ns, to_ns;
	int64_t count;
};
/* Of used-up quotas of_quota is told, at once: for one of the count. */
void cpu_holders_sums_add(struct cpu_holders_sums *s, const struct ready_time *t,
			  cpu_holders_fn of_quota, void *arg);
/* When this returns, fn has been told of all that was added. */
void cpu_holders_sums_end(struct cpu_holders_sums *s);
