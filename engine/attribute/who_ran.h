/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * who_ran.h - who had the CPU while a thread was ready and had none (chain-semantics, section 9):
 * whoever ran on the CPU on whose queue it waited.
 */
#ifndef ENGINE_WHO_RAN_H
#define ENGINE_WHO_RAN_H

#include "sums.h"
#include "timeline/timeline.h"

/* Who: the name (string id) of the thread that ran, when it came on the CPU, or one of these. */
#define WHO_UNKNOWN SUMS_UNKNOWN	/* the trace does not say */
#define WHO_IDLE (UINT32_MAX - 1)	/* nobody */
#define WHO_THROTTLED (UINT32_MAX - 2)	/* nobody, as a quota was used up */
#define WHO_STILL (UINT32_MAX - 3)	/* nobody: the whole machine stood still */
#define WHO_INTERRUPTS (UINT32_MAX - 4) /* interrupts and softirqs, see who_ran_new() */
#define WHO_STEAL (UINT32_MAX - 5)	/* a hypervisor, likewise */
#define WHO_NAMES (UINT32_MAX - 5)	/* names are below */
#define WHO_OTHERS 6u			/* which are so many */

/*
 * "[idle CPU]", "[throttled]", "[no events]", "[interrupts]", "[steal]"; NULL: a name, or not
 * known.
 */
const char *who_text(uint32_t who);
/* A sums_text_fn: a name cleaned, or who_text(). */
uint32_t who_name(struct names *names, uint32_t who);

struct who_ran;

/*
 * *out is NULL if tl does not have what CPUs ran (timelines_new_with_cpus()); who_ran_share() then
 * knows nothing. taken: of the time that a CPU was in interrupts they had it, not the thread that
 * they interrupted, and of what a hypervisor took it had it, if the trace has these. Returns 0 or
 * -ENOMEM. tl must outlive it. Several threads may use it.
 */
int who_ran_new(struct who_ran **out, const struct timelines *tl, bool taken);
void who_ran_free(struct who_ran *r);

/* ns of the time went to who; may be called several times for one who. */
typedef void (*who_ran_fn)(void *arg, uint32_t who, uint64_t ns);
/* A who_ran_fn, arg being a struct sums: adds to its thing 0. */
void who_ran_add(void *sums, uint32_t who, uint64_t ns);

/*
 * Shares out [from_ns, to_ns), in which the thread was ready: a part of [wake_ns, in_ns) of w, one
 * of its sleeps or preempted intervals. What fn gets adds up to to_ns - from_ns.
 */
void who_ran_share(const struct who_ran *r, uint32_t thread, const struct wait *w, uint64_t from_ns,
		   uint64_t to_ns, who_ran_fn fn, void *arg);

#endif /* ENGINE_WHO_RAN_H */
