// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=requests: a table of endpoints, how long their requests took; for each where the time of
 * all requests went, of those in the middle, and of the slowest; and the slowest ones.
 */
#include "format_requests.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command_word.h"
#include "paragraph.h"
#include "request_story.h"
#include "request_time.h"
#include "table.h"
#include "select/route_times.h"
#include "select/service.h"
#include "words/request_words.h"
#include "common/xalloc.h"

/* Of what the threads did, on a narrow screen, before times are left out. */
#define WHAT_WIDTH 40
#define SLOWEST_SHOWN 5
#define GROUPS 3 /* of requests, beside each other */

struct writer {
	const struct format_input *in;
	FILE *out;
	struct names *names;
	struct wait_filter *filter;
	struct request_table *table;
	struct request_times *times;
	uint64_t *median_ns; /* request_medians() */
	struct chain_text text;
	bool on_screen; /* which this fits: the most important */
};

/*
 * On a screen: the first endpoints, and where the time of the first one went. Of its lines those of
 * the summary and the prompt, titles, notes, sums and the example are for no rows.
 */
#define SCREEN_ENDPOINTS 2
#define SCREEN_OTHERS 11
#define SCREEN_SUMMARY 5
#define SCREEN_ROWS_MIN 4

static size_t screen_rows(const struct options *o)
{
	size_t others = SCREEN_OTHERS + 1 + (o->quiet ? 0 : SCREEN_SUMMARY);

	return o->lines > others + SCREEN_ROWS_MIN ? o->lines - others : SCREEN_ROWS_MIN;
}

/* ---- words ---------------------------------------------------------------------------------- */

void request_endpoint_put(struct text_buf *b, const struct format_input *in,
			  const struct endpoint_requests *requests)
{
	const struct request_endpoint *e = requests->endpoint;
	char id[16] = "";

	names_put(b, trace_string(in->trace, e->name));
	if (!e->process)
		return;
	text_puts(b, " ");
	names_put(b, trace_string(in->trace, e->process));
	if (requests->processes > 1)
		snprintf(id, sizeof(id), " x %" PRIu32, requests->processes);
	else if (e->thread != THREAD_NONE)
		snprintf(id, sizeof(id), "/%" PRIu32,
			 timelines_thread(in->timelines, e->thread)->tgid);
	text_puts(b, id);
}

void request_service_put(struct text_buf *b, struct text_buf *route, const struct format_input *in,
			 const struct endpoint_requests *e)
{
	const struct trace_object *o = trace_object(in->trace, e->endpoint->route);
	struct request_endpoint of = *e->endpoint;
	struct endpoint_requests service = *e;

	of.name = of.service;
	service.endpoint = &of;
	request_endpoint_put(b, in, &service);
	if (o)
		names_put(route, trace_string(in->trace, o->name));
}

char *request_rate(const struct format_input *in, const struct wait_filter *f, uint64_t n)
{
	uint64_t from, to;
	double seconds;

	wait_filter_window(f, &from, &to);
	from = from > timelines_start_ns(in->timelines) ? from : timelines_start_ns(in->timelines);
	to = to < timelines_end_ns(in->timelines) ? to : timelines_end_ns(in->timelines);
	seconds = to > from ? (double)(to - from) / 1e9 : 0;
	return xasprintf("%.1f", seconds > 0 ? (double)n / seconds : 0.0);
}

void request_put_left_out(FILE *out, const struct format_input *in)
{
	uint64_t n = trace_info(in->trace)->left_out[CHAINLOG_LEFT_REQUESTS];

	if (n)
		fprintf(out, "(%" PRIu64 " more requests were not recorded: they came too fast)\n",
			n);
}

/* A time since the trace's start, in seconds to the microsecond. */
static void put_since_start(FILE *out, uint64_t us)
{
	fprintf(out, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
}

/* An extended regular expression for an endpoint's name, as a word of a shell's command. */
static void put_expression(FILE *out, const char *name)
{
	struct text_buf b = { 0 };

	text_puts(&b, "^");
	for (; *name; name++) {
		if (strchr(".[]{}()*+?^$|\\", *name))
			text_puts(&b, "\\");
		text_put(&b, name, 1);
	}
	text_puts(&b, "$");
	command_put_word(out, b.p);
	text_free(&b);
}

void request_put_example(FILE *out, const struct format_input *in, const struct chosen_wait *p)
{
	const struct request *q = timelines_request_of(in->timelines, p->wait);
	uint64_t start_ns = timelines_start_ns(in->timelines);
	uint32_t n;
	const struct request_endpoint *e = &timelines_endpoints(in->timelines, &n)[q->endpoint];

	fputs("chainwalk -f tree --request ", out);
	put_expression(out, trace_string(in->trace, e->name));
	/* Rounded outwards, so that the request is in it whole. */
	fputs(" --from ", out);
	put_since_start(out, (q->arrival_ns - start_ns) / 1000);
	fputs(" --to ", out);
	put_since_start(out, (q->answer_ns - start_ns) / 1000 + 1);
	/* Others that are in it whole may be much longer. */
	fprintf(out, " --request-min %" PRIu64 "us --max-wait %" PRIu64 "us",
		request_took_ns(p) / 1000, request_took_ns(p) / 1000 + 1);
	if (in->path) {
		putc(' ', out);
		command_put_word(out, in->path);
	}
}

/* ---- the table of endpoints ----------------------------------------------------------------- */

static void put_count(struct text_buf *b, uint64_t n, const char *what)
{
	char text[24];

	if (!n)
		return;
	snprintf(text, sizeof(text), "%s%" PRIu64 " ", b->len ? ", " : "", n);
	text_puts(b, text);
	text_puts(b, what);
}

/* In words; to be freed. */
static struct text_buf counts_text(const struct request_counts *c)
{
	struct text_buf b = { 0 };

	put_count(&b, c->open, "open");
	put_count(&b, c->before, "from before the recording");
	put_count(&b, c->incomplete, "incomplete");
	put_count(&b, c->pipelined, "pipelined");
	put_count(&b, c->several, "of several writes");
	put_count(&b, c->unsent, "not sent at once");
	put_count(&b, c->old, "on older connections");
	return b;
}

/* A time that requests took; not known if there are none. */
static struct cell took_cell(const struct endpoint_requests *e, uint64_t ns)
{
	return e->all.n ? cell_time(ns) : cell_none("-");
}

static struct cell percentile_cell(const struct endpoint_requests *e, unsigned int permille)
{
	return took_cell(e, e->all.n ? requests_percentile(e->all, permille) : 0);
}

static void put_endpoint(struct writer *w, struct table *t, const struct endpoint_requests *e,
			 const char *title)
{
	const struct request_counts *c = &e->counts;
	uint64_t all = requests_count(e->all);
	char *rate = request_rate(w->in, w->filter, all);
	struct text_buf counts = counts_text(c), service = { 0 }, route = { 0 };

	request_service_put(&service, &route, w->in, e);
	TABLE_ROW(t, cell_text(w->in->options->json ? title : service.p),
		  route.len ? cell_text(route.p) : cell_none("-"), cell_text(service.p),
		  cell_number(all), cell_decimal(rate), took_cell(e, all ? e->total_ns / all : 0),
		  percentile_cell(e, 500), percentile_cell(e, 900), percentile_cell(e, 990),
		  percentile_cell(e, 999), percentile_cell(e, 1000),
		  cell_text(counts.len ? counts.p : ""), cell_number(c->open),
		  cell_number(c->before), cell_number(c->incomplete), cell_number(c->pipelined),
		  cell_number(c->several), cell_number(c->unsent), cell_number(c->old));
	text_free(&counts);
	text_free(&service);
	text_free(&route);
	free(rate);
}

static void put_endpoints(struct writer *w, const struct endpoint_requests *at, size_t n,
			  struct text_buf *titles)
{
	struct column columns[] = {
		{ .title = "ENDPOINT", .width = -16 },
		{ .width = -6, .key = "route" },
		{ .key = "service" },
		{ .title = "REQUESTS", .width = 9 },
		{ .title = "PER SECOND", .width = 11, .drop = 4 },
		{ .title = "MEAN", .width = 10, .drop = 3, .key = "mean_ns" },
		{ .title = "P50", .width = 10, .key = "p50_ns" },
		{ .title = "P90", .width = 10, .drop = 2, .key = "p90_ns" },
		{ .title = "P99", .width = 10, .key = "p99_ns" },
		{ .title = "P99.9", .width = 10, .drop = 1, .key = "p99_9_ns" },
		{ .title = "LONGEST", .width = 10, .key = "longest_ns" },
		{ .title = "MARKS", .apart = true, .drop = 5, .key = "" },
		{ .key = "open" },
		{ .key = "from_before_the_recording" },
		{ .key = "incomplete" },
		{ .key = "pipelined" },
		{ .key = "of_several_writes" },
		{ .key = "not_sent_at_once" },
		{ .key = "on_older_connections" },
	};
	struct table t = TABLE(w->out, w->in, columns);
	size_t shown = w->on_screen && n > SCREEN_ENDPOINTS ? SCREEN_ENDPOINTS : n;

	for (size_t i = 0; i < shown; i++)
		if (at[i].endpoint->route)
			columns[1].title = "ROUTE";
	t.kind = "endpoints";
	for (size_t i = 0; i < shown; i++)
		put_endpoint(w, &t, &at[i], titles[i].p);
	if (shown < n)
		table_end(&t, "times in %s; --wide shows all %zu endpoints",
			  format_time_unit(w->in->options), n);
	else
		table_end(&t, "times in %s", format_time_unit(w->in->options));
	if (!w->in->options->json)
		request_put_left_out(w->out, w->in);
}

/* ---- where the time went -------------------------------------------------------------------- */

static const char *const kind_names[] = {
	[REQUEST_QUEUED] = "queued", [REQUEST_RAN] = "ran",	 [REQUEST_BLOCKED] = "blocked",
	[REQUEST_NO_CPU] = "no_cpu", [REQUEST_LOST] = "unknown",
};

#define TIME_COLUMNS (2 * GROUPS + 2)

/* A row of times and what the threads did; kind: in a word, NULL: of several. */
static void put_time_row(struct table *t, const char *kind, const char *what, const uint64_t *ns,
			 const uint64_t *of_ns)
{
	char shares[GROUPS][16];
	struct cell cells[TIME_COLUMNS];
	size_t n = 0;

	for (size_t i = 0; i < GROUPS; i++) {
		snprintf(shares[i], sizeof(shares[i]), "%.1f %%",
			 of_ns[i] ? 100 * (double)ns[i] / (double)of_ns[i] : 0.0);
		cells[n++] = cell_time(ns[i]);
		cells[n++] = cell_text(shares[i]);
	}
	cells[n++] = cell_text(what);
	cells[n++] = kind ? cell_text(kind) : cell_none("");
	(kind ? table_row : table_sum_row)(t, cells, n);
}

/* Unless --top says how many: whether the row has one percent of a group's time. */
static bool is_shown(const struct writer *w, const struct request_time *r, size_t i,
		     const uint64_t *all_ns)
{
	const struct options *o = w->in->options;
	bool shown = o->top ? i < o->top : o->json;

	for (size_t k = 0; k < GROUPS && !o->top; k++)
		shown |= r->ns[k] && r->ns[k] >= all_ns[k] / 100;
	return shown;
}

static void put_times(struct writer *w, struct table *t, const uint64_t *all_ns)
{
	bool others = false;
	uint64_t other[GROUPS] = { 0 };
	size_t n, left = w->on_screen ? screen_rows(w->in->options) : SIZE_MAX;
	const struct request_time *rows = request_times_list(w->times, &n);

	for (size_t i = 0; i < n; i++) {
		struct text_buf b = { 0 };

		if (!left || !is_shown(w, &rows[i], i, all_ns)) {
			for (size_t k = 0; k < GROUPS; k++)
				other[k] += rows[i].ns[k];
			others = true;
			continue;
		}
		left--;
		request_time_put(&b, w->names, &rows[i]);
		put_time_row(t, kind_names[rows[i].kind], b.p, rows[i].ns, all_ns);
		text_free(&b);
	}
	if (others)
		put_time_row(t, NULL, CHAIN_OTHER, other, all_ns);
	put_time_row(t, NULL, "all of it", all_ns, all_ns);
}

static void put_where(struct writer *w, const struct endpoint_requests *e, const char *title)
{
	const struct requests_taken groups[GROUPS] = {
		e->all,
		requests_median(e->all),
		requests_slowest(e->all),
	};
	static const char *const names[] = { "ALL", "MIDDLE", "SLOWEST" };
	char counted[GROUPS][32];
	const struct column columns[TIME_COLUMNS] = {
		{ .title = counted[0], .width = 14, .drop = 1, .key = "all_ns" },
		{ .title = w->on_screen ? names[0] : "", .width = 7, .key = "" },
		{ .title = counted[1], .width = 13, .drop = 3, .key = "median_ns" },
		{ .title = w->on_screen ? names[1] : "", .width = 7, .key = "" },
		{ .title = counted[2], .width = 13, .drop = 2, .key = "slowest_ns" },
		{ .title = w->on_screen ? names[2] : "", .width = 7, .key = "" },
		{ .title = "WHAT", .apart = true },
		{ .key = "kind" },
	};
	struct table t = TABLE(w->out, w->in, columns);
	uint64_t all_ns[GROUPS];

	request_times_explain(w->times, groups, GROUPS);
	t.kind = "time";
	t.endpoint = title;
	t.text_width = WHAT_WIDTH;
	for (size_t i = 0; i < GROUPS; i++) {
		all_ns[i] = requests_shown_ns(groups[i]);
		snprintf(counted[i], sizeof(counted[i]), "%" PRIu64 " %s",
			 requests_count(groups[i]), names[i]);
	}
	if (!w->in->options->json)
		fprintf(w->out, "\n%s: where the time went\n", title);
	put_times(w, &t, all_ns);
	table_end(&t, NULL);
}

/* ---- the slowest ---------------------------------------------------------------------------- */

static void put_thread(struct text_buf *b, const struct timelines *tl, uint32_t thread,
		       uint64_t at_ns)
{
	char id[16];

	if (thread == THREAD_NONE) {
		text_puts(b, "not known");
		return;
	}
	names_put(b, trace_string(timelines_trace(tl), timelines_name(tl, thread, at_ns)));
	snprintf(id, sizeof(id), "/%" PRIu32, timelines_thread(tl, thread)->tid);
	text_puts(b, id);
}

static const struct request *request_of(const struct writer *w, const struct chosen_wait *p)
{
	return timelines_request_of(w->in->timelines, p->wait);
}

static void put_label(struct text_buf *b, const struct trace *t, uint32_t label)
{
	const struct trace_object *o = trace_object(t, label);

	if (o)
		names_put(b, trace_string(t, o->name));
}

static void put_request(struct writer *w, struct table *t, const struct chosen_wait *p)
{
	const struct timelines *tl = w->in->timelines;
	const struct request *q = request_of(w, p);
	uint64_t since_ns = q->arrival_ns - timelines_start_ns(tl), since_us = since_ns / 1000;
	struct cell over = cell_time(request_over_ns(tl, w->median_ns, q));
	struct text_buf reader = { 0 }, writer = { 0 }, label = { 0 };
	char at[48], trace[TRACE_ID_SIZE];

	trace_id_text(trace, timelines_context(tl, q));
	snprintf(at, sizeof(at), "%" PRIu64 ".%06" PRIu64, since_us / 1000000, since_us % 1000000);
	put_thread(&reader, tl, q->reader, q->taken_ns);
	put_thread(&writer, tl, q->writer, q->answer_ns);
	put_label(&label, timelines_trace(tl), q->label);
	if (q->flags & REQUEST_PROBED)
		TABLE_ROW(t, cell_text(at), cell_number(since_ns), cell_time(request_took_ns(p)),
			  over, cell_text(reader.p), cell_text(writer.p),
			  label.p ? cell_text(label.p) : cell_none(""));
	else {
		table_row(t,
			  (const struct cell[]) { cell_text(at), cell_number(since_ns),
						  cell_time(request_took_ns(p)), over,
						  cell_time(q->taken_ns - q->arrival_ns),
						  cell_number(q->connection), cell_text(reader.p),
						  cell_text(writer.p),
						  *trace ? cell_text(trace) : cell_none("") },
			  t->n);
	}
	text_free(&reader);
	text_free(&writer);
	text_free(&label);
}

/* Whether the program publishes them. */
static bool has_trace_ids(const struct writer *w, const struct endpoint_requests *e)
{
	char trace[TRACE_ID_SIZE];

	for (size_t i = 0; i < e->all.n; i++)
		if (*trace_id_text(trace, timelines_context(w->in->timelines,
							    request_of(w, &e->all.at[i]))))
			return true;
	return false;
}

/* One of the slowest. */
static const struct chosen_wait *typical_of(const struct endpoint_requests *e)
{
	struct requests_taken slowest = requests_slowest(e->all);

	return slowest.at + (slowest.n - 1) / 2;
}

static void put_typical(struct writer *w, const struct endpoint_requests *e)
{
	request_put_example(w->out, w->in, typical_of(e));
	putc('\n', w->out);
}

/* What one of them waited for, step by step. */
static void put_story(struct writer *w, const struct endpoint_requests *e)
{
	const struct options *o = w->in->options;
	struct paragraph p;

	paragraph_begin(&p);
	p.columns = o->columns ? paragraph_columns(o->columns) : SIZE_MAX;
	w->text.out = p.f;
	request_story_put(&w->text, typical_of(e), false);
	w->text.out = w->out;
	paragraph_end_lines(&p, w->out);
}

static void put_slowest(struct writer *w, const struct endpoint_requests *e, const char *title)
{
	/* Without a route the median is that of the endpoint, which stands above. */
	const char *over = e->endpoint->route ? "OVER" : NULL;
	const struct column columns[] = {
		{ .title = "ARRIVED (s)", .width = 14, .key = "" },
		{ .key = "arrived_ns" },
		{ .title = "TOOK", .width = 10 },
		{ .title = over, .width = 10, .drop = 3, .key = "over_ns" },
		{ .title = "QUEUED", .width = 10 },
		{ .title = "CONNECTION", .width = 11, .drop = 1 },
		{ .title = "READ BY", .width = -22, .apart = true },
		{ .title = "ANSWERED BY", .apart = true },
	};
	const struct column of_traced[] = {
		{ .title = "ARRIVED (s)", .width = 14, .key = "" },
		{ .key = "arrived_ns" },
		{ .title = "TOOK", .width = 10 },
		{ .title = over, .width = 10, .drop = 3, .key = "over_ns" },
		{ .title = "QUEUED", .width = 10 },
		{ .title = "CONNECTION", .width = 11, .drop = 2 },
		{ .title = "READ BY", .width = -22, .apart = true, .drop = 1 },
		{ .title = "ANSWERED BY", .width = -22, .apart = true },
		{ .title = "TRACE", .apart = true, .key = "trace_id" },
	};
	const struct column of_probed[] = {
		{ .title = "BEGAN (s)", .width = 14, .key = "" },
		{ .key = "began_ns" },
		{ .title = "TOOK", .width = 10 },
		{ .title = over, .width = 10, .drop = 3, .key = "over_ns" },
		{ .title = "BEGAN ON", .width = -22, .apart = true },
		{ .title = "ENDED ON", .width = -22, .apart = true },
		{ .title = "LABEL", .apart = true },
	};
	bool probed = request_of(w, &e->all.at[0])->flags & REQUEST_PROBED;
	struct table at_socket = TABLE(w->out, w->in, columns);
	struct table marked = TABLE(w->out, w->in, of_probed);
	struct table with_ids = TABLE(w->out, w->in, of_traced);
	struct table t = probed ? marked : has_trace_ids(w, e) ? with_ids : at_socket;
	const struct options *o = w->in->options;
	uint64_t most = o->top ? o->top : SLOWEST_SHOWN;

	t.kind = "slowest";
	t.endpoint = title;
	if (!o->json)
		fputs("\nthe slowest:\n", w->out);
	for (size_t i = 0; i < e->all.n && i < most; i++)
		put_request(w, &t, &e->all.at[e->all.n - 1 - i]);
	table_end(&t, NULL);
	if (o->json)
		return;
	fputs("\none of them: ", w->out);
	put_typical(w, e);
	put_story(w, e);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void put_all(struct writer *w)
{
	size_t n;
	const struct endpoint_requests *at = request_table_list(w->table, &n);
	struct text_buf *titles = xcalloc(n + 1, sizeof(*titles));

	for (size_t i = 0; i < n; i++)
		request_endpoint_put(&titles[i], w->in, &at[i]);
	if (!n && !w->in->options->json)
		fputs("no requests\n", w->out);
	if (n)
		put_endpoints(w, at, n, titles);
	for (size_t i = 0; i < n; i++) {
		if (!at[i].all.n)
			continue;
		put_where(w, &at[i], titles[i].p);
		if (w->on_screen) {
			fputs("one of the slowest: ", w->out);
			put_typical(w, &at[i]);
			break;
		}
		put_slowest(w, &at[i], titles[i].p);
	}
	for (size_t i = 0; i < n; i++)
		text_free(&titles[i]);
	free(titles);
}

static int write_requests(const struct format_input *in, FILE *out)
{
	struct options o = *in->options;
	struct cpu_holders *cpu_holders = NULL;
	struct writer w = {
		.in = in,
		.out = out,
		.on_screen = in->options->lines && !in->options->top && !in->options->json,
	};

	o.requests = o.fold_repeats = o.blocked_stacks = true;
	names_new(&w.names, in->timelines, &o);
	wait_filter_new(&w.filter, in->timelines, &o, w.names);
	chain_text_init(&w.text, out, in->timelines, &o, w.names);
	request_table_new(&w.table, in->timelines, &o, w.filter);
	w.median_ns = request_medians(in->timelines, &o);
	cpu_holders_new(&cpu_holders, in->timelines, true);
	request_times_new(&w.times, in->timelines, in->options, w.names, cpu_holders);
	put_all(&w);
	free(w.median_ns);
	request_times_free(w.times);
	cpu_holders_free(cpu_holders);
	request_table_free(w.table);
	chain_text_free(&w.text);
	wait_filter_free(w.filter);
	names_free(w.names);
	return 0;
}

const struct format format_requests = {
	.name = "requests",
	.summary = "how long requests took at each endpoint, and where their time went",
	.wants_timelines = true,
	.wants_cpus = true,
	.blocked_only = true,
	.several = SEVERAL_HEADED,
	.takes = GIVEN_OF_THREADS | GIVEN_NATIVE | GIVEN_NO_KTHREADS | GIVEN_ENDED | GIVEN_WAIT |
		 GIVEN_REQUESTS | GIVEN_OF_TABLES,
	.write = write_requests,
};
