/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_sums.h - what tables tell of a row: sums of waits, percentiles of lengths; and how many rows
 * are shown.
 */
#pragma once

#include "format.h"

/* The figures of waits that a row has. */
struct wait_sums {
	uint64_t waits, total_ns, longest_ns;
};

void wait_sums_count(struct wait_sums *s, uint64_t ns);
void wait_sums_add(struct wait_sums *s, const struct wait_sums *other);

/* n rows, of which the first `top` are shown: the sums below these. */
struct table_sums {
	size_t top, added;
	struct wait_sums total, other; /* other: of the rows that are not shown */
};

/*
 * How many of n rows are shown: as many as --top says, or else as the screen has room for, besides
 * `more` lines of the table that are no such rows. All of them as JSON.
 */
size_t table_top(const struct format_input *in, size_t n, size_t more);
struct table_sums table_sums(size_t top);
/* Adds the next row. */
void table_sums_add(struct table_sums *t, const struct wait_sums *s);

/* A length of something in a row; rows are numbers of the caller's. */
struct row_length {
	uint32_t row;
	uint64_t ns;
};

/* All zero is empty; free(at) releases it. */
struct row_lengths {
	struct row_length *at;
	size_t n, cap;
};

/* Of n lengths; n is 0 if there are none. */
struct row_percentiles {
	uint64_t n, p50_ns, p99_ns;
};

void row_lengths_add(struct row_lengths *l, uint32_t row, uint64_t ns);
/*
 * Sets the struct row_percentiles of each row, which is at the given offset in the row's element of
 * rows, of size bytes each. Sorts the lengths.
 */
void row_lengths_percentiles(struct row_lengths *l, void *rows, size_t size, size_t offset);
