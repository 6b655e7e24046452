/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_waits.h - which waits a report shows one by one: the longest of all, and of each thread's
 * row and each step of time, so that every filter finds some; and those that show a cause. Waits
 * for work and unfinished waits have a limit of their own: they are nearly always the longest, and
 * rarely of interest.
 */
#ifndef ENGINE_REPORT_WAITS_H
#define ENGINE_REPORT_WAITS_H

#include "causes/causes.h"
#include "select/top_waits.h"
#include "report_counts.h"

struct report_wait {
	struct chosen_wait chosen;
	bool idle; /* a wait for work (--no-idle) */
};

/* What they are chosen by. */
struct report_choice {
	const struct timelines *timelines;
	struct wait_filter *filter;
	const struct report_counts *counts;
	const uint32_t *row_of;		   /* by thread */
	const struct cause *const *causes; /* whose examples come first */
	size_t n_causes;
	uint64_t top; /* only the N longest of all; 0: up to the report's own limits */
};

/*
 * Collects the waits: the examples of the causes, then the others, longest first. 0 or -ENOMEM. The
 * caller frees *waits with free().
 */
int report_waits_new(struct report_wait **waits, size_t *n, const struct report_choice *choice);

#endif /* ENGINE_REPORT_WAITS_H */
