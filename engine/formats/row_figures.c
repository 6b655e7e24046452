// SPDX-License-Identifier: GPL-2.0-or-later
#include "row_figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/grow.h"

int row_lengths_add(struct row_lengths *l, uint32_t row, uint64_t ns)
{
	struct row_length *p = grow_array(l->at, l->n, &l->cap, sizeof(*p));

	if (!p)
		return -ENOMEM;
	l->at = p;
	p[l->n++] = (struct row_length) { row, ns };
	return 0;
}

static int by_row_and_length(const void *pa, const void *pb)
{
	const struct row_length *a = pa, *b = pb;

	if (a->row != b->row)
		return compare_numbers(a->row, b->row);
	return compare_numbers(a->ns, b->ns);
}

void row_lengths_sort(struct row_lengths *l)
{
	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), by_row_and_length);
}

uint64_t row_percentile(const struct row_length *sorted, size_t n, unsigned int p)
{
	return sorted[(n * p + 99) / 100 - 1].ns;
}

int row_shares_add(struct pair_table *shares, uint32_t row, uint32_t who, uint64_t ns)
{
	struct row_share *s = who ? pair_table_at(shares, row, who, sizeof(*s)) : NULL;

	if (!s)
		return -ENOMEM;
	s->row = row;
	s->who = who;
	s->ns += ns;
	return 0;
}

/* Most time first; the texts decide between equal ones. */
static int by_share(const void *pa, const void *pb, void *names)
{
	const struct row_share *a = pa, *b = pb;

	if (a->row != b->row)
		return compare_numbers(a->row, b->row);
	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	return strcmp(names_text(names, a->who), names_text(names, b->who));
}

void row_shares_most(struct pair_table *shares, struct names *names,
		     void (*put)(void *arg, uint32_t row, uint32_t who, uint32_t others), void *arg)
{
	struct row_share *all = shares->at;
	size_t n = shares->keys.n, k;

	if (n)
		qsort_r(all + 1, n, sizeof(*all), by_share, names);
	for (size_t i = 1; i <= n; i = k) {
		for (k = i + 1; k <= n && all[k].row == all[i].row;)
			k++;
		put(arg, all[i].row, all[i].who, (uint32_t)(k - i - 1));
	}
}
