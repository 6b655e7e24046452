// SPDX-License-Identifier: GPL-2.0-or-later
#include "row_sums.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/keyed.h"
#include "common/xalloc.h"

void wait_sums_count(struct wait_sums *s, uint64_t ns)
{
	s->waits++;
	s->total_ns += ns;
	if (s->longest_ns < ns)
		s->longest_ns = ns;
}

void wait_sums_add(struct wait_sums *s, const struct wait_sums *other)
{
	s->waits += other->waits;
	s->total_ns += other->total_ns;
	if (s->longest_ns < other->longest_ns)
		s->longest_ns = other->longest_ns;
}

/* What stands below a table: at most so many lines of the summary, and the shell's prompt. */
#define SUMMARY_LINES 5
#define PROMPT_LINES 1
#define ROWS_MIN 3

size_t table_top(const struct format_input *in, size_t n, size_t more)
{
	const struct options *o = in->options;
	size_t below = more + PROMPT_LINES + (o->quiet ? 0 : SUMMARY_LINES);

	if (o->top)
		return o->top < n ? (size_t)o->top : n;
	if (!o->lines || n + below <= o->lines)
		return n;
	/* One of them is for all that are not shown. */
	return o->lines > below + ROWS_MIN ? o->lines - below - 1 : ROWS_MIN;
}

struct table_sums table_sums(size_t top)
{
	return (struct table_sums) { .top = top };
}

void table_sums_add(struct table_sums *t, const struct wait_sums *s)
{
	wait_sums_add(&t->total, s);
	if (t->added++ >= t->top)
		wait_sums_add(&t->other, s);
}

void row_lengths_add(struct row_lengths *l, uint32_t row, uint64_t ns)
{
	XAPPEND(l->at, l->n, l->cap) = (struct row_length) { row, ns };
}

static uint64_t row_then_length(const void *length)
{
	const struct row_length *l = length;

	return key_of_two(l->row, l->ns);
}

static int by_row_and_length(const void *pa, const void *pb)
{
	const struct row_length *a = pa, *b = pb;

	if (a->row != b->row)
		return compare_numbers(a->row, b->row);
	return compare_numbers(a->ns, b->ns);
}

/* The shortest of n sorted lengths that is not below p percent of all. */
static uint64_t percentile(const struct row_length *sorted, size_t n, unsigned int p)
{
	return sorted[(n * p + 99) / 100 - 1].ns;
}

void row_lengths_percentiles(struct row_lengths *l, void *rows, size_t size, size_t offset)
{
	const struct row_length *at = l->at;
	size_t end;

	if (l->n)
		sort_by_key(l->at, l->n, sizeof(*l->at), row_then_length, by_row_and_length);
	for (size_t i = 0; i < l->n; i = end) {
		struct row_percentiles *p = (void *)((char *)rows + at[i].row * size + offset);

		for (end = i + 1; end < l->n && at[end].row == at[i].row;)
			end++;
		*p = (struct row_percentiles) {
			end - i,
			percentile(&at[i], end - i, 50),
			percentile(&at[i], end - i, 99),
		};
	}
}
