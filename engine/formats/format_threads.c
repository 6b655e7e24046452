// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=threads: a table of threads and where their time went, those that waited most first. */
#include "format_threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "format.h"
#include "select/wait_nature.h"
#include "row_sums.h"
#include "table.h"
#include "timeline/stolen_time.h"
#include "common/xalloc.h"

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
	r.interrupted_ns = stolen_time_of_thread(timelines_interrupts(tl), thread, from_ns, to_ns);
	r.stolen_ns = stolen_time_of_thread(timelines_steal(tl), thread, from_ns, to_ns);
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

void thread_rows_new(struct thread_row **rows, size_t *n, const struct timelines *tl,
		     struct wait_filter *s)
{
	uint32_t n_threads = timelines_threads(tl);

	*n = 0;
	*rows = xmalloc(((size_t)n_threads + 1) * sizeof(**rows));
	for (uint32_t i = 0; i < n_threads; i++)
		if (wait_filter_thread(s, i) && wait_filter_name(s, i))
			(*rows)[(*n)++] = row_of(tl, s, i);
	if (*n)
		qsort(*rows, *n, sizeof(**rows), by_running);
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
	for (int i = 0; i <= CLASS_COLUMNS; i++)
		total->class_ns[i] += r->class_ns[i];
	if (total->longest_ns < r->longest_ns)
		total->longest_ns = r->longest_ns;
}

/* ---- blocked time by class ------------------------------------------------------------------ */

/* The classes with most time, which have a column each. */
struct classes {
	uint32_t of[CLASS_COLUMNS]; /* string ids */
	size_t n;
};

static void choose_classes(struct classes *c, const struct sums *all)
{
	size_t n;
	const struct sum *of = sums_of(all, 0, &n);

	for (size_t i = 0; i < n && c->n < CLASS_COLUMNS; i++)
		if (of[i].text && of[i].amount)
			c->of[c->n++] = of[i].key;
}

static size_t column_of(const struct classes *c, uint32_t class)
{
	size_t k = 0;

	while (k < c->n && c->of[k] != class)
		k++;
	return k < c->n ? k : CLASS_COLUMNS;
}

/* Sums up the waits of the rows' threads, and chooses the columns. */
static void sum_classes(struct classes *c, struct names *names, struct wait_filter *f,
			struct thread_row *rows, size_t n)
{
	struct sums by_row = { .n = 0 }, all = { .n = 0 };
	const struct sum *sum;

	for (size_t i = 0; i < n; i++)
		wait_filter_sum_classes(f, rows[i].thread, (uint32_t)i, &by_row);
	sum = by_row.table.at;
	for (uint32_t i = 1; i <= by_row.table.keys.n; i++)
		sums_add(&all, 0, sum[i].key, sum[i].amount);
	sums_sort(&all, names, names_string);
	choose_classes(c, &all);
	for (uint32_t i = 1; i <= by_row.table.keys.n; i++)
		rows[sum[i].thing].class_ns[column_of(c, sum[i].key)] += sum[i].amount;
	sums_free(&by_row);
	sums_free(&all);
}

/* ---- who had the CPU ------------------------------------------------------------------------ */

/* Who had the CPU while threads were runnable or preempted: the last column. */
struct who_column {
	struct cpu_holders *ran; /* NULL: there is no such column */
	uint64_t from_ns, to_ns;
	struct sums one, total, other;
};

/* Sums up those of a thread in c->one. */
static void sum_who(struct who_column *c, const struct timelines *tl, uint32_t thread)
{
	const struct thread *th = timelines_thread(tl, thread);

	sums_clear(&c->one);
	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];

		if (w->kind != WAIT_UNKNOWN)
			cpu_holders_share(c->ran, thread, w,
					  clip_ns(w->wake_ns, c->from_ns, c->to_ns),
					  clip_ns(w->in_ns, c->from_ns, c->to_ns), cpu_holders_add,
					  &c->one);
	}
}

/* ---- writing -------------------------------------------------------------------------------- */

#define MAX_COLUMNS (12 + CLASS_COLUMNS + 1 + 4)

struct writer {
	const struct format_input *in;
	struct names *names;
	struct classes classes;
	bool has_classes;
	char *class_titles[CLASS_COLUMNS], *class_keys[CLASS_COLUMNS];
	struct who_column who;
	struct table table;
	struct column columns[MAX_COLUMNS];
};

static void add_column(struct writer *w, struct column c)
{
	w->columns[w->table.n++] = c;
}

/* The figures of a thread that every table has. */
static const struct column figures[] = {
	{ .title = "TID", .width = 7 },
	{ .title = "PID", .width = 7, .drop = 1 },
	{ .title = "NAME", .width = -16 },
	{ .title = "RUNNING", .width = 13 },
	{ .title = "BLOCKED", .width = 13, .drop = 2 },
	{ .title = "RUNNABLE", .width = 13 },
	{ .title = "PREEMPTED", .width = 13, .drop = 5 },
	{ .title = "UNKNOWN", .width = 13, .drop = 7 },
	{ .title = "LIFETIME", .width = 13, .drop = 9 },
	{ .title = "WAITS", .width = 9, .drop = 3 },
	{ .title = "LONGEST", .width = 13, .drop = 4 },
	{ .title = "WAITED", .width = 13 },
};

static void add_class_columns(struct writer *w)
{
	for (size_t i = 0; i < w->classes.n; i++) {
		uint32_t text = names_string(w->names, w->classes.of[i]);
		const char *class = names_text(w->names, text);

		w->class_titles[i] = xstrdup(class);
		w->class_keys[i] = xasprintf("blocked_for_%s_ns", class);
		add_column(w,
			   (struct column) { w->class_titles[i], 13, false, 6, w->class_keys[i] });
	}
	if (w->has_classes)
		add_column(w, (struct column) { "others", 13, false, 6, "blocked_for_others_ns" });
}

static void add_columns(struct writer *w)
{
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		add_column(w, figures[i]);
	add_class_columns(w);
	add_column(w,
		   (struct column) {
			   .title = "INTERRUPTS", .width = 13, .drop = 8, .key = "interrupts_ns" });
	if (timelines_steal(w->in->timelines))
		add_column(w,
			   (struct column) {
				   .title = "STEAL", .width = 13, .drop = 8, .key = "steal_ns" });
	if (timelines_grouped(w->in->timelines))
		add_column(w, (struct column) {
				      .title = "GROUP", .width = -24, .apart = true, .drop = 6 });
	if (w->who.ran)
		add_column(w, (struct column) { .title = "HAD THE CPU MEANWHILE",
						.apart = true,
						.key = "had_cpu" });
}

/* group: where a thread is in the end. one: the row of a thread. Of several, time that depends on
 * how many there are means nothing. */
static void put_row(struct writer *w, struct cell tid, struct cell pid, const char *name,
		    struct cell group, const struct thread_row *r, bool one, struct sums *who)
{
	const struct timelines *tl = w->in->timelines;
	const struct thread_sums *s = &r->sums;
	struct cell none = cell_none("-"), cells[MAX_COLUMNS] = {
		tid,
		pid,
		cell_text(name),
		cell_time(s->running_ns),
		one ? cell_time(s->blocked_ns) : none,
		cell_time(s->runnable_ns),
		cell_time(s->preempted_ns),
		one ? cell_time(s->unknown_ns) : none,
		one ? cell_time(s->lifetime_ns) : none,
		cell_number(r->waits),
		cell_time(r->longest_ns),
		cell_time(r->waited_ns),
	};
	size_t n = 12;

	for (size_t i = 0; i < w->classes.n; i++)
		cells[n++] = cell_time(r->class_ns[i]);
	if (w->has_classes)
		cells[n++] = cell_time(r->class_ns[CLASS_COLUMNS]);
	cells[n++] = timelines_interrupts(tl) ? cell_time(r->interrupted_ns) : none;
	if (timelines_steal(tl))
		cells[n++] = cell_time(r->stolen_ns);
	if (timelines_grouped(tl))
		cells[n++] = group;
	if (w->who.ran) {
		sums_sort(who, w->names, cpu_holder_name);
		cells[n++] = cell_shares(who, 0, w->names);
	}
	(one ? table_row : table_sum_row)(&w->table, cells, n);
}

/* What WAITED adds up; to be freed. */
static char *chosen_text(const struct options *o)
{
	struct text_buf b = { 0 };
	const char *separator = "WAITED: ";

	for (const struct options_part_word *w = options_part_words; w->word; w++) {
		if (!(o->parts & w->part) || w->part == PART_RUNNING)
			continue;
		text_puts(&b, separator);
		text_puts(&b, w->word);
		separator = ", ";
	}
	text_puts(&b, *o->states ? " in state " : "");
	text_puts(&b, o->states);
	text_puts(&b, o->no_idle ? ", without idle waits" : "");
	text_puts(&b, o->given & (GIVEN_WITHIN | GIVEN_WAIT) ? ", only the waits chosen" : "");
	return b.p;
}

static void put_table(struct writer *w, const struct thread_row *rows, size_t n)
{
	const struct timelines *tl = w->in->timelines;
	const struct options *o = w->in->options;
	struct thread_row total = { .thread = 0 }, other = { .thread = 0 };
	struct cell empty = cell_text("");
	size_t top = table_top(w->in, n, 3);
	char *chosen = chosen_text(o);

	for (size_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(tl, rows[i].thread);
		uint32_t name = names_thread(w->names, rows[i].thread, th->end_ns);
		uint32_t group = timelines_group(tl, rows[i].thread, th->end_ns);
		struct cell in_group = cell_none("?");

		thread_row_add(&total, &rows[i]);
		if (w->who.ran) {
			sum_who(&w->who, tl, rows[i].thread);
			sums_add_all(&w->who.total, &w->who.one);
			if (i >= top)
				sums_add_all(&w->who.other, &w->who.one);
		}
		if (group && i < top)
			in_group =
				cell_text(names_text(w->names, names_group_path(w->names, group)));
		if (i < top)
			put_row(w, cell_number(th->tid),
				th->tgid ? cell_number(th->tgid) : cell_none("?"),
				names_text(w->names, name), in_group, &rows[i], true, &w->who.one);
		else
			thread_row_add(&other, &rows[i]);
	}
	if (top < n)
		put_row(w, empty, empty, CHAIN_OTHER, empty, &other, false, &w->who.other);
	put_row(w, empty, empty, "all of them", empty, &total, false, &w->who.total);
	table_end(&w->table, "times in %s; %zu threads; %s%s", format_time_unit(o), n, chosen,
		  w->has_classes ? "; by class: blocked" : "");
	free(chosen);
}

static int write_threads(const struct format_input *in, FILE *out)
{
	const struct timelines *tl = in->timelines;
	struct writer w = { .in = in, .has_classes = wait_classes_known(tl) };
	struct wait_filter *s = NULL;
	struct who_column *who = &w.who;
	struct thread_row *rows = NULL;
	size_t n = 0;

	names_new(&w.names, tl, in->options);
	wait_filter_new(&s, tl, in->options, w.names);
	thread_rows_new(&rows, &n, tl, s);
	w.table = (struct table) { .out = out, .in = in, .columns = w.columns };
	if (n)
		qsort(rows, n, sizeof(*rows), by_waited);
	wait_filter_window(s, &who->from_ns, &who->to_ns);
	cpu_holders_new(&who->ran, tl, true);
	if (w.has_classes)
		sum_classes(&w.classes, w.names, s, rows, n);
	add_columns(&w);
	put_table(&w, rows, n);
	sums_free(&who->one);
	sums_free(&who->total);
	sums_free(&who->other);
	cpu_holders_free(who->ran);
	for (size_t i = 0; i < CLASS_COLUMNS; i++) {
		free(w.class_titles[i]);
		free(w.class_keys[i]);
	}
	free(rows);
	wait_filter_free(s);
	names_free(w.names);
	return 0;
}

const struct format format_threads = {
	.name = "threads",
	.summary = "a table of threads and where their time went",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_HEADED,
	.takes = GIVEN_OF_WAITS | GIVEN_OF_TABLES,
	.write = write_threads,
};
