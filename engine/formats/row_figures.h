/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_figures.h - what tables tell of a row beside sums: percentiles of lengths, and who had most
 * of its time. Rows are numbers of the caller's.
 */
#ifndef ENGINE_ROW_FIGURES_H
#define ENGINE_ROW_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "base/pairs.h"
#include "words/names.h"

struct row_length {
	uint32_t row;
	uint64_t ns;
};

/* All zero is empty; free(at) releases it. */
struct row_lengths {
	struct row_length *at;
	size_t n, cap;
};

/* Returns 0 or -ENOMEM. */
int row_lengths_add(struct row_lengths *l, uint32_t row, uint64_t ns);
/* Sorts by row, then length. */
void row_lengths_sort(struct row_lengths *l);
/* The p-th percentile of n > 0 sorted lengths: the shortest that is not below p percent of all. */
uint64_t row_percentile(const struct row_length *sorted, size_t n, unsigned int p);

/* The share of a row's time that somebody has. who: a text. */
struct row_share {
	uint32_t row, who;
	uint64_t ns;
};

/* Adds to the struct row_share in shares by (row, who). Returns 0 or -ENOMEM; who 0 is that, too.
 */
int row_shares_add(struct pair_table *shares, uint32_t row, uint32_t who, uint64_t ns);
/*
 * Sorts them by row, most time first, and calls put once for each row: who had most of it, and how
 * many others there are. The table can only be freed then.
 */
void row_shares_most(struct pair_table *shares, struct names *names,
		     void (*put)(void *arg, uint32_t row, uint32_t who, uint32_t others),
		     void *arg);

#endif /* ENGINE_ROW_FIGURES_H */
