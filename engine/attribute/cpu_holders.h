/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_holders.h - who had the CPU while a thread was ready and had none (chain-semantics, section
 * 9): whoever ran on the CPU on whose queue it waited.
 */
#pragma once

#include "sums.h"
#include "timeline/timeline.h"

/*
 * Who: the name (string id) that the thread that ran had then, or one of these; or of
 * a thread in another control group than the one that waits, unless that is the root of its
 * hierarchy, HOLDER_GROUP | the path of that (string id). If the quota of a group was used up,
 * whoever ran meanwhile, HOLDER_QUOTA | the path of that.
 */
#define HOLDER_GROUP (1u << 31)
#define HOLDER_QUOTA (3u << 30)
#define HOLDER_UNKNOWN SUMS_UNKNOWN	   /* the trace does not say */
#define HOLDER_IDLE (UINT32_MAX - 1)	   /* nobody */
#define HOLDER_THROTTLED (UINT32_MAX - 2)  /* a quota was used up, it is not known whose */
#define HOLDER_STILL (UINT32_MAX - 3)	   /* nobody: the whole machine stood still */
#define HOLDER_INTERRUPTS (UINT32_MAX - 4) /* interrupts and softirqs, see cpu_holders_new() */
#define HOLDER_STEAL (UINT32_MAX - 5)	   /* a hypervisor, likewise */
#define HOLDER_RECORDER (UINT32_MAX - 6)   /* the recorder's own threads */
#define HOLDER_RUNTIME (UINT32_MAX - 7)	   /* its own runtime of SCHED_DEADLINE was used up */
#define HOLDER_REALTIME (UINT32_MAX - 8)   /* that of all realtime threads was used up */
#define HOLDER_NAMES (UINT32_MAX - 8)	   /* names and groups are below */

/* The path of the group of a who below HOLDER_NAMES; 0: it is a name. */
static inline uint32_t cpu_holder_group(uint32_t who)
{
	return (who & HOLDER_QUOTA) == HOLDER_GROUP ? who & ~HOLDER_GROUP : 0;
}

/* The path of the group whose quota was used up; 0: it is none, or not known. */
static inline uint32_t cpu_holder_quota(uint32_t who)
{
	return who >= HOLDER_QUOTA && who < HOLDER_NAMES ? who & ~HOLDER_QUOTA : 0;
}

/* Whether nobody had it from the thread: any quota was used up. */
static inline bool cpu_holder_throttled(uint32_t who)
{
	return cpu_holder_quota(who) || who == HOLDER_THROTTLED || who == HOLDER_RUNTIME ||
	       who == HOLDER_REALTIME;
}

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
