/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - tables for reading: columns with a title and a width, rows of cells; and what tables
 * tell of a row: sums of waits, percentiles of lengths, who had most of its time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "attribute/sums.h"
#include "base/options.h"

struct column {
	const char *title;
	int width;  /* in characters; negative: cells are left-aligned; 0: the last column */
	bool apart; /* two spaces before it, not one */
};

struct cell {
	enum {
		CELL_TEXT,
		CELL_NUMBER,
		CELL_TIME,
	} kind;
	const char *text;
	uint64_t n; /* a number, or ns; of a text, how many others there are: "NAME +3" */
};

struct table {
	FILE *out;
	const struct options *options; /* for the unit of times */
	const struct column *columns;
	size_t n;
};

/* columns: an array. */
#define TABLE(out, options, columns)                                          \
	{                                                                     \
		out, options, columns, sizeof(columns) / sizeof((columns)[0]) \
	}

static inline struct cell cell_text(const char *text)
{
	return (struct cell) { CELL_TEXT, text, 0 };
}

static inline struct cell cell_number(uint64_t n)
{
	return (struct cell) { CELL_NUMBER, NULL, n };
}

static inline struct cell cell_time(uint64_t ns)
{
	return (struct cell) { CELL_TIME, NULL, ns };
}

void table_titles(const struct table *t);
/* The first n cells of a row, without the end of the line. */
void table_cells(const struct table *t, const struct cell *cells, size_t n);
#define TABLE_CELLS(t, ...)                                   \
	table_cells(t, (const struct cell[]) { __VA_ARGS__ }, \
		    sizeof((const struct cell[]) { __VA_ARGS__ }) / sizeof(struct cell))
/* ---- rows ------------------------------------------------------------------------------------ */

/* The figures of waits that a row has. */
struct wait_sums {
	uint64_t waits, total_ns, longest_ns;
};

void wait_sums_count(struct wait_sums *s, uint64_t ns);

/* n rows, of which the first `top` are shown: the sums below these. */
struct table_sums {
	size_t top, added;
	struct wait_sums total, other; /* other: of the rows that are not shown */
	int width, width_max;	       /* of the first column: that of the names shown */
};

/* top: of --top, 0 for all rows. */
struct table_sums table_sums(size_t n, uint64_t top, int width_max);
/* Adds the next row. */
void table_sums_add(struct table_sums *t, const char *name, const struct wait_sums *s);

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

/* Returns 0 or -ENOMEM. */
int row_lengths_add(struct row_lengths *l, uint32_t row, uint64_t ns);
/*
 * Sets the struct row_percentiles of each row, which is at the given offset in the row's element of
 * rows, of size bytes each. Sorts the lengths.
 */
void row_lengths_percentiles(struct row_lengths *l, void *rows, size_t size, size_t offset);

/* Who has most of a row's sums, and how many others there are; the sums are sorted. */
struct cell cell_most(const struct sums *by_row, uint32_t row, const struct names *names);
