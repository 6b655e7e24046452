// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=objects: a table of what was waited for, most time first: how often, how long, by whom,
 * and who ended the waits. Blocked time only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "select/top_waits.h"
#include "attribute/waker_name.h"
#include "format.h"
#include "row_figures.h"
#include "wait_sums.h"
#include "words/names.h"
#include "words/waited_for.h"

#define NAME_WIDTH_MAX 64
#define NOT_KNOWN "not known"

/* A row for each name: objects with equal names are one. */
struct row {
	uint32_t name; /* text, in full; "": it is not known what was waited for */
	struct wait_sums sums;
	uint64_t p50_ns, p99_ns;
	/*
	 * Texts: who waited most of the time, and who ended most of it; and how many others there
	 * were.
	 */
	uint32_t waiter, ender;
	uint32_t waiters, enders;
};

struct table {
	const struct options *options;
	const struct timelines *timelines;
	struct names *names;
	struct waker_names *wakers;
	struct pair_table rows;		   /* struct row, by (text, 0) */
	struct pair_table waiters, enders; /* struct row_share */
	struct row_lengths lengths;	   /* of all waits */
};

/* ---- adding up ------------------------------------------------------------------------------ */

static int add_wait(void *arg, const struct chosen_wait *p)
{
	struct table *t = arg;
	const struct wait *w = p->wait;
	uint64_t ns = p->shown.blocked_to_ns - p->shown.blocked_from_ns;
	uint32_t name, id;
	struct row *row;
	int err;

	if (w->kind != WAIT_SLEEP)
		return 0;
	name = waited_for_frames(t->names, w->stack, true);
	row = name ? pair_table_at(&t->rows, name, 0, sizeof(*row)) : NULL;
	if (!row)
		return -ENOMEM;
	row->name = name;
	wait_sums_count(&row->sums, ns);
	id = (uint32_t)(row - (struct row *)t->rows.at);
	err = row_lengths_add(&t->lengths, id, ns);
	if (!err)
		err = row_shares_add(&t->waiters, id, names_thread(t->names, p->thread, w->out_ns),
				     ns);
	return err ? err : row_shares_add(&t->enders, id, waker_name(t->wakers, w), ns);
}

/* ---- percentiles, and who ------------------------------------------------------------------- */

static void find_percentiles(struct table *t)
{
	const struct row_length *at;
	struct row *rows = t->rows.at;
	size_t n;

	row_lengths_sort(&t->lengths);
	at = t->lengths.at;
	for (size_t i = 0; i < t->lengths.n; i += n) {
		struct row *row = &rows[at[i].row];

		n = row->sums.waits;
		row->p50_ns = row_percentile(&at[i], n, 50);
		row->p99_ns = row_percentile(&at[i], n, 99);
	}
}

static void set_waiter(void *rows, uint32_t row, uint32_t who, uint32_t others)
{
	struct row *r = (struct row *)rows + row;

	r->waiter = who;
	r->waiters = others;
}

static void set_ender(void *rows, uint32_t row, uint32_t who, uint32_t others)
{
	struct row *r = (struct row *)rows + row;

	r->ender = who;
	r->enders = others;
}

/* ---- writing -------------------------------------------------------------------------------- */

static int most_time_first(const void *pa, const void *pb, void *names)
{
	const struct row *a = pa, *b = pb;

	if (a->sums.total_ns != b->sums.total_ns)
		return compare_numbers(b->sums.total_ns, a->sums.total_ns);
	return strcmp(names_text(names, a->name), names_text(names, b->name));
}

static void put_figures(FILE *out, const struct table *t, const struct wait_sums *s,
			const char *name, int width)
{
	fprintf(out, "%-*s %9" PRIu64, width, name, s->waits);
	format_put_time(out, t->options, 15, s->total_ns);
	format_put_time(out, t->options, 13, s->longest_ns);
}

static void put_who(FILE *out, const struct table *t, uint32_t who, uint32_t others, int width)
{
	int len = fprintf(out, "  %s", names_text(t->names, who));

	if (others)
		len += fprintf(out, " +%" PRIu32, others);
	if (len < width + 2)
		fprintf(out, "%*s", width + 2 - len, "");
}

static void put_row(FILE *out, const struct table *t, const struct row *r, int width)
{
	const char *name = names_text(t->names, r->name);

	put_figures(out, t, &r->sums, *name ? name : NOT_KNOWN, width);
	format_put_time(out, t->options, 13, r->p50_ns);
	format_put_time(out, t->options, 13, r->p99_ns);
	put_who(out, t, r->waiter, r->waiters, 20);
	put_who(out, t, r->ender, r->enders, 0);
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
		wait_table_add(&sums, names_text(t->names, rows[i].name), &rows[i].sums);
	fprintf(out, "%-*s %9s %15s %13s %13s %13s  %-20s  %s\n", sums.width, "OBJECT", "WAITS",
		"BLOCKED", "LONGEST", "P50", "P99", "WAITED", "ENDED BY");
	for (size_t i = 1; i <= sums.top; i++)
		put_row(out, t, &rows[i], sums.width);
	if (sums.top < n) {
		put_figures(out, t, &sums.other, CHAIN_OTHER, sums.width);
		putc('\n', out);
	}
	put_figures(out, t, &sums.total, "all of them", sums.width);
	fprintf(out, "\n(times in %s; %zu objects)\n", format_time_unit(o), n);
}

static int write_objects(const struct format_input *in, FILE *out)
{
	struct table t = { .options = in->options,
			   .timelines = in->timelines,
			   .names = names_new(in->timelines, in->options) };
	struct wait_filter *s =
		t.names ? wait_filter_new(in->timelines, in->options, t.names) : NULL;
	int err = -ENOMEM;

	t.wakers = t.names ? waker_names_new(in->timelines, t.names) : NULL;
	if (s && t.wakers)
		err = top_waits_walk(in->timelines, s, 0, add_wait, &t);
	if (!err) {
		find_percentiles(&t);
		row_shares_most(&t.waiters, t.names, set_waiter, t.rows.at);
		row_shares_most(&t.enders, t.names, set_ender, t.rows.at);
		put_table(out, &t);
	}
	free(t.lengths.at);
	pair_table_free(&t.rows);
	pair_table_free(&t.waiters);
	pair_table_free(&t.enders);
	waker_names_free(t.wakers);
	wait_filter_free(s);
	names_free(t.names);
	return err;
}

const struct format format_objects = {
	.name = "objects",
	.summary = "a table of what was waited for: files, sockets, locks",
	.wants_timelines = true,
	.blocked_only = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_OF_CHAINS | GIVEN_BY_NAME,
	.write = write_objects,
};
