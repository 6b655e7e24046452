// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=io: a table of what block devices were asked for, most time first: device, operation,
 * how many requests of which size, how long they were queued and at the device, and who asked. A
 * request belongs to the time at which it was done, and to the thread that asked.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "select/wait_filter.h"
#include "format.h"
#include "row_sums.h"
#include "table.h"
#include "words/object_names.h"

struct row {
	uint32_t disk, op, kind;
	uint64_t requests, bytes;
	uint64_t ns; /* from the asking to the end, of all of which that is known */
	struct row_percentiles queued, device;
	uint64_t longest_ns; /* at the device */
};

struct requests {
	const struct format_input *in;
	struct names *names;
	struct pair_table rows;		   /* struct row, by (disk, operation) */
	struct row_lengths queued, device; /* of all requests */
	struct sums askers;		   /* by row and asker (a text) */
};

static uint64_t span(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns && from_ns < to_ns ? to_ns - from_ns : 0;
}

static uint32_t asker_of(struct requests *t, const struct disk_request *r)
{
	return r->thread == THREAD_NONE ? names_clean(t->names, "")
					: names_thread(t->names, r->thread, r->asked_ns);
}

static bool add_request(void *arg, const struct disk_request *r)
{
	struct requests *t = arg;
	struct disk_request_kind kind = timelines_disk_request_kind(t->in->timelines, r->kind);
	struct row *row = pair_table_at(&t->rows, kind.disk, kind.op, sizeof(*row));
	uint64_t all_ns = span(r->asked_ns, r->done_ns), device_ns = span(r->issued_ns, r->done_ns);
	uint32_t id = (uint32_t)(row - (struct row *)t->rows.at);

	row->disk = kind.disk;
	row->op = kind.op;
	row->kind = id;
	row->requests++;
	row->bytes += r->bytes;
	row->ns += all_ns;
	if (row->longest_ns < device_ns)
		row->longest_ns = device_ns;
	if (r->issued_ns && r->asked_ns)
		row_lengths_add(&t->queued, id, span(r->asked_ns, r->issued_ns));
	if (r->issued_ns)
		row_lengths_add(&t->device, id, device_ns);
	sums_add(&t->askers, id, asker_of(t, r), all_ns);
	return true;
}

/* ---- writing -------------------------------------------------------------------------------- */

static const char *device_of(const struct requests *t, const struct row *r)
{
	const char *name = disk_device_name(t->in->trace, r->disk);
	uint32_t text = names_clean(t->names, name);

	return names_text(t->names, text);
}

static int most_time_first(const void *pa, const void *pb, void *table)
{
	const struct row *a = pa, *b = pb;
	const struct requests *t = table;
	int order;

	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	order = strcmp(disk_device_name(t->in->trace, a->disk),
		       disk_device_name(t->in->trace, b->disk));
	return order ? order : (int)a->op - (int)b->op;
}

/* A percentile; "-" if there are no lengths. */
static struct cell cell_of(const struct row_percentiles *p, uint64_t ns)
{
	return p->n ? cell_time(ns) : cell_none("-");
}

static void put_row(struct table *to, const struct requests *t, const struct row *r)
{
	TABLE_ROW(to, cell_text(device_of(t, r)), cell_text(disk_op_name(r->op)),
		  cell_number(r->requests), cell_number(r->bytes),
		  cell_of(&r->queued, r->queued.p50_ns), cell_of(&r->queued, r->queued.p99_ns),
		  cell_of(&r->device, r->device.p50_ns), cell_of(&r->device, r->device.p99_ns),
		  cell_time(r->longest_ns), cell_most(&t->askers, r->kind, t->names));
}

static void put_table(FILE *out, struct requests *t)
{
	static const struct column columns[] = {
		{ .title = "DEVICE", .width = -8 },
		{ .title = "DOES", .width = -8 },
		{ .title = "REQUESTS", .width = 9 },
		{ .title = "BYTES", .width = 12, .drop = 1 },
		{ .title = "QUEUED P50", .width = 12, .drop = 2, .key = "queued_p50_ns" },
		{ .title = "P99", .width = 12, .drop = 2, .key = "queued_p99_ns" },
		{ .title = "DEVICE P50", .width = 12, .key = "device_p50_ns" },
		{ .title = "P99", .width = 12, .key = "device_p99_ns" },
		{ .title = "LONGEST", .width = 12, .key = "device_longest_ns" },
		{ .title = "ASKED BY", .apart = true },
	};
	struct row *rows = t->rows.at;
	size_t n = t->rows.keys.n, top = table_top(t->in, n, 3);
	uint64_t requests = 0, bytes = 0;
	struct table to = TABLE(out, t->in, columns);

	if (n)
		qsort_r(rows + 1, n, sizeof(*rows), most_time_first, t);
	for (size_t i = 1; i <= n; i++) {
		requests += rows[i].requests;
		bytes += rows[i].bytes;
		if (i <= top)
			put_row(&to, t, &rows[i]);
	}
	TABLE_SUM_ROW(&to, cell_text("all"), cell_text(""), cell_number(requests),
		      cell_number(bytes));
	table_end(&to, "times in %s", format_time_unit(t->in->options));
}

static int write_io(const struct format_input *in, FILE *out)
{
	struct requests t = { .in = in };

	names_new(&t.names, in->timelines, in->options);
	wait_filter_disk_requests(in->timelines, in->options, t.names, add_request, &t);
	row_lengths_percentiles(&t.queued, t.rows.at, sizeof(struct row),
				offsetof(struct row, queued));
	row_lengths_percentiles(&t.device, t.rows.at, sizeof(struct row),
				offsetof(struct row, device));
	sums_sort(&t.askers, t.names, sums_key_is_text);
	put_table(out, &t);
	free(t.queued.at);
	free(t.device.at);
	pair_table_free(&t.rows);
	sums_free(&t.askers);
	names_free(t.names);
	return 0;
}

const struct format format_io = {
	.name = "io",
	.summary = "a table of disk I/O requests: how long they took, who issued them",
	.wants_timelines = true,
	.several = SEVERAL_HEADED,
	.takes = GIVEN_OF_THREADS | GIVEN_NO_KTHREADS | GIVEN_OF_TABLES,
	.write = write_io,
};
