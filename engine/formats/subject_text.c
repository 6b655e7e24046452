// SPDX-License-Identifier: GPL-2.0-or-later
#include "subject_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chain_lines.h"
#include "command_word.h"
#include "format_requests.h"
#include "named_steps.h"
#include "paragraph.h"
#include "server_waits.h"
#include "style.h"
#include "verdict.h"

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
static int put_path(FILE *out, const struct format_input *in, const struct subjects *s,
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
	if (100 * of->cpus_busy >= ALL_BUSY * cpus) {
		fputs(": the CPUs are what it waits for.", out);
		return 0;
	}
	if (100 * all < ALL_BUSY * cpus || WITHOUT_CPU * of->no_cpu_ns < of->took_ns)
		return verdict_put(out, of->steps, s->names, in->options->color, true);
	fprintf(out, ": the CPUs are what it waits for, of which other programs had %.1f.",
		of->others_cpus);
	return 0;
}

static int put_waiter(FILE *out, const struct format_input *in, const struct subjects *s,
		      const struct subject *of)
{
	style_name(out, in->options->color, names_text(s->names, of->name));
	fprintf(out, " waited for others for %.3f of %.3f s", (double)of->took_ns / 1e9,
		(double)of->of_ns / 1e9);
	return verdict_put(out, of->steps, s->names, in->options->color, true);
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
static int put_endpoint(FILE *out, const struct format_input *in, const struct subjects *s,
			const struct subject *of)
{
	struct requests_taken all = of->requests->all;
	uint64_t usual_ns = requests_percentile(all, 500);

	put_endpoint_name(out, in, s, of);
	if (!of->steps) {
		fputs("hardly take any time.", out);
		return 0;
	}
	if (requests_percentile(all, 990) >= SLOW_TIMES * usual_ns)
		fputs("are sometimes slow", out);
	else
		put_ms(out, "take ", usual_ns);
	return verdict_put(out, of->steps, s->names, in->options->color, false);
}

int subject_put_verdict(FILE *out, const struct format_input *in, const struct subjects *s,
			const struct subject *of)
{
	switch (of->kind) {
	case SUBJECT_COMMAND:
	case SUBJECT_NAMED:
		return put_path(out, in, s, of);
	case SUBJECT_WAITER:
		return put_waiter(out, in, s, of);
	case SUBJECT_ENDPOINT:
		return put_endpoint(out, in, s, of);
	}
	return 0;
}

/* ---- one of them ----------------------------------------------------------------------------- */

/* How long requests took. */
static int put_figures(FILE *out, const struct format_input *in, const struct subjects *s,
		       const struct subject *of)
{
	struct requests_taken all = of->requests->all, slowest = requests_slowest(all);
	char *rate = request_rate(in, s->filter, all.n);
	struct paragraph p;
	int err = rate ? paragraph_begin(&p) : -ENOMEM;

	if (err) {
		free(rate);
		return err;
	}
	p.columns = paragraph_columns(in->options->columns);
	fprintf(p.f, "%zu request%s (%s/s)", all.n, all.n == 1 ? "" : "s", rate);
	put_ms(p.f, ", median ", requests_percentile(all, 500));
	if (slowest.n > 1)
		fprintf(p.f, ", slowest %zu", slowest.n);
	put_ms(p.f, slowest.n > 1 ? ": " : ", slowest: ", request_took_ns(&slowest.at[0]));
	if (slowest.n > 1)
		put_ms(p.f, " to ", requests_percentile(all, 1000));
	free(rate);
	return paragraph_end(&p, out, 2);
}

static int put_subject(FILE *out, const struct format_input *in, const struct subjects *s,
		       const struct subject *of)
{
	struct named_steps steps;
	struct paragraph p;
	int err = paragraph_begin(&p);

	if (err)
		return err;
	p.columns = paragraph_columns(in->options->columns);
	p.plain = !in->options->wide;
	err = subject_put_verdict(p.f, in, s, of);
	if (paragraph_end(&p, out, 2))
		err = -ENOMEM;
	if (!err && of->requests)
		err = put_figures(out, in, s, of);
	if (!err && of->steps)
		err = chain_lines_put(out, of->steps, s->names, in->options, LINES_SHOWN);
	if (err || !of->processes.n)
		return err;
	err = named_steps_find(&steps, &of->processes, in->timelines, s->names);
	if (!err)
		named_steps_put(out, &steps, paragraph_columns(in->options->columns));
	named_steps_free(&steps);
	return err;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* *lines are written, and then those of the subject, too; -ENOSPC: they would be more than most. */
static int put_if_fits(FILE *out, const struct format_input *in, const struct subjects *s,
		       const struct subject *of, size_t most, size_t *lines)
{
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);
	int err = memory ? put_subject(memory, in, s, of) : -ENOMEM;

	if (memory && fclose(memory))
		err = -ENOMEM;
	if (!err)
		*lines += paragraph_lines(text, paragraph_columns(in->options->columns));
	if (!err && *lines > most)
		err = -ENOSPC;
	if (!err)
		fputs(text, out);
	free(text);
	return err;
}

static void put_rest(FILE *out, const struct format_input *in, const struct subjects *s,
		     size_t shown)
{
	request_put_left_out(out, in);
	fprintf(out, "%zu of %zu endpoints; more: chainwalk -f requests", shown, s->n_endpoints);
	if (in->path) {
		putc(' ', out);
		command_put_word(out, in->path);
	}
	fputs("\n\n", out);
}

int subjects_put(FILE *out, const struct format_input *in, const struct subjects *s, size_t most)
{
	size_t endpoints = 0, lines = 0;
	int err = 0;

	most = most ? most : SIZE_MAX;
	for (size_t i = 0; i < s->n && !err; i++) {
		bool is_endpoint = s->at[i].kind == SUBJECT_ENDPOINT;

		if (is_endpoint && !endpoints && i) {
			putc('\n', out);
			lines++;
		}
		err = put_if_fits(out, in, s, &s->at[i], endpoints ? most : SIZE_MAX, &lines);
		endpoints += !err && is_endpoint;
	}
	err = err == -ENOSPC ? 0 : err;
	if (err)
		return err;
	if (endpoints)
		put_rest(out, in, s, endpoints);
	else if (s->n)
		putc('\n', out);
	/* Who answers none may be a client. */
	return !endpoints && s->wants_endpoints && subjects_chosen(in->options)
		       ? server_waits_put(out, in)
		       : 0;
}
