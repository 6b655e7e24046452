// SPDX-License-Identifier: GPL-2.0-or-later
#include "repeats.h"

#include <errno.h>
#include <stdlib.h>

/* What becomes of a node. */
struct place {
	uint32_t into;	/* the node into which it is folded */
	uint32_t depth; /* 0: a group, 1: a head, from there on links */
	uint32_t run;	/* of a link: how many it is, with those before that it repeats */
	bool used;	/* it has time, or a node below it has */
};

/* Makes the nodes of the folded chains. */
static bool make_nodes(const struct pairs *nodes, struct place *at, struct pairs *folded)
{
	/* Parents come before their children. */
	for (uint32_t i = 1; i <= nodes->n; i++) {
		struct pair node = nodes->at[i];
		const struct place *up = &at[node.a];

		at[i].depth = node.a ? up->depth + 1 : 0;
		at[i].run = 1;
		if (at[i].depth > 2 && nodes->at[node.a].b == node.b) {
			at[i].run += up->run;
			at[i].into = up->into;
			continue;
		}
		at[i].into = pairs_id(folded, node.a ? up->into : 0, node.b);
		if (!at[i].into)
			return false;
	}
	return true;
}

static void find_used(const struct pairs *nodes, const struct node_sums *sums, struct place *at)
{
	for (uint32_t i = nodes->n; i; i--) {
		for (int end = 0; end < CHAIN_ENDS && i < sums->n_times; end++)
			at[i].used |= sums->times[i].ns[end] != 0;
		at[nodes->at[i].a].used |= at[i].used;
	}
}

/* Gives the links their frames, each with the most times that it came in a row. */
static bool name_links(const struct pairs *nodes, const struct place *at, struct pairs *folded,
		       struct stack_cache *p)
{
	uint32_t *times = calloc((size_t)folded->n + 1, sizeof(*times));
	bool ok = times;

	for (uint32_t i = 1; i <= nodes->n && ok; i++)
		if (at[i].depth > 1 && at[i].run >= times[at[i].into] &&
		    (at[i].used || !times[at[i].into]))
			times[at[i].into] = at[i].run;
	for (uint32_t i = 1; i <= folded->n && ok; i++) {
		if (!times[i])
			continue;
		folded->at[i].b = intern_identity_list(p, folded->at[i].b, times[i]);
		ok = folded->at[i].b;
	}
	free(times);
	return ok;
}

static bool move_sums(const struct pairs *nodes, const struct place *at, struct node_sums *sums)
{
	uint32_t *into = calloc((size_t)nodes->n + 1, sizeof(*into));
	struct node_sums moved = { .n_times = 0 };

	for (uint32_t i = 1; into && i <= nodes->n; i++)
		into[i] = at[i].into;
	if (into)
		node_sums_move(&moved, sums, into, nodes->n);
	node_sums_free(sums);
	*sums = moved;
	free(into);
	return into && !moved.out_of_memory;
}

int repeats_fold(struct pairs *nodes, struct node_sums *sums, struct stack_cache *p)
{
	struct place *at = calloc((size_t)nodes->n + 1, sizeof(*at));
	struct pairs folded = { .n = 0 };
	bool ok = at && make_nodes(nodes, at, &folded);

	if (ok) {
		find_used(nodes, sums, at);
		ok = name_links(nodes, at, &folded, p) && move_sums(nodes, at, sums);
	}
	free(at);
	pairs_free(nodes);
	*nodes = folded;
	return ok ? 0 : -ENOMEM;
}
