// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report's data for its script. Where there are many figures they are flat arrays of fixed groups
 * instead of objects, in the order in which engine/report/page/data.js reads them. Times are ns.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report.h"
#include "report_chain.h"
#include "report_json.h"
#include "timeline/stolen_time.h"
#include "words/names.h"

/* Size limit of the waits, also beside requests: those that come last are left out. */
#define WAITS_BYTES 900000
#define WAITS_BYTES_BESIDE 600000

/* ---- the tables ------------------------------------------------------------------------------ */

/* Writes a JSON string with each `<` escaped, which would end the element of the page. */
static void put_string(struct report_writer *w, const char *s)
{
	const char *p, *q;

	w->buf.len = 0;
	json_string(&w->buf, s);
	if (w->buf.failed) {
		w->out_of_memory = true;
		return;
	}
	for (p = w->buf.p; (q = memchr(p, '<', w->buf.len - (size_t)(p - w->buf.p))); p = q + 1) {
		fwrite(p, 1, (size_t)(q - p), w->out);
		fputs("\\u003c", w->out);
	}
	fwrite(p, 1, w->buf.len - (size_t)(p - w->buf.p), w->out);
}

static void put_sums(struct report_writer *w, uint32_t step, const struct thread_row *row)
{
	const struct thread_sums *s = &row->sums;

	report_put(w, step, s->running_ns, s->blocked_ns, s->runnable_ns, s->preempted_ns,
		   s->unknown_ns, row->interrupted_ns);
}

static void step_window(const struct report_steps *s, uint32_t i, uint64_t *from, uint64_t *to)
{
	*from = s->from_ns + i * s->step_ns;
	*to = i + 1 < s->n ? *from + s->step_ns : s->to_ns;
}

static struct thread_row thread_part(const struct report *r, uint32_t thread, uint64_t from,
				     uint64_t to)
{
	const struct timelines *tl = r->in->timelines;
	const struct stolen_time *interrupts = timelines_interrupts(tl);

	return (struct thread_row) {
		.sums = thread_sums(timelines_thread(tl, thread), from, to),
		.interrupted_ns = stolen_time_of_thread(interrupts, thread, from, to),
	};
}

static struct thread_row rest_part(const struct report *r, uint64_t from, uint64_t to)
{
	struct thread_row total = { 0 };

	for (size_t i = r->n_rows; i < r->n_threads; i++) {
		struct thread_row one = thread_part(r, r->rows[i].thread, from, to);

		thread_row_add(&total, &one);
	}
	return total;
}

/* Leaves out steps in which the thread slept throughout. */
static void put_steps(struct report_writer *w, uint32_t row)
{
	const struct report *r = w->r;
	const struct report_steps *s = &r->counts.steps;
	bool rest = row == r->n_rows;
	uint64_t from, to;

	report_begin_list(w, "steps");
	for (uint32_t i = 0; i < s->n; i++) {
		struct thread_row part;

		step_window(s, i, &from, &to);
		part = rest ? rest_part(r, from, to)
			    : thread_part(r, r->rows[row].thread, from, to);
		if (rest || part.sums.blocked_ns != to - from)
			put_sums(w, i, &part);
	}
	putc(']', w->out);
}

/* Sevenths of a column, rounded; something is at least one. */
static unsigned int sevenths(uint64_t ns, uint64_t of)
{
	unsigned int n = (unsigned int)(7.0 * (double)ns / (double)of + 0.5);

	return n > 7 ? 7 : n || !ns ? n : 1;
}

/*
 * What the thread did in each column of its lane, a character: 8 times the sevenths that it ran
 * plus those that it was runnable or preempted, in the alphabet of lanes.js; '?': mostly unknown;
 * '.': it did not exist.
 */
static char lane_char(const struct thread *th, uint64_t from, uint64_t to)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
	struct thread_sums s;

	if (to <= from || th->end_ns <= from || th->begin_ns >= to)
		return '.';
	s = thread_sums(th, from, to);
	if (s.unknown_ns > (to - from) / 2)
		return '?';
	return digits[8 * sevenths(s.running_ns, to - from) +
		      sevenths(s.runnable_ns + s.preempted_ns, to - from)];
}

static void put_lane(struct report_writer *w, uint32_t row)
{
	const struct report *r = w->r;
	const struct thread *th = timelines_thread(r->in->timelines, r->rows[row].thread);
	uint64_t begin = r->counts.steps.from_ns, ns = r->counts.steps.to_ns - begin;
	uint64_t each = ns / REPORT_COLUMNS, rest = ns % REPORT_COLUMNS;

	fputs(",\"lane\":\"", w->out);
	for (uint64_t i = 0; i < REPORT_COLUMNS; i++)
		putc(lane_char(th, begin + each * i + rest * i / REPORT_COLUMNS,
			       begin + each * (i + 1) + rest * (i + 1) / REPORT_COLUMNS),
		     w->out);
	putc('"', w->out);
}

/* The row's cells of a table by (row * n_columns + column, step), each of n_values. */
static void put_cells(struct report_writer *w, const char *key, const struct pair_table *t,
		      uint32_t row, uint32_t n_columns, size_t n_values)
{
	const uint64_t *values = t->at;

	report_begin_list(w, key);
	for (uint32_t id = 1; id <= t->keys.n; id++) {
		struct pair cell = t->keys.at[id];

		if (cell.a / n_columns != row)
			continue;
		report_put(w, cell.b, cell.a % n_columns);
		report_put_numbers(w, values + id * n_values, n_values);
	}
	report_end_list(w);
}

static void put_row(struct report_writer *w, uint32_t row)
{
	const struct report *r = w->r;
	const struct report_counts *c = &r->counts;

	fprintf(w->out, "%s{\"thread\":%" PRId64, row ? ",\n" : "",
		row < r->n_rows ? (int64_t)report_thread(w, r->rows[row].thread) : -1);
	put_steps(w, row);
	if (row < r->n_rows)
		put_lane(w, row);
	put_cells(w, "lengths", &c->lengths, row, REPORT_SLOTS, 1);
	put_cells(w, "wakeups", &c->wakeups, row, REPORT_WAKERS + 1,
		  sizeof(struct report_wakeups) / sizeof(uint64_t));
	put_cells(w, "asleep", &c->asleep, row, REPORT_CLASSES, 1);
	report_begin_list(w, "longest");
	for (uint32_t i = 0; i < c->steps.n; i++) {
		uint64_t ns = c->longest_ns[(size_t)row * c->steps.n + i];

		if (ns)
			report_put(w, i, ns);
	}
	report_end_list(w);
	putc('}', w->out);
}

static void put_threads(struct report_writer *w)
{
	const struct timelines *tl = w->r->in->timelines;

	fputs(",\n\"threads\":[", w->out);
	for (uint32_t i = 1; i <= w->threads.n; i++) {
		uint32_t thread = w->threads.at[i].a;
		const struct thread *th = timelines_thread(tl, thread);
		/* Bounded: a hostile program can rename itself any number of times. */
		uint32_t renames = th->renames < 8 ? th->renames : 8;
		uint32_t group = timelines_group(tl, thread, th->end_ns);

		fprintf(w->out, "%s[%" PRIu32 ",%" PRIu32 ",%d,%" PRIu32, i > 1 ? ",\n" : "",
			th->tid, th->tgid, (int)report_thread_group(w->r, thread),
			report_string(w, names_thread(w->r->names, thread, th->end_ns)));
		if (group)
			fprintf(w->out, ",%" PRIu32,
				report_string(w, names_group_path(w->r->names, group)));
		else
			fputs(",-1", w->out);
		for (uint32_t k = 0; k <= renames && th->renames; k++) {
			const char *raw =
				trace_string(w->r->in->trace, timelines_nth_name(tl, thread, k));

			fprintf(w->out, ",%" PRIu32,
				report_string(w, names_clean(w->r->names, raw)));
		}
		putc(']', w->out);
	}
	putc(']', w->out);
}

static void put_losses(struct report_writer *w)
{
	const struct report *r = w->r;
	uint64_t start = timelines_start_ns(r->in->timelines);

	report_begin_list(w, "losses");
	for (size_t i = 0; i < r->n_losses; i++) {
		const struct trace_loss *l = &r->losses[i];

		report_put(w, l->first_ns - start, l->last_ns - start,
			   l->cpu == EVENT_CPU_UNKNOWN ? REPORT_NONE : l->cpu, l->n);
	}
	putc(']', w->out);
}

/* The tables that the waits and rows refer to by numbers. */
static void put_tables(struct report_writer *w)
{
	const struct report *r = w->r;
	const struct report_counts *c = &r->counts;

	report_begin_list(w, "wakers");
	for (uint32_t i = 0; i < c->n_wakers; i++)
		report_put(w, report_string(w, c->wakers[i]));
	putc(']', w->out);
	report_begin_list(w, "classes");
	for (uint32_t i = 0; i < c->n_classes; i++)
		report_put(w, report_string(w, c->classes[i]));
	fprintf(w->out, "],\"otherWakers\":%d,\"ends\":[", c->other_wakers);
	for (int i = 0; i < CHAIN_ENDS; i++)
		fprintf(w->out, "\"%s\",", chain_end_name((enum chain_end)i));
	fputs("\"[short sleeps]\"]", w->out);
	put_losses(w);
	put_threads(w);
	fputs(",\n\"strings\":[", w->out);
	for (uint32_t i = 1; i <= w->strings.n; i++) {
		if (i > 1)
			fputs(",\n", w->out);
		put_string(w, names_text(r->names, w->strings.at[i].a));
	}
	putc(']', w->out);
}

static int put_waits(struct report_writer *w)
{
	struct report *r = w->r;
	struct report_chain chain;
	long begin = ftell(w->out), most = r->requests ? WAITS_BYTES_BESIDE : WAITS_BYTES;
	int err = report_chain_init(&chain, r->in->timelines, &r->cause_options, r->names);

	fputs("],\n\"waits\":[", w->out);
	for (size_t i = 0; i < r->n_waits && !err; i++) {
		if (ftell(w->out) - begin + (long)w->string_bytes > most)
			break;
		if (i)
			fputs(",\n", w->out);
		report_put_wait(w, &chain, &r->waits[i]);
		r->n_waits_written++;
		if (chain.out_of_memory || w->out_of_memory)
			err = -ENOMEM;
	}
	putc(']', w->out);
	report_chain_free(&chain);
	return err;
}

/* By line of the table of causes its cells: row, step (of so many steps), and the figures. */
static void put_cause_cells(struct report_writer *w)
{
	const struct report_cause_counts *c = w->r->cause_counts;
	const struct report_cause_cell *cells = c->cells.at;
	uint32_t n_rows = w->r->counts.n_rows;

	fputs(",\"causeCells\":[", w->out);
	for (uint32_t line = 0; line < w->r->n_causes + 2; line++) {
		fputs(line ? ",\n[" : "[", w->out);
		w->n_listed = 0;
		for (uint32_t id = 1; id <= c->cells.keys.n; id++) {
			struct pair key = c->cells.keys.at[id];

			if (key.a / n_rows == line)
				report_put(w, key.a % n_rows, key.b, cells[id].ns, cells[id].waits,
					   cells[id].longest_ns);
		}
		putc(']', w->out);
	}
	putc(']', w->out);
}

/* For each row of the table of causes the wait that is its example; -1: it had no room. */
static void put_causes(struct report_writer *w)
{
	const struct report *r = w->r;

	report_begin_list(w, "causes");
	for (size_t i = 0; i < r->n_causes; i++) {
		size_t k = 0;

		while (k < r->n_waits_written &&
		       r->waits[k].chosen.wait != r->cause[i]->example.wait)
			k++;
		report_put(w, k < r->n_waits_written ? k : REPORT_NONE);
	}
	putc(']', w->out);
	fprintf(w->out, ",\n\"causeSteps\":%" PRIu32, r->cause_counts->joined);
	put_cause_cells(w);
}

int report_json_write(struct report *r, FILE *out)
{
	const struct report_steps *s = &r->counts.steps;
	uint64_t start = timelines_start_ns(r->in->timelines);
	struct report_writer w = { .r = r, .out = out };
	int err;

	r->n_waits_written = 0;
	fprintf(out,
		"{\"columns\":%d,\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"step\":%" PRIu64
		",\"n\":%" PRIu32 ",\"cpus\":%" PRIu32 ",\"graphSteps\":[%" PRIu32 ",%" PRIu32
		"],\"sampled\":%s,\"interrupts\":%s,\"mode\":\"%s\",\n\"rows\":[",
		REPORT_COLUMNS, s->from_ns - start, s->to_ns - start, s->step_ns, s->n,
		trace_info(r->in->trace)->cpus, r->graph_steps[0], r->graph_steps[1],
		timelines_sampled(r->in->timelines) ? "true" : "false",
		timelines_interrupts(r->in->timelines) ? "true" : "false",
		r->in->options->mode == MODE_CLASSIC ? "classic" : "exact");
	for (uint32_t row = 0; row <= r->n_rows; row++)
		put_row(&w, row);
	err = put_waits(&w);
	put_causes(&w);
	if (!err)
		err = report_put_requests(&w);
	put_tables(&w);
	fputs("}\n", out);
	if (!err && w.out_of_memory)
		err = -ENOMEM;
	pairs_free(&w.strings);
	pairs_free(&w.threads);
	pair_table_free(&w.places);
	text_free(&w.buf);
	return err;
}
