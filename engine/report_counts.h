/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_counts.h - the figures of a report, small enough for a page and still fit for filters by
 * thread and time: the window of time in equal steps, and for each thread and step how many waits
 * of each length ended in it, and whose wakeups ended them. With too many different figures the
 * steps are made longer. Threads are rows of a table; those without a row share one.
 */
#ifndef ENGINE_REPORT_COUNTS_H
#define ENGINE_REPORT_COUNTS_H

#include "names.h"
#include "pairs.h"
#include "picks.h"
#include "select.h"
#include "timeline.h"

enum {
	REPORT_STEPS = 100,
	REPORT_WAKERS = 200,  /* different names; the rest of them are one */
	REPORT_CELLS = 30000, /* of one kind */
	REPORT_SLOTS = 64,    /* log2 of microseconds, as --format=hist has them */
};

/* Equal steps of time, the last one perhaps shorter. */
struct report_steps {
	uint64_t from_ns, to_ns, step_ns;
	uint32_t n;
};

struct report_wakeups {
	uint64_t count, blocked_ns;
};

struct report_counts {
	struct report_steps steps;
	uint32_t n_rows;
	/* Waits by (row * REPORT_SLOTS + slot, step); values by the pair's id, from 1. */
	struct pairs lengths;
	uint64_t *length_counts;
	size_t cap_lengths;
	/* Wakeups by (row * (REPORT_WAKERS + 1) + waker, step). */
	struct pairs wakeups;
	struct report_wakeups *wakeup_sums;
	size_t cap_wakeups;
	uint32_t wakers[REPORT_WAKERS]; /* text ids */
	uint32_t n_wakers;
	bool other_wakers; /* there are more: number n_wakers is all of these */
	/* By row and step (row * steps.n + step): the longest wait that ended there. */
	uint64_t *longest_ns;
	uint64_t *row_waits, *row_longest_ns; /* by row, of all steps */
};

/*
 * Counts the waits that s chooses. row_of[thread] is below n_rows. 0 or -ENOMEM. To be ended with
 * report_counts_free(), also after an error.
 */
int report_counts_init(struct report_counts *c, const struct timelines *tl, struct selection *s,
		       struct names *names, const uint32_t *row_of, uint32_t n_rows);
void report_counts_free(struct report_counts *c);
/* The step in which a wait that ended at ns is counted. */
uint32_t report_step(const struct report_steps *s, uint64_t ns);
/* When what is shown of the wait ended. */
uint64_t report_end_ns(const struct pick *p);

#endif /* ENGINE_REPORT_COUNTS_H */
