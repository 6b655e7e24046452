// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fold.h"

#define NS_PER_US 1000u

/* A line on its way out. */
struct weighed {
	uint64_t ns, weight;
	size_t line;
};

/* Widest first; among equals the order of the lines. */
static int by_width(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int by_remainder(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;
	uint64_t ra = a->ns % NS_PER_US, rb = b->ns % NS_PER_US;

	if (ra != rb)
		return ra > rb ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int by_line(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	return a->line < b->line ? -1 : a->line > b->line;
}

/*
 * Rounds to microseconds by largest remainders: thousands of lines of some hundred nanoseconds
 * each would otherwise vanish together, or all count as one microsecond.
 */
static void round_to_us(struct weighed *w, size_t n)
{
	uint64_t remainder = 0, up;

	for (size_t i = 0; i < n; i++) {
		w[i].weight = w[i].ns / NS_PER_US;
		remainder += w[i].ns % NS_PER_US;
	}
	up = (remainder + NS_PER_US / 2) / NS_PER_US;
	qsort(w, n, sizeof(*w), by_remainder);
	for (size_t i = 0; i < n && up; i++, up--)
		w[i].weight++;
}

int fold_lines_write(const struct fold_line *lines, size_t n, const struct options *o, FILE *out)
{
	struct weighed *w = malloc((n + 1) * sizeof(*w));

	if (!w)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		w[i] = (struct weighed) { lines[i].ns, lines[i].ns, i };
	if (o->top && o->top < n) {
		qsort(w, n, sizeof(*w), by_width);
		n = (size_t)o->top;
	}
	if (o->unit == UNIT_US)
		round_to_us(w, n);
	qsort(w, n, sizeof(*w), by_line);
	for (size_t i = 0; i < n; i++)
		if (w[i].weight)
			fprintf(out, "%s %" PRIu64 "\n", lines[w[i].line].text, w[i].weight);
	free(w);
	return 0;
}

int fold_write(const struct fold *f, const struct options *o, FILE *out)
{
	size_t n;
	const struct fold_line *lines = fold_lines(f, &n);

	return fold_lines_write(lines, n, o, out);
}
