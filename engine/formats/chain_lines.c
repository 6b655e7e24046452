// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_lines.h"

#include <stdlib.h>
#include <string.h>

#include "paragraph.h"
#include "style.h"
#include "table.h"
#include "common/xalloc.h"

/* Columns before the first name, and of the share with what is around it: "  98 %  ". */
#define MARGIN 2
#define SHARE_COLUMNS 8
/* Of the columns of names (with their indentation) and of places: at most; of places: at least. */
#define WHO_MOST 22
#define AT_MOST 40
#define AT_LEAST 12
/* A branch that is not the widest has at least so much of all, in percent. */
#define LEAST_OF_ALL 25
/* An end that an interrupt made is said with the wait that it ended if it has so much of that. */
#define MOST_OF_WAIT 60
#define HOLDS "holds it"

static unsigned int percent(uint64_t part_ns, uint64_t of_ns)
{
	return of_ns ? (unsigned int)((100 * (double)part_ns) / (double)of_ns + 0.5) : 0;
}

static const char *text_of(const struct chain_lines *l, uint32_t text)
{
	return text ? names_text(l->names, text) : "";
}

/* ---- words ----------------------------------------------------------------------------------- */

static void put_quota_words(const struct chain_lines *l, const struct chain_step *e, FILE *f)
{
	uint32_t who = e->who ? e->who : e->above ? l->at[e->above].who : 0;

	fprintf(f, "%s of %s used up", e->end == CHAIN_DISK ? "I/O limit" : "CPU quota",
		text_of(l, e->by));
	if (e->used_by)
		fprintf(f, ": %u %% by %s", e->used_percent,
			e->used_by == who ? "itself" : text_of(l, e->used_by));
}

static void put_end_words(const struct chain_lines *l, const struct chain_step *e, FILE *f)
{
	const char *by = text_of(l, e->by), *what = text_of(l, e->what);

	if (e->throttled && *by)
		put_quota_words(l, e, f);
	else if (e->end == CHAIN_DISK && *by)
		fprintf(f, "waits for %s", by);
	else if (e->end == CHAIN_TIMER)
		fprintf(f, *by ? "%s, held by %s" : "%s", what, by);
	else if (e->end != CHAIN_RUNNING)
		fputs(what, f);
	else if (chain_step_cpu(e) == CHAIN_STEP_HAD_NO_CPU)
		fprintf(f, *by ? "had no CPU: %s" : "had no CPU%s", by);
	else
		fputs(what, f);
	if (e->end != CHAIN_RUNNING || chain_step_cpu(e) == CHAIN_STEP_HAD_NO_CPU)
		return;
	if (e->call)
		fprintf(f, " (%s)", text_of(l, e->call));
	if (chain_step_cpu(e) == CHAIN_STEP_RAN_IN_PART)
		fprintf(f, ", %u %% of it without CPU", percent(e->no_cpu_ns, e->ns));
}

void chain_end_put(FILE *out, const struct chain_step *at, const struct names *names,
		   const struct chain_step *e)
{
	const struct chain_lines l = { .at = at, .names = names };

	put_end_words(&l, e, out);
}

/* The name of the thread that was busy while something was in the queue. */
static const char *busy_thread(const struct chain_lines *l, uint32_t step)
{
	size_t n;
	uint32_t *below = chain_steps_below(l->steps, step, &n);
	const char *who = n && below ? text_of(l, l->at[below[0]].who) : "";

	free(below);
	return who;
}

static void put_queue_words(const struct chain_lines *l, uint32_t step, FILE *f)
{
	const char *who = busy_thread(l, step);

	who = *who ? who : "somebody";
	if (l->at[step].kind == JOINT_BUSY)
		fprintf(f, "%s%s busy with %s",
			chain_steps_in_loop(l->steps) ? "event loop of " : "", who,
			text_of(l, l->at[step].what));
	else
		fprintf(f, "not read by %s yet", who);
}

/* A wait, which the end e, made by an interrupt, explains; NULL: something else does. */
static void put_wait_words(const struct chain_lines *l, const struct chain_step *s,
			   const struct chain_step *e, FILE *f)
{
	const char *what = text_of(l, s->what);

	if (e && e->end == CHAIN_NOT_WOKEN) {
		fprintf(f, *what ? "waits for %s" : "waits%s", what);
		if (e->by)
			fprintf(f, " held by %s", text_of(l, e->by));
		fputs(", never woken", f);
		return;
	}
	if (e && (e->end != CHAIN_TIMER || s->kind == JOINT_SLEEP || !*what)) {
		if (e->end == CHAIN_NETWORK && *what)
			fprintf(f, "waits for %s, ", what);
		put_end_words(l, e, f);
		return;
	}
	if (e && e->all && s->kind != JOINT_LOCK) {
		fprintf(f, "all %u wait for %s, in vain", e->all, *what ? what : "others");
		return;
	}
	fprintf(f, *what ? "waits for %s" : "waits%s", what);
	if (e && s->kind == JOINT_LOCK)
		fputs(", ", f);
	if (e && s->kind == JOINT_LOCK)
		put_end_words(l, e, f);
	else if (e)
		fputs(", until its timeout", f);
}

static void add_line(struct chain_lines *l, uint32_t number, const struct chain_step *e,
		     size_t depth)
{
	const struct chain_step *s = &l->at[number], *up = s->above ? &l->at[s->above] : NULL;
	struct chain_line *line = &l->line[l->n];
	size_t len;
	FILE *f = xmemstream(&line->words, &len);

	line->who = s->who	    ? text_of(l, s->who)
		    : !s->is_end    ? "(queue)"
		    : up && up->who ? text_of(l, up->who)
				    : "(unknown)";
	line->at = text_of(l, s->at);
	line->step = number;
	line->indent = depth;
	line->share = percent(s->ns, l->total_ns);
	line->end = s->is_end ? s : e;
	line->waiting = s->is_end || s->waiting < 2 ? 0 : s->waiting;
	if (up && up->kind == JOINT_LOCK && s->who && s->kind == JOINT_LOCK && s->what == up->what)
		fputs("has it or is next, ", f);
	else if (up && up->kind == JOINT_LOCK && s->who)
		fprintf(f, s->served ? HOLDS " (%s), " : HOLDS ", ", text_of(l, s->served));
	if (s->is_end)
		put_end_words(l, s, f);
	else if (!s->who)
		put_queue_words(l, number, f);
	else
		put_wait_words(l, s, e, f);
	xmemstream_close(f, &line->words);
	l->n++;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* The end below a step that is said with it: an interrupt's, which has most of it. */
static const struct chain_step *said_with(const struct chain_lines *l, uint32_t step,
					  const uint32_t *below, size_t n)
{
	const struct chain_step *e = step && n ? &l->at[below[0]] : NULL;

	return e && e->is_end && !e->who && percent(e->ns, l->at[step].ns) >= MOST_OF_WAIT ? e
											   : NULL;
}

static void add_below(struct chain_lines *l, uint32_t step, size_t depth)
{
	size_t n, n_next;
	uint32_t *below = chain_steps_below(l->steps, step, &n), *next;

	for (size_t i = said_with(l, step, below, n) ? 1 : 0; below && i < n && l->n < l->most;
	     i++) {
		const struct chain_step *s = &l->at[below[i]], *e;

		if (i && percent(s->ns, l->total_ns) < LEAST_OF_ALL)
			break;
		next = chain_steps_below(l->steps, below[i], &n_next);
		e = next ? said_with(l, below[i], next, n_next) : NULL;
		free(next);
		add_line(l, below[i], e, depth);
		add_below(l, below[i], depth + 1);
	}
	free(below);
}

/* What is before the rest of a name of Java: "com.shop." of "com.shop.Cart.add"; 0: nothing is. */
static size_t package_length(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");
	size_t more = s[n] == '.' ? n + 1 + strcspn(s + n + 1, ".<>()[] :/") : n;

	return n && s[n] == '.' && s[more] == '.' ? n + 1 : 0;
}

#define FITTING_SIZE 256

/* Of a function's name that is too long what says most: without "crate::module::", packages or
 * Ruby's "block (2 levels) in " before it, and with ":LINE" behind it for " (FILE:LINE)", or
 * nothing; in room, or a part of at. */
static const char *fitting(const char *at, size_t width, char room[FITTING_SIZE])
{
	const char *s = at, *colons, *place, *line, *method = strstr(at, " in ");
	int digits;

	if (table_width(s) > width && !strncmp(s, "block ", strlen("block ")) && method)
		s = method + strlen(" in ");
	while (table_width(s) > width && package_length(s))
		s += package_length(s);
	while (table_width(s) > width && (colons = strstr(s, "::")) && colons > s &&
	       (size_t)(colons - s) == strcspn(s, "<>()[] :"))
		s = colons + 2;
	s = *s ? s : at;
	place = table_width(s) > width ? strstr(s, " (") : NULL;
	if (!place || place == s || strlen(s) >= FITTING_SIZE)
		return s;
	line = strrchr(place, ':');
	digits = line ? (int)strspn(line + 1, "0123456789") : 0;
	snprintf(room, FITTING_SIZE, "%.*s%.*s", (int)(place - s), s, digits ? digits + 1 : 0,
		 line ? line : "");
	if (table_width(room) > width)
		room[place - s] = '\0';
	return room;
}

/* Words without the port behind a name, " :5432" or " (tcp :5432)"; in room, or words. */
static const char *without_port(const char *words, char room[FITTING_SIZE])
{
	const char *port = strstr(words, " :"), *from = strstr(words, " (tcp :"), *to;

	from = from ? from : port;
	if (!from || strlen(words) >= FITTING_SIZE)
		return words;
	to = from == port ? from + 2 + strspn(from + 2, "0123456789") : from + strcspn(from, ")");
	to += *to == ')';
	snprintf(room, FITTING_SIZE, "%.*s%s", (int)(from - words), words, to);
	return room;
}

/* Words without the route for which who holds something works, "holds it (GET /report)"; in room,
 * or words. */
static const char *without_route(const char *words, char room[FITTING_SIZE])
{
	size_t begin = strlen(HOLDS);
	const char *end = strncmp(words, HOLDS " (", begin + 2) ? NULL : strstr(words, "), ");

	if (!end || strlen(words) >= FITTING_SIZE)
		return words;
	memmove(room + begin, end + 1, strlen(end));
	memcpy(room, HOLDS, begin);
	return room;
}

/* What of a line's words fits, and how many wait, if that does. */
static void put_words(FILE *out, const struct chain_line *line, size_t width)
{
	char room[FITTING_SIZE], more[32] = "";
	const char *words = line->words, *shorter = without_port(words, room);
	size_t len;

	if (line->waiting)
		snprintf(more, sizeof(more), " (%u at once)", line->waiting);
	len = strlen(more);
	if (table_width(words) > width ||
	    (table_width(words) + len > width && table_width(shorter) + len <= width))
		words = shorter;
	if (table_width(words) > width)
		words = without_route(words, room);
	if (table_width(words) + len <= width)
		fprintf(out, "%s%s", words, more);
	else
		table_put_cut(out, words, width);
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* " 98 %", on the colour of the end. */
static void put_share(FILE *out, const struct chain_line *line, bool color)
{
	const struct chain_step *e = line->end;
	bool no_cpu = e && e->end == CHAIN_RUNNING && chain_step_cpu(e) == CHAIN_STEP_HAD_NO_CPU;

	putc(' ', out);
	if (e)
		style_begin_end(out, color, STYLE_BACK, no_cpu ? CHAIN_RUNNABLE : e->end,
				e->throttled);
	fprintf(out, "%3u %%", line->share);
	style_stop(out, color && e);
}

static void put_lines(FILE *out, const struct chain_lines *l, const struct options *o)
{
	size_t who = 0, at = 0, words = 0, columns = paragraph_columns(o->columns), rest;
	char room[FITTING_SIZE];

	for (size_t i = 0; i < l->n; i++) {
		const struct chain_line *line = &l->line[i];
		size_t width = line->indent + table_width(line->who);

		who = width > who ? width : who;
		who = 2 * line->indent > who ? 2 * line->indent : who;
		at = table_width(line->at) > at ? table_width(line->at) : at;
		width = table_width(without_route(without_port(line->words, room), room));
		words = width > words ? width : words;
	}
	who = who > WHO_MOST ? WHO_MOST : who;
	at = at > AT_MOST ? AT_MOST : at;
	rest = columns - MARGIN - who - 1 - SHARE_COLUMNS;
	/* Places give way to what is waited for, but not to ports and routes. */
	if (at + words > rest && at > AT_LEAST)
		at = rest > words + AT_LEAST ? rest - words : AT_LEAST;
	for (size_t i = 0; i < l->n; i++) {
		const struct chain_line *line = &l->line[i];
		size_t indent = line->indent < who / 2 ? line->indent : who / 2;

		fprintf(out, "%*s", (int)(MARGIN + indent), "");
		style_begin_name(out, o->color);
		table_put_padded(out, line->who, who - indent);
		style_stop(out, o->color);
		putc(' ', out);
		table_put_padded(out, fitting(line->at, at, room), at);
		put_share(out, line, o->color);
		fputs("  ", out);
		put_words(out, line, rest - at);
		putc('\n', out);
	}
}

void chain_lines_make(struct chain_lines *l, const struct chain_steps *s, const struct names *names,
		      size_t most)
{
	uint32_t n;

	*l = (struct chain_lines) { .steps = s, .names = names };
	l->most = most < CHAIN_LINES_MOST ? most : CHAIN_LINES_MOST;
	l->at = chain_steps_list(s, &n);
	l->total_ns = chain_steps_total_ns(s);
	add_below(l, 0, 0);
}

void chain_lines_free(struct chain_lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->line[i].words);
}

void chain_lines_put(FILE *out, const struct chain_steps *s, const struct names *names,
		     const struct options *o, size_t most)
{
	char *at[CHAIN_LINES_MOST] = { NULL };
	struct chain_lines l;

	chain_lines_make(&l, s, names, most);
	for (size_t i = 0; i < l.n && !o->wide; i++) {
		at[i] = xstrdup(l.line[i].at);
		text_drop_addresses(at[i]);
		l.line[i].at = at[i];
		text_drop_addresses(l.line[i].words);
	}
	put_lines(out, &l, o);
	for (size_t i = 0; i < l.n; i++)
		free(at[i]);
	chain_lines_free(&l);
}
