// SPDX-License-Identifier: GPL-2.0-or-later
#include "against.h"

#include <stdlib.h>
#include <string.h>

#include "common/lower_bound.h"
#include "common/xalloc.h"

#define WHOLE_PPM 1e6
/* Less than a tenth is not called a change, nor less than this. */
#define LEAST_PPM 100000
#define LEAST_COMMAND_NS 20000000
#define LEAST_ENDPOINT_NS 1000000
/* More than the usual two standard deviations, as slow requests come in bursts. */
#define DEVIATIONS 3.0
/* Of a cause: one of so many parts of the time to which its own relates. */
#define LEAST_CAUSE 20
/* A link is shown if it has at least one of so many parts of its figure's change. */
#define LEAST_LINK 2

/* ---- which figures are the same thing -------------------------------------------------------- */

static void add_row(struct against *a, const struct figure *before, const struct figure *after)
{
	a->rows[a->n++] = (struct against_row) { .before = before, .after = after };
}

static bool is_taken(const struct against *a, const struct figure *before)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->rows[i].before == before)
			return true;
	return false;
}

static const struct figure *with_key(const struct figures *f, const struct figure *like)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->at[i].kind == like->kind && !strcmp(f->at[i].key, like->key))
			return &f->at[i];
	return NULL;
}

/* The only one whose port may be another one; NULL: there is none, or are several. */
static const struct figure *with_loose_key(const struct figures *f, const char *loose)
{
	const struct figure *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (f->at[i].kind != FIGURE_ENDPOINT || strcmp(f->at[i].loose, loose) != 0)
			continue;
		found = &f->at[i];
		n++;
	}
	return n == 1 ? found : NULL;
}

static const struct figure *partner(const struct against *a, const struct figure *after)
{
	const struct figure *before = with_key(&a->before, after);

	if (before || after->kind != FIGURE_ENDPOINT)
		return before;
	before = with_loose_key(&a->before, after->loose);
	/* That one may be there as well. */
	if (!before || with_key(&a->after, before))
		return NULL;
	return with_loose_key(&a->after, after->loose) ? before : NULL;
}

static void find_rows(struct against *a)
{
	a->rows = xcalloc(a->before.n + a->after.n + 1, sizeof(*a->rows));
	for (size_t i = 0; i < a->after.n; i++)
		add_row(a, partner(a, &a->after.at[i]), &a->after.at[i]);
	for (size_t i = 0; i < a->before.n; i++)
		if (!is_taken(a, &a->before.at[i]))
			add_row(a, &a->before.at[i], NULL);
}

/* ---- what is a change ------------------------------------------------------------------------ */

/* What less would be no change of a figure of this kind. */
static uint64_t least_ns(const struct against *a, enum figure_kind kind)
{
	switch (kind) {
	case FIGURE_COMMAND:
		return LEAST_COMMAND_NS;
	case FIGURE_ENDPOINT:
		return LEAST_ENDPOINT_NS;
	case FIGURE_CAUSE:
		break;
	}
	return (a->before.of_command ? a->before.duration_ns : 1000000000) / LEAST_CAUSE;
}

static uint64_t slower_than(const struct figure *of, double ns)
{
	size_t n = LOWER_BOUND(i, of->n_took, (double)of->took[i].ns <= ns);

	return of->requests - (n ? of->took[n - 1].up_to : 0);
}

/*
 * Whether requests of more that took longer than ns are so many more than those of the other one
 * that it is no chance: by standard deviations of the difference of two counts.
 */
static bool are_more(const struct figure *more, const struct figure *than, double ns)
{
	double each = (double)more->requests / (double)than->requests;
	double n = (double)slower_than(more, ns), other = (double)slower_than(than, ns) * each;
	double by = n - other;

	return by > 0 && by * by > DEVIATIONS * DEVIATIONS * (n + other * each);
}

/*
 * Whether a figure is more than another one (NULL: it has nothing): by more than that part, than
 * others' load and than chance.
 */
static bool is_more(const struct figure *more, const struct figure *than, double ppm,
		    uint64_t least)
{
	uint64_t than_ns = than ? than->own_ns : 0;
	double times = 1 + ppm / WHOLE_PPM;

	return more->own_ns >= than_ns + least && (double)more->own_ns > (double)than_ns * times &&
	       (!than || !more->took || are_more(more, than, (double)than->own_ns * times));
}

static void find_change(const struct against *a, struct against_row *r, double ppm)
{
	const struct figure *before = r->before, *after = r->after;
	uint64_t least = least_ns(a, (after ? after : before)->kind);

	if (after && is_more(after, before, ppm, least))
		r->change = before ? AGAINST_GROWN : AGAINST_NEW;
	else if (before && is_more(before, after, ppm, least))
		r->change = after ? AGAINST_LESS : AGAINST_GONE;
}

/* Whether any figure of commands or endpoints is there before and after. */
static bool has_subjects(const struct against *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->rows[i].before && a->rows[i].after && a->rows[i].before->counts &&
		    a->rows[i].after->counts && a->rows[i].after->kind != FIGURE_CAUSE)
			return true;
	return false;
}

/*
 * A cause of threads that nobody chose may be another program's: it counts only where there is
 * nothing else.
 */
static bool is_judged(const struct against *a, const struct against_row *r, bool causes)
{
	const struct figure *after = r->after;

	if (!after || !after->counts || (r->before && !r->before->counts))
		return false;
	if (after->kind != FIGURE_CAUSE)
		return r->before;
	return causes && a->before.of_command == a->after.of_command;
}

static int64_t by_ns(const struct against_row *r)
{
	return (int64_t)(r->after ? r->after->own_ns : 0) -
	       (int64_t)(r->before ? r->before->own_ns : 0);
}

static int grown_first(const void *pa, const void *pb)
{
	const struct against_row *a = pa, *b = pb;
	const struct figure *fa = a->after ? a->after : a->before;
	const struct figure *fb = b->after ? b->after : b->before;
	bool ca = fa->kind == FIGURE_CAUSE, cb = fb->kind == FIGURE_CAUSE;

	if (ca != cb)
		return ca - cb;
	if (a->above != b->above)
		return b->above - a->above;
	if (by_ns(a) != by_ns(b))
		return by_ns(a) < by_ns(b) ? 1 : -1;
	return strcmp(fa->key, fb->key);
}

void against_compare(struct against *a, const struct options *o)
{
	double fail_ppm = (double)o->fail_above_ppm;
	double ppm = o->fail_above_ppm && fail_ppm < LEAST_PPM ? fail_ppm : LEAST_PPM;
	bool causes;

	find_rows(a);
	causes = (a->before.chosen && a->after.chosen) || !has_subjects(a);
	for (size_t i = 0; i < a->n; i++) {
		struct against_row *r = &a->rows[i];

		find_change(a, r, ppm);
		r->judged = is_judged(a, r, causes);
		r->above = o->fail_above_ppm && r->judged &&
			   is_more(r->after, r->before, fail_ppm, least_ns(a, r->after->kind));
		a->n_judged += r->judged;
		a->n_above += r->above;
	}
	if (a->n)
		qsort(a->rows, a->n, sizeof(*a->rows), grown_first);
}

/* ---- what is said of it ---------------------------------------------------------------------- */

bool against_shows(const struct against_row *r)
{
	const struct figure *of = r->after ? r->after : r->before;

	return r->change != AGAINST_SAME || of->kind != FIGURE_CAUSE;
}

/* What all steps of a figure have: those that are below none. */
static int64_t all_ns(const struct figure *of)
{
	uint64_t ns = 0;

	for (size_t i = 0; of && i < of->n_steps; i++)
		ns += strrchr(of->steps[i].key, '\n') == of->steps[i].key ? of->steps[i].ns : 0;
	return (int64_t)ns;
}

size_t against_links(const struct against_row *r, struct against_link links[AGAINST_LINKS])
{
	int64_t by = all_ns(r->after) - all_ns(r->before), size = by < 0 ? -by : by;
	const struct figure *of = by > 0 ? r->after : r->before;
	const struct figure *other = by > 0 ? r->before : r->after;
	size_t n = 0;

	if (r->change == AGAINST_SAME || !of)
		return 0;
	for (size_t i = 0; i < of->n_steps && of->steps[i].who && n < AGAINST_LINKS; i++) {
		const struct figure_step *s = &of->steps[i];
		int64_t ns = (int64_t)s->ns - (int64_t)(other ? figure_step_ns(other, s->key) : 0);

		if (ns > 0 && ns >= size / LEAST_LINK)
			links[n++] = (struct against_link) { s, by > 0 ? ns : -ns };
	}
	return n;
}

void against_put_verdict(FILE *out, const struct against *a, const struct options *o,
			 const char *marked)
{
	double limit = o->fail_above_ppm / 1e4;
	size_t grown = 0;

	for (size_t i = 0; i < a->n; i++)
		grown += a->rows[i].change == AGAINST_GROWN || a->rows[i].change == AGAINST_NEW;
	if (a->n_above)
		fprintf(out, "%zu of %zu figures grew by more than %g %%%s.", a->n_above,
			a->n_judged, limit, marked);
	else if (grown && a->n_judged && o->fail_above_ppm)
		fprintf(out, "%zu of %zu figures grew, but none that is judged by more than %g %%.",
			grown, a->n, limit);
	else if (grown)
		fprintf(out, "%zu of %zu figures grew.", grown, a->n);
	else
		fputs("Nothing grew, but for chance and others' load.", out);
}

void against_free(struct against *a)
{
	figures_free(&a->before);
	figures_free(&a->after);
	free(a->rows);
	*a = (struct against) { .n = 0 };
}
