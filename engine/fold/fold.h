/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold.h - the chosen waits summed up by chain (chain-semantics, section 5), by all CPUs at once.
 */
#pragma once

#include "chain_rows.h"
#include "attribute/sums.h"

/* The totals of the chosen waits. */
struct chain_summary {
	uint64_t waits; /* sleeps, and preempted intervals if these were asked for */
	uint64_t blocked_ns, runnable_ns, preempted_ns;
	uint64_t idle_waits, idle_ns; /* left out of all this by --no-idle */
	uint64_t not_shown_ns;	      /* preempted time, left out by --state */
	uint64_t ends_ns[CHAIN_ENDS]; /* of the blocked time, by how its chains end */
};

enum fold_by {
	FOLD_BY_NAME,  /* threads of one name are one, as in folded lines */
	FOLD_BY_LINE,  /* kept apart by process, frames by source line; waits are counted */
	FOLD_BY_ROW,   /* fold_new_by_row() */
	FOLD_BY_WAKER, /* --view=wakeup: the waker's stack and the wakee make a row */
};

struct fold;

/*
 * Folds the waits that the options choose. To be freed with fold_free(). tl and o must outlive it.
 */
void fold_new(struct fold **out, const struct timelines *tl, const struct options *o,
	      enum fold_by by);
/* n spans of time that follow each other, CLOCK_MONOTONIC: span i is [bounds[i], bounds[i + 1]). */
struct fold_spans {
	const uint64_t *bounds;
	size_t n;
};

/*
 * The same, kept apart by span, the process's name, the endpoint and the wait's length. A wait is
 * cut at the bounds, and counted in the span in which it began. What the spans leave out is not
 * folded.
 */
void fold_new_by_row(struct fold **out, const struct timelines *tl, const struct options *o,
		     const struct fold_spans *spans);
/*
 * By name, and what a wait, or a thread's running, has in each span is known as well: of the name
 * that its thread had when it began. The spans are all of the time that the options choose. Of
 * running time alone there is no summary.
 */
void fold_new_in_spans(struct fold **out, const struct timelines *tl, const struct options *o,
		       const struct fold_spans *spans);
/* The rows of one span, likewise fold_rows(); they belong to f, and are not to be freed. */
struct chain_rows fold_span_rows(struct fold *f, size_t span);
void fold_free(struct fold *f);

/* [from_ns, to_ns) of a client's wait for a request, for which `times` waits of others waited. */
struct fold_remote {
	uint64_t from_ns, to_ns, times;
	uint32_t request; /* number */
};

/*
 * Folds n parts of requests, for which threads of another machine waited: FOLD_BY_NAME. The group
 * of a row is i + 1 of at[i].
 */
void fold_new_remote(struct fold **out, const struct timelines *tl, const struct options *o,
		     const struct fold_remote *at, size_t n);
/*
 * The rows, which belong to f. FOLD_BY_LINE: in order, split over their
 * samples, and only the --top N rows of most time. The others are in no order and have their
 * samples beside them.
 */
struct chain_rows *fold_rows(struct fold *f);
/* All that was chosen, including what --top leaves out. */
const struct chain_summary *fold_summary(const struct fold *f);
/* Its blocked time by wait_class(), as thing 0. The caller frees it, f has it no more. */
struct sums fold_take_classes(struct fold *f);
