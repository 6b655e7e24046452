/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - tables: columns with a title, rows of cells. On paper columns have at least a given
 * width; on a screen they fit it, or columns are left out and texts cut in the middle; with --json
 * a row is an object on a line of its own, with plain numbers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "attribute/sums.h"
#include "format.h"

struct column {
	const char *title; /* NULL: only as JSON */
	int width;	   /* at least, in characters; negative: left-aligned; 0: the last column */
	bool apart;	   /* two spaces before it, not one */
	uint8_t drop;	   /* where there is no room, the highest is left out first; 0: never */
	/*
	 * The member of the JSON object; "": it has none; NULL: made of the title, "ended_by", and
	 * of a time "longest_ns". A column some of whose times are not known needs a key.
	 */
	const char *key;
};

struct cell {
	enum {
		CELL_TEXT,
		CELL_NUMBER,
		CELL_TIME,
		CELL_DECIMAL, /* a number, as text */
		CELL_NONE,    /* not known: text stands for it, null as JSON */
		CELL_SHARES,  /* "61 % gzip, 39 % make", of sums */
	} kind;
	const char *text;
	uint64_t n; /* a number, or ns; of a text, how many others there are: "NAME +3" */
	/* Of CELL_SHARES: sums of a thing, which are sorted. */
	const struct sums *sums;
	uint32_t thing;
	const struct names *names;
};

struct table {
	FILE *out;
	const struct format_input *in;
	const struct column *columns;
	size_t n;
	/* As JSON: members "table" and, if it is of one endpoint, "endpoint"; or NULL. */
	const char *kind, *endpoint;
	size_t text_width; /* columns are left out before texts are cut to less; 0: to 20 */
	/* Private: the cells' texts, row by row, each with a 0 behind it. */
	struct text_buf text;
	size_t rows;
};

/* columns: an array, which has to be there until table_end(). */
#define TABLE(to, input, array)                                                                    \
	{                                                                                          \
		.out = to, .in = input, .columns = array, .n = sizeof(array) / sizeof((array)[0]), \
	}

static inline struct cell cell_text(const char *text)
{
	return (struct cell) { .kind = CELL_TEXT, .text = text };
}

static inline struct cell cell_number(uint64_t n)
{
	return (struct cell) { .kind = CELL_NUMBER, .n = n };
}

static inline struct cell cell_time(uint64_t ns)
{
	return (struct cell) { .kind = CELL_TIME, .n = ns };
}

static inline struct cell cell_decimal(const char *text)
{
	return (struct cell) { .kind = CELL_DECIMAL, .text = text };
}

static inline struct cell cell_none(const char *text)
{
	return (struct cell) { .kind = CELL_NONE, .text = text };
}

static inline struct cell cell_shares(const struct sums *sums, uint32_t thing,
				      const struct names *names)
{
	return (struct cell) { .kind = CELL_SHARES, .sums = sums, .thing = thing, .names = names };
}

/* Who has most of a row's sums, and how many others there are; the sums are sorted. */
struct cell cell_most(const struct sums *by_row, uint32_t row, const struct names *names);

/* Adds a row: its first n cells. */
void table_row(struct table *t, const struct cell *cells, size_t n);
/* A row that sums up others, which JSON does not have. */
void table_sum_row(struct table *t, const struct cell *cells, size_t n);
#define TABLE_ROW(t, ...)                                   \
	table_row(t, (const struct cell[]) { __VA_ARGS__ }, \
		  sizeof((const struct cell[]) { __VA_ARGS__ }) / sizeof(struct cell))
#define TABLE_SUM_ROW(t, ...)                                   \
	table_sum_row(t, (const struct cell[]) { __VA_ARGS__ }, \
		      sizeof((const struct cell[]) { __VA_ARGS__ }) / sizeof(struct cell))

/*
 * Writes what is not written yet: titles, rows, and in brackets a note, as by printf(), unless it
 * is NULL. Frees the table.
 */
__attribute__((format(printf, 2, 3))) void table_end(struct table *t, const char *note, ...);

/* How many columns a text takes: see text_columns(). */
size_t table_width(const char *s);
/* Writes s, cut in the middle if it is wider than so many characters. */
void table_put_cut(FILE *out, const char *s, size_t width);
/* The same, with spaces behind it if it is narrower. */
void table_put_padded(FILE *out, const char *s, size_t width);
