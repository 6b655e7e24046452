/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_picks.h - which waits a report shows one by one: the longest ones of all, and so that
 * filters find something wherever they point, the longest of each thread's row and of each step of
 * time. Waits for work and waits that nobody ended, which are nearly always the longest and
 * seldom of interest, have places of their own.
 */
#ifndef ENGINE_REPORT_PICKS_H
#define ENGINE_REPORT_PICKS_H

#include "picks.h"
#include "report_counts.h"

struct report_pick {
	struct pick pick;
	bool idle; /* waits for work (idle.h) */
};

/*
 * The chosen waits, longest first; top is how many longest ones are wanted, 0: as many as the
 * report has room for, and the other places filled as well. 0 or -ENOMEM; *picks is to be freed.
 */
int report_picks_new(struct report_pick **picks, size_t *n, const struct timelines *tl,
		     struct selection *s, const struct report_counts *c, const uint32_t *row_of,
		     uint64_t top);

#endif /* ENGINE_REPORT_PICKS_H */
