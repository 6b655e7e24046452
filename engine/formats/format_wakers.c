// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=wakers: a table of who wakes whom, how often, and the blocked time that these wakeups
 * ended; most time first.
 */
#include <stdlib.h>
#include <string.h>

#include "attribute/waker_name.h"
#include "base/compare.h"
#include "format.h"
#include "row_sums.h"
#include "table.h"

struct row {
	uint32_t waker, wakee; /* text ids */
	struct wait_sums sums;
};

struct wakers {
	struct names *names;
	struct waker_names *wakers;
	struct pair_table rows; /* of struct row, by (waker, wakee) */
};

static bool count_wait(void *arg, const struct chosen_wait *p)
{
	struct wakers *t = arg;
	const struct wait *w = p->wait;
	uint32_t waker, wakee;
	struct row *row;

	if (w->kind != WAIT_SLEEP)
		return true;
	waker = waker_name(t->wakers, w);
	wakee = names_thread(t->names, p->thread, w->out_ns);
	row = pair_table_at(&t->rows, waker, wakee, sizeof(*row));
	row->waker = waker;
	row->wakee = wakee;
	wait_sums_count(&row->sums, p->shown.blocked_to_ns - p->shown.blocked_from_ns);
	return true;
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

static void put_sums(struct table *t, const char *name, const struct wait_sums *s)
{
	TABLE_SUM_ROW(t, cell_text(name), cell_text(""), cell_number(s->waits),
		      cell_time(s->total_ns), cell_time(s->longest_ns));
}

static void put_table(FILE *out, struct wakers *w, const struct format_input *in)
{
	static const struct column columns[] = {
		{ .title = "WAKER", .width = -16 },
		{ .title = "TARGET", .width = -16, .apart = true },
		{ .title = "COUNT", .width = 9 },
		{ .title = "BLOCKED", .width = 15 },
		{ .title = "LONGEST", .width = 15 },
	};
	struct row *rows = w->rows.at;
	size_t n = w->rows.keys.n;
	struct table_sums sums = table_sums(table_top(in, n, 3));
	struct table t = TABLE(out, in, columns);

	if (n)
		qsort_r(rows + 1, n, sizeof(*rows), most_time_first, w->names);
	for (size_t i = 1; i <= n; i++) {
		const struct row *r = &rows[i];

		table_sums_add(&sums, &r->sums);
		if (i <= sums.top)
			TABLE_ROW(&t, cell_text(names_text(w->names, r->waker)),
				  cell_text(names_text(w->names, r->wakee)),
				  cell_number(r->sums.waits), cell_time(r->sums.total_ns),
				  cell_time(r->sums.longest_ns));
	}
	if (sums.top < n)
		put_sums(&t, CHAIN_OTHER, &sums.other);
	put_sums(&t, "all of them", &sums.total);
	table_end(&t, "times in %s; %zu pairs", format_time_unit(in->options), n);
}

static int write_wakers(const struct format_input *in, FILE *out)
{
	struct wakers t = { .wakers = NULL };

	names_new(&t.names, in->timelines, in->options);
	waker_names_new(&t.wakers, in->timelines, t.names);
	format_each_wait(in, in->options, t.names, 0, count_wait, &t);
	put_table(out, &t, in);
	pair_table_free(&t.rows);
	waker_names_free(t.wakers);
	names_free(t.names);
	return 0;
}

const struct format format_wakers = {
	.name = "wakers",
	.summary = "a table of who wakes whom, and the blocked time that this ends",
	.wants_timelines = true,
	.blocked_only = true,
	.several = SEVERAL_HEADED,
	.takes = GIVEN_OF_WAITS | GIVEN_OF_TABLES,
	.write = write_wakers,
};
