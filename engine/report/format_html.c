// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=html: a report for people without a terminal, one page that loads nothing else. The
 * summary and the table of threads are plain HTML. The scripts in engine/report/page/ draw the
 * waits and tables from report_json.c's data; the graph is the renderer's. The page's content
 * security policy allows only these scripts and styles, by their hashes, and no connections.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/cpu_holders.h"
#include "base/cpus.h"
#include "flamegraph.h"
#include "fold/folded.h"
#include "fold/process_lines.h"
#include "report.h"
#include "report_answer.h"
#include "report_requests.h"
#include "common/xalloc.h"

#define GRAPH_FRAMES 20000
/* Slices of time that a graph tells apart, at most; fewer for long traces. */
#define GRAPH_SLICES REPORT_SLICES
#define SLICES_WAITS 50000000u
/* So many waits are explained one by one: that costs little, and what each has is known. */
#define FEW_WAITS 20000u
/* What the slices add to a graph: bytes, at most. */
#define SLICES_BYTES 300000

/* ---- data ----------------------------------------------------------------------------------- */

/* Groups the rows, each group in the order in which they were. */
static void group_rows(struct report *r)
{
	struct thread_row *rows = xmalloc((r->n_threads + 1) * sizeof(*rows));
	size_t n = 0;

	for (enum report_group g = 0; g < REPORT_GROUPS; g++)
		for (size_t i = 0; i < r->n_threads; i++)
			if (report_thread_group(r, r->rows[i].thread) == g)
				rows[n++] = r->rows[i];
	free(r->rows);
	r->rows = rows;
}

static void make_rows(struct report *r)
{
	uint32_t n_threads = timelines_threads(r->in->timelines);

	thread_rows_new(&r->rows, &r->n_threads, r->in->timelines, r->filter);
	group_rows(r);
	r->n_rows = r->n_threads < REPORT_ROWS ? (uint32_t)r->n_threads : REPORT_ROWS;
	r->row_of = xmalloc(((size_t)n_threads + 1) * sizeof(*r->row_of));
	for (uint32_t i = 0; i < n_threads; i++)
		r->row_of[i] = r->n_rows;
	for (uint32_t i = 0; i < r->n_rows; i++)
		r->row_of[r->rows[i].thread] = i;
	for (size_t i = r->n_rows; i < r->n_threads; i++)
		thread_row_add(&r->rest, &r->rows[i]);
}

/* How many there are, of all threads, chosen or not. */
static uint64_t waits_of(const struct timelines *tl)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		n += timelines_thread(tl, i)->n_waits;
	return n;
}

/* Chooses the causes with most time. */
static void make_causes(struct report *r)
{
	uint64_t shown = causes_shown(r->in->options);
	size_t most = shown < REPORT_CAUSES ? (size_t)shown : REPORT_CAUSES;
	const struct cause *all;
	size_t n, n_shown;

	causes_new_in_cells(&r->causes, r->in->timelines, &r->cause_options, r->names, r->filter,
			    r->cpu_holders,
			    (struct causes_cells) { r, report_cell_of,
						    waits_of(r->in->timelines) <= FEW_WAITS });
	all = causes_list(r->causes, &n);
	n = causes_without_pauses(r->causes);
	n_shown = n < most ? n : most;
	if (n > REPORT_FURTHER)
		n = n_shown > REPORT_FURTHER ? n_shown : REPORT_FURTHER;
	r->cause = xmalloc((n + 1) * sizeof(*r->cause));
	for (r->n_shown = n_shown; r->n_causes < n; r->n_causes++)
		r->cause[r->n_causes] = &all[r->n_causes];
	report_settle_causes(r);
}

static void find_command(struct report *r)
{
	struct options o = { .command = trace_info(r->in->trace)->command_tgid };

	if (!o.command)
		return;
	scope_find(&r->command, r->in->timelines, &o);
}

/* Each slice is so many steps of the report, the last one perhaps fewer. */
static void choose_slices(struct report *r)
{
	const struct report_steps *s = &r->counts.steps;
	uint64_t waits = 1 + waits_of(r->in->timelines);
	uint32_t most;

	most = waits * GRAPH_SLICES < SLICES_WAITS ? GRAPH_SLICES
						   : (uint32_t)(SLICES_WAITS / waits);
	if (most < 4)
		most = 4;
	r->slice_steps = (s->n + most - 1) / most;
	r->n_slices = (s->n + r->slice_steps - 1) / r->slice_steps;
	for (uint32_t i = 0; i < r->n_slices; i++)
		r->slices[i] = s->from_ns + (uint64_t)i * r->slice_steps * s->step_ns;
	wait_filter_window(r->filter, &(uint64_t) { 0 }, &r->slices[r->n_slices]);
}

static void fold_in_slices(struct fold **out, const struct report *r, const struct options *o)
{
	fold_new_in_spans(out, r->in->timelines, o,
			  &(struct fold_spans) { r->slices, r->n_slices });
}

/* What all else needs: rows, steps of time, slices. */
static void report_init(struct report *r, const struct format_input *in)
{
	const struct options *o = in->options;
	const struct timelines *tl = in->timelines;

	*r = (struct report) { .in = in, .cause_options = causes_options(o), .graph_options = *o };
	if (process_lines_wanted(o))
		r->graph_options.root = ROOT_BESIDE;
	r->losses = trace_losses(in->trace, &r->n_all_losses);
	r->n_losses = r->n_all_losses < REPORT_LOSSES ? r->n_all_losses : REPORT_LOSSES;
	names_new(&r->names, tl, o);
	wait_filter_new(&r->filter, tl, o, r->names);
	find_command(r);
	make_rows(r);
	cpu_holders_new(&r->cpu_holders, tl, true);
	report_count(r);
	choose_slices(r);
}

static void report_free(struct report *r)
{
	fold_free(r->fold);
	free(r->cause);
	report_answer_free(r->answer);
	causes_free(r->causes);
	cpu_holders_free(r->cpu_holders);
	free(r->command);
	report_counts_free(&r->counts);
	pair_table_free(&r->cause_counts.cells);
	free(r->waits);
	free(r->rows);
	free(r->row_of);
	report_requests_free(r->requests);
	wait_filter_free(r->filter);
	names_free(r->names);
}

/* ---- parts in memory ------------------------------------------------------------------------ */

/* A graph of the page. */
struct graph {
	const char *title;
	const char *keys;	/* see flamegraph.h */
	size_t bytes;		/* the most */
	struct report_text svg; /* empty: there is nothing to show */
	uint32_t slice_steps;	/* steps of the report in a slice; 0: there are no slices */
};

/* span GRAPH_SLICES: of all of the time. */
static void make_folded(const struct report *r, struct fold *fold, uint32_t span,
			struct text_buf *folded)
{
	struct options o = *r->in->options;

	o.top = 0; /* --top limits the listed waits, not the graph */
	o.unit = span < GRAPH_SLICES ? UNIT_NS : UNIT_US;
	if (span < GRAPH_SLICES)
		fold_put_span(folded, fold, span, &o);
	else
		fold_put(folded, fold, &o);
}

/* The folded lines of a graph: of all of the time, and of each slice of it. */
struct graph_lines {
	struct text_buf all, slice[GRAPH_SLICES];
	uint32_t n; /* slices */
};

static void free_lines(struct graph_lines *l)
{
	text_free(&l->all);
	for (uint32_t i = 0; i < l->n; i++)
		text_free(&l->slice[i]);
}

/* To be freed with free_lines(). */
static void make_lines(const struct report *r, struct fold *fold, struct graph_lines *l)
{
	make_folded(r, fold, GRAPH_SLICES, &l->all);
	for (; l->n < r->n_slices; l->n++)
		make_folded(r, fold, l->n, &l->slice[l->n]);
}

static const char *text_of(const struct text_buf *b)
{
	return b->p ? b->p : "";
}

/* joined: slices that are one. */
static int draw_graph(const struct graph_lines *l, uint32_t frames, uint32_t joined,
		      struct graph *graph)
{
	struct flamegraph_options o = {
		.title = graph->title,
		.keys = graph->keys,
		.embedded = true,
		.max_frames = frames,
		/* Those that are as wide as that are in the graph in any case. */
		.minwidth = 0.1 * GRAPH_FRAMES / frames,
		.slices = joined ? (l->n + joined - 1) / joined : 0,
		.slice_factor = 0.001, /* from ns to us */
	};
	struct report_text *svg = &graph->svg;
	struct flamegraph *g;
	FILE *f;
	int err = flamegraph_new(&g, &o);

	if (!err)
		err = flamegraph_add(g, text_of(&l->all), l->all.len);
	for (uint32_t i = 0; i < l->n && joined && !err; i++)
		err = flamegraph_add_slice(g, text_of(&l->slice[i]), l->slice[i].len, i / joined);
	if (!err) {
		free(svg->p);
		*svg = (struct report_text) { 0 };
		f = xmemstream(&svg->p, &svg->len);
		err = flamegraph_write(g, f);
		xmemstream_close(f, &svg->p);
	}
	flamegraph_free(g);
	return err;
}

/* Draws the graph with as many frames, then with as many slices as fit. */
static int fit_graph(const struct report *r, const struct graph_lines *l, struct graph *graph)
{
	uint32_t frames = GRAPH_FRAMES, joined = 1;
	size_t plain;
	int err;

	while (!(err = draw_graph(l, frames, 0, graph)) && graph->svg.len > graph->bytes &&
	       frames >= 1000)
		frames /= 2;
	for (plain = graph->svg.len; !err && l->n > joined; joined *= 2) {
		err = draw_graph(l, frames, joined, graph);
		if (err || graph->svg.len <= plain + SLICES_BYTES)
			break;
	}
	if (!err && l->n > 1 && joined >= l->n) /* not even two slices fit */
		err = draw_graph(l, frames, 0, graph);
	graph->slice_steps = joined < l->n ? joined * r->slice_steps : 0;
	return err;
}

static int make_graph(const struct report *r, struct fold *fold, struct graph *graph)
{
	struct graph_lines l = { 0 };
	int err;

	make_lines(r, fold, &l);
	err = fit_graph(r, &l, graph);
	if (err == -ENODATA) {
		graph->svg.len = 0;
		err = 0;
	}
	free_lines(&l);
	return err;
}

/* Draws what the chosen threads ran, if there are samples of that. */
static int make_ran(const struct report *r, struct graph *graph)
{
	struct options o = r->graph_options;
	struct fold *fold;
	int err;

	if (!timelines_sampled(r->in->timelines))
		return 0;
	o.parts = PART_RUNNING;
	fold_in_slices(&fold, r, &o);
	err = make_graph(r, fold, graph);
	fold_free(fold);
	return err;
}

static void make_data(struct report *r, struct report_text *data)
{
	FILE *f = xmemstream(&data->p, &data->len);

	report_json_write(r, f);
	xmemstream_close(f, &data->p);
}

/* What does not depend on each other, at once where there are CPUs. */
struct part {
	int (*make)(struct part *p);
	struct report *r;
	const struct format_input *in; /* with the options that choose requests */
	struct graph waits, ran;
	int err;
};

/* The tables: of the names and the filter of the report. */
static int make_tables(struct part *p)
{
	make_causes(p->r);
	report_choose_waits(p->r);
	report_requests_new(&p->r->requests, p->r, p->in->options);
	return 0;
}

/* What is said above all; it has names and filters of its own. */
static int make_answer(struct part *p)
{
	report_answer_new(&p->r->answer, p->r, p->in);
	return 0;
}

/* The graphs, which have names and filters of their own. */
static int make_graphs(struct part *p)
{
	struct report *r = p->r;
	int err;

	fold_in_slices(&r->fold, r, &r->graph_options);
	err = make_graph(r, r->fold, &p->waits);
	return err ? err : make_ran(r, &p->ran);
}

static void *make_part(void *arg)
{
	struct part *p = arg;

	p->err = p->make(p);
	return NULL;
}

static int write_html(const struct format_input *in, FILE *out)
{
	struct report_text data = { 0 };
	/* Options that choose requests leave threads alone. */
	struct options threads = *in->options;
	struct format_input of_threads = *in;
	struct report r;
	struct part parts[] = {
		{ .make = make_tables, .r = &r, .in = in },
		{ .make = make_answer, .r = &r, .in = in },
		{ .make = make_graphs,
		  .r = &r,
		  .waits = { .title = "Wakeup chains", .bytes = 1300000 },
		  .ran = { .title = "What ran", .keys = "ran.", .bytes = 600000 } },
	};
	struct graph *waits = &parts[2].waits, *ran = &parts[2].ran;
	int err = 0;

	threads.requests = false;
	of_threads.options = &threads;
	report_init(&r, &of_threads);
	parts_run(parts, sizeof(parts[0]), 3, make_part);
	for (int i = 0; i < 3 && !err; i++)
		err = parts[i].err;
	r.graph_steps[0] = waits->slice_steps;
	r.graph_steps[1] = ran->slice_steps;
	if (!err) {
		report_requests_find_ends(&r, report_answer_subjects(r.answer));
		make_data(&r, &data);
		report_page_write(out, &r, &waits->svg, &ran->svg, &data);
		format_take_totals(in, r.fold);
	}
	free(waits->svg.p);
	free(ran->svg.p);
	free(data.p);
	report_free(&r);
	return err;
}

const struct format format_html = {
	.name = "html",
	.summary = "a report for a browser: one page, with everything in it",
	.wants_timelines = true,
	.wants_cpus = true,
	.running = true,
	.takes = GIVEN_OF_CHAINS | GIVEN_ATTRIBUTED | GIVEN_WRITTEN | GIVEN_TOP,
	.write = write_html,
};
