// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=objects: a table of what was waited for, most time first: how often, how long, by whom,
 * and who ended the waits. Blocked time only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "select/top_waits.h"
#include "attribute/waker_name.h"
#include "format.h"
#include "table.h"
#include "words/names.h"

#define NAME_WIDTH_MAX 64
#define NOT_KNOWN "not known"

/* A row for each name: objects with equal names are one. */
struct row {
	uint32_t name; /* text, in full; "": it is not known what was waited for */
	struct wait_sums sums;
	struct row_percentiles lengths;
};

struct objects {
	struct names *names;
	struct waker_names *wakers;
	struct pair_table rows;	     /* struct row, by (text, 0) */
	struct sums waiters, enders; /* by a row's name and who waited, who ended it (texts) */
	struct row_lengths lengths;  /* of all waits */
};

/* ---- adding up ------------------------------------------------------------------------------ */

static int add_wait(void *arg, const struct chosen_wait *p)
{
	struct objects *t = arg;
	const struct wait *w = p->wait;
	uint64_t ns = p->shown.blocked_to_ns - p->shown.blocked_from_ns;
	uint32_t name, waiter, ender;
	struct row *row;

	if (w->kind != WAIT_SLEEP)
		return 0;
	name = waited_for_frames(t->names, w->stack, true);
	waiter = names_thread(t->names, p->thread, w->out_ns);
	ender = waker_name(t->wakers, w);
	row = name && waiter && ender ? pair_table_at(&t->rows, name, 0, sizeof(*row)) : NULL;
	if (!row)
		return -ENOMEM;
	row->name = name;
	wait_sums_count(&row->sums, ns);
	sums_add(&t->waiters, name, waiter, ns);
	sums_add(&t->enders, name, ender, ns);
	return row_lengths_add(&t->lengths, (uint32_t)(row - (struct row *)t->rows.at), ns);
}

/* ---- writing -------------------------------------------------------------------------------- */

static int most_time_first(const void *pa, const void *pb, void *names)
{
	const struct row *a = pa, *b = pb;

	if (a->sums.total_ns != b->sums.total_ns)
		return compare_numbers(b->sums.total_ns, a->sums.total_ns);
	return strcmp(names_text(names, a->name), names_text(names, b->name));
}

static void put_sums(const struct table *t, const char *name, const struct wait_sums *s)
{
	TABLE_CELLS(t, cell_text(name), cell_number(s->waits), cell_time(s->total_ns),
		    cell_time(s->longest_ns));
	putc('\n', t->out);
}

static void put_row(const struct table *t, const struct objects *b, const struct row *r)
{
	const char *name = names_text(b->names, r->name);

	TABLE_CELLS(t, cell_text(*name ? name : NOT_KNOWN), cell_number(r->sums.waits),
		    cell_time(r->sums.total_ns), cell_time(r->sums.longest_ns),
		    cell_time(r->lengths.p50_ns), cell_time(r->lengths.p99_ns),
		    cell_most(&b->waiters, r->name, b->names),
		    cell_most(&b->enders, r->name, b->names));
	putc('\n', t->out);
}

static void put_table(FILE *out, struct objects *b, const struct options *o)
{
	struct row *rows = b->rows.at;
	size_t n = b->rows.keys.n;
	struct table_sums sums = table_sums(n, o->top, NAME_WIDTH_MAX);
	struct column columns[] = {
		{ "OBJECT", 0, false },	  { "WAITS", 9, false },   { "BLOCKED", 15, false },
		{ "LONGEST", 13, false }, { "P50", 13, false },	   { "P99", 13, false },
		{ "WAITED", -20, true },  { "ENDED BY", 0, true },
	};
	struct table t = TABLE(out, o, columns);

	if (n)
		qsort_r(rows + 1, n, sizeof(*rows), most_time_first, b->names);
	for (size_t i = 1; i <= n; i++)
		table_sums_add(&sums, names_text(b->names, rows[i].name), &rows[i].sums);
	columns[0].width = -sums.width;
	table_titles(&t);
	for (size_t i = 1; i <= sums.top; i++)
		put_row(&t, b, &rows[i]);
	if (sums.top < n)
		put_sums(&t, CHAIN_OTHER, &sums.other);
	put_sums(&t, "all of them", &sums.total);
	fprintf(out, "(times in %s; %zu objects)\n", format_time_unit(o), n);
}

static int write_objects(const struct format_input *in, FILE *out)
{
	struct objects t = { .wakers = NULL };
	int err = names_new(&t.names, in->timelines, in->options);

	if (!err)
		err = waker_names_new(&t.wakers, in->timelines, t.names);
	if (!err)
		err = format_each_wait(in, in->options, t.names, 0, add_wait, &t);
	if (!err) {
		row_lengths_percentiles(&t.lengths, t.rows.at, sizeof(struct row),
					offsetof(struct row, lengths));
		sums_sort(&t.waiters, t.names, sums_key_is_text);
		sums_sort(&t.enders, t.names, sums_key_is_text);
		put_table(out, &t, in->options);
	}
	if (t.waiters.out_of_memory || t.enders.out_of_memory)
		err = -ENOMEM;
	free(t.lengths.at);
	pair_table_free(&t.rows);
	sums_free(&t.waiters);
	sums_free(&t.enders);
	waker_names_free(t.wakers);
	names_free(t.names);
	return err;
}

const struct format format_objects = {
	.name = "objects",
	.summary = "a table of what was waited for: files, sockets, locks",
	.wants_timelines = true,
	.blocked_only = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_OF_CHAINS | GIVEN_BY_NAME | GIVEN_REQUESTS,
	.write = write_objects,
};
