// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report's data for its script. Where there are many figures they are flat arrays of fixed groups
 * instead of objects, in the order in which engine/report/page/data.js reads them. Times are ns.
 */
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "report.h"
#include "report_answer.h"
#include "report_chain.h"
#include "report_json.h"
#include "timeline/stolen_time.h"
#include "words/names.h"

/* Size limit of the waits, also beside requests: those that come last are left out. */
#define WAITS_BYTES 900000
#define WAITS_BYTES_BESIDE 600000

/* ---- the tables ------------------------------------------------------------------------------ */

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

	json_begin(&w->j, "steps", '[');
	for (uint32_t i = 0; i < s->n; i++) {
		struct thread_row part;

		step_window(s, i, &from, &to);
		part = rest ? rest_part(r, from, to)
			    : thread_part(r, r->rows[row].thread, from, to);
		if (rest || part.sums.blocked_ns != to - from)
			put_sums(w, i, &part);
	}
	json_end(&w->j, ']');
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
	char lane[REPORT_COLUMNS + 1] = "";

	for (uint64_t i = 0; i < REPORT_COLUMNS; i++)
		lane[i] = lane_char(th, begin + each * i + rest * i / REPORT_COLUMNS,
				    begin + each * (i + 1) + rest * (i + 1) / REPORT_COLUMNS);
	json_exact(&w->j, "lane", lane);
}

/* The cells of a table by (row * n_columns + column, step), row by row; each of n_values. */
struct cells {
	const char *key;
	const struct pair_table *table;
	uint32_t n_columns;
	size_t n_values;
	uint32_t *first; /* by row: the id of the first one; 0: it has none */
	uint32_t *next;	 /* by id: the next one of the row; 0: there is none */
};

enum { LENGTHS, WAKEUPS, ASLEEP, CELL_TABLES };

static void order_cells(struct cells *c, uint32_t n_rows)
{
	const struct pairs *keys = &c->table->keys;

	c->first = xcalloc((size_t)n_rows + 1, sizeof(*c->first));
	c->next = xcalloc((size_t)keys->n + 1, sizeof(*c->next));
	for (uint32_t id = keys->n; id; id--) {
		uint32_t row = keys->at[id].a / c->n_columns;

		c->next[id] = c->first[row];
		c->first[row] = id;
	}
}

static void put_cells(struct report_writer *w, const struct cells *c, uint32_t row)
{
	const uint64_t *values = c->table->at;

	json_begin(&w->j, c->key, '[');
	for (uint32_t id = c->first[row]; id; id = c->next[id]) {
		struct pair cell = c->table->keys.at[id];

		report_put(w, cell.b, cell.a % c->n_columns);
		report_put_numbers(w, values + id * c->n_values, c->n_values);
	}
	json_end(&w->j, ']');
}

static void put_row(struct report_writer *w, const struct cells *cells, uint32_t row)
{
	const struct report *r = w->r;
	const struct report_counts *c = &r->counts;

	json_on_line(&w->j, NULL, '{');
	json_signed(&w->j, "thread",
		    row < r->n_rows ? (int64_t)report_thread(w, r->rows[row].thread) : -1);
	put_steps(w, row);
	if (row < r->n_rows)
		put_lane(w, row);
	for (int i = 0; i < CELL_TABLES; i++)
		put_cells(w, &cells[i], row);
	json_begin(&w->j, "longest", '[');
	for (uint32_t i = 0; i < c->steps.n; i++) {
		uint64_t ns = c->longest_ns[(size_t)row * c->steps.n + i];

		if (ns)
			report_put(w, i, ns);
	}
	json_end(&w->j, ']');
	json_end(&w->j, '}');
}

static void put_rows(struct report_writer *w)
{
	const struct report_counts *c = &w->r->counts;
	struct cells cells[CELL_TABLES] = {
		[LENGTHS] = { "lengths", &c->lengths, REPORT_SLOTS, 1, NULL, NULL },
		[WAKEUPS] = { "wakeups", &c->wakeups, REPORT_WAKERS + 1,
			      sizeof(struct report_wakeups) / sizeof(uint64_t), NULL, NULL },
		[ASLEEP] = { "asleep", &c->asleep, REPORT_CLASSES, 1, NULL, NULL },
	};

	for (int i = 0; i < CELL_TABLES; i++)
		order_cells(&cells[i], c->n_rows);
	json_on_line(&w->j, "rows", '[');
	for (uint32_t row = 0; row <= w->r->n_rows; row++)
		put_row(w, cells, row);
	json_end(&w->j, ']');
	for (int i = 0; i < CELL_TABLES; i++) {
		free(cells[i].first);
		free(cells[i].next);
	}
}

static void put_threads(struct report_writer *w)
{
	const struct timelines *tl = w->r->in->timelines;

	json_on_line(&w->j, "threads", '[');
	for (uint32_t i = 1; i <= w->threads.n; i++) {
		uint32_t thread = w->threads.at[i].a;
		const struct thread *th = timelines_thread(tl, thread);
		/* Bounded: a hostile program can rename itself any number of times. */
		uint32_t renames = th->renames < 8 ? th->renames : 8;
		uint32_t group = timelines_group(tl, thread, th->end_ns);

		json_on_line(&w->j, NULL, '[');
		report_put(w, th->tid, th->tgid, report_thread_group(w->r, thread),
			   report_string(w, names_thread(w->r->names, thread, th->end_ns)));
		report_put(w, group ? report_string(w, names_group_path(w->r->names, group))
				    : REPORT_NONE);
		for (uint32_t k = 0; k <= renames && th->renames; k++) {
			const char *raw =
				trace_string(w->r->in->trace, timelines_nth_name(tl, thread, k));

			report_put(w, report_string(w, names_clean(w->r->names, raw)));
		}
		json_end(&w->j, ']');
	}
	json_end(&w->j, ']');
}

static void put_losses(struct report_writer *w)
{
	const struct report *r = w->r;
	uint64_t start = timelines_start_ns(r->in->timelines);

	json_begin(&w->j, "losses", '[');
	for (size_t i = 0; i < r->n_losses; i++) {
		const struct trace_loss *l = &r->losses[i];

		report_put(w, l->first_ns - start, l->last_ns - start,
			   l->cpu == EVENT_CPU_UNKNOWN ? REPORT_NONE : l->cpu, l->n);
	}
	json_end(&w->j, ']');
}

/* The tables that the waits and rows refer to by numbers. */
static void put_tables(struct report_writer *w)
{
	const struct report *r = w->r;
	const struct report_counts *c = &r->counts;

	json_begin(&w->j, "wakers", '[');
	for (uint32_t i = 0; i < c->n_wakers; i++)
		report_put(w, report_string(w, c->wakers[i]));
	json_end(&w->j, ']');
	json_begin(&w->j, "classes", '[');
	for (uint32_t i = 0; i < c->n_classes; i++)
		report_put(w, report_string(w, c->classes[i]));
	json_end(&w->j, ']');
	json_signed(&w->j, "otherWakers", c->other_wakers);
	json_begin(&w->j, "ends", '[');
	for (int i = 0; i < CHAIN_ENDS; i++)
		json_exact(&w->j, NULL, chain_end_name((enum chain_end)i));
	json_exact(&w->j, NULL, "[short sleeps]");
	json_end(&w->j, ']');
	put_losses(w);
	put_threads(w);
	json_on_line(&w->j, "strings", '[');
	for (uint32_t i = 1; i <= w->strings.n; i++) {
		w->j.on_line = true;
		json_exact(&w->j, NULL, names_text(r->names, w->strings.at[i].a));
	}
	json_end(&w->j, ']');
}

static void put_waits(struct report_writer *w)
{
	struct report *r = w->r;
	struct report_chain chain;
	size_t begin = w->j.b.len, most = r->requests ? WAITS_BYTES_BESIDE : WAITS_BYTES;

	report_chain_init(&chain, r->in->timelines, &r->cause_options, r->names);
	json_on_line(&w->j, "waits", '[');
	for (size_t i = 0; i < r->n_waits; i++) {
		if (w->j.b.len - begin + w->string_bytes > most)
			break;
		w->j.on_line = true;
		report_put_wait(w, NULL, &chain, &r->waits[i]);
		r->n_waits_written++;
	}
	json_end(&w->j, ']');
	report_chain_free(&chain);
}

/* By line of the table of causes its cells: row, step (of so many steps), and the figures. */
static void put_cause_cells(struct report_writer *w)
{
	const struct report_cause_counts *c = &w->r->cause_counts;
	const struct cause_cell *cells = c->cells.at;
	uint32_t n_rows = w->r->counts.n_rows;

	json_begin(&w->j, "causeCells", '[');
	for (uint32_t line = 0; line < w->r->n_causes + 2; line++) {
		json_on_line(&w->j, NULL, '[');
		for (uint32_t id = 1; id <= c->cells.keys.n; id++) {
			struct pair key = c->cells.keys.at[id];

			if (key.a / n_rows == line)
				report_put(w, key.a % n_rows, key.b, cells[id].ns, cells[id].waits,
					   cells[id].longest_ns);
		}
		json_end(&w->j, ']');
	}
	json_end(&w->j, ']');
}

/* For each row of the table of causes the wait that is its example; -1: it had no room. */
static void put_causes(struct report_writer *w)
{
	const struct report *r = w->r;

	json_begin(&w->j, "causes", '[');
	for (size_t i = 0; i < r->n_causes; i++) {
		size_t k = 0;

		while (k < r->n_waits_written &&
		       r->waits[k].chosen.wait != r->cause[i]->example.wait)
			k++;
		report_put(w, k < r->n_waits_written ? k : REPORT_NONE);
	}
	json_end(&w->j, ']');
	w->j.on_line = true;
	json_number(&w->j, "causeSteps", r->cause_counts.joined);
	put_cause_cells(w);
}

/* The path of the command, or of what was named, if the answer is about that. */
static void put_life(struct report_writer *w)
{
	const struct report *r = w->r;
	const struct subject *of = report_answer_life(r->answer);
	struct report_chain chain;

	if (!of)
		return;
	report_chain_init(&chain, r->in->timelines, &r->cause_options, r->names);
	w->j.on_line = true;
	report_put_life(w, "life", &chain, of->thread, of->from_ns, of->from_ns + of->took_ns,
			of->processes.n > 1);
	report_chain_free(&chain);
}

void report_json_write(struct report *r, FILE *out)
{
	const struct report_steps *s = &r->counts.steps;
	uint64_t start = timelines_start_ns(r->in->timelines);
	struct report_writer w = { .r = r, .j = { .in_page = true } };
	struct json_object *j = &w.j;

	r->n_waits_written = 0;
	json_begin(j, NULL, '{');
	json_number(j, "columns", REPORT_COLUMNS);
	json_number(j, "from", s->from_ns - start);
	json_number(j, "to", s->to_ns - start);
	json_number(j, "step", s->step_ns);
	json_number(j, "n", s->n);
	json_number(j, "cpus", trace_info(r->in->trace)->cpus);
	json_begin(j, "graphSteps", '[');
	report_put(&w, r->graph_steps[0], r->graph_steps[1]);
	json_end(j, ']');
	json_bool(j, "sampled", timelines_sampled(r->in->timelines));
	json_bool(j, "interrupts", timelines_interrupts(r->in->timelines));
	json_exact(j, "mode", r->in->options->mode == MODE_CLASSIC ? "classic" : "exact");
	put_rows(&w);
	put_waits(&w);
	put_causes(&w);
	report_put_requests(&w);
	put_life(&w);
	put_tables(&w);
	json_end(j, '}');
	text_puts(&j->b, "\n");
	json_flush(j, out);
	pairs_free(&w.strings);
	pairs_free(&w.threads);
	pair_table_free(&w.places);
	text_free(&j->b);
}
