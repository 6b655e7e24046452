// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=causes: what the waiting came down to, for reading: a table of root causes, most time
 * first, each with its usual way to those who waited and with a command that shows an example.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/cpu_holders.h"
#include "attribute/queued_windows.h"
#include "base/cpus.h"
#include "cause_json.h"
#include "cause_words.h"
#include "command_word.h"
#include "paragraph.h"
#include "request_beside.h"
#include "screen_json.h"
#include "style.h"
#include "subject_text.h"
#include "trust.h"
#include "words/process_notes.h"
#include "causes/causes.h"
#include "format.h"
#include "subjects.h"
#include "common/xalloc.h"

/* ---- whom it tells of ------------------------------------------------------------------------ */

/* Whom the table of causes tells of, for what the summary says of them. */

/* A link with less than one of so many parts of its chain's time is not told of. */
#define LEAST_PART 20

static void add(const struct format_input *in, const char *name)
{
	struct word_list *told = &in->totals->told;

	if (!word_list_has(told, name))
		word_list_add(told, name, strlen(name));
}

static void add_steps(const struct format_input *in, const struct names *names,
		      const struct chain_steps *steps)
{
	uint32_t n;
	const struct chain_step *at = chain_steps_list(steps, &n);

	for (uint32_t i = 1; i < n; i++)
		if (at[i].who && LEAST_PART * at[i].ns >= chain_steps_total_ns(steps))
			add(in, names_text(names, at[i].who));
}

/*
 * Add the names of threads and processes to in->totals->told, if there are totals: of the links of
 * chains; of the first n causes, and of who waited for them in their examples.
 */
static void told_names_add_subjects(const struct format_input *in, const struct subjects *s)
{
	if (!in->totals)
		return;
	in->totals->tells = true;
	for (size_t i = 0; i < s->n; i++) {
		const struct subject *of = &s->at[i];

		if (of->requests)
			add(in, trace_string(in->trace, of->requests->endpoint->process));
		if (of->steps)
			add_steps(in, s->names, of->steps);
	}
}

static void told_names_add_causes(const struct format_input *in, struct names *names,
				  const struct cause *causes, size_t n)
{
	if (!in->totals)
		return;
	in->totals->tells = true;
	for (size_t i = 0; i < n; i++) {
		const struct chosen_wait *e = &causes[i].example;
		uint32_t name = names_thread(names, e->thread, e->wait->out_ns);

		add(in, names_text(names, causes[i].who));
		add(in, names_text(names, name));
	}
}

/* ---- bars ------------------------------------------------------------------------------------ */

/* Bars in text: by eighths of a column where there is UTF-8, else of "#". */

/* Writes a bar as long as part is of all in so many columns, with spaces up to these. */
static void bar_put(FILE *out, uint64_t part, uint64_t all, size_t columns, bool utf8)
{
	/* U+258F to U+2588 */
	static const char *const eighths[] = { "",
					       "\xe2\x96\x8f",
					       "\xe2\x96\x8e",
					       "\xe2\x96\x8d",
					       "\xe2\x96\x8c",
					       "\xe2\x96\x8b",
					       "\xe2\x96\x8a",
					       "\xe2\x96\x89",
					       "\xe2\x96\x88" };
	double share = all ? (double)part / (double)all : 0;
	size_t n = (size_t)((share > 1 ? 1 : share) * 8 * (double)columns + 0.5), used = 0;

	for (; n >= 8; n -= 8, used++)
		fputs(utf8 ? eighths[8] : "#", out);
	if (n && (utf8 || n >= 4)) {
		fputs(utf8 ? eighths[n] : "#", out);
		used++;
	}
	fprintf(out, "%*s", used < columns ? (int)(columns - used) : 0, "");
}

/* Where all lines but the first of a row begin. */
#define INDENT 9
/* Of the pauses, which have a line each. */
#define PAUSES_SHOWN 3
/*
 * Of a screen's lines: for the command and the next prompt; for the summary; for the causes, where
 * there are requests; all that is shown, however small the screen is.
 */
#define LINES_PROMPT 2
#define LINES_SUMMARY 4
#define LINES_OF_CAUSES 7
#define LINES_LEAST 10
#define BAR_COLUMNS 10
/* On a screen, of all: what has less than one of so many parts is no row. */
#define LEAST_SHARE 50
/* Likewise: less unknown time is no line. */
#define LEAST_UNKNOWN 20

static void put_share(FILE *out, uint64_t ns, uint64_t of_ns)
{
	fprintf(out, "%5.1f %%", of_ns ? 100 * (double)ns / (double)of_ns : 0.0);
}

/* Milliseconds, right-aligned in a column. */
static void put_ms(FILE *out, int width, uint64_t ns)
{
	char text[TEXT_MS_SIZE];

	fprintf(out, " %*s", width, text_ms(text, ns));
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* What a table is made of. */
struct table_of {
	const struct format_input *in;
	struct names *names;
	const struct causes *causes;
	const struct cause *at; /* n_causes causes, and then n - n_causes pauses */
	size_t n, n_causes;
	uint64_t causes_ns, slowest_ns, pauses_ns;
	size_t columns;
};

/* As paragraph_begin(): with --wide it is one line. */
static void begin_paragraph(const struct table_of *t, struct paragraph *p)
{
	paragraph_begin(p);

	p->columns = t->in->options->wide ? SIZE_MAX : t->columns;
}

/* The figures and the sentence, whom it made wait, and the command, each on lines of its own. */
static void put_row(FILE *out, const struct table_of *t, const struct cause *c)
{
	struct paragraph p;

	begin_paragraph(t, &p);
	put_share(p.f, c->ns, t->causes_ns);
	put_ms(p.f, 11, c->ns);
	fprintf(p.f, " %7" PRIu64, c->waits);
	if (c->longest_ns)
		put_ms(p.f, 10, c->longest_ns);
	else
		fprintf(p.f, " %10s", "-");
	putc(' ', p.f);
	put_share(p.f, c->slowest_ns, t->slowest_ns);
	fputs("  ", p.f);
	causes_put_sentence(p.f, t->names, t->causes, c);
	paragraph_end(&p, out, INDENT);
	begin_paragraph(t, &p);
	fprintf(p.f, "%*s", INDENT, "");
	if (causes_put_way(p.f, t->names, c))
		paragraph_end(&p, out, INDENT);
	else
		paragraph_drop(&p);
	fprintf(out, "%*s", INDENT, "");
	causes_put_example(out, t->in, c);
	putc('\n', out);
}

/* Of those without a row, whose number is the argument. */
#define MORE_CAUSES "%zu more cause%s with less"

/* What is below the rows: all others, all of them, and the pauses, of which each is cut to the
 * line. */
static void put_rest(FILE *out, const struct table_of *t, size_t shown, uint64_t other_ns)
{
	size_t more = t->n_causes - shown;

	if (more) {
		put_share(out, other_ns, t->causes_ns);
		put_ms(out, 11, other_ns);
		fprintf(out, "%*s%s: " MORE_CAUSES "\n", 29, "", CHAIN_OTHER, more,
			more == 1 ? "" : "s");
	}
	put_share(out, t->causes_ns, t->causes_ns);
	put_ms(out, 11, t->causes_ns);
	fprintf(out, "%*s%s\n", 29, "", "all of them");
	if (t->n > t->n_causes) {
		put_ms(out, 18, t->pauses_ns);
		fprintf(out, "%29s%s\n", "", "not counted: pauses and waits for work");
	}
	for (size_t i = t->n_causes; i < t->n && i < t->n_causes + PAUSES_SHOWN; i++) {
		struct paragraph p;

		begin_paragraph(t, &p);
		put_ms(p.f, 18, t->at[i].ns);
		fprintf(p.f, " %7" PRIu64 "  ", t->at[i].waits);
		causes_put_sentence(p.f, t->names, t->causes, &t->at[i]);
		paragraph_end_cut(&p, out);
	}
}

/* On paper, or with --wide: all that is known of each cause. */
static void put_table(FILE *out, const struct table_of *t)
{
	uint64_t shown_ns = 0, most = causes_shown(t->in->options);
	size_t n = t->n_causes < most ? t->n_causes : (size_t)most;

	fprintf(out, "%7s %11s %7s %10s %7s  %s\n", "SHARE", "TIME (ms)", "WAITS", "LONGEST",
		"SLOW 1%", "ROOT CAUSE");
	for (size_t i = 0; i < n; i++) {
		put_row(out, t, &t->at[i]);
		shown_ns += t->at[i].ns;
	}
	put_rest(out, t, n, t->causes_ns - shown_ns);
}

/* ---- on a screen ----------------------------------------------------------------------------- */

/* " 1   63 %  ######   ", and then what is said, cut to the line. end: its colour, CHAIN_ENDS:
 * none. c NULL: not of one cause. */
static void begin_line(struct paragraph *p, const struct table_of *t, enum chain_end end,
		       const struct cause *c, uint64_t ns)
{
	bool color = t->in->options->color;

	begin_paragraph(t, p);
	p->plain = true;
	if (c)
		fprintf(p->f, "%3zu", (size_t)(c - t->at) + 1);
	else
		fputs("   ", p->f);
	fprintf(p->f, "%5.0f %%  ", t->causes_ns ? 100 * (double)ns / (double)t->causes_ns : 0.0);
	if (end != CHAIN_ENDS)
		style_begin_end(p->f, color, STYLE_TEXT, end, c && c->throttled);
	bar_put(p->f, ns, t->causes_ns, BAR_COLUMNS, t->in->options->utf8);
	style_stop(p->f, color && end != CHAIN_ENDS);
	fputs("  ", p->f);
}

/* Causes of which all are one line: other programs' load, which delays everybody, and what is not
 * known, about which nothing can be done. */
enum screen_group { GROUP_NONE, GROUP_LOAD, GROUP_UNKNOWN, SCREEN_GROUPS };

static enum screen_group group_of(const struct cause *c)
{
	if (c->end == CHAIN_RUNNABLE && !c->throttled)
		return GROUP_LOAD;
	return c->end == CHAIN_UNKNOWN ? GROUP_UNKNOWN : GROUP_NONE;
}

/* Several causes. */
struct sum_line {
	uint64_t ns;
	size_t n;
};

static void put_sum(FILE *out, const struct table_of *t, enum screen_group group,
		    const struct sum_line *sum)
{
	static const char *const words[] = {
		[GROUP_LOAD] = "had no CPU: others were running",
		[GROUP_UNKNOWN] = "unknown: events are missing",
	};
	static const enum chain_end ends[] = { [GROUP_NONE] = CHAIN_ENDS,
					       [GROUP_LOAD] = CHAIN_RUNNABLE,
					       [GROUP_UNKNOWN] = CHAIN_UNKNOWN };
	struct paragraph p;

	if (!sum->ns)
		return;
	begin_line(&p, t, ends[group], NULL, sum->ns);
	if (group == GROUP_NONE)
		fprintf(p.f, MORE_CAUSES, sum->n, sum->n == 1 ? "" : "s");
	else
		fputs(words[group], p.f);
	paragraph_end_cut(&p, out);
}

/*
 * A line for each cause in no group, and a sum of those that have no room, or too little time, with
 * the others that are in it. *first: the first one; NULL: there is none. room: lines; the first
 * cause has one also where there is none, and the sum has none where there is one line only.
 */
static void put_lines(FILE *out, const struct table_of *t, size_t room, const struct cause **first,
		      struct sum_line more)
{
	uint64_t most = causes_shown(t->in->options), shown = 0;
	bool full = false;

	*first = NULL;
	for (size_t i = 0; i < t->n_causes; i++) {
		const struct cause *c = &t->at[i];
		struct paragraph p;

		if (group_of(c) != GROUP_NONE)
			continue;
		full |= shown == most ||
			(shown && (shown + 1 >= room || LEAST_SHARE * c->ns < t->causes_ns));
		if (full) {
			more.n++;
			more.ns += c->ns;
			continue;
		}
		begin_line(&p, t, c->end, c, c->ns);
		*first = *first ? *first : c;
		causes_put_short(p.f, t->names, t->causes, c, t->in->options->color);
		paragraph_end_cut(&p, out);
		shown++;
	}
	if (room >= 2)
		put_sum(out, t, GROUP_NONE, &more);
}

/* A line for each cause, the first one's command, and what was left out. */
static void put_screen(FILE *out, const struct table_of *t, size_t room)
{
	/* The title and the command. */
	size_t others = 2;
	struct sum_line sum[SCREEN_GROUPS] = { 0 }, more = { 0 };
	const struct cause *first;
	char text[TEXT_MS_SIZE];
	char command[64];
	bool load_first;

	for (size_t i = 0; i < t->n_causes; i++) {
		sum[group_of(&t->at[i])].ns += t->at[i].ns;
		sum[group_of(&t->at[i])].n++;
	}
	text_ms(text, t->causes_ns);
	fprintf(out, "All waiting for others, summed over threads: %s ms\n",
		text + strspn(text, " "));
	load_first = 2 * sum[GROUP_LOAD].ns > t->causes_ns;
	/* Of little unknown time there is no line. */
	if (LEAST_UNKNOWN * sum[GROUP_UNKNOWN].ns < t->causes_ns) {
		more = sum[GROUP_UNKNOWN];
		sum[GROUP_UNKNOWN] = (struct sum_line) { 0 };
	}
	for (int g = GROUP_LOAD; g < SCREEN_GROUPS; g++)
		others += sum[g].ns > 0;
	others += t->pauses_ns > 0;
	if (load_first)
		put_sum(out, t, GROUP_LOAD, &sum[GROUP_LOAD]);
	put_lines(out, t, room > others ? room - others : 0, &first, more);
	if (!load_first)
		put_sum(out, t, GROUP_LOAD, &sum[GROUP_LOAD]);
	put_sum(out, t, GROUP_UNKNOWN, &sum[GROUP_UNKNOWN]);
	if (t->pauses_ns)
		fprintf(out, "not counted: %s ms of pauses and waits for work\n",
			text_ms(text, t->pauses_ns) + strspn(text, " "));
	if (first) {
		snprintf(command, sizeof(command), "step by step: chainwalk --show %zu",
			 (size_t)(first - t->at) + 1);
		command_put_next(out, "one such wait, ", command, t->in->path,
				 t->in->options->wide ? 0 : t->columns);
	}
}

static struct table_of table_of(const struct format_input *in, struct names *names,
				const struct causes *causes)
{
	struct table_of t = { .in = in,
			      .names = names,
			      .causes = causes,
			      .columns = paragraph_columns(in->options->columns) };

	t.at = causes_list(causes, &t.n);
	t.n_causes = causes_without_pauses(causes);
	for (size_t i = 0; i < t.n; i++) {
		*(t.at[i].pause ? &t.pauses_ns : &t.causes_ns) += t.at[i].ns;
		t.slowest_ns += t.at[i].slowest_ns;
	}
	return t;
}

/* ---- an example ------------------------------------------------------------------------------ */

/* The request for which a thread works at a time. .wait NULL: none, or several. */
static struct chosen_wait request_at(const struct timelines *tl, uint32_t thread, uint64_t at_ns)
{
	struct chosen_wait p = { .wait = NULL };
	const struct request_span *end, *at = served_span_at(tl, thread, at_ns, &end);

	if (at && at < end && at->from_ns <= at_ns)
		p.wait = timelines_wait_for(tl, at->request, &p.thread);
	return p;
}

/*
 * The request that a wait is for, or for which its thread works meanwhile, or, as a client's thread
 * is its own, the one that ends it. .wait NULL: none.
 */
static struct chosen_wait request_of(const struct timelines *tl, const struct chosen_wait *e)
{
	struct chosen_wait p;

	if (timelines_is_client(tl, e->thread))
		return *e;
	p = request_at(tl, e->thread, e->wait->out_ns);
	if (!p.wait && e->wait->waker < timelines_threads(tl))
		p = request_at(tl, e->wait->waker, e->wait->wake_ns - 1);
	return p;
}

/*
 * The example of a cause: a request beside the usual one, and as a tree its wait alone. 0 or a
 * negative errno.
 */
static int put_shown(FILE *out, const struct format_input *in, const struct cause *c)
{
	const struct chosen_wait *e = &c->example;
	uint64_t start_ns = timelines_start_ns(in->timelines);
	uint32_t tid = timelines_thread(in->timelines, e->thread)->tid;
	struct options o = *in->options;
	struct format_input one = *in;
	struct chosen_wait request = request_of(in->timelines, e);

	if (request.wait)
		request_beside_put(out, in, &request);
	o.command = 0;
	o.top = 0;
	o.from_ns = e->wait->out_ns - start_ns;
	o.to_ns = e->wait->in_ns - start_ns + 1;
	if (timelines_is_client(in->timelines, e->thread)) {
		o.requests = true;
		o.processes.ids = (struct id_list) { &tid, tid ? 1 : 0 };
	} else {
		o.tids = (struct id_list) { &tid, 1 };
	}
	if (e->wait->kind == WAIT_PREEMPTED) {
		o.parts = PART_ALL;
		o.given |= GIVEN_PARTS;
	}
	one.options = &o;
	return format_tree.write(&one, out);
}

/* The cause with the number that was asked for; -ECANCELED: there is none, which is said. */
static int put_number(FILE *out, const struct table_of *t)
{
	const struct format_input *in = t->in;

	if (in->options->show > t->n_causes) {
		fprintf(stderr, "chainwalk: --show %u: there %s\n", in->options->show,
			t->n_causes == 1 ? "is one cause" : "are fewer causes");
		return -ECANCELED;
	}
	return put_shown(out, in, &t->at[in->options->show - 1]);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The summary's lines, with those on what stacks lack, each of which it cuts to the line. */
static size_t lines_of_summary(const struct trace *t)
{
	size_t notes;

	trace_notes(t, &notes);
	return LINES_SUMMARY + (notes < PROCESS_NOTES_SCREEN ? notes : PROCESS_NOTES_SCREEN);
}

/* The lines of the screen for all of it; 0: it is on paper. */
static size_t lines_of_screen(const struct format_input *in)
{
	const struct options *o = in->options;
	size_t less = LINES_PROMPT;

	if (!o->lines || o->wide)
		return 0;
	if (!o->quiet)
		less += lines_of_summary(in->trace);
	return o->lines > less + LINES_LEAST ? o->lines - less : LINES_LEAST;
}

struct limits {
	FILE *out;
	size_t columns;
};

/* A trust_tell()'s. */
static void put_limit(void *arg, const char *text)
{
	struct limits *l = arg;
	struct paragraph p;

	paragraph_begin(&p);
	p.columns = l->columns;
	fprintf(p.f, "Careful: %s.", text);
	paragraph_end(&p, l->out, 2);
}

/* What is said of the command and of requests, in at most so many lines, of which *lines is the
 * number. */
static void put_overview(const struct format_input *in, FILE *out, const struct wait_filter *like,
			 const struct subjects *subjects, size_t most, size_t *lines)
{
	size_t columns = paragraph_columns(in->options->columns), len;
	struct limits limits = { .columns = in->options->wide ? SIZE_MAX : columns };
	char *text = NULL;
	FILE *f = xmemstream(&text, &len);

	limits.out = f;
	trust_tell(in, like, subjects->names, put_limit, &limits);
	subjects_put(f, in, subjects, most);
	told_names_add_subjects(in, subjects);
	xmemstream_close(f, &text);
	fputs(text, out);
	*lines = paragraph_lines(text, columns);
	free(text);
}

static int put_causes(FILE *out, const struct table_of *t, size_t room)
{
	if (t->in->options->show)
		return put_number(out, t);
	if (!t->n)
		fputs("nothing was waited for\n", out);
	else if (room)
		put_screen(out, t, room);
	else
		put_table(out, t);
	return 0;
}

/* Of those that are shown. */
static void tell_causes(const struct table_of *t)
{
	uint64_t most = causes_shown(t->in->options);
	size_t n = 0;

	while (n < t->n_causes && n < most && LEAST_SHARE * t->at[n].ns >= t->causes_ns)
		n++;
	told_names_add_causes(t->in, t->names, t->at, n);
}

/* What is shown, found out at once where there are CPUs. */
struct screen {
	const struct format_input *in;
	struct options options;
	struct names *names;
	struct wait_filter *filter;
	struct cpu_holders *cpu_holders;
	struct causes *causes;
	struct subjects subjects;
};

struct part {
	void (*find)(struct screen *s);
	struct screen *of;
};

static void find_causes(struct screen *s)
{
	causes_new(&s->causes, s->in->timelines, &s->options, s->names, s->filter, s->cpu_holders);
}

static void find_subjects(struct screen *s)
{
	subjects_find(&s->subjects, s->in, s->filter, s->cpu_holders);
}

static void *find_part(void *arg)
{
	const struct part *p = arg;

	p->find(p->of);
	return NULL;
}

/* Whether what is said of the command and of requests comes before the table. */
static bool has_overview(const struct options *o)
{
	return !o->show && !o->json;
}

static int put_all(FILE *out, const struct screen *s)
{
	const struct format_input *in = s->in;
	size_t room = lines_of_screen(in), overview = 0;
	struct table_of t;
	int err;

	if (in->options->screen_json || in->options->json) {
		if (in->options->screen_json)
			screen_put_json(out, in, &s->subjects, s->names, s->causes, s->filter);
		else
			causes_put_json(out, in, s->names, s->causes);
		return 0;
	}
	if (has_overview(in->options))
		put_overview(in, out, s->filter, &s->subjects,
			     room > LINES_OF_CAUSES ? room - LINES_OF_CAUSES : room, &overview);
	t = table_of(in, s->names, s->causes);
	err = put_causes(out, &t, !room ? 0 : room > overview ? room - overview : 1);
	if (!err)
		tell_causes(&t);
	return err;
}

static int write_causes(const struct format_input *in, FILE *out)
{
	struct screen s = { .in = in, .options = causes_options(in->options) };
	/* Alone, causes come first: they find out in the order of time what waits were for. */
	struct part parts[] = { { find_causes, &s }, { find_subjects, &s } };
	bool with_subjects = in->options->screen_json || has_overview(in->options);
	int err;

	names_new(&s.names, in->timelines, &s.options);
	wait_filter_new(&s.filter, in->timelines, &s.options, s.names);
	cpu_holders_new(&s.cpu_holders, in->timelines, true);
	parts_run(parts, sizeof(parts[0]), with_subjects ? 2 : 1, find_part);
	err = put_all(out, &s);
	if (with_subjects)
		subjects_free(&s.subjects);
	causes_free(s.causes);
	cpu_holders_free(s.cpu_holders);
	wait_filter_free(s.filter);
	names_free(s.names);
	return err;
}

const struct format format_causes = {
	.name = "causes",
	.summary = "root causes of waits; on a terminal the first screen",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_HEADED,
	.takes = GIVEN_OF_CHAINS | GIVEN_PLAIN_ENDS | GIVEN_ROOT | GIVEN_TOP | GIVEN_TABLE,
	.write = write_causes,
};
