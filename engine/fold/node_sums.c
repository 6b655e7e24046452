// SPDX-License-Identifier: GPL-2.0-or-later
#include "node_sums.h"
#include "common/xalloc.h"

#include <stdlib.h>
#include <string.h>

void node_sums_free(struct node_sums *s)
{
	free(s->times);
	free(s->counts);
	pair_table_free(&s->ran);
	pair_table_free(&s->above);
	*s = (struct node_sums) { .n_times = 0 };
}

void node_sums_add_grown(struct node_sums *s, uint32_t node, enum chain_end end, uint64_t ns)
{
	XREACH(s->times, s->n_times, node);
	s->times[node].ns[end] += ns;
}

void node_sums_add_waits(struct node_sums *s, uint32_t node, uint32_t end, uint32_t waits)
{
	XREACH(s->counts, s->n_counts, node);
	s->counts[node].waits[end] += waits;
}

/* Ends above which more stands than the end itself. */
static const enum chain_end divided[] = { CHAIN_RUNNABLE, CHAIN_PREEMPTED, CHAIN_DISK,
					  CHAIN_NETWORK };

#define N_DIVIDED ((uint32_t)(sizeof(divided) / sizeof(divided[0])))

/* Node and end, as the first part of a key of above. */
static uint32_t above_key(uint32_t node, enum chain_end end)
{
	uint32_t i = 0;

	while (divided[i] != end)
		i++;
	return node * N_DIVIDED + i;
}

static enum chain_end above_end(uint32_t key)
{
	return divided[key % N_DIVIDED];
}

void node_sums_add_above(struct node_sums *s, uint32_t node, enum chain_end end, uint32_t part,
			 uint64_t ns)
{
	pair_table_add(&s->above, above_key(node, end), part, ns);
}

void node_sums_add_ran(struct node_sums *s, uint32_t node, uint32_t pair, int64_t samples)
{
	pair_table_add(&s->ran, node, pair, (uint64_t)samples);
}

void node_sums_move(struct node_sums *to, const struct node_sums *from, const uint32_t *nodes,
		    uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++) {
		for (int end = 0; end < CHAIN_ENDS && i < from->n_times; end++)
			if (from->times[i].ns[end])
				node_sums_add(to, nodes[i], (enum chain_end)end,
					      from->times[i].ns[end]);
		for (uint32_t end = 0; end <= CHAIN_NO_END && i < from->n_counts; end++)
			if (from->counts[i].waits[end])
				node_sums_add_waits(to, nodes[i], end, from->counts[i].waits[end]);
	}
	for (uint32_t i = 1; i <= from->ran.keys.n; i++) {
		struct pair key = from->ran.keys.at[i];

		node_sums_add_ran(to, nodes[key.a], key.b, ((const int64_t *)from->ran.at)[i]);
	}
	for (uint32_t i = 1; i <= from->above.keys.n; i++) {
		struct pair key = from->above.keys.at[i];

		node_sums_add_above(to, nodes[key.a / N_DIVIDED], above_end(key.a), key.b,
				    ((const uint64_t *)from->above.at)[i]);
	}
}

static void make_ran(const struct node_sums *s, struct stack_cache *p, struct chain_rows *rows)
{
	const struct pair *nodes = rows->nodes->at;

	for (uint32_t i = 1; i <= s->ran.keys.n; i++) {
		struct pair key = s->ran.keys.at[i];
		int64_t samples = ((const int64_t *)s->ran.at)[i];
		/* Below a link, or at a thread's own name. */
		bool own = !nodes[nodes[key.a].a].a;
		struct chain_ran ran = {
			.node = key.a,
			.end = own ? CHAIN_ON_CPU : CHAIN_RUNNING,
			.list = intern_ran(p, key.b),
			.samples = (uint64_t)samples,
		};

		if (samples > 0)
			chain_rows_add_ran(rows, &ran);
	}
}

/* A row for each part that stands above an end; their time is no longer in the sums then. */
static void make_divided_rows(struct node_sums *s, struct chain_rows *rows)
{
	for (uint32_t i = 1; i <= s->above.keys.n; i++) {
		struct pair key = s->above.keys.at[i];
		uint32_t node = key.a / N_DIVIDED;
		uint64_t ns = ((const uint64_t *)s->above.at)[i];

		if (!ns)
			continue;
		s->times[node].ns[above_end(key.a)] -= ns;
		chain_rows_add(rows, node, above_end(key.a), key.b, ns, 0);
	}
}

void node_sums_rows(struct node_sums *s, uint32_t n, struct stack_cache *p, struct chain_rows *rows)
{
	make_divided_rows(s, rows);

	for (uint32_t node = 1; node <= n; node++)
		for (uint32_t end = 0; end <= CHAIN_NO_END; end++) {
			bool timed = end < CHAIN_ENDS && node < s->n_times;
			uint64_t ns = timed ? s->times[node].ns[end] : 0;
			uint64_t waits = node < s->n_counts ? s->counts[node].waits[end] : 0;

			if (ns || waits)
				chain_rows_add(rows, node, end, 0, ns, waits);
		}
	make_ran(s, p, rows);
}
