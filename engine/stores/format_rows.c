// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=rows: the tables of row_tables.h as tab-separated text, which ClickHouse and others
 * read: each row after the name of its table, or with --table the rows of one table as they are
 * loaded.
 * --format=rowbinary: one table as ClickHouse's RowBinary,
 * https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
#include <inttypes.h>
#include <string.h>

#include "row_tables.h"

struct writer {
	const struct options *options;
	FILE *out;
};

static bool wanted(const struct writer *w, enum options_rows table)
{
	return w->options->rows == ROWS_ALL || w->options->rows == table;
}

/* ---- text ----------------------------------------------------------------------------------- */

/* As ClickHouse's TabSeparated: texts have no control characters, so only this is escaped. */
static void put_text(const char *s, FILE *out)
{
	for (const char *escape; (escape = strchr(s, '\\')); s = escape + 1) {
		fwrite(s, 1, (size_t)(escape - s), out);
		fputs("\\\\", out);
	}
	fputs(s, out);
}

static void put_uuid(struct row_id id, FILE *out)
{
	for (size_t i = 0; i < sizeof(id.bytes); i++)
		fprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			id.bytes[i]);
}

static int put_line(void *arg, enum options_rows table, const union row_value *values)
{
	const struct row_table_shape *shape = &row_tables[table];
	const struct writer *w = arg;

	if (!wanted(w, table))
		return 0;
	if (w->options->rows == ROWS_ALL)
		fprintf(w->out, "%s\t", shape->name);
	for (size_t i = 0; i < shape->n; i++) {
		if (i)
			putc('\t', w->out);
		if (shape->columns[i].type == ROW_ID)
			put_uuid(values[i].id, w->out);
		else if (shape->columns[i].type == ROW_TEXT)
			put_text(values[i].text, w->out);
		else
			fprintf(w->out, "%" PRIu64, values[i].number);
	}
	putc('\n', w->out);
	return ferror(w->out) ? -EIO : 0;
}

static int write_with(const struct format_input *in, FILE *out,
		      int (*put)(void *arg, enum options_rows table, const union row_value *values))
{
	struct writer w = { in->options, out };
	int err = rows_make(in, &(struct row_sink) { &w, put });

	/* Write errors are the caller's to report. */
	return ferror(out) ? 0 : err;
}

static int write_rows(const struct format_input *in, FILE *out)
{
	return write_with(in, out, put_line);
}

/* ---- RowBinary ------------------------------------------------------------------------------ */

/* Numbers are little-endian, of n bytes. */
static void put_number(uint64_t v, size_t n, FILE *out)
{
	for (; n; n--, v >>= 8)
		putc((int)(v & 0xff), out);
}

/* Length as a varint of 7 bits a byte, the lowest first. */
static void put_string(const char *s, FILE *out)
{
	size_t len = strlen(s), left = len;

	for (; left > 0x7f; left >>= 7)
		putc((int)(left & 0x7f) | 0x80, out);
	putc((int)left, out);
	fwrite(s, 1, len, out);
}

/* Two numbers of 64 bits, the upper half first. */
static void put_binary_uuid(struct row_id id, FILE *out)
{
	for (size_t half = 0; half < sizeof(id.bytes); half += 8)
		for (size_t i = 8; i-- > 0;)
			putc(id.bytes[half + i], out);
}

static int put_binary(void *arg, enum options_rows table, const union row_value *values)
{
	const struct row_table_shape *shape = &row_tables[table];
	const struct writer *w = arg;

	if (!wanted(w, table))
		return 0;
	for (size_t i = 0; i < shape->n; i++)
		switch (shape->columns[i].type) {
		case ROW_ID:
			put_binary_uuid(values[i].id, w->out);
			break;
		case ROW_TIME:
			put_number(values[i].number, 4, w->out);
			break;
		case ROW_NUMBER:
			put_number(values[i].number, 8, w->out);
			break;
		case ROW_TEXT:
			put_string(values[i].text, w->out);
			break;
		}
	return ferror(w->out) ? -EIO : 0;
}

static int write_binary(const struct format_input *in, FILE *out)
{
	return write_with(in, out, put_binary);
}

const struct format format_rows = {
	.name = "rows",
	.summary = "tables of sums by time, host, group, thread and chain",
	.wants_timelines = true,
	.wants_cpus = true,
	.running = true,
	.several = SEVERAL_ADDED,
	.takes = ROWS_TAKE,
	.write = write_rows,
};

const struct format format_rowbinary = {
	.name = "rowbinary",
	.summary = "one of these tables as ClickHouse's RowBinary",
	.wants_timelines = true,
	.wants_cpus = true,
	.binary = true,
	.one_table = true,
	.running = true,
	.several = SEVERAL_ADDED,
	.takes = ROWS_TAKE,
	.write = write_binary,
};
