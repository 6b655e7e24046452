// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=io: a table of what block devices were asked for, most time first: device, operation,
 * how many requests of which size, how long they were queued and at the device, and who asked. A
 * request belongs to the time at which it was done, and to the thread that asked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "select/disk_filter.h"
#include "format.h"
#include "row_figures.h"
#include "words/disk_names.h"

#define DEVICE_WIDTH_MIN 8
#define DEVICE_WIDTH_MAX 32

/* Percentiles of a stage; n is 0 if it is not known of any request. */
struct stage {
	uint64_t n, p50_ns, p99_ns;
};

struct row {
	uint32_t disk, op;
	uint64_t requests, bytes;
	uint64_t ns; /* from the asking to the end, of all of which that is known */
	struct stage queued, device;
	uint64_t longest_ns;	/* at the device */
	uint32_t asker, askers; /* who asked for most of the time: a text; how many others did */
};

struct table {
	const struct format_input *in;
	struct names *names;
	struct pair_table rows;		   /* struct row, by (disk, operation + 1) */
	struct row_lengths queued, device; /* of all requests */
	struct pair_table askers;	   /* struct row_share */
};

static uint64_t span(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns && from_ns < to_ns ? to_ns - from_ns : 0;
}

static uint32_t asker_of(struct table *t, const struct disk_request *r)
{
	return r->thread == THREAD_NONE ? names_clean(t->names, "")
					: names_thread(t->names, r->thread, r->asked_ns);
}

static int add_request(void *arg, const struct disk_request *r)
{
	struct table *t = arg;
	struct disk_request_kind kind = timelines_disk_request_kind(t->in->timelines, r->kind);
	struct row *row = pair_table_at(&t->rows, kind.disk, kind.op + 1, sizeof(*row));
	uint64_t all_ns = span(r->asked_ns, r->done_ns), device_ns = span(r->issued_ns, r->done_ns);
	uint32_t id;
	int err = 0;

	if (!row)
		return -ENOMEM;
	id = (uint32_t)(row - (struct row *)t->rows.at);
	row->disk = kind.disk;
	row->op = kind.op;
	row->requests++;
	row->bytes += r->bytes;
	row->ns += all_ns;
	if (row->longest_ns < device_ns)
		row->longest_ns = device_ns;
	if (r->issued_ns && r->asked_ns) {
		row->queued.n++;
		err = row_lengths_add(&t->queued, id, span(r->asked_ns, r->issued_ns));
	}
	if (r->issued_ns && !err) {
		row->device.n++;
		err = row_lengths_add(&t->device, id, device_ns);
	}
	return err ? err : row_shares_add(&t->askers, id, asker_of(t, r), all_ns);
}

static void find_percentiles(struct table *t, struct row_lengths *l, size_t stage)
{
	char *rows = t->rows.at;
	size_t n;

	row_lengths_sort(l);
	for (size_t i = 0; i < l->n; i += n) {
		char *row = rows + l->at[i].row * sizeof(struct row);
		struct stage *s = (struct stage *)(void *)(row + stage);

		n = s->n;
		s->p50_ns = row_percentile(&l->at[i], n, 50);
		s->p99_ns = row_percentile(&l->at[i], n, 99);
	}
}

static void set_asker(void *rows, uint32_t row, uint32_t who, uint32_t others)
{
	struct row *r = (struct row *)rows + row;

	r->asker = who;
	r->askers = others;
}

/* ---- writing -------------------------------------------------------------------------------- */

static const char *device_of(const struct table *t, const struct row *r)
{
	const char *name = disk_device_name(t->in->trace, r->disk);
	uint32_t text = names_clean(t->names, name);

	return names_text(t->names, text);
}

static int most_time_first(const void *pa, const void *pb, void *table)
{
	const struct row *a = pa, *b = pb;
	const struct table *t = table;
	int order;

	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	order = strcmp(disk_device_name(t->in->trace, a->disk),
		       disk_device_name(t->in->trace, b->disk));
	return order ? order : (int)a->op - (int)b->op;
}

static void put_stage(FILE *out, const struct table *t, const struct stage *s)
{
	if (s->n) {
		format_put_time(out, t->in->options, 12, s->p50_ns);
		format_put_time(out, t->in->options, 12, s->p99_ns);
	} else {
		fprintf(out, " %12s %12s", "-", "-");
	}
}

static void put_row(FILE *out, const struct table *t, const struct row *r, int width)
{
	fprintf(out, "%-*s %-8s %9" PRIu64 " %12" PRIu64, width, device_of(t, r),
		disk_op_name(r->op), r->requests, r->bytes);
	put_stage(out, t, &r->queued);
	put_stage(out, t, &r->device);
	format_put_time(out, t->in->options, 12, r->longest_ns);
	fprintf(out, "  %s", names_text(t->names, r->asker));
	if (r->askers)
		fprintf(out, " +%" PRIu32, r->askers);
	putc('\n', out);
}

static void put_table(FILE *out, struct table *t)
{
	const struct options *o = t->in->options;
	struct row *rows = t->rows.at;
	size_t n = t->rows.keys.n, top = o->top && o->top < n ? (size_t)o->top : n;
	uint64_t requests = 0, bytes = 0;
	int width = DEVICE_WIDTH_MIN;

	if (n)
		qsort_r(rows + 1, n, sizeof(*rows), most_time_first, t);
	for (size_t i = 1; i <= n; i++) {
		size_t len = strlen(device_of(t, &rows[i]));

		requests += rows[i].requests;
		bytes += rows[i].bytes;
		if (i <= top && len > (size_t)width)
			width = len < DEVICE_WIDTH_MAX ? (int)len : DEVICE_WIDTH_MAX;
	}
	fprintf(out, "%-*s %-8s %9s %12s %12s %12s %12s %12s %12s  %s\n", width, "DEVICE", "DOES",
		"REQUESTS", "BYTES", "QUEUED P50", "P99", "DEVICE P50", "P99", "LONGEST",
		"ASKED BY");
	for (size_t i = 1; i <= top; i++)
		put_row(out, t, &rows[i], width);
	fprintf(out, "%-*s %-8s %9" PRIu64 " %12" PRIu64 "\n(times in %s)\n", width, "all", "",
		requests, bytes, format_time_unit(o));
}

static int write_io(const struct format_input *in, FILE *out)
{
	struct table t = { .in = in, .names = names_new(in->timelines, in->options) };
	int err = t.names ? 0 : -ENOMEM;

	if (!err)
		err = disk_filter_walk(in->timelines, in->options, t.names, add_request, &t);
	if (!err) {
		find_percentiles(&t, &t.queued, offsetof(struct row, queued));
		find_percentiles(&t, &t.device, offsetof(struct row, device));
		row_shares_most(&t.askers, t.names, set_asker, t.rows.at);
		put_table(out, &t);
	}
	free(t.queued.at);
	free(t.device.at);
	pair_table_free(&t.rows);
	pair_table_free(&t.askers);
	names_free(t.names);
	return err;
}

const struct format format_io = {
	.name = "io",
	.summary = "a table of what disks were asked for: how long it took, by whom",
	.wants_timelines = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_OF_CHAINS | GIVEN_WITHIN | GIVEN_WAIT | GIVEN_STATE | GIVEN_NO_IDLE |
		   GIVEN_BY_NAME | GIVEN_OF_OBJECTS | GIVEN_ENDED,
	.write = write_io,
};
