/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_tables.h - the tables of --format=rows, rowbinary and sqlite: what adds up over traces, hosts
 * and time. chainwalk(1) describes them, docs/fleet/schema.sql is the same for ClickHouse.
 */
#pragma once

#include "formats/format.h"

/* 128 bits that stand for a content: the same on all hosts, for all versions. */
struct row_id {
	uint8_t bytes[16];
};

/* The id of len bytes: the first half of their SHA-256. */
struct row_id row_id_of(const void *p, size_t len);

enum row_type {
	ROW_ID,	    /* UUID, a blob in SQLite */
	ROW_TIME,   /* seconds since 1970: DateTime */
	ROW_NUMBER, /* UInt64 */
	ROW_TEXT,   /* String: well-formed UTF-8 without control characters */
};

struct row_column {
	const char *name;
	enum row_type type;
};

#define ROW_COLUMNS_MAX 21

/* Options without a meaning for these formats. */
#define ROWS_TAKE                                                                               \
	(GIVEN_OF_CHAINS | GIVEN_ATTRIBUTED | GIVEN_ANNOTATE | GIVEN_FOLD_REPEATS | GIVEN_TOP | \
	 GIVEN_BUCKET)

struct row_table_shape {
	const char *name;
	size_t n;
	struct row_column columns[ROW_COLUMNS_MAX];
};

extern const struct row_table_shape row_tables[ROWS_ALL];

/* A value by its column's type. */
union row_value {
	struct row_id id;
	uint64_t number;  /* ROW_TIME, ROW_NUMBER */
	const char *text; /* ROW_TEXT */
};

/* Takes rows: the trace's own first. The first column of each table is a time. */
struct row_sink {
	void *arg;
	/* values: by column. 0 or a negative errno, which ends it all. */
	int (*put)(void *arg, enum options_rows table, const union row_value *values);
};

/*
 * Gives the rows of one trace to the sink: for each bucket of time, so long as the options say.
 * They are all made before the sink gets the first one. 0, what the sink returned, or another
 * negative errno.
 */
int rows_make(const struct format_input *in, const struct row_sink *sink);

/*
 * The spans of time that rows are of: the buckets of wall clock time in which there are events, and
 * between those the time without any, however many buckets that is. So there are not many more
 * spans than events, whatever times a trace says.
 */
struct row_spans {
	uint64_t *bounds; /* n + 1, CLOCK_MONOTONIC, see struct fold_spans */
	uint64_t *time_s; /* by span: when its first bucket begins, seconds since 1970 */
	size_t n;
};

/* Those of what --from and --to leave. 0 or a negative errno; to be freed in both cases. */
int row_spans_new(struct row_spans *s, const struct format_input *in);
void row_spans_free(struct row_spans *s);
