// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=wakers: a table of who wakes whom, how often, and the blocked time that these wakeups
 * ended; most time first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "format.h"
#include "wait_sums.h"
#include "words/names.h"
#include "select/top_waits.h"
#include "attribute/waker_name.h"

#define NAME_WIDTH_MAX 48

struct row {
	uint32_t waker, wakee; /* text ids */
	struct wait_sums sums;
};

struct table {
	const struct options *options;
	struct names *names;
	struct waker_names *wakers;
	struct pair_table rows; /* of struct row, by (waker, wakee) */
};

static int count_wait(void *arg, const struct chosen_wait *p)
{
	struct table *t = arg;
	const struct wait *w = p->wait;
	uint64_t ns = p->shown.blocked_to_ns - p->shown.blocked_from_ns;
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
	wait_sums_count(&row->sums, ns);
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

static void put_row(FILE *out, const struct table *t, const struct wait_sums *s, const char *waker,
		    const char *wakee, int width)
{
	fprintf(out, "%-*s  %-16s %9" PRIu64, width, waker, wakee, s->waits);
	format_put_time(out, t->options, 15, s->total_ns);
	format_put_time(out, t->options, 15, s->longest_ns);
	putc('\n', out);
}

static void put_table(FILE *out, struct table *t)
{
	const struct options *o = t->options;
	struct row *rows = t->rows.at;
	size_t n = t->rows.keys.n;
	struct wait_table sums = wait_table(n, o->top, NAME_WIDTH_MAX);

	if (n)
		qsort_r(rows + 1, n, sizeof(*rows), most_time_first, t->names);
	for (size_t i = 1; i <= n; i++)
		wait_table_add(&sums, names_text(t->names, rows[i].waker), &rows[i].sums);
	fprintf(out, "%-*s  %-16s %9s %15s %15s\n", sums.width, "WAKER", "TARGET", "COUNT",
		"BLOCKED", "LONGEST");
	for (size_t i = 1; i <= sums.top; i++)
		put_row(out, t, &rows[i].sums, names_text(t->names, rows[i].waker),
			names_text(t->names, rows[i].wakee), sums.width);
	if (sums.top < n)
		put_row(out, t, &sums.other, CHAIN_OTHER, "", sums.width);
	put_row(out, t, &sums.total, "all of them", "", sums.width);
	fprintf(out, "(times in %s; %zu pairs)\n", format_time_unit(o), n);
}

static int write_wakers(const struct format_input *in, FILE *out)
{
	struct table t = { .options = in->options, .names = names_new(in->timelines, in->options) };
	struct wait_filter *s =
		t.names ? wait_filter_new(in->timelines, in->options, t.names) : NULL;
	int err = -ENOMEM;

	t.wakers = t.names ? waker_names_new(in->timelines, t.names) : NULL;
	if (s && t.wakers)
		err = top_waits_walk(in->timelines, s, 0, count_wait, &t);
	if (!err)
		put_table(out, &t);
	pair_table_free(&t.rows);
	waker_names_free(t.wakers);
	wait_filter_free(s);
	names_free(t.names);
	return err;
}

const struct format format_wakers = {
	.name = "wakers",
	.summary = "a table of who wakes whom, and the blocked time that ends",
	.wants_timelines = true,
	.blocked_only = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_OF_CHAINS | GIVEN_BY_NAME,
	.write = write_wakers,
};
