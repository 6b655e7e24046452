// SPDX-License-Identifier: GPL-2.0-or-later
#include "running_totals.h"

#include <stdlib.h>

#include "grow.h"

struct total {
	uint64_t sum; /* up to the end of the block */
	uint32_t block;
};

struct key_totals {
	struct total *totals; /* by block; only blocks in which the key has an amount */
	size_t n, cap;
	uint64_t pending; /* in the block at hand */
};

void totals_add(struct running_totals *t, uint32_t a, uint32_t b, uint64_t amount)
{
	int is_new;
	uint32_t id = pairs_id_new(&t->keys, a, b, &is_new);
	void *p;

	if (!id)
		goto fail;
	if (is_new) {
		p = grow_array(t->of, id, &t->cap, sizeof(*t->of));
		if (!p)
			goto fail;
		t->of = p;
		t->of[id] = (struct key_totals) { .n = 0 };
	}
	if (!t->of[id].pending) {
		p = grow_array(t->pending, t->n_pending, &t->cap_pending, sizeof(*t->pending));
		if (!p)
			goto fail;
		t->pending = p;
		t->pending[t->n_pending++] = id;
	}
	t->of[id].pending += amount;
	return;
fail:
	t->out_of_memory = true;
}

void totals_end_block(struct running_totals *t, uint32_t block)
{
	for (size_t i = 0; i < t->n_pending; i++) {
		struct key_totals *k = &t->of[t->pending[i]];
		struct total *p = grow_array(k->totals, k->n, &k->cap, sizeof(*p));

		if (!p) {
			t->out_of_memory = true;
			return;
		}
		k->totals = p;
		p[k->n] = (struct total) { (k->n ? p[k->n - 1].sum : 0) + k->pending, block };
		k->n++;
		k->pending = 0;
	}
	t->n_pending = 0;
}

/* The total over all blocks below end. */
static uint64_t total_below(const struct key_totals *k, uint32_t end)
{
	size_t lo = 0, hi = k->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->totals[mid].block < end)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? k->totals[lo - 1].sum : 0;
}

uint64_t totals_between(const struct running_totals *t, uint32_t id, uint32_t from, uint32_t to)
{
	return total_below(&t->of[id], to) - total_below(&t->of[id], from);
}

void totals_free(struct running_totals *t)
{
	for (uint32_t id = 1; id <= t->keys.n && id < t->cap; id++)
		free(t->of[id].totals);
	free(t->of);
	free(t->pending);
	pairs_free(&t->keys);
	*t = (struct running_totals) { .cap = 0 };
}
