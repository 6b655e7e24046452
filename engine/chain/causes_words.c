// SPDX-License-Identifier: GPL-2.0-or-later
#include "causes_private.h"

#include <errno.h>
#include <stdlib.h>

#include "ways.h"

static uint32_t who_of(const void *arg, uint32_t label)
{
	return causes_label(arg, label).who;
}

/* Sets the way of each cause. */
static void find_ways(struct causes *c)
{
	const struct chain_sum *sums = c->sums.at;
	struct way_chain *at = calloc((size_t)c->sums.keys.n + 1, sizeof(*at));
	size_t *first = calloc(c->n + 2, sizeof(*first));
	const struct ways ways = { c->names, c->chains.nodes.at, who_of, c };

	c->out_of_memory |= !at || !first;
	/* Sorted by cause, which count from 1: those of k are at first[k] and behind it. */
	for (uint32_t i = 1; i <= c->sums.keys.n && !c->out_of_memory; i++)
		first[sums[i].cause + 1]++;
	for (size_t k = 1; k <= c->n + 1 && !c->out_of_memory; k++)
		first[k] += first[k - 1];
	for (uint32_t i = 1; i <= c->sums.keys.n && !c->out_of_memory; i++)
		at[first[sums[i].cause]++] = (struct way_chain) { sums[i].ns, sums[i].node };
	/* Now those of k end where first[k] is. */
	for (size_t k = 1; k <= c->n && !c->out_of_memory; k++)
		c->at[k - 1].way = way_text(&ways, at + first[k - 1], first[k] - first[k - 1]);
	free(at);
	free(first);
}

/* Sets where, of those that are not told apart by it, and who had the CPU. */
static int find_words(struct causes *c, uint32_t *where, uint32_t *had)
{
	const struct chain_sum *sums = c->sums.at;
	int err = 0;

	for (uint32_t i = 1; i <= c->sums.keys.n && !err; i++) {
		const struct chain_sum *s = &sums[i];
		struct label last = causes_label(c, c->chains.nodes.at[s->node].b);

		if (s->end == CHAIN_RUNNING && last.woke &&
		    !most_said_add(&c->wheres, s->cause, last.woke, s->ns))
			err = -ENOMEM;
	}
	if (!err)
		err = most_said_take(&c->wheres, c->names, where, c->n);
	if (!err)
		err = who_had_take(&c->had, c->names, had);
	for (size_t k = 1; k <= c->n && !err; k++) {
		struct cause *cause = &c->at[k - 1];

		if (where[k])
			cause->where = where[k];
		cause->had = had[k];
	}
	return err;
}

int causes_describe(struct causes *c)
{
	uint32_t *where = calloc(c->n + 1, sizeof(*where)), *had = calloc(c->n + 1, sizeof(*had));
	int err = where && had ? find_words(c, where, had) : -ENOMEM;

	if (!err)
		find_ways(c);
	free(where);
	free(had);
	return err;
}
