// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of one trace: for each bucket of wall clock time a fold of the threads' waits and one of the
 * requests'. Rows that are equal but for their figures are one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/grow.h"
#include "common/intern.h"
#include "fold/wait_length.h"
#include "row_tables.h"

#define NS_PER_S 1000000000u

/* Texts by which rows are told apart, by their columns. */
enum fact_text {
	FACT_CGROUP,
	FACT_PROCESS,
	FACT_THREAD,
	FACT_ENDPOINT,
	FACT_WAITED_FOR,
	FACT_ENDED,
	FACT_HAD_CPU,
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
	uint32_t texts[FACT_TEXTS]; /* ids in maker.texts */
	struct row_id chain, ran;
	uint64_t latency_ns;
	uint64_t figures[FIGURES];
};

struct maker {
	const struct format_input *in;
	const struct row_sink *sink;
	struct row_id trace;
	char *host;
	struct intern texts;  /* of facts; of all buckets */
	struct intern chains; /* the frames of each */
	struct row_id *ids;   /* by number in chains - 1 */
	size_t cap_ids;
	uint32_t chains_given;	       /* to the sink */
	bool *modules, *modules_given; /* by id */
	uint32_t modules_end;
	struct text_buf text; /* in the making */
	/* Of the current bucket. */
	uint64_t time_s;
	struct fact *facts;
	size_t n_facts, cap_facts;
	/* Of the current fold. */
	struct chain_rows *rows;
	struct names *names;
};

static uint32_t text_id(struct maker *m, const char *s)
{
	return intern_id(&m->texts, s, strlen(s), NULL);
}

/* ---- chains --------------------------------------------------------------------------------- */

/* The id of the text in the making, which is kept for the sink if it is new. 0 or -ENOMEM. */
static int take_chain(struct maker *m, struct row_id *id)
{
	const char *text = m->text.p ? m->text.p : "";
	bool is_new;
	uint32_t number = intern_id(&m->chains, text, m->text.len, &is_new);

	if (m->text.failed || !number || !GROW(m->ids, number - 1, m->cap_ids))
		return -ENOMEM;
	/* Most rows have a chain that others have: a hash of each took a third of all. */
	if (is_new)
		m->ids[number - 1] = row_id_of(text, m->text.len);
	*id = m->ids[number - 1];
	return 0;
}

static void put_frame(struct maker *m, struct chain_frame frame)
{
	if (m->text.len)
		text_put(&m->text, ";", 1);
	text_puts(&m->text, frame.text);
	if (frame.module && frame.module < m->modules_end)
		m->modules[frame.module] = true;
}

/* The frames of a row below the thread's name, root first. */
static int chain_of(struct maker *m, const struct chain_row *row, struct row_id *id)
{
	size_t n;
	const uint32_t *frames = chain_row_frames(m->rows, row, &n);

	m->text.len = 0;
	if (!n)
		return -ENOMEM;
	while (--n > 0)
		put_frame(m, chain_rows_frame(m->rows, frames[n - 1]));
	return take_chain(m, id);
}

/* Where a thread ran. */
static int place_of(struct maker *m, uint32_t list, struct row_id *id)
{
	const struct frame_lists *lists = interned_stacks_lists(m->rows->stacks);

	m->text.len = 0;
	for (size_t i = 0; i < frame_list_len(lists, list); i++)
		put_frame(m, frame_at(lists, frame_list_at(lists, list, i)));
	return take_chain(m, id);
}

/* ---- facts ---------------------------------------------------------------------------------- */

static const char *clean(struct maker *m, uint32_t string)
{
	uint32_t text = string ? names_string(m->names, string) : 0;

	return text ? names_text(m->names, text) : "";
}

/* What tells a row apart from others. 0 or -ENOMEM. */
static int describe(struct maker *m, const struct chain_row *row, struct fact *f)
{
	const struct timelines *tl = m->in->timelines;
	struct thread_group g = interned_stacks_thread_group(m->rows->stacks, row->group);
	const struct frame_lists *lists = interned_stacks_lists(m->rows->stacks);
	bool had_cpu = row->end == CHAIN_RUNNABLE || row->end == CHAIN_PREEMPTED;
	struct chain_row shown = *row;
	uint32_t path[CHAIN_PATH_MAX], n_endpoints;
	size_t n = chain_row_path(m->rows, row, path);
	int err;

	f->latency_ns = g.length ? wait_length_ns(g.length) : 0;
	/* The first frame of a head is the thread's name. */
	f->texts[FACT_THREAD] =
		text_id(m, n ? frame_at(lists, frame_list_at(lists, path[n - 1], 0)).text : "");
	f->texts[FACT_PROCESS] = text_id(m, clean(m, g.process));
	f->texts[FACT_CGROUP] =
		text_id(m, g.root ? names_text(m->names, names_group_path(m->names, g.root)) : "");
	f->texts[FACT_ENDPOINT] = text_id(
		m, g.endpoint ? clean(m, timelines_endpoints(tl, &n_endpoints)[g.endpoint - 1].name)
			      : "");
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
	err = chain_of(m, &shown, &f->chain);
	for (int i = 0; i < FACT_TEXTS && !err; i++)
		err = f->texts[i] ? 0 : -ENOMEM;
	return err;
}

static int add_fact(struct maker *m, const struct fact *f)
{
	if (!GROW(m->facts, m->n_facts, m->cap_facts))
		return -ENOMEM;
	m->facts[m->n_facts++] = *f;
	return 0;
}

/* Where the time of a row is, by its part. */
static const struct {
	unsigned int part;
	enum fact_figure figure;
} figures[] = { { PART_BLOCKED, FIGURE_BLOCKED },
		{ PART_RUNNABLE, FIGURE_RUNNABLE },
		{ PART_PREEMPTED, FIGURE_PREEMPTED },
		{ PART_RUNNING, FIGURE_RUNNING } };

static int add_row(struct maker *m, const struct chain_row *row)
{
	unsigned int part = chain_row_part(m->rows, row);
	struct fact f = { .latency_ns = 0 };
	int err;

	/* Time of which nothing is known is no row. */
	if (!row->waits && (!row->ns || !part))
		return 0;
	err = describe(m, row, &f);
	f.figures[FIGURE_WAITS] = row->waits;
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (figures[i].part == part)
			f.figures[figures[i].figure] = row->ns;
	return err ? err : add_fact(m, &f);
}

static int add_samples(struct maker *m, const struct chain_ran *ran)
{
	struct chain_row row = { .group = chain_node_group(m->rows, ran->node),
				 .node = ran->node,
				 .end = ran->end };
	struct fact f = { .latency_ns = 0 };
	int err = describe(m, &row, &f);

	if (!err)
		err = place_of(m, ran->list, &f.ran);
	f.figures[FIGURE_SAMPLES] = ran->samples;
	return err ? err : add_fact(m, &f);
}

/* ---- order ---------------------------------------------------------------------------------- */

static int by_key(const void *pa, const void *pb, void *arg)
{
	const struct fact *a = pa, *b = pb;
	const struct maker *m = arg;
	int order = 0;

	for (int i = 0; i < FACT_TEXTS && !order; i++)
		if (a->texts[i] != b->texts[i])
			order = strcmp(intern_text(&m->texts, a->texts[i]),
				       intern_text(&m->texts, b->texts[i]));
	if (!order)
		order = memcmp(&a->chain, &b->chain, sizeof(a->chain));
	if (!order)
		order = memcmp(&a->ran, &b->ran, sizeof(a->ran));
	return order ? order : compare_numbers(a->latency_ns, b->latency_ns);
}

static void sort_facts(struct maker *m)
{
	size_t n = 0;

	if (m->n_facts)
		qsort_r(m->facts, m->n_facts, sizeof(*m->facts), by_key, m);
	for (size_t i = 0; i < m->n_facts; i++) {
		if (n && !by_key(&m->facts[n - 1], &m->facts[i], m)) {
			for (int k = 0; k < FIGURES; k++)
				m->facts[n - 1].figures[k] += m->facts[i].figures[k];
			continue;
		}
		m->facts[n++] = m->facts[i];
	}
	m->n_facts = n;
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

	if (!release || !arch || !tool)
		return -ENOMEM;
	return m->sink->put(m->sink->arg, ROWS_TRACES, values);
}

static int give_modules(struct maker *m)
{
	const struct trace *t = m->in->trace;
	int err = 0;

	for (uint32_t id = 1; id < m->modules_end && !err; id++) {
		uint32_t path;

		if (!m->modules[id] || m->modules_given[id])
			continue;
		m->modules_given[id] = true;
		path = names_clean(m->names, trace_module_path(t, id));
		err = path ? m->sink->put(m->sink->arg, ROWS_MODULES,
					  (union row_value[]) {
						  { .number = m->time_s },
						  { .id = m->trace },
						  { .text = m->host },
						  { .text = names_text(m->names, path) },
						  { .text = trace_module_build_id(t, id) },
					  })
			   : -ENOMEM;
	}
	return err;
}

static int by_id(const void *pa, const void *pb, void *arg)
{
	const struct row_id *ids = arg;
	const uint32_t *a = pa, *b = pb;

	return memcmp(&ids[*a], &ids[*b], sizeof(*ids));
}

/* The new ones, in an order that does not depend on which thread of the fold met them first. */
static int give_chains(struct maker *m)
{
	uint32_t first = m->chains_given, n = m->chains.n - first;
	uint32_t *order = malloc(((size_t)n + 1) * sizeof(*order));
	int err = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && !err; i++)
		order[i] = first + i;
	if (n && !err)
		qsort_r(order, n, sizeof(*order), by_id, m->ids);
	for (uint32_t i = 0; i < n && !err; i++)
		err = m->sink->put(m->sink->arg, ROWS_CHAINS,
				   (union row_value[]) {
					   { .number = m->time_s },
					   { .id = m->ids[order[i]] },
					   { .text = intern_text(&m->chains, order[i] + 1) },
				   });
	m->chains_given = m->chains.n;
	free(order);
	return err;
}

static int give_facts(struct maker *m)
{
	int err = 0;

	for (size_t i = 0; i < m->n_facts && !err; i++) {
		const struct fact *f = &m->facts[i];
		union row_value values[ROW_COLUMNS_MAX] = { { .number = m->time_s },
							    { .id = m->trace },
							    { .text = m->host } };
		union row_value *v = values + 3;

		for (int k = 0; k < FACT_TEXTS; k++)
			v++->text = intern_text(&m->texts, f->texts[k]);
		v++->id = f->chain;
		v++->id = f->ran;
		v++->number = f->latency_ns;
		for (int k = 0; k < FIGURES; k++)
			v++->number = f->figures[k];
		err = m->sink->put(m->sink->arg, ROWS_WAITS, values);
	}
	return err;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int add_fold(struct maker *m, const struct options *o)
{
	struct fold *f;
	int err = fold_new(&f, m->in->timelines, o, FOLD_BY_ROW);

	if (!err) {
		m->rows = fold_rows(f);
		m->names = interned_stacks_names(m->rows->stacks);
		for (size_t i = 0; i < m->rows->n && !err; i++)
			err = add_row(m, &m->rows->at[i]);
		for (size_t i = 0; i < m->rows->n_ran && !err; i++)
			err = add_samples(m, &m->rows->ran[i]);
	}
	fold_free(f);
	m->names = NULL;
	return err;
}

/* The time from from_ns to to_ns, counted from the start of the trace. */
static int give_bucket(struct maker *m, uint64_t from_ns, uint64_t to_ns, struct names *names)
{
	struct options o = *m->in->options;
	uint32_t first, end;
	int err = 0;

	o.from_ns = from_ns;
	o.to_ns = to_ns;
	o.root = ROOT_CGROUP;
	o.who_ran = true;
	if (!(o.given & GIVEN_STATE))
		o.parts = PART_ALL;
	m->n_facts = 0;
	if (!o.requests)
		err = add_fold(m, &o);
	timelines_range(m->in->timelines, true, &first, &end);
	o.requests = true;
	if (!err && first < end)
		err = add_fold(m, &o);
	sort_facts(m);
	m->names = names;
	if (!err)
		err = give_modules(m);
	if (!err)
		err = give_chains(m);
	return err ? err : give_facts(m);
}

static int give_buckets(struct maker *m, struct names *names)
{
	const struct trace_info *info = trace_info(m->in->trace);
	const struct options *o = m->in->options;
	uint64_t start_ns = timelines_start_ns(m->in->timelines);
	uint64_t wall_ns = start_ns + (uint64_t)info->wall_ns;
	uint64_t length_ns = timelines_end_ns(m->in->timelines) - start_ns;
	uint64_t to_ns = o->to_ns < length_ns ? o->to_ns : length_ns, next_ns;
	int err = 0;

	for (uint64_t at = o->from_ns; at < to_ns && !err; at = next_ns) {
		uint64_t bucket_ns = (wall_ns + at) / o->bucket_ns * o->bucket_ns;

		next_ns = bucket_ns + o->bucket_ns - wall_ns;
		m->time_s = bucket_ns / NS_PER_S;
		/* The last one ends as the trace or --to does. */
		err = give_bucket(m, at, next_ns < to_ns ? next_ns : o->to_ns, names);
	}
	return err;
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
	int err = names_new(&names, in->timelines, in->options);

	if (!err) {
		host = names_clean(names, trace_info(in->trace)->host);
		m.host = host ? strdup(names_text(names, host)) : NULL;
		m.modules_end = trace_modules_end(in->trace);
		m.modules = calloc((size_t)m.modules_end + 1, sizeof(*m.modules));
		m.modules_given = calloc((size_t)m.modules_end + 1, sizeof(*m.modules_given));
		err = m.host && m.modules && m.modules_given ? 0 : -ENOMEM;
	}
	if (!err) {
		m.names = names;
		m.trace = id_of_trace(trace_info(in->trace));
		err = give_trace(&m);
	}
	if (!err)
		err = give_buckets(&m, names);
	free(m.host);
	free(m.modules);
	free(m.modules_given);
	free(m.facts);
	text_free(&m.text);
	intern_free(&m.texts);
	intern_free(&m.chains);
	free(m.ids);
	names_free(names);
	return err;
}
