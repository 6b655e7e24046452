/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold.h - all chosen waits summed up to folded lines: one line for each distinct chain
 * (chain-semantics, section 5).
 */
#ifndef ENGINE_FOLD_H
#define ENGINE_FOLD_H

#include <stdio.h>

#include "chain.h"
#include "options.h"
#include "timeline.h"

/* The totals of the waits that were chosen. */
struct chain_summary {
	uint64_t waits; /* sleeps, and preempted intervals if these were asked for */
	uint64_t blocked_ns, runnable_ns, preempted_ns;
	uint64_t idle_waits, idle_ns; /* left out of all this by --no-idle */
	uint64_t ends_ns[CHAIN_ENDS]; /* of the blocked time, by how its chains end */
};

struct fold_line {
	const char *text; /* without the weight */
	uint64_t ns;
};

struct fold;

/* Folds the waits that the options choose. 0 or -ENOMEM. To be freed with fold_free(). */
int fold_new(struct fold **out, const struct timelines *tl, const struct options *o);
void fold_free(struct fold *f);

/* The lines, sorted by their bytes, each text once; *n: how many. */
const struct fold_line *fold_lines(const struct fold *f, size_t *n);
const struct chain_summary *fold_summary(const struct fold *f);

/*
 * Writes the lines in the options' unit, only the --top N widest if that was asked for. In
 * microseconds each weight is rounded down or up such that the weights add up to the rounded sum
 * of all lines (the largest remainders are rounded up); lines with weight 0 are left out.
 * Returns 0 or -ENOMEM; write errors are left in ferror(out).
 */
int fold_write(const struct fold *f, const struct options *o, FILE *out);
/* The same for any n lines, sorted by their bytes. */
int fold_lines_write(const struct fold_line *lines, size_t n, const struct options *o, FILE *out);

/* Only the totals, for formats that do not fold. 0 or -ENOMEM. */
int chain_summarize(const struct timelines *tl, const struct options *o, struct chain_summary *s);

#endif /* ENGINE_FOLD_H */
