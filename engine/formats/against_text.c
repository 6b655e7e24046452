// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of --against for reading. */
#include <inttypes.h>
#include <stdlib.h>

#include "against.h"
#include "paragraph.h"
#include "style.h"
#include "table.h"
#include "common/xalloc.h"

/* Columns of a time, and of the change with what is around it. */
#define TIME_COLUMNS 10
#define CHANGE_COLUMNS 12
/* A name is not cut to less. */
#define NAME_LEAST 14
/* On so wide a screen there is room for all that is known of an endpoint. */
#define COLUMNS_FOR_ALL 110
/* What is lost is told from this part of all events on. */
#define LEAST_LOST 100

struct writer {
	FILE *out;
	const struct against *a;
	const struct options *o;
	size_t columns, lines, most;
	bool has_load; /* a row says how much of it others had the CPU */
};

static bool has_room(const struct writer *w)
{
	return w->lines < w->most;
}

static void begin(struct writer *w, struct paragraph *p)
{
	paragraph_begin(p);
	p->columns = w->o->wide ? SIZE_MAX : w->columns;
}

static void end(struct writer *w, struct paragraph *p)
{
	paragraph_end_cut(p, w->out);
	w->lines++;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* "31.2 ms", "+2.01 s": three digits that count, in a column. */
static void put_time(FILE *f, int64_t ns, bool sign, const char *per)
{
	double ms = (double)ns / 1e6, size = ms < 0 ? -ms : ms;
	bool in_s = size >= 1000;
	double n = in_s ? ms / 1000 : ms;
	int digits = size / (in_s ? 1000 : 1) >= 100 ? 0 : size / (in_s ? 1000 : 1) >= 10 ? 1 : 2;
	char text[48];

	snprintf(text, sizeof(text), sign ? "%+.*f %s%s" : "%.*f %s%s", digits, n,
		 in_s ? "s" : "ms", per);
	fprintf(f, "%*s", TIME_COLUMNS, text);
}

static const char *unit_of(const struct writer *w, const struct figure *of)
{
	return of->kind == FIGURE_CAUSE && !w->a->before.of_command ? "/s" : "";
}

/* ---- a row ----------------------------------------------------------------------------------- */

static void put_change(FILE *f, const struct against_row *r)
{
	char text[32];
	double by;

	if (!r->before || !r->after) {
		fprintf(f, "%9s", r->after ? "new" : "gone");
	} else {
		by = 100 * ((double)r->after->own_ns /
				    (double)(r->before->own_ns ? r->before->own_ns : 1) -
			    1);
		/* In brackets: it is small, or may be chance. */
		snprintf(text, sizeof(text), r->change == AGAINST_SAME ? "(%+.0f %%)" : "%+.0f %% ",
			 by > 99999 ? 99999 : by);
		fprintf(f, "%9s", text);
	}
	fputs(r->above ? " ! " : "   ", f);
}

/* Whether others had the CPU for a tenth of it or more. */
static bool is_delayed(const struct figure *of)
{
	return of && 10 * (of->ns - of->own_ns) >= of->ns;
}

/* "4.71 ms". */
static void put_whole(FILE *f, const struct figure *of)
{
	double ms = (double)of->ns / 1e6;

	fprintf(f, ms >= 1000 ? "%.2f s" : "%.3g ms", ms >= 1000 ? ms / 1000 : ms);
}

/* What is said behind the name of a figure. */
static void put_rest(struct writer *w, FILE *f, const struct against_row *r)
{
	const struct figure *before = r->before, *after = r->after, *of = after ? after : before;
	bool delayed = is_delayed(before) || is_delayed(after);

	if (of->kind == FIGURE_COMMAND)
		fputs(of->counts ? ", elapsed" : " had not ended", f);
	/* Where there is room. */
	if (of->kind == FIGURE_CAUSE)
		return;
	if (of->kind == FIGURE_ENDPOINT && (!delayed || w->columns >= COLUMNS_FOR_ALL)) {
		fprintf(f, ", %" PRIu64, (before ? before : after)->requests);
		if (before && after)
			fprintf(f, " and %" PRIu64, after->requests);
	}
	if (!delayed)
		return;
	fputs(", load: ", f);
	put_whole(f, before ? before : after);
	fputs(before && after ? ", " : "", f);
	if (before && after)
		put_whole(f, after);
	w->has_load = true;
}

/* The name of an endpoint gives way to what follows. */
static void put_title(struct writer *w, FILE *f, const struct against_row *r)
{
	const struct figure *of = r->after ? r->after : r->before;
	size_t taken = 2 * TIME_COLUMNS + 1 + CHANGE_COLUMNS, width = table_width(of->title);
	char *rest = NULL;
	size_t len = 0;
	FILE *memory = xmemstream(&rest, &len);

	put_rest(w, memory, r);
	xmemstream_close(memory, &rest);
	if (of->kind == FIGURE_ENDPOINT)
		taken += (size_t)fprintf(f, "p99 of ");
	taken += table_width(rest);
	if (of->kind != FIGURE_CAUSE && !w->o->wide && taken + width > w->columns)
		width = taken + NAME_LEAST < w->columns ? w->columns - taken : NAME_LEAST;
	style_begin_name(f, w->o->color && of->kind != FIGURE_CAUSE);
	table_put_cut(f, of->title, width);
	style_stop(f, w->o->color && of->kind != FIGURE_CAUSE);
	fputs(rest, f);
	free(rest);
}

static void put_links(struct writer *w, const struct against_row *r)
{
	struct against_link links[AGAINST_LINKS];
	size_t n = against_links(r, links);

	for (size_t i = 0; i < n; i++) {
		const struct figure_step *s = links[i].step;
		struct paragraph p;

		if (!has_room(w))
			return;
		begin(w, &p);
		fprintf(p.f, "%*s", TIME_COLUMNS + 1, "");
		put_time(p.f, links[i].by_ns, true, "");
		fprintf(p.f, "%*s", 12 + (int)(s->depth > 8 ? 8 : s->depth), "");
		style_name(p.f, w->o->color, s->who);
		fprintf(p.f, "%s%s  %s", *s->at ? " " : "", s->at, s->words);
		end(w, &p);
	}
}

static void put_row(struct writer *w, const struct against_row *r)
{
	const struct figure *of = r->after ? r->after : r->before;
	const char *per = unit_of(w, of);
	struct paragraph p;

	begin(w, &p);
	if (r->before)
		put_time(p.f, (int64_t)r->before->own_ns, false, per);
	else
		fprintf(p.f, "%*s", TIME_COLUMNS, "-");
	putc(' ', p.f);
	if (r->after)
		put_time(p.f, (int64_t)r->after->own_ns, false, per);
	else
		fprintf(p.f, "%*s", TIME_COLUMNS, "-");
	put_change(p.f, r);
	put_title(w, p.f, r);
	end(w, &p);
	if (r->change != AGAINST_SAME)
		put_links(w, r);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void put_recording(struct writer *w, const char *what, const struct figures *f)
{
	struct paragraph p;

	begin(w, &p);
	fprintf(p.f, "%s %.3f s", what, (double)f->duration_ns / 1e9);
	if (LEAST_LOST * f->lost >= f->events + f->lost && f->lost)
		fprintf(p.f, ", %.0f %% of the events lost",
			100 * (double)f->lost / (double)(f->events + f->lost));
	fputs(": ", p.f);
	print_clean(p.f, f->name);
	end(w, &p);
}

static void put_verdict(struct writer *w)
{
	struct paragraph p;

	begin(w, &p);
	against_put_verdict(p.f, w->a, w->o, ", those with \"!\"");
	end(w, &p);
}

void against_put(FILE *out, const struct against *a, const struct options *o)
{
	struct writer w = { .out = out, .a = a, .o = o, .most = SIZE_MAX };
	size_t left_out = 0, same = 0;
	struct paragraph p;

	w.columns = paragraph_columns(o->columns);
	/* Below the rows there are the prompt and two lines. */
	if (o->lines && !o->wide)
		w.most = o->lines > 11 ? o->lines - 4 : 7;
	put_recording(&w, "before:", &a->before);
	put_recording(&w, "after: ", &a->after);
	put_verdict(&w);
	fprintf(out, "%*s %*s %8s\n", TIME_COLUMNS, "BEFORE", TIME_COLUMNS, "AFTER", "CHANGE");
	w.lines++;
	for (size_t i = 0; i < a->n; i++) {
		if (!against_shows(&a->rows[i]))
			same++;
		else if (has_room(&w))
			put_row(&w, &a->rows[i]);
		else
			left_out++;
	}
	if (w.has_load) {
		begin(&w, &p);
		fputs("load: with the time in which others had the CPU; the columns are without",
		      p.f);
		end(&w, &p);
	}
	if (same || left_out) {
		begin(&w, &p);
		if (left_out)
			fprintf(p.f, "%zu more (--wide); ", left_out);
		fprintf(p.f, "%zu causes are as before", same);
		end(&w, &p);
	}
}
