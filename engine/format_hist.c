// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long waits were: log2 histograms as bcc's cpudist -O draws them, one of all or one for each
 * thread name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "grow.h"
#include "names.h"
#include "picks.h"

#define SLOTS 64     /* slot 0: 0 and 1; slot n: 2^n up to 2^(n+1) - 1 */
#define WIDE_SLOT 32 /* from here on numbers have more than ten digits */
#define STARS 40

struct hist {
	uint32_t name; /* text id; 0: of all */
	uint64_t total_ns;
	uint64_t count[SLOTS];
};

struct hists {
	const struct options *options;
	struct names *names;
	struct hist *at;
	size_t n, cap;
	uint32_t *of_name; /* 1 + index by text id; 0: none yet */
	size_t n_of_name;
};

/* The histogram that a name's waits go to; NULL: out of memory. */
static struct hist *hist_of(struct hists *h, uint32_t name)
{
	struct hist *p;

	if (name >= h->n_of_name) {
		size_t n = (size_t)name * 2 + 64;
		uint32_t *q = realloc(h->of_name, n * sizeof(*q));

		if (!q)
			return NULL;
		memset(q + h->n_of_name, 0, (n - h->n_of_name) * sizeof(*q));
		h->of_name = q;
		h->n_of_name = n;
	}
	if (h->of_name[name])
		return &h->at[h->of_name[name] - 1];
	p = grow_array(h->at, h->n, &h->cap, sizeof(*p));
	if (!p)
		return NULL;
	h->at = p;
	p[h->n] = (struct hist) { .name = name };
	h->of_name[name] = (uint32_t)++h->n;
	return &p[h->n - 1];
}

static int count_wait(void *arg, const struct pick *p)
{
	struct hists *h = arg;
	uint64_t ns = pick_ns(p);
	uint64_t length = h->options->unit == UNIT_NS ? ns : ns / 1000;
	uint32_t name = 0;
	struct hist *hist;
	unsigned int slot = 0;

	if (h->options->by_name) {
		name = names_thread(h->names, p->thread, p->wait->out_ns);
		if (!name)
			return -ENOMEM;
	}
	hist = hist_of(h, name);
	if (!hist)
		return -ENOMEM;
	while (length > 1) {
		length >>= 1;
		slot++;
	}
	hist->count[slot]++;
	hist->total_ns += ns;
	return 0;
}

/* bcc's columns: wider, with half the stars, where ten digits do not do. */
static void put_hist(FILE *out, const struct options *o, const struct hist *h)
{
	const char *unit = o->unit == UNIT_NS ? "nsecs" : "usecs";
	uint64_t most = 1;
	int last = 0, wide, stars;

	for (int i = 0; i < SLOTS; i++) {
		if (h->count[i])
			last = i;
		if (h->count[i] > most)
			most = h->count[i];
	}
	wide = last >= WIDE_SLOT ? 20 : 10;
	stars = last >= WIDE_SLOT ? STARS / 2 : STARS;
	fprintf(out, wide > 10 ? "%15s%-29s" : "%5s%-19s", "", unit);
	fputs(" : count     distribution\n", out);
	for (int i = 0; i <= last; i++) {
		uint64_t low = i ? (uint64_t)1 << i : 0, high = ((uint64_t)2 << i) - 1;
		int n = (int)((double)stars * (double)h->count[i] / (double)most);

		fprintf(out, "%*" PRIu64 " -> %-*" PRIu64 " : %-8" PRIu64 " |%.*s%*s|\n", wide, low,
			wide, high, h->count[i], n, "****************************************",
			stars - n, "");
	}
}

static int widest_first(const void *pa, const void *pb, void *names)
{
	const struct hist *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(names_text(names, a->name), names_text(names, b->name));
}

static void put_hists(FILE *out, struct hists *h)
{
	const struct options *o = h->options;

	if (h->n)
		qsort_r(h->at, h->n, sizeof(*h->at), widest_first, h->names);
	for (size_t i = 0; i < h->n && (!o->top || i < o->top); i++) {
		if (o->by_name)
			fprintf(out, "%sname = %s\n", i ? "\n" : "",
				names_text(h->names, h->at[i].name));
		put_hist(out, o, &h->at[i]);
	}
}

static int write_hist(const struct format_input *in, FILE *out)
{
	struct hists h = { .options = in->options, .names = names_new(in->timelines, in->options) };
	struct selection *s = h.names ? selection_new(in->timelines, in->options, h.names) : NULL;
	int err = s ? picks_walk(in->timelines, s, 0, count_wait, &h) : -ENOMEM;

	if (!err)
		put_hists(out, &h);
	free(h.at);
	free(h.of_name);
	selection_free(s);
	names_free(h.names);
	return err;
}

const struct format format_hist = {
	.name = "hist",
	.summary = "log2 histogram of the waits' lengths",
	.wants_timelines = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_DEPTH | GIVEN_MODE | GIVEN_BLOCKED_STACKS | GIVEN_ANNOTATE |
		   GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_STACKS | GIVEN_VIEW,
	.write = write_hist,
};
