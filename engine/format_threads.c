// SPDX-License-Identifier: GPL-2.0-or-later
/* A table of threads and where their time went, those that ran most first. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format.h"
#include "names.h"
#include "select.h"
#include "thread_rows.h"

/* Exact in either unit: microseconds come with three decimals. */
static void put_time(FILE *out, const struct options *o, uint64_t ns)
{
	if (o->unit == UNIT_NS)
		fprintf(out, " %13" PRIu64, ns);
	else
		fprintf(out, " %9" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

static void put_row(FILE *out, const struct options *o, const struct thread_row *r)
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

static void put_table(FILE *out, const struct format_input *in, struct names *names,
		      struct thread_row *rows, size_t n)
{
	const struct options *o = in->options;
	struct thread_row total = { .thread = 0 };
	size_t top = o->top && o->top < n ? (size_t)o->top : n;

	fprintf(out, "%7s %7s %-16s %13s %13s %13s %13s %13s %13s %9s %13s\n", "TID", "PID", "NAME",
		"RUNNING", "BLOCKED", "RUNNABLE", "PREEMPTED", "UNKNOWN", "LIFETIME", "WAITS",
		"LONGEST");
	for (size_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(in->timelines, rows[i].thread);
		const char *name =
			names_text(names, names_thread(names, rows[i].thread, th->end_ns));

		thread_row_add(&total, &rows[i]);
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
	struct names *names = names_new(tl, in->options);
	struct selection *s = names ? selection_new(tl, in->options, names) : NULL;
	struct thread_row *rows = NULL;
	size_t n = 0;
	int err = s ? thread_rows_new(&rows, &n, tl, s) : -ENOMEM;

	if (!err)
		put_table(out, in, names, rows, n);
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
