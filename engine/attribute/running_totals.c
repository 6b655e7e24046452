// SPDX-License-Identifier: GPL-2.0-or-later
#include "running_totals.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "common/lower_bound.h"

struct total {
	uint64_t sum;	  /* up to the end of the block */
	uint64_t longest; /* piece in the block */
	uint32_t block;
};

struct key_totals {
	struct total *totals; /* by block; only blocks in which the key has an amount */
	size_t n, cap;
	size_t longest;			   /* which of totals[] has the longest piece */
	uint64_t pending, pending_longest; /* in the block at hand */
};

void totals_add(struct running_totals *t, uint32_t a, uint32_t b, uint64_t amount, uint64_t longest)
{
	struct key_totals *k = pair_table_at(&t->table, a, b, sizeof(*k)), *first;

	first = t->table.at;
	if (!k->pending)
		XAPPEND(t->pending, t->n_pending, t->cap_pending) = (uint32_t)(k - first);
	k->pending += amount;
	if (k->pending_longest < longest)
		k->pending_longest = longest;
	return;
}

void totals_end_block(struct running_totals *t, uint32_t block)
{
	for (size_t i = 0; i < t->n_pending; i++) {
		struct key_totals *k = (struct key_totals *)t->table.at + t->pending[i];

		XGROW(k->totals, k->n, k->cap);
		k->totals[k->n] =
			(struct total) { (k->n ? k->totals[k->n - 1].sum : 0) + k->pending,
					 k->pending_longest, block };
		if (k->totals[k->longest].longest < k->pending_longest)
			k->longest = k->n;
		k->n++;
		k->pending = k->pending_longest = 0;
	}
	t->n_pending = 0;
}

/* How many of totals[] are of blocks below end. */
static size_t n_below(const struct key_totals *k, uint32_t end)
{
	return LOWER_BOUND(i, k->n, k->totals[i].block < end);
}

/* The total over all blocks below end. */
static uint64_t total_below(const struct key_totals *k, uint32_t end)
{
	size_t n = n_below(k, end);

	return n ? k->totals[n - 1].sum : 0;
}

uint64_t totals_between(const struct running_totals *t, uint32_t id, uint32_t from, uint32_t to)
{
	const struct key_totals *k = (const struct key_totals *)t->table.at + id;

	return total_below(k, to) - total_below(k, from);
}

uint64_t totals_longest(const struct running_totals *t, uint32_t id, uint32_t from, uint32_t to)
{
	const struct key_totals *k = (const struct key_totals *)t->table.at + id;
	size_t begin = n_below(k, from), end = n_below(k, to);
	uint64_t longest = 0;

	if (k->longest >= begin && k->longest < end)
		return k->totals[k->longest].longest;
	for (size_t i = begin; i < end; i++)
		if (longest < k->totals[i].longest)
			longest = k->totals[i].longest;
	return longest;
}

void totals_free(struct running_totals *t)
{
	struct key_totals *of = t->table.at;

	for (size_t id = 1; id < t->table.cap; id++)
		free(of[id].totals);
	pair_table_free(&t->table);
	free(t->pending);
	*t = (struct running_totals) { .n_pending = 0 };
}
