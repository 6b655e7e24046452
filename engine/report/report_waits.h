/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_waits.h - which waits a report shows one by one: the longest of all, and of each thread's
 * row and each step of time, so that every filter finds some. Waits for work and unfinished waits
 * have a limit of their own: they are nearly always the longest, and rarely of interest.
 */
#ifndef ENGINE_REPORT_WAITS_H
#define ENGINE_REPORT_WAITS_H

#include "chain/top_waits.h"
#include "report_counts.h"

struct report_wait {
	struct chosen_wait chosen;
	bool idle; /* a wait for work (--no-idle) */
};

/*
 * Collects the waits, longest first. top: only the N longest of all, 0: up to the report's own
 * limits. 0 or -ENOMEM. The caller frees *waits with free().
 */
int report_waits_new(struct report_wait **waits, size_t *n, const struct timelines *tl,
		     struct wait_filter *s, const struct report_counts *c, const uint32_t *row_of,
		     uint64_t top);

#endif /* ENGINE_REPORT_WAITS_H */
