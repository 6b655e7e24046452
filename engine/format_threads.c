// SPDX-License-Identifier: GPL-2.0-or-later
/* A table of threads and where their time went, those that ran most first. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format.h"
#include "names.h"
#include "select.h"

struct row {
	struct thread_sums sums;
	uint64_t waits, longest_ns;
	uint32_t thread;
};

static int by_running(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->sums.running_ns != b->sums.running_ns)
		return a->sums.running_ns > b->sums.running_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static struct row row_of(const struct timelines *tl, struct selection *s, uint32_t thread)
{
	const struct thread *th = timelines_thread(tl, thread);
	struct row r = { .thread = thread };
	uint64_t from_ns, to_ns;
	struct shown shown;

	selection_window(s, &from_ns, &to_ns);
	r.sums = thread_sums(th, from_ns, to_ns);
	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		uint64_t len;

		if (w->kind != WAIT_SLEEP || !selection_wait(s, thread, w, &shown))
			continue;
		len = shown.off_to_ns - shown.blocked_from_ns;
		r.waits++;
		if (len > r.longest_ns)
			r.longest_ns = len;
	}
	return r;
}

/* Exact in either unit: microseconds come with three decimals. */
static void put_time(FILE *out, const struct options *o, uint64_t ns)
{
	if (o->unit == UNIT_NS)
		fprintf(out, " %13" PRIu64, ns);
	else
		fprintf(out, " %9" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

static void put_row(FILE *out, const struct options *o, const struct row *r)
{
	const struct thread_sums *s = &r->sums;

	put_time(out, o, s->running_ns);
	put_time(out, o, s->blocked_ns);
	put_time(out, o, s->runnable_ns);
	put_time(out, o, s->preempted_ns);
	put_time(out, o, s->unknown_ns);
	put_time(out, o, s->lifetime_ns);
	fprintf(out, " %9" PRIu64, r->waits);
	put_time(out, o, r->longest_ns);
}

static void add_row(struct row *total, const struct row *r)
{
	total->sums.running_ns += r->sums.running_ns;
	total->sums.blocked_ns += r->sums.blocked_ns;
	total->sums.runnable_ns += r->sums.runnable_ns;
	total->sums.preempted_ns += r->sums.preempted_ns;
	total->sums.unknown_ns += r->sums.unknown_ns;
	total->sums.lifetime_ns += r->sums.lifetime_ns;
	total->waits += r->waits;
	if (total->longest_ns < r->longest_ns)
		total->longest_ns = r->longest_ns;
}

static void put_table(FILE *out, const struct format_input *in, struct names *names,
		      struct row *rows, size_t n)
{
	const struct options *o = in->options;
	struct row total = { .thread = 0 };
	size_t top = o->top && o->top < n ? (size_t)o->top : n;

	fprintf(out, "%7s %7s %-16s %13s %13s %13s %13s %13s %13s %9s %13s\n", "TID", "PID", "NAME",
		"RUNNING", "BLOCKED", "RUNNABLE", "PREEMPTED", "UNKNOWN", "LIFETIME", "WAITS",
		"LONGEST");
	for (size_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(in->timelines, rows[i].thread);
		const char *name =
			names_text(names, names_thread(names, rows[i].thread, th->end_ns));

		add_row(&total, &rows[i]);
		if (i >= top)
			continue;
		fprintf(out, "%7" PRIu32 " ", th->tid);
		if (th->tgid)
			fprintf(out, "%7" PRIu32, th->tgid);
		else
			fprintf(out, "%7s", "?");
		fprintf(out, " %-16s", name);
		put_row(out, o, &rows[i]);
		putc('\n', out);
	}
	fprintf(out, "%7s %7s %-16s", "", "", "all of them");
	put_row(out, o, &total);
	fprintf(out, "\n(times in %s; %zu threads)\n", o->unit == UNIT_NS ? "ns" : "us", n);
}

static int write_threads(const struct format_input *in, FILE *out)
{
	const struct timelines *tl = in->timelines;
	uint32_t n_threads = timelines_threads(tl);
	struct names *names = names_new(tl, in->options);
	struct selection *s = names ? selection_new(tl, in->options, names) : NULL;
	struct row *rows = malloc(((size_t)n_threads + 1) * sizeof(*rows));
	size_t n = 0;
	int err = -ENOMEM;

	if (!s || !rows)
		goto out;
	for (uint32_t i = 0; i < n_threads; i++)
		if (selection_thread(s, timelines_thread(tl, i)) && selection_name(s, i))
			rows[n++] = row_of(tl, s, i);
	if (n)
		qsort(rows, n, sizeof(*rows), by_running);
	put_table(out, in, names, rows, n);
	err = 0;
out:
	free(rows);
	selection_free(s);
	names_free(names);
	return err;
}

const struct format format_threads = {
	.name = "threads",
	.summary = "a table of threads and where their time went",
	.wants_timelines = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_DEPTH | GIVEN_MODE | GIVEN_BLOCKED_STACKS | GIVEN_ANNOTATE |
		   GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_STACKS | GIVEN_VIEW | GIVEN_BY_NAME,
	.write = write_threads,
};
