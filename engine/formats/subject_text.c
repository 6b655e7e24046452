// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "subject_text.h"
#include "chain_lines.h"
#include "command_word.h"
#include "format_requests.h"
#include "named_steps.h"
#include "paragraph.h"
#include "style.h"
#include "verdict.h"
#include "format.h"
#include "base/compare.h"
#include "row_sums.h"
#include "select/top_waits.h"
#include "select/wait_nature.h"
#include "words/waited_for.h"
#include "common/xalloc.h"

/* ---- waits for servers ----------------------------------------------------------------------- */

/*
 * The first screen of a client: for which servers the chosen threads waited, and
 * how long for each answer. Lines of 80 columns.
 */

#define SERVERS_SHOWN 3
/* Servers for which all waits took less than a hundredth of the time shown are left out. */
#define LEAST_OF_TIME 100

struct server {
	uint32_t name;	 /* text: "tcp 10.0.0.5:5432 postgres/811" */
	uint32_t number; /* of the row to which its lengths were added */
	struct wait_sums sums;
	struct row_percentiles lengths;
};

struct servers {
	const struct timelines *timelines;
	struct names *names;
	struct pair_table named; /* uint32_t: the name of (object, 0); 0: not made yet */
	struct pair_table rows;	 /* struct server, by (text, 0) */
	struct row_lengths lengths;
};

/* The socket's name, also that of a poll() of one. */
static uint32_t make_name(struct servers *s, uint32_t object)
{
	uint32_t words = words_of_object(s->names, object);
	const char *text = names_text(s->names, words);

	if (strncmp(text, "poll ", 5))
		return words;
	/* The text moves when another one is made. */
	text = xstrdup(text + 5);
	words = names_adopt(s->names, text);
	free((char *)text);
	return words;
}

static uint32_t server_name(struct servers *s, uint32_t object)
{
	uint32_t *name = pair_table_at(&s->named, object, 0, sizeof(*name));

	if (!*name)
		*name = make_name(s, object);
	return *name;
}

static bool add_wait(void *arg, const struct chosen_wait *p)
{
	struct servers *s = arg;
	uint64_t ns = p->shown.blocked_to_ns - p->shown.blocked_from_ns;
	uint32_t name = server_name(s, wait_message_object(s->timelines, p->wait->stack));
	struct server *row = pair_table_at(&s->rows, name, 0, sizeof(*row));

	row->name = name;
	row->number = (uint32_t)(row - (struct server *)s->rows.at) - 1;
	wait_sums_count(&row->sums, ns);
	row_lengths_add(&s->lengths, row->number, ns);
	return true;
}

static int most_time_first(const void *pa, const void *pb, void *names)
{
	const struct server *a = pa, *b = pb;

	if (a->sums.total_ns != b->sums.total_ns)
		return compare_numbers(b->sums.total_ns, a->sums.total_ns);
	return strcmp(names_text(names, a->name), names_text(names, b->name));
}

static void put_time(FILE *f, const char *before, uint64_t ns)
{
	char text[TEXT_MS_SIZE];

	fprintf(f, "%s%s ms", before, text_ms(text, ns));
}

static void put_server(FILE *out, const struct servers *s, const struct server *row,
		       const struct options *o)
{
	struct paragraph p;

	paragraph_begin(&p);
	p.columns = paragraph_columns(o->columns);
	fputs("waited for ", p.f);
	style_name(p.f, o->color, names_text(s->names, row->name));
	fprintf(p.f, ": %" PRIu64 " time%s", row->sums.waits, row->sums.waits == 1 ? "" : "s");
	put_time(p.f, ", p50 ", row->lengths.p50_ns);
	put_time(p.f, ", p99 ", row->lengths.p99_ns);
	put_time(p.f, ", longest ", row->sums.longest_ns);
	put_time(p.f, ", in all ", row->sums.total_ns);
	paragraph_end(&p, out, 2);
}

/* Sets the lengths of the first rows, once they are sorted; those of others are dropped. */
static void find_lengths(struct servers *s, struct server *rows, uint32_t n, uint32_t shown)
{
	struct row_lengths *l = &s->lengths;
	uint32_t *place =
		xcalloc((size_t)n + 1, sizeof(*place)); /* by number; 0: it is not shown */
	size_t kept = 0;

	for (uint32_t i = 0; i < shown; i++)
		place[rows[i].number] = i + 1;
	for (size_t i = 0; i < l->n; i++)
		if (place[l->at[i].row])
			l->at[kept++] =
				(struct row_length) { place[l->at[i].row] - 1, l->at[i].ns };
	l->n = kept;
	row_lengths_percentiles(l, rows, sizeof(*rows), offsetof(struct server, lengths));
	free(place);
}

static void put_all(FILE *out, struct servers *s, const struct format_input *in,
		    const struct wait_filter *f)
{
	char what[64];
	struct server *rows = s->rows.keys.n ? (struct server *)s->rows.at + 1 : NULL;
	uint32_t n = s->rows.keys.n, shown = 0;
	uint64_t from_ns, to_ns;

	wait_filter_window(f, &from_ns, &to_ns);
	from_ns =
		clip_ns(from_ns, timelines_start_ns(s->timelines), timelines_end_ns(s->timelines));
	to_ns = clip_ns(to_ns, from_ns, timelines_end_ns(s->timelines));
	if (n)
		qsort_r(rows, n, sizeof(*rows), most_time_first, s->names);
	find_lengths(s, rows, n, n < SERVERS_SHOWN ? n : SERVERS_SHOWN);
	for (; shown < n && shown < SERVERS_SHOWN; shown++) {
		if (rows[shown].sums.total_ns < (to_ns - from_ns) / LEAST_OF_TIME)
			break;
		put_server(out, s, &rows[shown], in->options);
	}
	if (!shown)
		return;
	snprintf(what, sizeof(what), "%" PRIu32 " of %" PRIu32 " servers; ", shown, n);
	command_put_next(out, what, "more: chainwalk -f objects", in->path,
			 in->options->wide ? 0 : paragraph_columns(in->options->columns));
	putc('\n', out);
}

/* The stack pairs of waits for messages; NULL: there are none. To be freed. */
static uint8_t *mark_messages(const struct timelines *tl)
{
	uint32_t n = timelines_pairs_end(tl), found = 0;
	uint8_t *marked = xcalloc(n, sizeof(*marked));

	for (uint32_t i = 1; i < n; i++) {
		marked[i] = wait_message_object(tl, i) != 0;
		found += marked[i];
	}
	if (found)
		return marked;
	free(marked);
	return NULL;
}

/* Writes nothing if it waited for none, or hardly. */
static void server_waits_put(FILE *out, const struct format_input *in, const struct subjects *of)
{
	struct servers s = { .timelines = in->timelines, .names = of->names };
	struct options o = *in->options;
	struct wait_filter *f = NULL;
	uint8_t *marked = mark_messages(in->timelines);

	if (!marked)
		return;
	/* Who waits for the next question is no client. */
	o.no_idle = true;
	o.parts = PART_BLOCKED;
	wait_filter_like(&f, of->like, &o, s.names);
	top_waits_walk_marked(in->timelines, f, marked, add_wait, &s);
	put_all(out, &s, in, f);
	free(marked);
	free(s.lengths.at);
	pair_table_free(&s.rows);
	pair_table_free(&s.named);
	wait_filter_free(f);
}

#define LINES_SHOWN 6 /* of each one's chain */
/* The CPUs are what a command waits for if it keeps so much of them busy, in percent, */
#define ALL_BUSY 90
/* and if others have them, where its path is without one for one of so many parts of its time. */
#define WITHOUT_CPU 2
/* What is slow is told from the usual one if it takes so many times as long. */
#define SLOW_TIMES 3

/* ---- sentences ------------------------------------------------------------------------------- */

static void put_ms(FILE *f, const char *what, uint64_t ns)
{
	char text[TEXT_MS_SIZE];

	text_ms(text, ns);
	fputs(what, f);
	for (const char *s = text; *s; s++) /* a number is one word */
		if (*s != ' ')
			putc(*s, f);
	fputs(" ms", f);
}

/* Of a command, or of what the user named. */
static void put_path(FILE *out, const struct format_input *in, const struct subjects *s,
		     const struct subject *of)
{
	uint32_t cpus = trace_info(in->trace)->cpus;
	double all = of->cpus_busy + of->others_cpus;
	uint64_t from_ns = of->from_ns - timelines_start_ns(in->timelines);

	style_name(out, in->options->color, names_text(s->names, of->name));
	fprintf(out, " took %.3f s", (double)of->took_ns / 1e9);
	if (!of->began || !of->ended)
		fprintf(out, " (from %.3f to %.3f s)", (double)from_ns / 1e9,
			(double)(from_ns + of->took_ns) / 1e9);
	fprintf(out, " with %.1f of %u CPU%s busy", of->cpus_busy, cpus, cpus == 1 ? "" : "s");
	if (100 * of->cpus_busy >= ALL_BUSY * cpus)
		fputs(": the CPUs are what it waits for.", out);
	else if (100 * all < ALL_BUSY * cpus || WITHOUT_CPU * of->no_cpu_ns < of->took_ns)
		verdict_put(out, of->steps, s->names, in->options->color, true);
	else
		fprintf(out, ": the CPUs are what it waits for, of which other programs had %.1f.",
			of->others_cpus);
}

static void put_waiter(FILE *out, const struct format_input *in, const struct subjects *s,
		       const struct subject *of)
{
	style_name(out, in->options->color, names_text(s->names, of->name));
	fprintf(out, " waited for others for %.3f of %.3f s", (double)of->took_ns / 1e9,
		(double)of->of_ns / 1e9);
	verdict_put(out, of->steps, s->names, in->options->color, true);
}

/* "Requests to tcp :80 nginx/900 ", "First requests of connections to ...". */
static void put_endpoint_name(FILE *out, const struct format_input *in, const struct subjects *s,
			      const struct subject *of)
{
	const char *name = names_text(s->names, of->name), *first = NULL;

	if (of->requests->endpoint->first)
		first = strstr(name, " first");
	fputs(first ? "First requests of connections to " : "Requests to ", out);
	style_begin_name(out, in->options->color);
	fprintf(out, "%.*s%s", (int)(first ? first - name : 0), name,
		first ? first + strlen(" first") : name);
	style_stop(out, in->options->color);
	putc(' ', out);
}

/* "Requests to tcp :80 nginx/900 are slow because ...". */
static void put_endpoint(FILE *out, const struct format_input *in, const struct subjects *s,
			 const struct subject *of)
{
	struct requests_taken all = of->requests->all;
	uint64_t usual_ns = requests_percentile(all, 500);

	put_endpoint_name(out, in, s, of);
	if (!of->steps) {
		fputs("hardly take any time.", out);
		return;
	}
	if (requests_percentile(all, 990) >= SLOW_TIMES * usual_ns)
		fputs("are sometimes slow", out);
	else
		put_ms(out, "take ", usual_ns);
	verdict_put(out, of->steps, s->names, in->options->color, false);
}

void subject_put_verdict(FILE *out, const struct format_input *in, const struct subjects *s,
			 const struct subject *of)
{
	switch (of->kind) {
	case SUBJECT_COMMAND:
	case SUBJECT_NAMED:
		put_path(out, in, s, of);
		break;
	case SUBJECT_WAITER:
		put_waiter(out, in, s, of);
		break;
	case SUBJECT_ENDPOINT:
		put_endpoint(out, in, s, of);
		break;
	}
}

/* ---- one of them ----------------------------------------------------------------------------- */

/* How long requests took. */
static void put_figures(FILE *out, const struct format_input *in, const struct subjects *s,
			const struct subject *of)
{
	struct requests_taken all = of->requests->all, slowest = of->slowest;
	uint64_t count = requests_count(all);
	char *rate = request_rate(in, s->filter, count);
	struct paragraph p;

	paragraph_begin(&p);
	p.columns = paragraph_columns(in->options->columns);
	fprintf(p.f, "%" PRIu64 " request%s", count, count == 1 ? "" : "s");
	if (of->service)
		fprintf(p.f, " of %zu routes", of->service->n_routes);
	fprintf(p.f, " (%s/s)", rate);
	put_ms(p.f, ", median ", requests_percentile(all, 500));
	if (slowest.n > 1)
		fprintf(p.f, ", slowest %zu%s", slowest.n, of->service ? " for their route" : "");
	put_ms(p.f, slowest.n > 1 ? ": " : ", slowest: ", request_took_ns(&slowest.at[0]));
	if (slowest.n > 1)
		put_ms(p.f, " to ", request_took_ns(&slowest.at[slowest.n - 1]));
	free(rate);
	paragraph_end(&p, out, 2);
}

/* The routes of a service, by what the slowest requests took beyond the median of their route,
 * their delay. */
static void put_routes(FILE *out, const struct format_input *in, const struct service *s)
{
	const struct trace *t = in->trace;

	for (size_t i = 0; i < s->n_routes && i < SERVICE_ROUTES_SHOWN; i++) {
		const struct service_route *r = &s->routes[i];
		const struct trace_object *route = trace_object(t, r->requests->endpoint->route);
		struct paragraph p;

		if (i && !r->over_ns)
			break;
		paragraph_begin(&p);
		p.columns = paragraph_columns(in->options->columns);
		fprintf(p.f, "%5zu ", r->slow);
		style_name(p.f, in->options->color,
			   route ? trace_string(t, route->name) : "(no route)");
		fprintf(p.f, " of %" PRIu64 ", %.0f %% of the delay;",
			requests_count(r->requests->all),
			s->over_ns ? 100 * (double)r->over_ns / (double)s->over_ns : 0.0);
		put_ms(p.f, " median ", requests_percentile(r->requests->all, 500));
		put_ms(p.f, ", p99 ", requests_percentile(r->requests->all, 990));
		paragraph_end(&p, out, 4);
	}
}

/* With at most so many lines of its chain; 0: nor with its longest steps. */
static void put_subject(FILE *out, const struct format_input *in, const struct subjects *s,
			const struct subject *of, size_t chain)
{
	struct named_steps steps;
	struct paragraph p;

	paragraph_begin(&p);
	p.columns = paragraph_columns(in->options->columns);
	p.plain = !in->options->wide;
	subject_put_verdict(p.f, in, s, of);
	paragraph_end(&p, out, 2);
	if (of->requests)
		put_figures(out, in, s, of);
	if (of->service)
		put_routes(out, in, of->service);
	if (!chain)
		return;
	if (of->steps)
		chain_lines_put(out, of->steps, s->names, in->options, chain);
	if (!of->processes.n)
		return;
	named_steps_find(&steps, &of->processes, in->timelines, s->names);
	named_steps_put(out, &steps, paragraph_columns(in->options->columns));
	named_steps_free(&steps);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void put_rest(FILE *out, const struct format_input *in, const struct subjects *s,
		     size_t shown)
{
	char what[64];

	request_put_left_out(out, in);
	snprintf(what, sizeof(what), "%zu of %zu endpoints; ", shown, s->n_endpoints);
	command_put_next(out, what, "more: chainwalk -f requests", in->path,
			 in->options->wide ? 0 : paragraph_columns(in->options->columns));
	putc('\n', out);
}

/* A subject as it is written, with so many lines of its chain. */
struct subject_lines {
	char *text;
	size_t n;
};

static void subject_lines_make(struct subject_lines *l, const struct format_input *in,
			       const struct subjects *s, const struct subject *of, size_t chain)
{
	size_t len;
	FILE *memory;

	free(l->text);
	l->text = NULL;
	memory = xmemstream(&l->text, &len);
	put_subject(memory, in, s, of, chain);
	xmemstream_close(memory, &l->text);
	l->n = paragraph_lines(l->text, paragraph_columns(in->options->columns));
}

/* A command's chain is shortened for its requests, which say more, so that both fit into most. */
static void make_command(struct subject_lines *l, const struct format_input *in,
			 const struct subjects *s, size_t most)
{
	struct subject_lines requests = { NULL, 0 };
	size_t chain = LINES_SHOWN;

	subject_lines_make(&requests, in, s, &s->at[1], LINES_SHOWN);
	for (;; chain--) {
		subject_lines_make(l, in, s, &s->at[0], chain);
		if (!chain || l->n + 1 + requests.n <= most)
			break;
	}
	free(requests.text);
}

void subjects_put(FILE *out, const struct format_input *in, const struct subjects *s, size_t most)
{
	struct subject_lines l = { NULL, 0 };
	size_t endpoints = 0, lines = 0;

	most = most ? most : SIZE_MAX;
	for (size_t i = 0; i < s->n; i++) {
		bool is_endpoint = s->at[i].kind == SUBJECT_ENDPOINT;

		if (!i && !is_endpoint && s->n > 1 && s->at[1].kind == SUBJECT_ENDPOINT)
			make_command(&l, in, s, most);
		else
			subject_lines_make(&l, in, s, &s->at[i], LINES_SHOWN);
		if (is_endpoint && !endpoints && i) {
			putc('\n', out);
			lines++;
		}
		lines += l.n;
		if (endpoints && lines > most)
			break;
		fputs(l.text, out);
		endpoints += is_endpoint;
	}
	free(l.text);
	if (endpoints)
		put_rest(out, in, s, endpoints);
	else if (s->n)
		putc('\n', out);
	/* Who answers none may be a client. */
	if (!endpoints && s->wants_endpoints && subjects_chosen(in->options))
		server_waits_put(out, in, s);
}
