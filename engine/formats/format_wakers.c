// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=wakers: a table of who wakes whom, how often, and the blocked time that these wakeups
 * ended; most time first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/waker_name.h"
#include "base/compare.h"
#include "format.h"
#include "select/top_waits.h"
#include "table.h"

#define NAME_WIDTH_MAX 48

struct row {
	uint32_t waker, wakee; /* text ids */
	struct wait_sums sums;
};

struct wakers {
	struct names *names;
	struct waker_names *wakers;
	struct pair_table rows; /* of struct row, by (waker, wakee) */
};

static int count_wait(void *arg, const struct chosen_wait *p)
{
	struct wakers *t = arg;
	const struct wait *w = p->wait;
	uint32_t waker, wakee;
	struct row *row;

	if (w->kind != WAIT_SLEEP)
		return 0;
	waker = waker_name(t->wakers, w);
	wakee = names_thread(t->names, p->thread, w->out_ns);
	row = waker && wakee ? pair_table_at(&t->rows, waker, wakee, sizeof(*row)) : NULL;
	if (!row)
		return -ENOMEM;
	row->waker = waker;
	row->wakee = wakee;
	wait_sums_count(&row->sums, p->shown.blocked_to_ns - p->shown.blocked_from_ns);
	return 0;
}

static int most_time_first(const void *pa, const void *pb, void *names)
{
	const struct row *a = pa, *b = pb;
	int order;

	if (a->sums.total_ns != b->sums.total_ns)
		return compare_numbers(b->sums.total_ns, a->sums.total_ns);
	if (a->sums.waits != b->sums.waits)
		return compare_numbers(b->sums.waits, a->sums.waits);
	order = strcmp(names_text(names, a->waker), names_text(names, b->waker));
	if (order)
		return order;
	return strcmp(names_text(names, a->wakee), names_text(names, b->wakee));
}

static void put_row(const struct table *t, const char *waker, const char *wakee,
		    const struct wait_sums *s)
{
	TABLE_CELLS(t, cell_text(waker), cell_text(wakee), cell_number(s->waits),
		    cell_time(s->total_ns), cell_time(s->longest_ns));
	putc('\n', t->out);
}

static void put_table(FILE *out, struct wakers *w, const struct options *o)
{
	struct row *rows = w->rows.at;
	size_t n = w->rows.keys.n;
	struct table_sums sums = table_sums(n, o->top, NAME_WIDTH_MAX);
	struct column columns[] = {
		{ "WAKER", 0, false },	  { "TARGET", -16, true },  { "COUNT", 9, false },
		{ "BLOCKED", 15, false }, { "LONGEST", 15, false },
	};
	struct table t = TABLE(out, o, columns);

	if (n)
		qsort_r(rows + 1, n, sizeof(*rows), most_time_first, w->names);
	for (size_t i = 1; i <= n; i++)
		table_sums_add(&sums, names_text(w->names, rows[i].waker), &rows[i].sums);
	columns[0].width = -sums.width;
	table_titles(&t);
	for (size_t i = 1; i <= sums.top; i++)
		put_row(&t, names_text(w->names, rows[i].waker),
			names_text(w->names, rows[i].wakee), &rows[i].sums);
	if (sums.top < n)
		put_row(&t, CHAIN_OTHER, "", &sums.other);
	put_row(&t, "all of them", "", &sums.total);
	fprintf(out, "(times in %s; %zu pairs)\n", format_time_unit(o), n);
}

static int write_wakers(const struct format_input *in, FILE *out)
{
	struct wakers t = { .wakers = NULL };
	int err = names_new(&t.names, in->timelines, in->options);

	if (!err)
		err = waker_names_new(&t.wakers, in->timelines, t.names);
	if (!err)
		err = format_each_wait(in, in->options, t.names, 0, count_wait, &t);
	if (!err)
		put_table(out, &t, in->options);
	pair_table_free(&t.rows);
	waker_names_free(t.wakers);
	names_free(t.names);
	return err;
}

const struct format format_wakers = {
	.name = "wakers",
	.summary = "a table of who wakes whom, and the blocked time that ends",
	.wants_timelines = true,
	.blocked_only = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_OF_CHAINS | GIVEN_BY_NAME | GIVEN_REQUESTS,
	.write = write_wakers,
};
