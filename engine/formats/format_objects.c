// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=objects: a table of what was waited for, most time first: how often, how long, by whom,
 * and who ended the waits; of locks also who held them. Blocked time only. What is one thing for
 * the reader is one row, unless --by-object asks for each by itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/waker_name.h"
#include "base/compare.h"
#include "format.h"
#include "object_groups.h"
#include "row_sums.h"
#include "table.h"
#include "words/lock_holder.h"
#include "words/names.h"
#include "words/waited_for.h"
#include "common/xalloc.h"

#define NOT_KNOWN "not known"
#define HOLDERS_SHOWN 4
/* On a screen holders are shown of so many rows, the first ones. */
#define ROWS_WITH_HOLDERS 4

/* A row for each name: objects with equal names are one. */
struct row {
	struct object_row object;
	struct wait_sums sums;
	/* As it is written: */
	uint32_t name; /* text, in full; "": it is not known what was waited for */
	uint32_t id;   /* of its sums */
	uint32_t objects;
	struct row_percentiles lengths;
};

struct objects {
	const struct format_input *in;
	struct names *names;
	struct waker_names *wakers;
	struct pair_table rows; /* struct row, by (text, 0) */
	/* By row: who waited, who ended it, who had a lock then (texts). */
	struct sums waiters, enders, holders;
	struct row_lengths lengths; /* of all waits */
};

/* ---- adding up ------------------------------------------------------------------------------ */

static void add_holder(struct objects *t, uint32_t row, const struct chosen_wait *p, uint64_t ns)
{
	struct object_names *o = names_objects(t->names);
	uint32_t holder = lock_holder(o, p->thread, p->wait), text;
	struct text_buf b = { 0 };
	struct sum *sum;

	if (holder == THREAD_NONE)
		return;
	object_names_put_thread(o, holder, &b);
	text = names_clean(t->names, b.p + strspn(b.p, " "));
	text_free(&b);
	sum = sums_at(&t->holders, row, text);
	sum->amount += ns;
	sum->count++;
}

static bool add_wait(void *arg, const struct chosen_wait *p)
{
	struct objects *t = arg;
	const struct wait *w = p->wait;
	uint64_t ns = p->shown.blocked_to_ns - p->shown.blocked_from_ns;
	struct shown_objects shown = names_shown_objects(t->names, w->stack);
	uint32_t name, waiter, ender, id;
	struct row *row;

	if (w->kind != WAIT_SLEEP)
		return true;
	name = waited_for_frames(t->names, w->stack, true);
	waiter = names_thread(t->names, p->thread, w->out_ns);
	ender = waker_name(t->wakers, w);
	row = pair_table_at(&t->rows, name, 0, sizeof(*row));
	id = (uint32_t)(row - (struct row *)t->rows.at) - 1;
	if (!row->sums.waits)
		row->object = (struct object_row) { name, shown.object, shown.ready, waiter, 0, 0 };
	wait_sums_count(&row->sums, ns);
	row->object.waits = row->sums.waits;
	sums_add(&t->waiters, id, waiter, ns);
	sums_add(&t->enders, id, ender, ns);
	add_holder(t, id, p, ns);
	row_lengths_add(&t->lengths, id, ns);
	return true;
}

/* ---- groups --------------------------------------------------------------------------------- */

/* The rows' sums become those of their groups. */
static void regroup_sums(struct sums *s, const struct object_row *rows)
{
	const struct sum *at = s->table.at;
	struct sums grouped = { .n = 0 };

	for (uint32_t i = 1; i <= s->table.keys.n; i++) {
		struct sum *to = sums_at(&grouped, rows[at[i].thing].group, at[i].key);

		to->amount += at[i].amount;
		to->count += at[i].count;
	}
	sums_free(s);
	*s = grouped;
}

/* Makes the rows that are written, of n single ones: *n of them, to be freed. */
static struct row *regroup(struct objects *t, const struct row *single, size_t *n)
{
	struct object_row *rows = xcalloc(*n + 1, sizeof(*rows));
	struct object_group *groups = NULL;
	struct row *grouped = NULL;
	uint32_t n_groups = 0;

	for (size_t i = 0; i < *n; i++)
		rows[i] = single[i].object;
	object_groups_find(&groups, &n_groups, rows, *n, t->in->timelines, t->names);
	grouped = xcalloc((size_t)n_groups + 1, sizeof(*grouped));
	for (uint32_t i = 0; i < n_groups; i++)
		grouped[i] = (struct row) {
			.name = groups[i].name,
			.id = i,
			.objects = groups[i].objects,
		};
	for (size_t i = 0; i < *n; i++)
		wait_sums_add(&grouped[rows[i].group].sums, &single[i].sums);
	for (size_t i = 0; i < t->lengths.n; i++)
		t->lengths.at[i].row = rows[t->lengths.at[i].row].group;
	regroup_sums(&t->waiters, rows);
	regroup_sums(&t->enders, rows);
	regroup_sums(&t->holders, rows);
	*n = n_groups;
	free(groups);
	free(rows);
	return grouped;
}

static struct row *single_rows(const struct row *single, size_t n)
{
	struct row *rows = xcalloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < n; i++) {
		rows[i] = single[i];
		rows[i].name = single[i].object.name;
		rows[i].id = (uint32_t)i;
		rows[i].objects = 1;
	}
	return rows;
}

/* ---- writing -------------------------------------------------------------------------------- */

static int most_time_first(const void *pa, const void *pb, void *names)
{
	const struct row *a = pa, *b = pb;

	if (a->sums.total_ns != b->sums.total_ns)
		return compare_numbers(b->sums.total_ns, a->sums.total_ns);
	return strcmp(names_text(names, a->name), names_text(names, b->name));
}

static void put_sums(struct table *t, const char *name, const struct wait_sums *s)
{
	TABLE_SUM_ROW(t, cell_text(name), cell_number(s->waits), cell_time(s->total_ns),
		      cell_time(s->longest_ns));
}

/* Below a lock: who held it when others began to wait, and how long they then waited. */
static void put_holders(struct table *t, const struct objects *b, const struct row *r)
{
	size_t n;
	const struct sum *of = sums_of(&b->holders, r->id, &n);

	for (size_t i = 0; i < n && i < HOLDERS_SHOWN; i++) {
		struct text_buf text = { 0 };

		text_puts(&text, "  held by ");
		text_puts(&text, names_text(b->names, of[i].text));
		TABLE_SUM_ROW(t, cell_text(text.p), cell_number(of[i].count),
			      cell_time(of[i].amount));
		text_free(&text);
	}
}

/* How many lines holders take. */
static size_t holder_lines(const struct objects *b, const struct row *rows, size_t n)
{
	size_t lines = 0, holders;

	for (size_t i = 0; i < n && i < ROWS_WITH_HOLDERS; i++) {
		sums_of(&b->holders, rows[i].id, &holders);
		lines += holders < HOLDERS_SHOWN ? holders : HOLDERS_SHOWN;
	}
	return lines;
}

static void put_row(struct table *t, const struct objects *b, const struct row *r,
		    bool with_holders)
{
	const char *name = names_text(b->names, r->name);

	TABLE_ROW(t, *name ? cell_text(name) : cell_none(NOT_KNOWN), cell_number(r->sums.waits),
		  cell_time(r->sums.total_ns), cell_time(r->sums.longest_ns),
		  cell_time(r->lengths.p50_ns), cell_time(r->lengths.p99_ns),
		  cell_most(&b->waiters, r->id, b->names), cell_most(&b->enders, r->id, b->names),
		  cell_number(r->objects), cell_shares(&b->holders, r->id, b->names));
	if (with_holders)
		put_holders(t, b, r);
}

static void put_table(FILE *out, struct objects *b, struct row *rows, size_t n)
{
	static const struct column columns[] = {
		{ .title = "OBJECT", .width = -16 },
		{ .title = "WAITS", .width = 9 },
		{ .title = "BLOCKED", .width = 15 },
		{ .title = "LONGEST", .width = 13 },
		{ .title = "P50", .width = 13, .drop = 4 },
		{ .title = "P99", .width = 13, .drop = 3 },
		{ .title = "WAITED", .width = -20, .apart = true, .drop = 1 },
		{ .title = "ENDED BY", .apart = true, .drop = 2 },
		{ .key = "objects" },
		{ .key = "held_by" },
	};
	const struct format_input *in = b->in;
	size_t single = b->rows.keys.n;
	struct table_sums sums;
	struct table t = TABLE(out, in, columns);

	if (n)
		qsort_r(rows, n, sizeof(*rows), most_time_first, b->names);
	sums = table_sums(table_top(in, n, 3 + holder_lines(b, rows, n)));
	for (size_t i = 0; i < n; i++) {
		table_sums_add(&sums, &rows[i].sums);
		if (i < sums.top)
			put_row(&t, b, &rows[i], !in->options->lines || i < ROWS_WITH_HOLDERS);
	}
	if (sums.top < n)
		put_sums(&t, CHAIN_OTHER, &sums.other);
	put_sums(&t, "all of them", &sums.total);
	if (n < single)
		table_end(&t, "times in %s; %zu objects, --by-object shows each",
			  format_time_unit(in->options), single);
	else
		table_end(&t, "times in %s; %zu objects", format_time_unit(in->options), n);
}

static void write_rows(struct objects *t, FILE *out)
{
	const struct row *at = t->rows.at;
	const struct row *single = at ? at + 1 : NULL;
	size_t n = t->rows.keys.n;
	struct row *rows =
		t->in->options->by_object ? single_rows(single, n) : regroup(t, single, &n);

	row_lengths_percentiles(&t->lengths, rows, sizeof(*rows), offsetof(struct row, lengths));
	sums_sort(&t->waiters, t->names, sums_key_is_text);
	sums_sort(&t->enders, t->names, sums_key_is_text);
	sums_sort(&t->holders, t->names, sums_key_is_text);
	put_table(out, t, rows, n);
	free(rows);
}

static int write_objects(const struct format_input *in, FILE *out)
{
	struct objects t = { .in = in };

	names_new(&t.names, in->timelines, in->options);
	waker_names_new(&t.wakers, in->timelines, t.names);
	format_each_wait(in, in->options, t.names, 0, add_wait, &t);
	write_rows(&t, out);
	free(t.lengths.at);
	pair_table_free(&t.rows);
	sums_free(&t.waiters);
	sums_free(&t.enders);
	sums_free(&t.holders);
	waker_names_free(t.wakers);
	names_free(t.names);
	return 0;
}

const struct format format_objects = {
	.name = "objects",
	.summary = "a table of what was waited for: files, sockets, locks",
	.wants_timelines = true,
	.blocked_only = true,
	.several = SEVERAL_HEADED,
	.takes = GIVEN_OF_WAITS | GIVEN_OF_TABLES,
	.write = write_objects,
};
