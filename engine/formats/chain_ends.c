// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_ends.h"

#include <stdlib.h>

#include "base/compare.h"
#include "chain_lines.h"
#include "common/xalloc.h"

static int alike_beside(const void *pa, const void *pb)
{
	const struct chain_end_sum *a = pa, *b = pb;

	if (a->who != b->who)
		return compare_numbers(a->who, b->who);
	return a->at != b->at ? compare_numbers(a->at, b->at) : compare_numbers(a->words, b->words);
}

static int most_first(const void *pa, const void *pb)
{
	const struct chain_end_sum *a = pa, *b = pb;

	return a->ns != b->ns ? compare_numbers(b->ns, a->ns) : alike_beside(a, b);
}

/* The sum of a part of an end's time, all of which was as the step says. */
static struct chain_end_sum sum_of(const struct chain_step *at, struct names *names,
				   const struct chain_step *e)
{
	const struct chain_step *up = e->above ? &at[e->above] : e;
	struct chain_end_sum sum = { .who = e->who ? e->who : up->who,
				     .at = e->at ? e->at : up->at,
				     .ns = e->ns };
	char *words = NULL;
	size_t len;
	FILE *f = xmemstream(&words, &len);

	chain_end_put(f, at, names, e);
	xmemstream_close(f, &words);
	sum.words = names_adopt(names, words);
	free(words);
	return sum;
}

struct chain_end_sum *chain_ends(const struct chain_steps *s, struct names *names, size_t *n)
{
	uint32_t end;
	const struct chain_step *at = chain_steps_list(s, &end);
	struct chain_end_sum *sums = xcalloc(2 * (size_t)end + 1, sizeof(*sums));
	size_t all = 0, kept = 0;

	for (uint32_t i = 1; i < end; i++) {
		struct chain_step e = at[i];

		if (!e.is_end || !e.ns)
			continue;
		/* With a CPU and without one are told apart. */
		e.ns = e.no_cpu_ns;
		if (e.ns)
			sums[all++] = sum_of(at, names, &e);
		e.ns = at[i].ns - e.no_cpu_ns;
		e.no_cpu_ns = 0;
		if (e.ns)
			sums[all++] = sum_of(at, names, &e);
	}
	qsort(sums, all, sizeof(*sums), alike_beside);
	for (size_t i = 0; i < all; i++) {
		if (kept && !alike_beside(&sums[kept - 1], &sums[i]))
			sums[kept - 1].ns += sums[i].ns;
		else
			sums[kept++] = sums[i];
	}
	qsort(sums, kept, sizeof(*sums), most_first);
	*n = kept;
	if (kept)
		return sums;
	free(sums);
	return NULL;
}
