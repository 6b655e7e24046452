/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unknown_times.h - when threads did something unseen. Where no events were lost, what a trace
 * lacks is what certain threads do, which a virtual machine hides: of these it lacks how they went
 * off their CPUs. Of others all is known that they did while they ran, and of their unknown time as
 * well.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "timeline/timeline.h"

struct unknown_times;

/* Takes O(n log n) for n unknown intervals. To be freed by unknown_times_free(). NULL: no memory.
 */
struct unknown_times *unknown_times_new(const struct timelines *tl);
void unknown_times_free(struct unknown_times *u);

/*
 * Whether, at any instant of [from_ns, to_ns], another thread of this thread's process may have
 * done something unseen; true also if the process is not known. What was lost is left to the
 * caller.
 */
bool unknown_times_of_others(const struct unknown_times *u, uint32_t thread, uint64_t from_ns,
			     uint64_t to_ns);
