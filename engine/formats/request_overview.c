// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_overview.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "causes/causes.h"
#include "chain_lines.h"
#include "command_word.h"
#include "format_requests.h"
#include "paragraph.h"
#include "server_waits.h"
#include "verdict.h"

#define ENDPOINTS_SHOWN 3
#define LINES_SHOWN 6 /* of each one's chain */
/* Endpoints whose requests took less than a hundredth of the time shown are not explained. */
#define LEAST_OF_TIME 100

/* ---- words ---------------------------------------------------------------------------------- */

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

/* ---- one endpoint --------------------------------------------------------------------------- */

/* Whether all of the endpoint's requests took hardly any time. */
static bool took_no_time(const struct format_input *in, const struct wait_filter *f,
			 const struct endpoint_requests *e)
{
	uint64_t start_ns = timelines_start_ns(in->timelines);
	uint64_t end_ns = timelines_end_ns(in->timelines), from_ns, to_ns;

	wait_filter_window(f, &from_ns, &to_ns);
	from_ns = clip_ns(from_ns, start_ns, end_ns);
	to_ns = clip_ns(to_ns, from_ns, end_ns);
	return requests_shown_ns(e->all) < (to_ns - from_ns) / LEAST_OF_TIME;
}

/* What is slow is told from the usual one if it takes so many times as long. */
#define SLOW_TIMES 3

/* "Requests to tcp :80 (nginx/900) are slow because ...". steps NULL: they took hardly any time. */
static int put_verdict(FILE *out, const struct format_input *in, const struct names *names,
		       const struct endpoint_requests *e, const struct chain_steps *steps)
{
	bool slow =
		requests_percentile(e->all, 990) >= SLOW_TIMES * requests_percentile(e->all, 500);
	struct text_buf title = { 0 };
	struct paragraph p;
	int err = paragraph_begin(&p);

	request_endpoint_put(&title, in, e);
	if (err || title.failed) {
		text_free(&title);
		return -ENOMEM;
	}
	p.columns = paragraph_columns(in->options->columns);
	fprintf(p.f, "Requests to %s ", title.p);
	if (steps && slow)
		fputs("are slow now and then", p.f);
	else if (steps)
		put_ms(p.f, "take ", requests_percentile(e->all, 500));
	else
		fputs("hardly take any time.", p.f);
	err = steps ? verdict_put(p.f, steps, names, false) : 0;
	text_free(&title);
	return paragraph_end(&p, out, 2) ? -ENOMEM : err;
}

static int put_figures(FILE *out, const struct format_input *in, const struct wait_filter *f,
		       const struct endpoint_requests *e)
{
	struct requests_taken slowest = requests_slowest(e->all);
	char *rate = request_rate(in, f, e->all.n);
	struct paragraph p;
	int err = rate ? paragraph_begin(&p) : -ENOMEM;

	if (err) {
		free(rate);
		return err;
	}
	p.columns = paragraph_columns(in->options->columns);
	fprintf(p.f, "%zu of %zu (%s/s) took", slowest.n, e->all.n, rate);
	put_ms(p.f, " ", request_took_ns(&slowest.at[0]));
	if (slowest.n > 1)
		put_ms(p.f, " to ", requests_percentile(e->all, 1000));
	put_ms(p.f, "; the usual one takes ", requests_percentile(e->all, 500));
	free(rate);
	return paragraph_end(&p, out, 2);
}

/* Why the slowest of them took so long: in a sentence, and as a chain, a line a link. */
static int put_endpoint(FILE *out, const struct format_input *in, const struct options *o,
			struct names *names, const struct wait_filter *f,
			const struct endpoint_requests *e)
{
	struct requests_taken slowest = requests_slowest(e->all);
	struct chain_steps *steps = NULL;
	bool explain = !took_no_time(in, f, e);
	int err = explain ? chain_steps_new(&steps, in->timelines, o, names) : 0;

	for (size_t i = 0; explain && i < slowest.n && !err; i++)
		err = chain_steps_add(steps, &slowest.at[i]);
	if (explain && !err)
		err = chain_steps_end(steps);
	if (!err)
		err = put_verdict(out, in, names, e, steps);
	if (!err)
		err = put_figures(out, in, f, e);
	if (explain && !err)
		err = chain_lines_put(out, steps, names, paragraph_columns(in->options->columns),
				      LINES_SHOWN);
	chain_steps_free(steps);
	return err;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Whether only some threads are shown: those of a command, or whom the user chose. */
static bool is_chosen(const struct options *o)
{
	return o->command || o->given & GIVEN_WHO;
}

bool request_overview_wanted(const struct format_input *in)
{
	const struct options *o = in->options;
	size_t n;

	timelines_requests(in->timelines, &n);
	return (n || is_chosen(o)) &&
	       !(o->given & (GIVEN_REQUESTS | GIVEN_WITHIN | GIVEN_WAIT | GIVEN_STATE |
			     GIVEN_OF_OBJECTS | GIVEN_NO_IDLE | GIVEN_ENDED));
}

/* Whether most requests to the same address are not the first of their connection, as e's are. */
static bool has_more_others(const struct endpoint_requests *at, size_t n,
			    const struct endpoint_requests *e)
{
	for (size_t i = 0; i < n; i++)
		if (at[i].endpoint->address == e->endpoint->address && !at[i].endpoint->first &&
		    at[i].all.n >= e->all.n)
			return true;
	return false;
}

/* *lines are written, and then those of the endpoint, too; -ENOSPC: they would be more than most.
 */
static int put_if_fits(FILE *out, const struct format_input *in, const struct options *o,
		       struct names *names, const struct wait_filter *f,
		       const struct endpoint_requests *e, size_t most, size_t *lines)
{
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);
	int err = memory ? put_endpoint(memory, in, o, names, f, e) : -ENOMEM;

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

static int put_all(FILE *out, const struct format_input *in, const struct options *o,
		   struct names *names, const struct wait_filter *f, const struct request_table *t,
		   size_t most, size_t lines)
{
	size_t n, shown = 0;
	const struct endpoint_requests *at = request_table_list(t, &n);
	int err = 0;

	for (size_t i = 0; i < n && shown < ENDPOINTS_SHOWN && !err; i++) {
		/* First requests of connections only where there are hardly any others. */
		if (!at[i].all.n || (at[i].endpoint->first && has_more_others(at, n, &at[i])))
			continue;
		/* Nobody asks why these took so long; if there are others. */
		if (took_no_time(in, f, &at[i]) && (shown || o->command))
			continue;
		err = put_if_fits(out, in, o, names, f, &at[i], shown ? most : SIZE_MAX, &lines);
		if (err == -ENOSPC)
			break;
		shown++;
	}
	err = err == -ENOSPC ? 0 : err;
	/* Who answers none may be a client. */
	if (!err && !shown && is_chosen(in->options))
		return server_waits_put(out, in);
	if (err || !shown)
		return err;
	request_put_left_out(out, in);
	fprintf(out, "%zu of %zu endpoints; more: chainwalk -f requests", shown, n);
	if (in->path) {
		putc(' ', out);
		command_put_word(out, in->path);
	}
	fputs("\n\n", out);
	return 0;
}

int request_overview_put(FILE *out, const struct format_input *in, size_t most, size_t lines)
{
	struct options o = causes_request_options(in->options);
	struct names *names;
	struct wait_filter *f = NULL;
	struct request_table *t = NULL;
	int err = names_new(&names, in->timelines, &o);

	if (!err)
		err = wait_filter_new(&f, in->timelines, &o, names);
	if (!err)
		err = request_table_new(&t, in->timelines, &o, f);
	if (!err)
		err = put_all(out, in, &o, names, f, t, most ? most : SIZE_MAX, lines);
	request_table_free(t);
	wait_filter_free(f);
	names_free(names);
	return err;
}
