// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_answer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "common/xalloc.h"
#include "formats/cause_words.h"
#include "formats/chain_lines.h"
#include "formats/named_steps.h"
#include "formats/subject_text.h"
#include "formats/trust.h"
#include "report_cells.h"
#include "report_requests.h"

#define LINES_SHOWN 8 /* of each chain */
#define LEVELS 6      /* that a line is indented, as report.css has them */

struct report_answer {
	struct format_input in; /* in plain text, whatever the options say of the screen */
	struct options options;
	struct subjects subjects;
};

void report_answer_new(struct report_answer **out, const struct report *r,
		       const struct format_input *in)
{
	struct report_answer *a = xcalloc(1, sizeof(*a));

	a->options = *in->options;
	a->options.color = false;
	a->in = *in;
	a->in.options = &a->options;
	subjects_find(&a->subjects, &a->in, r->filter, r->cpu_holders);
	*out = a;
}

const struct subjects *report_answer_subjects(const struct report_answer *a)
{
	return &a->subjects;
}

const struct subject *report_answer_life(const struct report_answer *a)
{
	for (size_t i = 0; i < a->subjects.n; i++) {
		const struct subject *of = &a->subjects.at[i];

		if (of->kind == SUBJECT_COMMAND || of->kind == SUBJECT_NAMED)
			return of;
	}
	return NULL;
}

void report_answer_free(struct report_answer *a)
{
	if (a)
		subjects_free(&a->subjects);
	free(a);
}

static void put_limit(void *out, const char *text)
{
	fputs("<p class=\"bad\">Careful: ", out);
	print_html(out, text);
	fputs(".</p>\n", out);
}

/* As a bar of the chain's other lines, in the colour of what it came down to. */
static const char *bar_class(const struct chain_line *l)
{
	if (!l->end)
		return "blocked";
	switch (l->end->end) {
	case CHAIN_RUNNING:
	case CHAIN_ON_CPU:
		return chain_step_cpu(l->end) == CHAIN_STEP_HAD_NO_CPU ? "runnable" : "running";
	case CHAIN_RUNNABLE:
		return "runnable";
	case CHAIN_PREEMPTED:
		return "preempted";
	case CHAIN_UNKNOWN:
		return "unknown";
	default:
		return "blocked";
	}
}

static void put_line(FILE *out, const struct chain_line *l)
{
	fprintf(out,
		"<li class=\"in%zu\"><span class=\"part\"><svg width=\"60\" height=\"10\" "
		"aria-hidden=\"true\"><rect class=\"%s\" width=\"%u\" height=\"10\"/></svg> %u "
		"%%</span> <b><bdi>",
		l->indent < LEVELS ? l->indent : LEVELS, bar_class(l), l->share * 60 / 100,
		l->share);
	print_html(out, l->who ? l->who : "");
	fputs("</bdi></b> ", out);
	if (l->at && *l->at) {
		fputs("<code><bdi>", out);
		print_html(out, l->at);
		fputs("</bdi></code> ", out);
	}
	print_html(out, l->words ? l->words : "");
	fputs("</li>\n", out);
}

static void put_chain(FILE *out, const struct report_answer *a, const struct subject *of)
{
	struct chain_lines l = { .n = 0 };

	if (!of->steps)
		return;
	chain_lines_make(&l, of->steps, a->subjects.names, LINES_SHOWN);
	fputs("<ol class=\"chain\">\n", out);
	for (size_t i = 0; i < l.n; i++)
		put_line(out, &l.line[i]);
	fputs("</ol>\n", out);
	chain_lines_free(&l);
}

/* How many requests there were, how long the usual one takes, and how long the slow ones. */
static void put_requests(FILE *out, const struct subject *of)
{
	struct requests_taken all = of->requests->all, slow = of->slowest;

	fprintf(out, "<p class=\"note\">%" PRIu64 " request%s, the usual one ", requests_count(all),
		requests_count(all) == 1 ? "" : "s");
	report_put_time(out, requests_percentile(all, 500));
	fprintf(out, ", the slowest%s ", slow.n > 1 ? " of them" : "");
	if (slow.n > 1) {
		report_put_time(out, request_took_ns(&slow.at[0]));
		fputs(" to ", out);
	}
	report_put_time(out, request_took_ns(&slow.at[slow.n - 1]));
	fputs("</p>\n", out);
}

/* The longest steps of a command. */
static void put_steps(FILE *out, const struct report_answer *a, const struct subject *of)
{
	struct named_steps steps;

	named_steps_find(&steps, &of->processes, a->in.timelines, a->subjects.names);
	if (steps.n) {
		fputs("<p class=\"note\">Longest steps: ", out);
		for (size_t i = 0; i < steps.n; i++) {
			fputs(i ? ", " : "", out);
			report_put_time(out, steps.at[i].ns);
			fputs(" <bdi>", out);
			print_html(out, steps.at[i].name);
			fputs("</bdi>", out);
		}
		fputs("</p>\n", out);
	}
	named_steps_free(&steps);
}

/* Which of the page's endpoints they are, by number: a service has several. */
static void put_endpoints(FILE *out, const struct report_requests *q, const struct subject *of)
{
	const char *before = "";

	for (size_t i = 0; q && i < q->n; i++) {
		const struct request_endpoint *e = q->at[i].requests->endpoint;
		bool is_of = !of->service && of->requests->endpoint == e;

		for (size_t k = 0; of->service && k < of->service->n_routes && !is_of; k++)
			is_of = of->service->routes[k].requests->endpoint == e;
		if (is_of)
			fprintf(out, "%s%zu", before, i);
		before = is_of ? " " : before;
	}
}

static void put_subject(FILE *out, const struct report *r, const struct subject *of)
{
	const struct report_answer *a = r->answer;
	char *verdict = NULL;
	size_t len;
	FILE *f = xmemstream(&verdict, &len);

	subject_put_verdict(f, &a->in, &a->subjects, of);
	xmemstream_close(f, &verdict);
	fputs("<article class=\"subject\"", out);
	if (of->requests) {
		fputs(" data-endpoints=\"", out);
		put_endpoints(out, r->requests, of);
		fprintf(out, "\" data-slowest=\"%" PRIu64 "\"",
			request_took_ns(&of->slowest.at[of->slowest.n - 1]));
	}
	fputs(of == report_answer_life(a) ? " data-life" : "", out);
	fputs(">\n<p class=\"verdict\">", out);
	print_html(out, verdict);
	free(verdict);
	fputs("</p>\n", out);
	if (of->requests)
		put_requests(out, of);
	else if (of->processes.n)
		put_steps(out, a, of);
	put_chain(out, a, of);
	fputs("</article>\n", out);
}

/* Where it is about nothing else: what most of the waiting came down to. */
static void put_largest_cause(FILE *out, const struct report *r)
{
	char *text = NULL;
	size_t len;
	FILE *f;

	if (!r->n_causes) {
		fputs("<p class=\"verdict\">Nobody waited.</p>\n", out);
		return;
	}
	f = xmemstream(&text, &len);
	causes_put_sentence(f, r->names, r->causes, r->cause[0]);
	xmemstream_close(f, &text);
	fputs("<p class=\"verdict\">Most of the waiting: ", out);
	print_html(out, text);
	fputs(".</p>\n", out);
	free(text);
}

void report_answer_put(FILE *out, const struct report *r)
{
	const struct report_answer *a = r->answer;

	fputs("<section id=\"answer\">\n<h2>Answer</h2>\n", out);
	trust_tell(&a->in, r->filter, a->subjects.names, put_limit, out);
	for (size_t i = 0; i < a->subjects.n; i++)
		put_subject(out, r, &a->subjects.at[i]);
	if (!a->subjects.n)
		put_largest_cause(out, r);
	fputs("</section>\n", out);
}
