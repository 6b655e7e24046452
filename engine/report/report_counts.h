/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_counts.h - the figures of a report, which its page filters by thread and time. The window
 * of time is divided into equal steps; for each thread and step it counts the waits that ended
 * there, by length, the wakeups that ended them, by waker, and the time asleep in them by the class
 * of what was waited for. Too many distinct figures for a page
 * make the steps longer. Threads are rows of a table; those without a row share one.
 */
#ifndef ENGINE_REPORT_COUNTS_H
#define ENGINE_REPORT_COUNTS_H

#include "words/names.h"
#include "base/pairs.h"
#include "select/top_waits.h"
#include "select/wait_filter.h"
#include "timeline/timeline.h"

enum {
	REPORT_STEPS = 100,
	REPORT_WAKERS = 200,  /* distinct names; the others are one waker */
	REPORT_CLASSES = 32,  /* of what was waited for; the last one is all others */
	REPORT_CELLS = 30000, /* of waits, of wakeups, of classes */
	REPORT_SLOTS = 64,    /* log2 of microseconds, as in --format=hist */
};

/* Equal steps of time; the last one may be shorter. */
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
	/* Numbers of waits (uint64_t), by (row * REPORT_SLOTS + slot, step). */
	struct pair_table lengths;
	/* struct report_wakeups, by (row * (REPORT_WAKERS + 1) + waker, step). */
	struct pair_table wakeups;
	/* Time asleep (uint64_t), by (row * REPORT_CLASSES + class, step). */
	struct pair_table asleep;
	/* Text ids in the order of their first wait: "tcp", "" where it is not known. */
	uint32_t classes[REPORT_CLASSES - 1];
	uint32_t n_classes;
	uint32_t wakers[REPORT_WAKERS]; /* text ids */
	uint32_t n_wakers;
	bool other_wakers; /* number n_wakers is in use, for all other wakers */
	/* The longest wait that ended in a step, by row * steps.n + step. */
	uint64_t *longest_ns;
	uint64_t *row_waits, *row_longest_ns; /* by row, over all steps */
};

/*
 * Counts the waits that s selects. row_of[thread] is below n_rows. 0 or -ENOMEM. The caller calls
 * report_counts_free(), also after an error.
 */
int report_counts_init(struct report_counts *c, const struct timelines *tl, struct wait_filter *s,
		       struct names *names, const uint32_t *row_of, uint32_t n_rows);
void report_counts_free(struct report_counts *c);
/* The step in which a wait that ended at ns is counted. */
uint32_t report_step(const struct report_steps *s, uint64_t ns);
/* The end of the shown part of the wait. */
uint64_t report_end_ns(const struct chosen_wait *p);

#endif /* ENGINE_REPORT_COUNTS_H */
