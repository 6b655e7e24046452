/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quota_users.h - who used up the CPU quota of a control group: the threads of the group, and of
 * those below it, that ran in the period before.
 */
#pragma once

#include "timeline/timeline.h"

/* What Linux sets, and nearly everybody keeps; the trace does not say it. */
#define QUOTA_PERIOD_NS UINT64_C(100000000)

/*
 * Calls fn for each thread that had been running, for ns, in the QUOTA_PERIOD_NS before at_ns while
 * it was in the group of that path (string id) or in one below it. Looks at all threads.
 */
void quota_users(const struct timelines *tl, uint32_t path, uint64_t at_ns,
		 void (*fn)(void *arg, uint32_t thread, uint64_t ns), void *arg);
