// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of one trace: a fold of the threads' waits and one of the requests', by spans of time
 * (row_spans.h). Rows that are equal but for their figures are one; of a group only those of most
 * time are kept apart.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "common/intern.h"
#include "fold/wait_length.h"
#include "row_tables.h"

#define NS_PER_S 1000000000u

/*
 * Who names threads can make any number of rows. Of each control group, of its threads and of
 * requests, in each span as many as --top says, or this (a second of a server in Java has 120 000);
 * of all groups together so many times more.
 */
#define ROWS_OF_GROUP 200000
#define ROWS_OF_ALL 5

/* Texts by which rows are told apart, by their columns. */
enum fact_text {
	FACT_CGROUP,
	FACT_PROCESS,
	FACT_THREAD,
	FACT_ENDPOINT,
	FACT_WAITED_FOR,
	FACT_ENDED,
	FACT_HAD_CPU,
	FACT_ROUTE, /* behind the figures, as it is newer than other columns */
	FACT_TEXTS,
};

enum fact_figure {
	FIGURE_WAITS,
	FIGURE_BLOCKED,
	FIGURE_RUNNABLE,
	FIGURE_PREEMPTED,
	FIGURE_RUNNING,
	FIGURE_SAMPLES,
	FIGURES,
};

/* A row of ROWS_WAITS. */
struct fact {
	uint32_t span;
	uint32_t texts[FACT_TEXTS]; /* ids in maker.texts */
	uint32_t chain, ran;	    /* ids in maker.chains; 0: none */
	uint64_t latency_ns, over_ns;
	uint64_t figures[FIGURES];
};

/* Something that is given to the sink before the rows of the span that is the first to need it. */
struct given {
	uint32_t span, id;
};

struct maker {
	const struct format_input *in;
	const struct row_sink *sink;
	struct row_spans spans;
	struct row_id trace;
	char *host;
	struct intern texts;  /* of facts */
	struct intern chains; /* the frames of each */
	struct row_id *ids;   /* by number in chains - 1 */
	size_t cap_ids;
	struct given *modules; /* by id; id 0: not needed */
	uint32_t modules_end;
	struct text_buf text; /* in the making */
	struct fact *facts;
	size_t n_facts, cap_facts;
	/* Of the current fold. */
	struct chain_rows *rows;
	struct names *names;
};

static uint32_t text_id(struct maker *m, const char *s)
{
	return xintern(&m->texts, s, strlen(s), NULL);
}

/* ---- chains --------------------------------------------------------------------------------- */

/* The id of the text in the making. */
static void take_chain(struct maker *m, uint32_t *chain)
{
	const char *text = m->text.p ? m->text.p : "";
	bool is_new;
	uint32_t number = xintern(&m->chains, text, m->text.len, &is_new);

	XGROW(m->ids, number - 1, m->cap_ids);
	/* Most rows have a chain that others have: a hash of each took a third of all. */
	if (is_new)
		m->ids[number - 1] = row_id_of(text, m->text.len);
	*chain = number;
}

static void put_frame(struct maker *m, struct chain_frame frame, uint32_t span)
{
	uint32_t id = frame.module < m->modules_end ? frame.module : 0;
	struct given *module = &m->modules[id];

	if (m->text.len)
		text_put(&m->text, ";", 1);
	text_puts(&m->text, frame.text);
	if (id && (!module->id || span < module->span))
		*module = (struct given) { span, id };
}

/* The frames of a row below the thread's name, root first. */
static void chain_of(struct maker *m, const struct chain_row *row, struct fact *f)
{
	size_t n;
	const uint32_t *frames = chain_row_frames(m->rows, row, &n);

	m->text.len = 0;
	while (n-- > 1)
		put_frame(m, chain_rows_frame(m->rows, frames[n - 1]), f->span);
	take_chain(m, &f->chain);
}

/* Where a thread ran. */
static void place_of(struct maker *m, uint32_t list, struct fact *f)
{
	const struct frame_lists *lists = interned_stacks_lists(m->rows->stacks);

	m->text.len = 0;
	for (size_t i = 0; i < frame_list_len(lists, list); i++)
		put_frame(m, frame_at(lists, frame_list_at(lists, list, i)), f->span);
	take_chain(m, &f->ran);
}

/* ---- facts ---------------------------------------------------------------------------------- */

static const char *clean(struct maker *m, uint32_t string)
{
	uint32_t text = string ? names_string(m->names, string) : 0;

	return text ? names_text(m->names, text) : "";
}

/* What tells a row apart from others. */
static void describe(struct maker *m, const struct chain_row *row, struct fact *f)
{
	const struct timelines *tl = m->in->timelines;
	struct thread_group g = interned_stacks_thread_group(m->rows->stacks, row->group);
	const struct frame_lists *lists = interned_stacks_lists(m->rows->stacks);
	bool had_cpu = row->end == CHAIN_RUNNABLE || row->end == CHAIN_PREEMPTED;
	struct chain_row shown = *row;
	const struct request_endpoint *of = NULL;
	const struct trace_object *route;
	uint32_t path[CHAIN_PATH_MAX], n_endpoints;
	size_t n = chain_row_path(m->rows, row, path);

	f->span = g.span;
	f->latency_ns = g.length ? wait_length_ns(g.length) : 0;
	f->over_ns = wait_length_over_ns(g.length);
	/* The first frame of a head is the thread's name. */
	f->texts[FACT_THREAD] =
		text_id(m, n ? frame_at(lists, frame_list_at(lists, path[n - 1], 0)).text : "");
	f->texts[FACT_PROCESS] = text_id(m, clean(m, g.process));
	f->texts[FACT_CGROUP] =
		text_id(m, g.root ? names_text(m->names, names_group_path(m->names, g.root)) : "");
	if (g.endpoint)
		of = &timelines_endpoints(tl, &n_endpoints)[g.endpoint - 1];
	route = of ? trace_object(m->in->trace, of->route) : NULL;
	f->texts[FACT_ENDPOINT] = text_id(m, of ? clean(m, of->name) : "");
	f->texts[FACT_ROUTE] = text_id(m, route ? clean(m, route->name) : "");
	f->texts[FACT_WAITED_FOR] = text_id(
		m, n && row->end != CHAIN_ON_CPU ? frame_list_class(lists, path[n - 1]) : "");
	f->texts[FACT_ENDED] = text_id(
		m, row->end == CHAIN_NO_END ? "" : chain_end_name((enum chain_end)row->end));
	f->texts[FACT_HAD_CPU] =
		text_id(m, had_cpu && row->above
				   ? frame_at(lists, frame_list_at(lists, row->above, 0)).text
				   : "");
	/* Who had the CPU is a column, not a part of the chain. */
	if (had_cpu)
		shown.above = 0;
	chain_of(m, &shown, f);
}

static void add_fact(struct maker *m, const struct fact *f)
{
	XAPPEND(m->facts, m->n_facts, m->cap_facts) = *f;
}

/* Where the time of a row is, by its part. */
static const struct {
	unsigned int part;
	enum fact_figure figure;
} figures[] = { { PART_BLOCKED, FIGURE_BLOCKED },
		{ PART_RUNNABLE, FIGURE_RUNNABLE },
		{ PART_PREEMPTED, FIGURE_PREEMPTED },
		{ PART_RUNNING, FIGURE_RUNNING } };

static void add_row(struct maker *m, const struct chain_row *row)
{
	unsigned int part = chain_row_part(m->rows, row);
	struct fact f = { .latency_ns = 0 };

	/* Time of which nothing is known is no row. */
	if (!row->waits && (!row->ns || !part))
		return;
	describe(m, row, &f);
	f.figures[FIGURE_WAITS] = row->waits;
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (figures[i].part == part)
			f.figures[figures[i].figure] = row->ns;
	add_fact(m, &f);
}

static void add_samples(struct maker *m, const struct chain_ran *ran)
{
	struct chain_row row = { .group = chain_node_group(m->rows, ran->node),
				 .node = ran->node,
				 .end = ran->end };
	struct fact f = { .latency_ns = 0 };

	describe(m, &row, &f);
	place_of(m, ran->list, &f);
	f.figures[FIGURE_SAMPLES] = ran->samples;
	add_fact(m, &f);
}

/* ---- order ---------------------------------------------------------------------------------- */

static struct row_id id_of_chain(const struct maker *m, uint32_t chain)
{
	return chain ? m->ids[chain - 1] : (struct row_id) { .bytes = { 0 } };
}

static int compare_chains(const struct maker *m, uint32_t a, uint32_t b)
{
	struct row_id x = id_of_chain(m, a), y = id_of_chain(m, b);

	return a == b ? 0 : memcmp(&x, &y, sizeof(x));
}

static int by_key(const void *pa, const void *pb, void *arg)
{
	const struct fact *a = pa, *b = pb;
	const struct maker *m = arg;
	int order = compare_numbers(a->span, b->span);

	for (int i = 0; i < FACT_TEXTS && !order; i++)
		if (a->texts[i] != b->texts[i])
			order = strcmp(intern_text(&m->texts, a->texts[i]),
				       intern_text(&m->texts, b->texts[i]));
	if (!order)
		order = compare_chains(m, a->chain, b->chain);
	if (!order)
		order = compare_chains(m, a->ran, b->ran);
	if (!order)
		order = compare_numbers(a->latency_ns, b->latency_ns);
	return order ? order : compare_numbers(a->over_ns, b->over_ns);
}

static void add_figures(struct fact *to, const struct fact *f)
{
	for (int k = 0; k < FIGURES; k++)
		to->figures[k] += f->figures[k];
}

static void sort_facts(struct maker *m)
{
	size_t n = 0;

	if (m->n_facts)
		qsort_r(m->facts, m->n_facts, sizeof(*m->facts), by_key, m);
	for (size_t i = 0; i < m->n_facts; i++) {
		if (n && !by_key(&m->facts[n - 1], &m->facts[i], m))
			add_figures(&m->facts[n - 1], &m->facts[i]);
		else
			m->facts[n++] = m->facts[i];
	}
	m->n_facts = n;
}

/* ---- not too many --------------------------------------------------------------------------- */

/* A row in the order of what is kept. */
struct ranked {
	uint64_t ns, count;
	size_t at;
};

static int most_time_first(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	if (a->count != b->count)
		return compare_numbers(b->count, a->count);
	return compare_numbers(a->at, b->at);
}

static bool is_of_request(const struct maker *m, const struct fact *f)
{
	return *intern_text(&m->texts, f->texts[FACT_ENDPOINT]);
}

/* Makes f the row of what is not kept apart, of the same group or of all. */
static void make_other(struct maker *m, struct fact *f, bool of_group)
{
	struct fact other = { .span = f->span };
	uint32_t text = text_id(m, CHAIN_OTHER);

	for (int i = 0; i < FACT_TEXTS; i++)
		other.texts[i] = text;
	if (of_group)
		other.texts[FACT_CGROUP] = f->texts[FACT_CGROUP];
	/* It has the time of threads, or of requests, as all rows. */
	if (!is_of_request(m, f))
		other.texts[FACT_ENDPOINT] = text_id(m, "");
	m->text.len = 0;
	text_puts(&m->text, CHAIN_OTHER);
	add_figures(&other, f);
	*f = other;
	take_chain(m, &f->chain);
}

/*
 * Of the rows from first to end that are of threads, or of requests, the `most` of most time are
 * kept, and the others become rows that are equal but for their figures.
 */
static void keep_most(struct maker *m, size_t first, size_t end, bool of_requests, size_t most,
		      bool of_group)
{
	struct ranked *r = xmalloc((end - first) * sizeof(*r));
	size_t n = 0;

	for (size_t i = first; i < end; i++) {
		const uint64_t *v = m->facts[i].figures;

		if (is_of_request(m, &m->facts[i]) == of_requests)
			r[n++] = (struct ranked) { v[FIGURE_BLOCKED] + v[FIGURE_RUNNABLE] +
							   v[FIGURE_PREEMPTED] + v[FIGURE_RUNNING],
						   v[FIGURE_WAITS] + v[FIGURE_SAMPLES], i };
	}
	if (n > most)
		qsort(r, n, sizeof(*r), most_time_first);
	for (size_t i = most; i < n; i++)
		make_other(m, &m->facts[r[i].at], of_group);
	free(r);
}

/* The end of the rows that are of one span, and of one group, with the first one. */
static size_t end_of(const struct maker *m, size_t first, bool of_group)
{
	const struct fact *f = &m->facts[first];
	size_t end = first + 1;

	while (end < m->n_facts && m->facts[end].span == f->span &&
	       (!of_group || m->facts[end].texts[FACT_CGROUP] == f->texts[FACT_CGROUP]))
		end++;
	return end;
}

/* Sorts the rows, and keeps of each group, or of all of them, not too many. */
static void bound_facts(struct maker *m, bool of_group)
{
	uint64_t top = m->in->options->top ? m->in->options->top : ROWS_OF_GROUP;
	size_t most = of_group ? top : top * ROWS_OF_ALL, end;

	sort_facts(m);
	for (size_t first = 0; first < m->n_facts; first = end) {
		end = end_of(m, first, of_group);
		for (int of_requests = 0; of_requests < 2 && end - first > most; of_requests++)
			keep_most(m, first, end, of_requests, most, of_group);
	}
	sort_facts(m);
}

/* ---- giving them to the sink ---------------------------------------------------------------- */

static int give_trace(const struct maker *m)
{
	const struct trace_info *i = trace_info(m->in->trace);
	uint64_t start_ns = i->start_ns + (uint64_t)i->wall_ns;
	uint32_t release = names_clean(m->names, i->release), arch = names_clean(m->names, i->arch);
	uint32_t tool = names_clean(m->names, i->tool);
	const union row_value values[] = {
		{ .number = start_ns / NS_PER_S },
		{ .id = m->trace },
		{ .text = m->host },
		{ .number = start_ns },
		{ .number = i->end_ns - i->start_ns },
		{ .number = i->cpus },
		{ .text = names_text(m->names, release) },
		{ .text = names_text(m->names, arch) },
		{ .text = names_text(m->names, tool) },
		{ .number = i->events },
		{ .number = i->lost },
		{ .number = i->bytes },
	};

	return m->sink->put(m->sink->arg, ROWS_TRACES, values);
}

static int by_span_and_id(const void *pa, const void *pb)
{
	const struct given *a = pa, *b = pb;

	return a->span != b->span ? compare_numbers(a->span, b->span)
				  : compare_numbers(a->id, b->id);
}

/* Those of the span: from *at on, of n. */
static int give_modules(const struct maker *m, uint32_t span, size_t *at, size_t n)
{
	const struct trace *t = m->in->trace;
	int err = 0;

	for (; *at < n && m->modules[*at].span == span && !err; ++*at) {
		uint32_t id = m->modules[*at].id,
			 path = names_clean(m->names, trace_module_path(t, id));

		if (!id)
			continue;
		err = m->sink->put(m->sink->arg, ROWS_MODULES,
				   (union row_value[]) {
					   { .number = m->spans.time_s[span] },
					   { .id = m->trace },
					   { .text = m->host },
					   { .text = names_text(m->names, path) },
					   { .text = trace_module_build_id(t, id) },
				   });
	}
	return err;
}

static int by_span_and_chain(const void *pa, const void *pb, void *arg)
{
	const struct given *a = pa, *b = pb;

	return a->span != b->span ? compare_numbers(a->span, b->span)
				  : compare_chains(arg, a->id, b->id);
}

/* The chains that rows have, in an order that does not depend on which thread met them first. */
static struct given *chains_in_order(const struct maker *m, size_t *n)
{
	struct given *chains = xmalloc(((size_t)m->chains.n + 1) * sizeof(*chains));
	bool *seen = xcalloc((size_t)m->chains.n + 1, sizeof(*seen));

	*n = 0;
	for (size_t i = 0; i < m->n_facts; i++) {
		const uint32_t of[] = { m->facts[i].chain, m->facts[i].ran };

		for (int k = 0; k < 2; k++)
			if (of[k] && !seen[of[k]]) {
				seen[of[k]] = true;
				chains[(*n)++] = (struct given) { m->facts[i].span, of[k] };
			}
	}
	free(seen);
	if (*n)
		qsort_r(chains, *n, sizeof(*chains), by_span_and_chain, (void *)m);
	return chains;
}

static int give_chains(const struct maker *m, uint32_t span, const struct given *chains, size_t *at,
		       size_t n)
{
	int err = 0;

	for (; *at < n && chains[*at].span == span && !err; ++*at)
		err = m->sink->put(m->sink->arg, ROWS_CHAINS,
				   (union row_value[]) {
					   { .number = m->spans.time_s[span] },
					   { .id = id_of_chain(m, chains[*at].id) },
					   { .text = intern_text(&m->chains, chains[*at].id) },
				   });
	return err;
}

static int give_fact(const struct maker *m, const struct fact *f)
{
	union row_value values[ROW_COLUMNS_MAX] = { { .number = m->spans.time_s[f->span] },
						    { .id = m->trace },
						    { .text = m->host } };
	union row_value *v = values + 3;

	for (int k = 0; k < FACT_ROUTE; k++)
		v++->text = intern_text(&m->texts, f->texts[k]);
	v++->id = id_of_chain(m, f->chain);
	v++->id = id_of_chain(m, f->ran);
	v++->number = f->latency_ns;
	for (int k = 0; k < FIGURES; k++)
		v++->number = f->figures[k];
	v++->text = intern_text(&m->texts, f->texts[FACT_ROUTE]);
	v++->number = f->over_ns;
	return m->sink->put(m->sink->arg, ROWS_WAITS, values);
}

/* Span by span: what is new in it, and its rows. */
static int give_all(struct maker *m)
{
	size_t n_modules = m->modules_end, n_chains, module = 0, chain = 0, i = 0;
	struct given *chains = chains_in_order(m, &n_chains);
	int err = 0;

	qsort(m->modules, n_modules, sizeof(*m->modules), by_span_and_id);
	for (uint32_t span = 0; span < m->spans.n && !err; span++) {
		err = give_modules(m, span, &module, n_modules);
		if (!err)
			err = give_chains(m, span, chains, &chain, n_chains);
		for (; i < m->n_facts && m->facts[i].span == span && !err; i++)
			err = give_fact(m, &m->facts[i]);
	}
	free(chains);
	return err;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void add_fold(struct maker *m, const struct options *o)
{
	struct fold_spans spans = { m->spans.bounds, m->spans.n };
	struct fold *f;

	fold_new_by_row(&f, m->in->timelines, o, &spans);
	m->rows = fold_rows(f);
	m->names = interned_stacks_names(m->rows->stacks);
	for (size_t i = 0; i < m->rows->n; i++)
		add_row(m, &m->rows->at[i]);
	for (size_t i = 0; i < m->rows->n_ran; i++)
		add_samples(m, &m->rows->ran[i]);
	fold_free(f);
	m->names = NULL;
}

static void add_folds(struct maker *m)
{
	struct options o = *m->in->options;
	uint32_t first, end;

	o.root = ROOT_CGROUP;
	o.who_ran = true;
	if (!(o.given & GIVEN_STATE))
		o.parts = PART_ALL;
	if (!o.requests)
		add_fold(m, &o);
	timelines_range(m->in->timelines, true, &first, &end);
	o.requests = true;
	if (first < end)
		add_fold(m, &o);
}

/* What no other trace has. */
static struct row_id id_of_trace(const struct trace_info *i)
{
	struct {
		uint64_t start_ns, end_ns, wall_ns, events, lost, bytes, cpus;
		struct row_id host, release;
	} key = { i->start_ns,
		  i->end_ns,
		  (uint64_t)i->wall_ns,
		  i->events,
		  i->lost,
		  i->bytes,
		  i->cpus,
		  row_id_of(i->host, strlen(i->host)),
		  row_id_of(i->release, strlen(i->release)) };

	return row_id_of(&key, sizeof(key));
}

int rows_make(const struct format_input *in, const struct row_sink *sink)
{
	struct maker m = { .in = in, .sink = sink };
	struct names *names = NULL;
	uint32_t host;
	int err;

	names_new(&names, in->timelines, in->options);
	host = names_clean(names, trace_info(in->trace)->host);
	m.host = xstrdup(names_text(names, host));
	m.modules_end = trace_modules_end(in->trace);
	m.modules = xcalloc((size_t)m.modules_end + 1, sizeof(*m.modules));
	err = row_spans_new(&m.spans, in);
	if (!err) {
		m.trace = id_of_trace(trace_info(in->trace));
		if (m.spans.n)
			add_folds(&m);
		bound_facts(&m, true);
		bound_facts(&m, false);
		m.names = names;
		err = give_trace(&m);
	}
	if (!err)
		err = give_all(&m);
	free(m.host);
	free(m.modules);
	row_spans_free(&m.spans);
	free(m.facts);
	text_free(&m.text);
	intern_free(&m.texts);
	intern_free(&m.chains);
	free(m.ids);
	names_free(names);
	return err;
}
