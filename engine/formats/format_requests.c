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
#include "request_story.h"
#include "request_time.h"
#include "table.h"

#define TITLE_WIDTH_MAX 64
#define SLOWEST_SHOWN 5

struct writer {
	const struct format_input *in;
	FILE *out;
	struct names *names;
	struct wait_filter *filter;
	struct request_table *table;
	struct chain_text text;
	bool out_of_memory;
};

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

char *request_rate(const struct format_input *in, const struct wait_filter *f, size_t n)
{
	uint64_t from, to;
	double seconds;
	char *text;

	wait_filter_window(f, &from, &to);
	from = from > timelines_start_ns(in->timelines) ? from : timelines_start_ns(in->timelines);
	to = to < timelines_end_ns(in->timelines) ? to : timelines_end_ns(in->timelines);
	seconds = to > from ? (double)(to - from) / 1e9 : 0;
	if (asprintf(&text, "%.1f", seconds > 0 ? (double)n / seconds : 0.0) < 0)
		return NULL;
	return text;
}

void request_put_left_out(FILE *out, const struct format_input *in)
{
	uint64_t n = trace_info(in->trace)->untold_requests;

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
	command_put_word(out, b.failed ? "" : b.p);
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

static void put_count(FILE *out, bool *any, uint64_t n, const char *what)
{
	if (!n)
		return;
	fprintf(out, "%s%" PRIu64 " %s", *any ? ", " : "  ", n, what);
	*any = true;
}

static void put_counts(FILE *out, const struct request_counts *c)
{
	bool any = false;

	put_count(out, &any, c->open, "open");
	put_count(out, &any, c->before, "from before the recording");
	put_count(out, &any, c->incomplete, "incomplete");
	put_count(out, &any, c->pipelined, "pipelined");
	put_count(out, &any, c->several, "of several writes");
	put_count(out, &any, c->unsent, "not sent at once");
	put_count(out, &any, c->old, "on older connections");
	putc('\n', out);
}

static void put_endpoint(struct writer *w, const struct table *t, const struct endpoint_requests *e,
			 const char *title)
{
	char *rate = request_rate(w->in, w->filter, e->all.n);

	if (!rate) {
		w->out_of_memory = true;
		return;
	}
	if (e->all.n)
		TABLE_CELLS(t, cell_text(title), cell_number(e->all.n), cell_text(rate),
			    cell_time(e->total_ns / e->all.n),
			    cell_time(requests_percentile(e->all, 500)),
			    cell_time(requests_percentile(e->all, 900)),
			    cell_time(requests_percentile(e->all, 990)),
			    cell_time(requests_percentile(e->all, 999)),
			    cell_time(requests_percentile(e->all, 1000)));
	else
		TABLE_CELLS(t, cell_text(title), cell_number(0), cell_text("0.0"), cell_text("-"),
			    cell_text("-"), cell_text("-"), cell_text("-"), cell_text("-"),
			    cell_text("-"));
	put_counts(w->out, &e->counts);
	free(rate);
}

static void put_endpoints(struct writer *w, const struct endpoint_requests *at, size_t n,
			  struct text_buf *titles)
{
	struct column columns[] = {
		{ "ENDPOINT", 0, false }, { "REQUESTS", 9, false }, { "PER SECOND", 11, false },
		{ "MEAN", 10, false },	  { "P50", 10, false },	    { "P90", 10, false },
		{ "P99", 10, false },	  { "P99.9", 10, false },   { "LONGEST", 10, false },
		{ "MARKS", 0, true },
	};
	struct table t = TABLE(w->out, w->in->options, columns);
	int width = 16;

	for (size_t i = 0; i < n; i++) {
		int len = (int)titles[i].len;

		width = len < TITLE_WIDTH_MAX ? (len > width ? len : width) : TITLE_WIDTH_MAX;
	}
	columns[0].width = -width;
	table_titles(&t);
	for (size_t i = 0; i < n; i++)
		put_endpoint(w, &t, &at[i], titles[i].p);
	fprintf(w->out, "(times in %s)\n", format_time_unit(w->in->options));
	request_put_left_out(w->out, w->in);
}

/* ---- where the time went -------------------------------------------------------------------- */

static void put_kind(struct text_buf *b, const struct names *names, const struct request_time *r)
{
	static const char *const words[][2] = {
		[REQUEST_QUEUED] = { "queued", "queued, while the reader worked " },
		[REQUEST_RAN] = { "ran", "ran " },
		[REQUEST_BLOCKED] = { "blocked", "blocked in " },
		[REQUEST_NO_CPU] = { "no CPU", "no CPU: " },
		[REQUEST_LOST] = { "unknown", "unknown: " },
	};

	char others[32] = "";

	text_puts(b, words[r->kind][*names_text(names, r->text) ? 1 : 0]);
	text_puts(b, names_text(names, r->text));
	text_puts(b, r->what ? " for " : "");
	text_puts(b, names_text(names, r->what));
	if (r->others)
		snprintf(others, sizeof(others), " +%zu", r->others);
	text_puts(b, others);
}

static void put_share(FILE *out, const struct options *o, uint64_t ns, uint64_t of_ns)
{
	char text[TEXT_MS_SIZE];

	fprintf(out, " %13s %5.1f %%", format_time(text, o, ns),
		of_ns ? 100 * (double)ns / (double)of_ns : 0.0);
}

static void put_time_row(struct writer *w, const char *kind, const uint64_t *ns,
			 const uint64_t *of_ns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_share(w->out, w->in->options, ns[i], of_ns[i]);
	fputs("  ", w->out);
	print_clean(w->out, kind);
	putc('\n', w->out);
}

/* Unless --top says how many: whether the row has one percent of a group's time. */
static bool is_shown(const struct writer *w, const struct request_time *r, size_t i,
		     const uint64_t *all_ns)
{
	bool shown = w->in->options->top && i < w->in->options->top;

	for (size_t k = 0; k < REQUEST_GROUPS_MAX && !w->in->options->top; k++)
		shown |= r->ns[k] && r->ns[k] >= all_ns[k] / 100;
	return shown;
}

static void put_times(struct writer *w, const struct request_times *times, const uint64_t *all_ns)
{
	bool others = false;
	uint64_t other[REQUEST_GROUPS_MAX] = { 0 };
	size_t n;
	const struct request_time *rows = request_times_list(times, &n);

	for (size_t i = 0; i < n; i++) {
		struct text_buf b = { 0 };

		if (!is_shown(w, &rows[i], i, all_ns)) {
			for (size_t k = 0; k < REQUEST_GROUPS_MAX; k++)
				other[k] += rows[i].ns[k];
			others = true;
			continue;
		}
		put_kind(&b, w->names, &rows[i]);
		w->out_of_memory |= b.failed;
		put_time_row(w, b.failed ? "" : b.p, rows[i].ns, all_ns, REQUEST_GROUPS_MAX);
		text_free(&b);
	}
	if (others)
		put_time_row(w, CHAIN_OTHER, other, all_ns, REQUEST_GROUPS_MAX);
	put_time_row(w, "all of it", all_ns, all_ns, REQUEST_GROUPS_MAX);
}

static int put_where(struct writer *w, const struct endpoint_requests *e, const char *title)
{
	const struct requests_taken groups[REQUEST_GROUPS_MAX] = {
		e->all,
		requests_median(e->all),
		requests_slowest(e->all),
	};
	static const char *const names[] = { "ALL", "MEDIAN", "SLOWEST" };
	uint64_t all_ns[REQUEST_GROUPS_MAX];
	struct request_times *times;
	int err = request_times_new(&times, w->in->timelines, w->in->options, w->names, groups,
				    REQUEST_GROUPS_MAX);

	if (!err) {
		fprintf(w->out, "\n%s: where the time went\n", title);
		for (size_t i = 0; i < REQUEST_GROUPS_MAX; i++) {
			char text[32];

			all_ns[i] = requests_shown_ns(groups[i]);
			snprintf(text, sizeof(text), "%zu %s", groups[i].n, names[i]);
			fprintf(w->out, " %21s", text);
		}
		putc('\n', w->out);
		put_times(w, times, all_ns);
	}
	request_times_free(times);
	return err;
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
	else
		text_puts(b, "");
}

static void put_request(struct writer *w, const struct table *t, const struct chosen_wait *p)
{
	const struct timelines *tl = w->in->timelines;
	const struct request *q = request_of(w, p);
	uint64_t since_us = (q->arrival_ns - timelines_start_ns(tl)) / 1000;
	struct text_buf reader = { 0 }, writer = { 0 }, label = { 0 };
	char at[48];

	snprintf(at, sizeof(at), "%" PRIu64 ".%06" PRIu64, since_us / 1000000, since_us % 1000000);
	put_thread(&reader, tl, q->reader, q->taken_ns);
	put_thread(&writer, tl, q->writer, q->answer_ns);
	put_label(&label, timelines_trace(tl), q->label);
	w->out_of_memory |= reader.failed || writer.failed || label.failed;
	if (!w->out_of_memory && q->flags & REQUEST_PROBED)
		TABLE_CELLS(t, cell_text(at), cell_time(request_took_ns(p)), cell_text(reader.p),
			    cell_text(writer.p), cell_text(label.p));
	else if (!w->out_of_memory)
		TABLE_CELLS(t, cell_text(at), cell_time(request_took_ns(p)),
			    cell_time(q->taken_ns - q->arrival_ns), cell_number(q->connection),
			    cell_text(reader.p), cell_text(writer.p));
	putc('\n', w->out);
	text_free(&reader);
	text_free(&writer);
	text_free(&label);
}

static void put_slowest(struct writer *w, const struct endpoint_requests *e)
{
	static const struct column columns[] = {
		{ "ARRIVED (s)", 14, false }, { "TOOK", 10, false },	{ "QUEUED", 10, false },
		{ "CONNECTION", 11, false },  { "READ BY", -22, true }, { "ANSWERED BY", 0, true },
	};
	static const struct column of_probed[] = {
		{ "BEGAN (s)", 14, false }, { "TOOK", 10, false }, { "BEGAN ON", -22, true },
		{ "ENDED ON", -22, true },  { "LABEL", 0, true },
	};
	bool probed = request_of(w, &e->all.at[0])->flags & REQUEST_PROBED;
	struct table at_socket = TABLE(w->out, w->in->options, columns);
	struct table marked = TABLE(w->out, w->in->options, of_probed);
	struct table t = probed ? marked : at_socket;
	uint64_t most = w->in->options->top ? w->in->options->top : SLOWEST_SHOWN;
	struct requests_taken slowest = requests_slowest(e->all);
	const struct chosen_wait *typical = &slowest.at[(slowest.n - 1) / 2];

	fputs("\nthe slowest:\n", w->out);
	table_titles(&t);
	for (size_t i = 0; i < e->all.n && i < most; i++)
		put_request(w, &t, &e->all.at[e->all.n - 1 - i]);
	fputs("\none of them: ", w->out);
	request_put_example(w->out, w->in, typical);
	putc('\n', w->out);
	w->out_of_memory |= request_story_put(&w->text, typical, false) == -ENOMEM;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int put_all(struct writer *w)
{
	size_t n;
	const struct endpoint_requests *at = request_table_list(w->table, &n);
	struct text_buf *titles = calloc(n + 1, sizeof(*titles));
	int err = titles ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		request_endpoint_put(&titles[i], w->in, &at[i]);
		err = titles[i].failed ? -ENOMEM : 0;
	}
	if (!err && !n)
		fputs("no requests\n", w->out);
	if (!err && n)
		put_endpoints(w, at, n, titles);
	for (size_t i = 0; i < n && !err; i++) {
		if (!at[i].all.n)
			continue;
		err = put_where(w, &at[i], titles[i].p);
		if (!err)
			put_slowest(w, &at[i]);
	}
	for (size_t i = 0; i < n && titles; i++)
		text_free(&titles[i]);
	free(titles);
	return w->out_of_memory ? -ENOMEM : err;
}

static int write_requests(const struct format_input *in, FILE *out)
{
	struct options o = *in->options;
	struct writer w = { .in = in, .out = out };
	int err;

	o.requests = o.fold_repeats = o.blocked_stacks = true;
	err = names_new(&w.names, in->timelines, &o);
	if (!err)
		err = wait_filter_new(&w.filter, in->timelines, &o, w.names);
	if (!err)
		err = chain_text_init(&w.text, out, in->timelines, &o, w.names);
	if (!err)
		err = request_table_new(&w.table, in->timelines, &o, w.filter);
	if (!err)
		err = put_all(&w);
	request_table_free(w.table);
	chain_text_free(&w.text);
	wait_filter_free(w.filter);
	names_free(w.names);
	return err;
}

const struct format format_requests = {
	.name = "requests",
	.summary = "how long requests took at each endpoint, and where their time went",
	.wants_timelines = true,
	.wants_cpus = true,
	.blocked_only = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_OF_CHAINS | GIVEN_BY_NAME | GIVEN_WITHIN | GIVEN_NO_IDLE | GIVEN_STATE |
		   GIVEN_OF_OBJECTS,
	.write = write_requests,
};
