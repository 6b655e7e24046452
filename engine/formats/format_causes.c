// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=causes: what the waiting came down to, for reading: a table of root causes, most time
 * first, each with its usual way to those who waited and with a command that shows an example.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cause_json.h"
#include "cause_words.h"
#include "format_causes.h"
#include "paragraph.h"
#include "request_overview.h"
#include "words/process_notes.h"

/* Where all lines but the first of a row begin. */
#define INDENT 9
/* Of the pauses, which have a line each. */
#define PAUSES_SHOWN 3
/* Of a terminal's lines: for the next prompt; for the summary. */
#define LINES_PROMPT 1
/* Of a row, about. */
#define LINES_ROW 6
#define LINES_SUMMARY 4

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
	const struct names *names;
	const struct causes *causes;
	const struct cause *at; /* n_causes causes, and then n - n_causes pauses */
	size_t n, n_causes;
	uint64_t causes_ns, slowest_ns, pauses_ns;
};

/* As paragraph_begin(): with --wide it is one line. */
static int begin_paragraph(const struct table_of *t, struct paragraph *p)
{
	int err = paragraph_begin(p);

	if (t->in->options->wide)
		p->columns = SIZE_MAX;
	return err;
}

/* The figures and the sentence, whom it made wait, and the command, each on lines of its own. */
static int put_row(FILE *out, const struct table_of *t, const struct cause *c, bool cut)
{
	struct paragraph p;
	int err = begin_paragraph(t, &p);

	if (err)
		return err;
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
	if (cut)
		return paragraph_end_cut(&p, out);
	err = paragraph_end(&p, out, INDENT);
	if (!err)
		err = begin_paragraph(t, &p);
	if (err)
		return err;
	fprintf(p.f, "%*s", INDENT, "");
	if (causes_put_way(p.f, t->names, c))
		err = paragraph_end(&p, out, INDENT);
	else
		paragraph_drop(&p);
	fprintf(out, "%*s", INDENT, "");
	causes_put_example(out, t->in, c);
	putc('\n', out);
	return err;
}

/* A row as text, to be freed, and how many lines of the terminal it takes; NULL: out of memory. */
static char *row_text(const struct table_of *t, const struct cause *c, bool cut, size_t *lines)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int err = f ? put_row(f, t, c, cut) : -ENOMEM;

	if (f && fclose(f))
		err = -ENOMEM;
	if (err) {
		free(text);
		return NULL;
	}
	*lines = paragraph_lines(text);
	return text;
}

/*
 * At most `most` causes, and with a terminal only as many as fit on its other lines, at least one:
 * if the first does not fit, each is cut to one line.
 */
static int put_rows(FILE *out, const struct table_of *t, uint64_t most, size_t room, bool terminal,
		    uint64_t *shown_ns)
{
	bool cut = false;

	for (size_t i = 0; i < t->n_causes && i < most; i++) {
		size_t lines;
		char *text = row_text(t, &t->at[i], cut, &lines);

		if (text && terminal && !i && lines > room) {
			free(text);
			cut = true;
			text = row_text(t, &t->at[i], cut, &lines);
		}
		if (!text)
			return -ENOMEM;
		if (terminal && i && lines > room) {
			free(text);
			return 0;
		}
		fputs(text, out);
		free(text);
		*shown_ns += t->at[i].ns;
		room -= lines < room ? lines : room;
	}
	return 0;
}

/* What is below the rows: all of them, and the pauses, of which each is cut to the line. */
static int put_rest(FILE *out, const struct table_of *t, uint64_t other_ns, size_t pauses)
{
	if (other_ns) {
		put_share(out, other_ns, t->causes_ns);
		put_ms(out, 11, other_ns);
		fprintf(out, "%*s%s\n", 29, "", CHAIN_OTHER);
	}
	put_share(out, t->causes_ns, t->causes_ns);
	put_ms(out, 11, t->causes_ns);
	fprintf(out, "%*s%s\n", 29, "", "all of them");
	if (t->n > t->n_causes) {
		put_ms(out, 18, t->pauses_ns);
		fprintf(out, "%29s%s\n", "", "by choice or lack of work:");
	}
	for (size_t i = t->n_causes; i < t->n && i < t->n_causes + pauses; i++) {
		struct paragraph p;
		int err = begin_paragraph(t, &p);

		if (err)
			return err;
		put_ms(p.f, 18, t->at[i].ns);
		fprintf(p.f, " %7" PRIu64 "  ", t->at[i].waits);
		causes_put_sentence(p.f, t->names, t->causes, &t->at[i]);
		err = paragraph_end_cut(&p, out);
		if (err)
			return err;
	}
	return 0;
}

static int put_table(FILE *out, const struct table_of *t, size_t room, bool terminal)
{
	uint64_t shown_ns = 0, most = causes_shown(t->in->options);
	size_t pauses = t->n - t->n_causes < PAUSES_SHOWN ? t->n - t->n_causes : PAUSES_SHOWN;
	/* The head, and what is below the rows. */
	size_t others = 3 + (t->n > t->n_causes);
	int err;

	if (!t->n) {
		fputs("nothing was waited for\n", out);
		return 0;
	}
	/* Where there is little room, causes have it. */
	if (terminal && room < others + pauses + LINES_ROW)
		pauses = room > others + LINES_ROW ? room - others - LINES_ROW : 0;
	others += pauses;
	fprintf(out, "%7s %11s %7s %10s %7s  %s\n", "SHARE", "TIME (ms)", "WAITS", "LONGEST",
		"SLOWEST", "WHAT THE WAITING CAME DOWN TO");
	err = put_rows(out, t, most, room > others ? room - others : 0, terminal, &shown_ns);
	return err ? err : put_rest(out, t, t->causes_ns - shown_ns, pauses);
}

uint64_t causes_shown(const struct options *o)
{
	return o->top ? o->top : 10;
}

static struct table_of table_of(const struct format_input *in, const struct names *names,
				const struct causes *causes)
{
	struct table_of t = { .in = in, .names = names, .causes = causes };

	t.at = causes_list(causes, &t.n);
	t.n_causes = causes_without_pauses(causes);
	for (size_t i = 0; i < t.n; i++) {
		*(t.at[i].pause ? &t.pauses_ns : &t.causes_ns) += t.at[i].ns;
		t.slowest_ns += t.at[i].slowest_ns;
	}
	return t;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The summary's lines, with those on what stacks lack. */
static size_t lines_of_summary(const struct trace *t)
{
	size_t lines = LINES_SUMMARY;
	struct process_notes notes;

	if (process_notes_of(&notes, t, NULL, PROCESS_NOTES_NAMED))
		return lines;
	for (size_t i = 0; i < notes.n && i < PROCESS_NOTES_SHOWN; i++)
		lines += strlen(notes.line[i]) / PARAGRAPH_COLUMNS + 1;
	process_notes_free(&notes);
	return lines;
}

/* The lines of the screen for the table; 0: it is not for a screen. */
static size_t lines_of_screen(const struct format_input *in)
{
	const struct options *o = in->options;
	size_t less = LINES_PROMPT + (o->quiet ? 0 : lines_of_summary(in->trace));

	return o->top || o->lines <= less ? 0 : o->lines - less;
}

/* What is said of requests, of which *lines is the number of lines. */
static int put_overview(const struct format_input *in, FILE *out, size_t *lines)
{
	char *text = NULL;
	size_t len;
	FILE *f;
	int err;

	*lines = 0;
	if (in->options->json || !request_overview_wanted(in))
		return 0;
	f = open_memstream(&text, &len);
	err = f ? request_overview_put(f, in) : -ENOMEM;
	if (f && fclose(f))
		err = -ENOMEM;
	if (!err) {
		fputs(text, out);
		*lines = paragraph_lines(text);
	}
	free(text);
	return err;
}

static int write_causes(const struct format_input *in, FILE *out)
{
	struct options o = causes_options(in->options);
	struct names *names;
	struct wait_filter *f = NULL;
	struct causes *causes = NULL;
	size_t lines = lines_of_screen(in), overview;
	int err = put_overview(in, out, &overview);

	if (err)
		return err;
	err = names_new(&names, in->timelines, &o);
	if (!err)
		err = wait_filter_new(&f, in->timelines, &o, names);
	if (!err)
		err = causes_new(&causes, in->timelines, &o, names, f);
	if (!err && in->options->json) {
		err = causes_put_json(out, in, names, causes);
	} else if (!err) {
		struct table_of t = table_of(in, names, causes);

		err = put_table(out, &t, lines > overview ? lines - overview : 0, lines);
	}
	causes_free(causes);
	wait_filter_free(f);
	names_free(names);
	return err;
}

const struct format format_causes = {
	.name = "causes",
	.summary = "a table of root causes: what the waiting came down to",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_MODE | GIVEN_BLOCKED_STACKS | GIVEN_ANNOTATE | GIVEN_NO_ENDS |
		   GIVEN_NO_DELIM | GIVEN_VIEW | GIVEN_BY_NAME | GIVEN_UNIT | GIVEN_WHO_RAN |
		   GIVEN_FOLD_REPEATS,
	.write = write_causes,
};
