// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=hist: log2 histograms of the waits' lengths; one of all waits, or one for each thread
 * name. With --unit the layout is that of bcc's cpudist -O; without, bounds are milliseconds, as
 * in tables. A length is the whole wait's: the window of time chooses waits, and a piece of a wait
 * that it cuts is no length.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "format.h"
#include "paragraph.h"
#include "table.h"

#define SLOTS 64     /* of us or ns; 0: lengths 0 and 1; n: 2^n to 2^(n+1) - 1 */
#define WIDE_SLOT 32 /* bounds of this slot and later ones have more than ten digits */
#define WIDE 20
#define STARS 40

struct hist {
	uint32_t name; /* text id; 0: of all waits */
	uint64_t total_ns;
	uint64_t count[SLOTS];
};

struct hists {
	const struct format_input *in;
	const struct options *options;
	struct names *names;
	struct pair_table table; /* of struct hist, by (name, 0) */
};

static bool count_wait(void *arg, const struct chosen_wait *p)
{
	struct hists *h = arg;
	uint64_t ns = p->shown.whole_ns;
	uint64_t length = h->options->unit == UNIT_NS ? ns : ns / 1000;
	uint32_t name = 0;
	struct hist *hist;

	if (h->options->by_name) {
		name = names_thread(h->names, p->thread, p->wait->out_ns);
	}
	hist = pair_table_at(&h->table, name, 0, sizeof(*hist));
	hist->name = name;
	hist->count[63 - __builtin_clzll(length | 1)]++;
	hist->total_ns += chosen_wait_ns(p);
	return true;
}

/* A bound of a slot, in a column; a negative width: on its left. */
static void put_bound(FILE *out, const struct options *o, int width, uint64_t bound)
{
	char text[TEXT_MS_SIZE];

	if (format_in_ms(o))
		fprintf(out, "%*s", width, text_ms(text, bound * 1000));
	else
		fprintf(out, "%*" PRIu64, width, bound);
}

struct hist_layout {
	int width, stars;
	const char *title; /* of the stars */
};

/*
 * As bcc does: wider columns and half the stars when the usual ones are not enough. On a screen
 * columns are no wider than they have to be, and there are as many stars as fit.
 */
static struct hist_layout lay_out(const struct options *o, int last, uint64_t most)
{
	struct hist_layout l = { format_in_ms(o) ? 13 : 10, STARS, "distribution" };
	int screen = o->columns ? (int)paragraph_columns(o->columns) : INT_MAX, others;
	uint64_t bound = ((uint64_t)2 << last) - 1;
	char text[TEXT_MS_SIZE], count[24];

	if (last >= WIDE_SLOT) {
		l.width = WIDE;
		l.stars = STARS / 2;
	}
	snprintf(count, sizeof(count), "%-8" PRIu64, most);
	/* Between the bounds, around the count and around the stars. */
	others = (int)strlen(count) + 4 + 3 + 3;
	if (2 * l.width + others + l.stars > screen && format_in_ms(o))
		l.width = (int)strlen(text_ms(text, bound * 1000));
	else if (2 * l.width + others + l.stars > screen)
		l.width = snprintf(text, sizeof(text), "%" PRIu64, bound);
	if (l.width < 6) /* the unit is above them */
		l.width = 6;
	if (2 * l.width + others + l.stars > screen)
		l.stars = screen - 2 * l.width - others;
	if (2 * l.width + (int)strlen("->   : count     distribution") > screen)
		l.title = "";
	return l;
}

static void put_hist(FILE *out, const struct options *o, const struct hist *h)
{
	struct hist_layout l;
	uint64_t most = 1;
	int last = 0;

	for (int i = 0; i < SLOTS; i++) {
		if (h->count[i])
			last = i;
		if (h->count[i] > most)
			most = h->count[i];
	}
	l = lay_out(o, last, most);
	fprintf(out, "%*csecs%*s : count%s%s\n", l.width - 4, *format_time_unit(o), l.width + 4, "",
		*l.title ? "     " : "", l.title);
	for (int i = 0; i <= last; i++) {
		uint64_t low = i ? (uint64_t)1 << i : 0, high = ((uint64_t)2 << i) - 1;
		int n = (int)((double)l.stars * (double)h->count[i] / (double)most);

		put_bound(out, o, l.width, low);
		fputs(" -> ", out);
		put_bound(out, o, -l.width, high);
		fprintf(out, " : %-8" PRIu64 " |%.*s%*s|\n", h->count[i], n,
			"****************************************", l.stars - n, "");
	}
}

static int most_time_first(const void *pa, const void *pb, void *names)
{
	const struct hist *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return compare_numbers(b->total_ns, a->total_ns);
	return strcmp(names_text(names, a->name), names_text(names, b->name));
}

/* The histograms, at[1..n], those with most time first. */
static struct hist *sorted(struct hists *h, size_t *n)
{
	struct hist *at = h->table.at;

	*n = h->table.keys.n;
	if (*n)
		qsort_r(at + 1, *n, sizeof(*at), most_time_first, h->names);
	return at;
}

/* A row for each slot that is not empty. */
static void put_objects(FILE *out, struct hists *h)
{
	static const struct column columns[] = {
		{ .key = "from_ns" },
		{ .key = "to_ns" },
		{ .key = "count" },
		{ .key = "name" },
	};
	const struct options *o = h->options;
	uint64_t unit_ns = o->unit == UNIT_NS ? 1 : 1000;
	struct table t = TABLE(out, h->in, columns);
	size_t n;
	const struct hist *at = sorted(h, &n);

	for (size_t i = 1; i <= n && (!o->top || i <= o->top); i++)
		for (int slot = 0; slot < SLOTS - 10; slot++) {
			uint64_t low = slot ? (uint64_t)1 << slot : 0;
			const struct cell cells[] = {
				cell_number(low * unit_ns),
				cell_number(((uint64_t)2 << slot) * unit_ns),
				cell_number(at[i].count[slot]),
				cell_text(names_text(h->names, at[i].name)),
			};

			if (at[i].count[slot])
				table_row(&t, cells, o->by_name ? 4 : 3);
		}
	table_end(&t, NULL);
}

static void put_hists(FILE *out, struct hists *h)
{
	const struct options *o = h->options;
	struct hist other = { .name = 0 };
	size_t n;
	const struct hist *at = sorted(h, &n);

	for (size_t i = 1; i <= n; i++) {
		if (o->top && i > o->top) {
			for (int slot = 0; slot < SLOTS; slot++)
				other.count[slot] += at[i].count[slot];
			continue;
		}
		if (o->by_name)
			fprintf(out, "%sname = %s\n", i > 1 ? "\n" : "",
				names_text(h->names, at[i].name));
		put_hist(out, o, &at[i]);
	}
	if (o->top && o->top < n) {
		fputs("\nname = " CHAIN_OTHER "\n", out);
		put_hist(out, o, &other);
	}
}

static int write_hist(const struct format_input *in, FILE *out)
{
	struct hists h = { .in = in, .options = in->options };

	names_new(&h.names, in->timelines, in->options);
	format_each_wait(in, in->options, h.names, 0, count_wait, &h);
	if (in->options->json)
		put_objects(out, &h);
	else
		put_hists(out, &h);
	pair_table_free(&h.table);
	names_free(h.names);
	return 0;
}

const struct format format_hist = {
	.name = "hist",
	.summary = "log2 histogram of the waits' lengths",
	.wants_timelines = true,
	.several = SEVERAL_HEADED,
	.takes = GIVEN_OF_WAITS | GIVEN_REQUESTS | GIVEN_OF_TABLES,
	.write = write_hist,
};
