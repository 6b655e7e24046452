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

/* What the sleep of a node's label was for: before its waking, or of a head. */
static void add_what(struct causes *c, struct sums *to, const struct chain_sum *s, uint32_t node)
{
	uint32_t what = causes_label(c, c->chains.nodes.at[node].b).what;

	if (what && *names_text(c->names, what))
		sums_add(to, s->cause, what, s->ns);
}

static void add_texts(struct causes *c, const struct chain_sum *s)
{
	const struct pair *nodes = c->chains.nodes.at;
	struct label last = causes_label(c, nodes[s->node].b);
	uint32_t thread = s->node;

	if (s->end == CHAIN_RUNNING && last.woke)
		sums_add(&c->wheres, s->cause, last.woke, s->ns);
	if (!last.who) { /* an interrupt */
		add_what(c, &c->whats, s, thread);
		thread = nodes[thread].a;
	} else if (!nodes[thread].a && (s->end == CHAIN_NOT_WOKEN || s->end == CHAIN_UNKNOWN)) {
		add_what(c, &c->whats, s, thread);
	}
	if (nodes[thread].a)
		add_what(c, &c->way_whats, s, thread);
}

#define HOLDERS_SHOWN 3

/* "61 % gzip, 39 % make": who had the CPU, if anybody is known. */
static void write_holders(struct causes *c, struct cause *cause)
{
	char *written = NULL;
	size_t len;
	FILE *f = open_memstream(&written, &len);

	if (f)
		sums_write(&c->had, c->names, cause->id, HOLDERS_SHOWN, "", "[unknown]", f);
	c->out_of_memory |= !f || fclose(f);
	if (written && *written)
		cause->had = names_adopt(c->names, written);
	c->out_of_memory |= written && *written && !cause->had;
	free(written);
}

int causes_describe(struct causes *c)
{
	const struct chain_sum *sums = c->sums.at;

	for (uint32_t i = 1; i <= c->sums.keys.n; i++)
		add_texts(c, &sums[i]);
	sums_sort(&c->wheres, c->names, sums_key_is_text);
	sums_sort(&c->whats, c->names, sums_key_is_text);
	sums_sort(&c->way_whats, c->names, sums_key_is_text);
	sums_sort(&c->had, c->names, cpu_holder_name);
	sums_sort(&c->woken, c->names, names_string);
	c->out_of_memory |= c->wheres.out_of_memory || c->whats.out_of_memory ||
			    c->way_whats.out_of_memory || c->had.out_of_memory ||
			    c->woken.out_of_memory;
	for (size_t k = 0; k < c->n && !c->out_of_memory; k++) {
		struct cause *cause = &c->at[k];
		uint32_t where = sums_dominant_text(&c->wheres, cause->id);

		/* Of those that are not told apart by it. */
		if (where)
			cause->where = where;
		cause->what = sums_dominant_text(&c->whats, cause->id);
		cause->way_what = sums_dominant_text(&c->way_whats, cause->id);
		write_holders(c, cause);
	}
	find_ways(c);
	return c->out_of_memory ? -ENOMEM : 0;
}
