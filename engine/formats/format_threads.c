// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=threads: a table of threads and where their time went, those that waited most first. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/compare.h"
#include "format.h"
#include "words/names.h"
#include "select/top_waits.h"
#include "class_columns.h"
#include "timeline/taken.h"
#include "format_threads.h"

static int by_running(const void *pa, const void *pb)
{
	const struct thread_row *a = pa, *b = pb;

	if (a->sums.running_ns != b->sums.running_ns)
		return compare_numbers(b->sums.running_ns, a->sums.running_ns);
	return compare_numbers(a->thread, b->thread);
}

static int by_waited(const void *pa, const void *pb)
{
	const struct thread_row *a = pa, *b = pb;

	if (a->waited_ns != b->waited_ns)
		return compare_numbers(b->waited_ns, a->waited_ns);
	return by_running(pa, pb);
}

static struct thread_row row_of(const struct timelines *tl, struct wait_filter *s, uint32_t thread)
{
	const struct thread *th = timelines_thread(tl, thread);
	struct thread_row r = { .thread = thread };
	uint64_t from_ns, to_ns;

	wait_filter_window(s, &from_ns, &to_ns);
	r.sums = thread_sums(th, from_ns, to_ns);
	r.interrupted_ns = taken_of_thread(timelines_interrupts(tl), thread, from_ns, to_ns);
	r.stolen_ns = taken_of_thread(timelines_steal(tl), thread, from_ns, to_ns);
	for (uint32_t i = 0; i < th->n_waits; i++) {
		struct chosen_wait chosen = { .wait = &th->waits[i], .thread = thread };
		uint64_t len;

		if (!wait_filter_wait(s, thread, chosen.wait, &chosen.shown))
			continue;
		len = chosen_wait_ns(&chosen);
		r.waited_ns += len;
		if (chosen.wait->kind != WAIT_SLEEP)
			continue;
		r.waits++;
		if (len > r.longest_ns)
			r.longest_ns = len;
	}
	return r;
}

int thread_rows_new(struct thread_row **rows, size_t *n, const struct timelines *tl,
		    struct wait_filter *s)
{
	uint32_t n_threads = timelines_threads(tl);

	*n = 0;
	*rows = malloc(((size_t)n_threads + 1) * sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_threads; i++)
		if (wait_filter_thread(s, i) && wait_filter_name(s, i))
			(*rows)[(*n)++] = row_of(tl, s, i);
	if (*n)
		qsort(*rows, *n, sizeof(**rows), by_running);
	return 0;
}

void thread_row_add(struct thread_row *total, const struct thread_row *r)
{
	total->sums.running_ns += r->sums.running_ns;
	total->sums.blocked_ns += r->sums.blocked_ns;
	total->sums.runnable_ns += r->sums.runnable_ns;
	total->sums.preempted_ns += r->sums.preempted_ns;
	total->sums.unknown_ns += r->sums.unknown_ns;
	total->sums.lifetime_ns += r->sums.lifetime_ns;
	total->waited_ns += r->waited_ns;
	total->waits += r->waits;
	total->interrupted_ns += r->interrupted_ns;
	total->stolen_ns += r->stolen_ns;
	if (total->longest_ns < r->longest_ns)
		total->longest_ns = r->longest_ns;
}

/* Time that depends on how many threads there are: of several it means nothing. */
static void put_time_of_one(FILE *out, const struct options *o, bool one, uint64_t ns)
{
	if (one)
		format_put_time(out, o, 13, ns);
	else
		fprintf(out, " %13s", "-");
}

/* one: the row of a thread, not of several. */
static void put_row(FILE *out, const struct options *o, const struct thread_row *r, bool one)
{
	const struct thread_sums *s = &r->sums;

	format_put_time(out, o, 13, s->running_ns);
	put_time_of_one(out, o, one, s->blocked_ns);
	format_put_time(out, o, 13, s->runnable_ns);
	format_put_time(out, o, 13, s->preempted_ns);
	put_time_of_one(out, o, one, s->unknown_ns);
	put_time_of_one(out, o, one, s->lifetime_ns);
	fprintf(out, " %9" PRIu64, r->waits);
	format_put_time(out, o, 13, r->longest_ns);
	format_put_time(out, o, 13, r->waited_ns);
}

/*
 * How much of RUNNING went to interrupts, and if it took any to a hypervisor: after the columns by
 * class.
 */
static void put_taken(FILE *out, const struct format_input *in, const struct thread_row *r)
{
	if (timelines_interrupts(in->timelines))
		format_put_time(out, in->options, 13, r->interrupted_ns);
	else
		fprintf(out, " %13s", "-");
	if (timelines_steal(in->timelines))
		format_put_time(out, in->options, 13, r->stolen_ns);
}

/* What WAITED adds up. */
static void put_chosen(FILE *out, const struct options *o)
{
	const char *separator = "";

	fputs("WAITED: ", out);
	for (const struct options_part_word *w = options_part_words; w->word; w++) {
		if (!(o->parts & w->part) || w->part == PART_RUNNING)
			continue;
		fprintf(out, "%s%s", separator, w->word);
		separator = ", ";
	}
	if (*o->states)
		fprintf(out, " in state %s", o->states);
	if (o->no_idle)
		fputs(", without idle waits", out);
	if (o->given & (GIVEN_WITHIN | GIVEN_WAIT))
		fputs(", only the waits chosen", out);
}

/* Who had the CPU while threads were runnable or preempted: the last column. */
struct who_column {
	struct who_ran *ran; /* NULL: there is no such column */
	uint64_t from_ns, to_ns;
	struct sums one, total, other;
};

#define WHO_SHOWN 3

/* Sums up those of a thread in c->one. */
static void sum_who(struct who_column *c, const struct timelines *tl, uint32_t thread)
{
	const struct thread *th = timelines_thread(tl, thread);

	sums_clear(&c->one);
	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];

		if (w->kind != WAIT_UNKNOWN)
			who_ran_share(c->ran, thread, w, clip_ns(w->wake_ns, c->from_ns, c->to_ns),
				      clip_ns(w->in_ns, c->from_ns, c->to_ns), who_ran_add,
				      &c->one);
	}
}

static void put_who(FILE *out, struct who_column *c, struct sums *s, struct names *names)
{
	if (!c->ran)
		return;
	sums_sort(s, names, who_name);
	if (!sums_write(s, names, 0, WHO_SHOWN, "  ", "[unknown]", out))
		fputs("  -", out);
}

static void put_table(FILE *out, const struct format_input *in, struct names *names,
		      struct who_column *who, const struct class_columns *classes,
		      const struct thread_row *rows, size_t n)
{
	const struct options *o = in->options;
	struct thread_row total = { .thread = 0 }, other = { .thread = 0 };
	size_t top = o->top && o->top < n ? (size_t)o->top : n;

	fprintf(out, "%7s %7s %-16s %13s %13s %13s %13s %13s %13s %9s %13s %13s", "TID", "PID",
		"NAME", "RUNNING", "BLOCKED", "RUNNABLE", "PREEMPTED", "UNKNOWN", "LIFETIME",
		"WAITS", "LONGEST", "WAITED");
	class_columns_head(classes, out);
	fprintf(out, " %13s", "INTERRUPTS");
	if (timelines_steal(in->timelines))
		fprintf(out, " %13s", "STEAL");
	fputs(who->ran ? "  HAD THE CPU MEANWHILE\n" : "\n", out);
	for (size_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(in->timelines, rows[i].thread);
		const char *name =
			names_text(names, names_thread(names, rows[i].thread, th->end_ns));

		thread_row_add(&total, &rows[i]);
		if (who->ran) {
			sum_who(who, in->timelines, rows[i].thread);
			sums_add_all(&who->total, &who->one);
			if (i >= top)
				sums_add_all(&who->other, &who->one);
		}
		if (i >= top) {
			thread_row_add(&other, &rows[i]);
			continue;
		}
		fprintf(out, "%7" PRIu32 " ", th->tid);
		if (th->tgid)
			fprintf(out, "%7" PRIu32, th->tgid);
		else
			fprintf(out, "%7s", "?");
		fprintf(out, " %-16s", name);
		put_row(out, o, &rows[i], true);
		class_columns_put(classes, o, i, 1, out);
		put_taken(out, in, &rows[i]);
		put_who(out, who, &who->one, names);
		putc('\n', out);
	}
	if (top < n) {
		fprintf(out, "%7s %7s %-16s", "", "", CHAIN_OTHER);
		put_row(out, o, &other, false);
		class_columns_put(classes, o, top, n - top, out);
		put_taken(out, in, &other);
		put_who(out, who, &who->other, names);
		putc('\n', out);
	}
	fprintf(out, "%7s %7s %-16s", "", "", "all of them");
	put_row(out, o, &total, false);
	class_columns_put(classes, o, 0, n, out);
	put_taken(out, in, &total);
	put_who(out, who, &who->total, names);
	fprintf(out, "\n(times in %s; %zu threads; ", format_time_unit(o), n);
	put_chosen(out, o);
	if (classes->shown)
		fputs("; by class: blocked", out);
	fputs(")\n", out);
}

static int write_threads(const struct format_input *in, FILE *out)
{
	const struct timelines *tl = in->timelines;
	struct names *names = names_new(tl, in->options);
	struct wait_filter *s = names ? wait_filter_new(tl, in->options, names) : NULL;
	struct thread_row *rows = NULL;
	struct who_column who = { .ran = NULL };
	struct class_columns classes = { .n = 0 };
	uint32_t *threads;
	size_t n = 0;
	int err = s ? thread_rows_new(&rows, &n, tl, s) : -ENOMEM;

	if (n)
		qsort(rows, n, sizeof(*rows), by_waited);
	if (!err) {
		wait_filter_window(s, &who.from_ns, &who.to_ns);
		err = who_ran_new(&who.ran, tl, true);
	}
	threads = calloc(n + 1, sizeof(*threads));
	for (size_t i = 0; threads && i < n; i++)
		threads[i] = rows[i].thread;
	if (!err)
		err = threads ? class_columns_init(&classes, tl, names, s, threads, n) : -ENOMEM;
	if (!err)
		put_table(out, in, names, &who, &classes, rows, n);
	if (who.one.out_of_memory || who.total.out_of_memory || who.other.out_of_memory)
		err = -ENOMEM;
	class_columns_free(&classes);
	sums_free(&who.one);
	sums_free(&who.total);
	sums_free(&who.other);
	who_ran_free(who.ran);
	free(threads);
	free(rows);
	wait_filter_free(s);
	names_free(names);
	return err;
}

const struct format format_threads = {
	.name = "threads",
	.summary = "a table of threads and where their time went",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_OF_CHAINS | GIVEN_BY_NAME,
	.write = write_threads,
};
