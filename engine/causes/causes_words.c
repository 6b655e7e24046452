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

/* What the sleep of a node's label was for: before its waking, or of a head. False: no memory. */
static bool add_what(struct causes *c, struct most_said *to, const struct chain_sum *s,
		     uint32_t node)
{
	uint32_t what = causes_label(c, c->chains.nodes.at[node].b).what;

	return !what || !*names_text(c->names, what) || most_said_add(to, s->cause, what, s->ns);
}

static bool add_whats(struct causes *c, const struct chain_sum *s)
{
	const struct pair *nodes = c->chains.nodes.at;
	uint32_t thread = s->node;
	bool ok = true;

	if (!causes_label(c, nodes[thread].b).who) { /* an interrupt */
		ok = add_what(c, &c->whats, s, thread);
		thread = nodes[thread].a;
	} else if (!nodes[thread].a && (s->end == CHAIN_NOT_WOKEN || s->end == CHAIN_UNKNOWN)) {
		ok = add_what(c, &c->whats, s, thread);
	}
	return ok && (!nodes[thread].a || add_what(c, &c->way_whats, s, thread));
}

/* What is said of each cause, by its id. */
struct said {
	uint32_t *where, *what, *way_what, *had;
};

/* Sets where, of those that are not told apart by it, what for, and who had the CPU. */
static int find_words(struct causes *c, const struct said *said)
{
	const struct chain_sum *sums = c->sums.at;
	int err = 0;

	for (uint32_t i = 1; i <= c->sums.keys.n && !err; i++) {
		const struct chain_sum *s = &sums[i];
		struct label last = causes_label(c, c->chains.nodes.at[s->node].b);

		if (s->end == CHAIN_RUNNING && last.woke &&
		    !most_said_add(&c->wheres, s->cause, last.woke, s->ns))
			err = -ENOMEM;
		if (!add_whats(c, s))
			err = -ENOMEM;
	}
	if (!err)
		err = most_said_take(&c->wheres, c->names, said->where, c->n);
	if (!err)
		err = most_said_take(&c->whats, c->names, said->what, c->n);
	if (!err)
		err = most_said_take(&c->way_whats, c->names, said->way_what, c->n);
	if (!err)
		err = who_had_take(&c->had, c->names, said->had);
	for (size_t k = 1; k <= c->n && !err; k++) {
		struct cause *cause = &c->at[k - 1];

		if (said->where[k])
			cause->where = said->where[k];
		cause->what = said->what[k];
		cause->way_what = said->way_what[k];
		cause->had = said->had[k];
	}
	return err;
}

int causes_describe(struct causes *c)
{
	size_t n = c->n + 1;
	uint32_t *all = calloc(n, 4 * sizeof(*all));
	int err;

	if (!all)
		return -ENOMEM;
	err = find_words(c, &(struct said) { all, all + n, all + 2 * n, all + 3 * n });
	if (!err)
		find_ways(c);
	free(all);
	return err;
}
