// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_overview.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "causes/causes.h"
#include "cause_words.h"
#include "command_word.h"
#include "format_requests.h"
#include "paragraph.h"
#include "server_waits.h"

#define ENDPOINTS_SHOWN 3
#define CAUSES_SHOWN 3
#define MOST_PERCENT 90 /* when so much is explained, no more causes are shown */
#define LEAST_PERCENT 3 /* causes of less are not shown */
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

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100 * (double)part / (double)of : 0;
}

static void put_text(FILE *f, const struct names *n, const char *before, uint32_t text)
{
	const char *s = names_text(n, text);

	if (*s)
		fprintf(f, "%s%s", before, s);
}

static void put_others(FILE *f, size_t n)
{
	if (n > 1)
		fprintf(f, " and %zu other%s", n - 1, n > 2 ? "s" : "");
}

/*
 * "java/900, thread order-7/912 and 3 others,": the process with most of it, and if that is not
 * all, its thread likewise.
 */
static void put_who(FILE *f, const struct names *n, const struct cause *c)
{
	fputs(names_text(n, c->process), f);
	put_others(f, c->processes);
	if (c->thread == c->process || c->processes > 1)
		return;
	put_text(f, n, ", thread ", c->thread);
	put_others(f, c->threads);
	if (c->end != CHAIN_UNKNOWN) /* a verb follows */
		putc(',', f);
}

static void put_functions(FILE *f, const struct names *n, const struct cause *c)
{
	/* Nearly all of its samples have it. */
	if (*names_text(n, c->ran) && c->ran_part < 0.9 && !*names_text(n, c->ran_ways))
		fprintf(f, " %.0f %% in", 100 * c->ran_part);
	put_text(f, n, " ", c->ran);
	put_text(f, n, ": ", c->ran_ways);
	if (!*names_text(n, c->ran) && !*names_text(n, c->ran_ways) && !c->answers)
		put_text(f, n, ", until ", c->where);
}

/* What a thread ran, and how long it had no CPU: that comes first if it was longer. */
static void put_ran(FILE *f, const struct names *n, const struct cause *c)
{
	double no_cpu = percent(c->no_cpu_ns, c->ns);

	if (c->no_cpu_ns == c->ns) {
		fputs(c->throttled ? " was throttled" : " had no CPU", f);
		put_text(f, n, ": ", c->had);
	} else if (no_cpu > 50) {
		fprintf(f, " had no CPU for %.1f %% of it", no_cpu);
		put_text(f, n, " (", c->had);
		fputs(*names_text(n, c->had) ? "), then ran" : ", then ran", f);
		put_functions(f, n, c);
	} else {
		fputs(" ran", f);
		put_functions(f, n, c);
		if (no_cpu < 1)
			return;
		fprintf(f, " (%.1f %% of it without a CPU", no_cpu);
		put_text(f, n, ": ", c->had);
		putc(')', f);
	}
}

static void put_what(FILE *f, const struct names *n, const struct causes *all,
		     const struct cause *c)
{
	if (c->itself) {
		fputs("not known who answered", f);
		return;
	}
	put_who(f, n, c);
	if (c->end == CHAIN_RUNNING)
		put_ran(f, n, c);
	else
		causes_put_did(f, n, all, c);
}

/* share, median: in percent, of this cause and what the thread that answers has of it itself. */
static int put_cause(FILE *out, const struct names *n, const struct causes *all,
		     const struct cause *c, double share, double itself, double median,
		     bool at_most)
{
	struct paragraph p;
	int err = paragraph_begin(&p);

	if (err)
		return err;
	fprintf(p.f, " %5.1f %%  ", share);
	put_what(p.f, n, all, c);
	if (!c->answers && !c->itself) {
		put_text(p.f, n, "; waiting for it: ", c->path);
		put_text(p.f, n, ", in ", c->wakee_slept);
		put_text(p.f, n, " for ", c->wakee_what);
	}
	if (itself > 0)
		fprintf(p.f, "; %.1f %% in the answering thread itself", itself);
	fprintf(p.f, "; median requests: %s%.1f %%", at_most ? "at most " : "", median);
	return paragraph_end(&p, out, 10);
}

/* ---- one endpoint --------------------------------------------------------------------------- */

static uint64_t queued_ns(const struct timelines *tl, struct requests_taken of)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < of.n; i++) {
		const struct shown *s = &of.at[i].shown;
		const struct request *q = timelines_request_of(tl, of.at[i].wait);

		if (q->taken_ns > s->blocked_from_ns)
			ns += clip_ns(q->taken_ns, s->blocked_from_ns, s->blocked_to_ns) -
			      s->blocked_from_ns;
	}
	return ns;
}

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

static int put_figures(FILE *out, const struct format_input *in, const struct wait_filter *f,
		       const struct endpoint_requests *e)
{
	struct requests_taken slowest = requests_slowest(e->all);
	struct text_buf title = { 0 };
	char *rate = request_rate(in, f, e->all.n);
	struct paragraph p;
	int err = rate ? paragraph_begin(&p) : -ENOMEM;

	if (err) {
		free(rate);
		return err;
	}
	request_endpoint_put(&title, in, e);
	fprintf(p.f, "%s: %zu requests, %s/s", title.failed ? "" : title.p, e->all.n, rate);
	put_ms(p.f, ", p50 ", requests_percentile(e->all, 500));
	put_ms(p.f, ", p99 ", requests_percentile(e->all, 990));
	put_ms(p.f, ", longest ", requests_percentile(e->all, 1000));
	if (!took_no_time(in, f, e)) {
		fprintf(p.f, ". Why the slowest %zu took so long", slowest.n);
		fprintf(p.f, " (%.1f %% of it in the queue):",
			percent(queued_ns(in->timelines, slowest), requests_shown_ns(slowest)));
	}
	err = title.failed ? -ENOMEM : 0;
	text_free(&title);
	free(rate);
	return paragraph_end(&p, out, 2) ? -ENOMEM : err;
}

/* The time of a cause in the requests in the middle; at_most: or less. */
struct median_time {
	double ns;
	bool at_most;
};

/*
 * Adds that of the same cause: if it is known what the thread ran, the part in which the samples
 * have that, too.
 */
static void add_median(struct median_time *m, const struct causes *median, const struct cause *of)
{
	size_t n;
	const struct cause *at = causes_list(median, &n);
	double part = 1;

	for (size_t i = 0; i < n; i++) {
		if (!causes_equal(&at[i], of))
			continue;
		if (of->end == CHAIN_RUNNING && of->function)
			part = causes_part_with(median, &at[i], of->function);
		m->at_most |= part < 0;
		m->ns += (part < 0 ? 1 : part) * (double)at[i].ns;
	}
}

/*
 * Where the thread that answers did what another one of its process did, for which it waited: the
 * other one of the two causes; NULL: there is none.
 */
static const struct cause *same_work(const struct cause *at, size_t n, const struct cause *c)
{
	for (size_t i = 0; i < n; i++)
		if (at[i].who == c->who && at[i].answers != c->answers && at[i].end == c->end &&
		    c->end == CHAIN_RUNNING && at[i].ran == c->ran && c->ran && !c->itself &&
		    !at[i].itself)
			return &at[i];
	return NULL;
}

static int put_causes(FILE *out, const struct names *names, const struct endpoint_requests *e,
		      const struct causes *slowest, const struct causes *median)
{
	uint64_t all_ns = requests_shown_ns(requests_slowest(e->all));
	uint64_t median_ns = requests_shown_ns(requests_median(e->all));
	double explained = 0;
	size_t n, shown = 0;
	const struct cause *at = causes_list(slowest, &n);
	int err = 0;

	for (size_t i = 0; i < n && shown < CAUSES_SHOWN && !err && explained < MOST_PERCENT; i++) {
		const struct cause *itself = same_work(at, n, &at[i]);
		double share = percent(at[i].ns + (itself ? itself->ns : 0), all_ns);
		struct median_time in_median = { .ns = 0 };

		if (itself && itself < &at[i]) /* it is in a row above */
			continue;
		if (shown && share < LEAST_PERCENT)
			break;
		if (itself)
			add_median(&in_median, median, itself);
		add_median(&in_median, median, &at[i]);
		/* The one that was waited for tells more. */
		err = put_cause(
			out, names, slowest, itself && at[i].answers ? itself : &at[i], share,
			itself ? percent(itself->answers ? itself->ns : at[i].ns, all_ns) : 0,
			percent((uint64_t)in_median.ns, median_ns), in_median.at_most);
		explained += share;
		shown++;
	}
	return err;
}

static int put_endpoint(FILE *out, const struct format_input *in, const struct options *o,
			struct names *names, const struct wait_filter *f,
			const struct endpoint_requests *e)
{
	struct causes *slowest = NULL, *median = NULL;
	int err;

	if (took_no_time(in, f, e))
		return put_figures(out, in, f, e);
	err = causes_new_of_requests(&slowest, in->timelines, o, names, requests_slowest(e->all));

	if (!err)
		err = causes_new_of_requests(&median, in->timelines, o, names,
					     requests_median(e->all));
	if (!err)
		err = put_figures(out, in, f, e);
	if (!err)
		err = put_causes(out, names, e, slowest, median);
	causes_free(slowest);
	causes_free(median);
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

static int put_all(FILE *out, const struct format_input *in, const struct options *o,
		   struct names *names, const struct wait_filter *f, const struct request_table *t)
{
	size_t n, shown = 0;
	const struct endpoint_requests *at = request_table_list(t, &n);
	int err = 0;

	for (size_t i = 0; i < n && shown < ENDPOINTS_SHOWN && !err; i++) {
		/* First requests of connections only where there are hardly any others. */
		if (!at[i].all.n || (at[i].endpoint->first && has_more_others(at, n, &at[i])))
			continue;
		err = put_endpoint(out, in, o, names, f, &at[i]);
		shown++;
	}
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

int request_overview_put(FILE *out, const struct format_input *in)
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
		err = put_all(out, in, &o, names, f, t);
	request_table_free(t);
	wait_filter_free(f);
	names_free(names);
	return err;
}
