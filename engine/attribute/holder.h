/* SPDX-License-Identifier: GPL-2.0-or-later */
/* holder.h - who had a CPU: numbers for that. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sums.h"

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
