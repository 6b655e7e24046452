// SPDX-License-Identifier: GPL-2.0-or-later
#include "holder_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "common/xalloc.h"

/* As many ends of ranges are collected at most: these fit into a cache. */
#define EDGES_MAX 32768u

/* Edges: from a change on so many more ranges of a key, or fewer. In their keys is the number of
 * that << KEY_SHIFT | the change's among those of all CPUs. */
#define KEY_SHIFT 40

struct holder_ranges {
	const struct cpu_ran *ran;
	holder_ranges_fn fn;
	void *arg;
	struct pairs keys;
	struct keyed *edges, *spare; /* EDGES_MAX */
	size_t n;
	/* Of the key whose ranges are summed up: by holder. */
	uint64_t *ns;
	uint32_t *touched;
	size_t n_touched;
	uint64_t count;
};

void holder_ranges_new(struct holder_ranges **out, const struct cpu_ran *ran, holder_ranges_fn fn,
		       void *arg)
{
	struct holder_ranges *h = xcalloc(1, sizeof(*h));

	*out = h;
	h->ran = ran;
	h->fn = fn;
	h->arg = arg;
	h->edges = xmalloc(2 * EDGES_MAX * sizeof(*h->edges));
	h->spare = h->edges + EDGES_MAX;
	h->ns = xcalloc((size_t)ran->holders.n + 1, sizeof(*h->ns));
	h->touched = xcalloc((size_t)ran->holders.n + 1, sizeof(*h->touched));
}

void holder_ranges_free(struct holder_ranges *h)
{
	if (!h)
		return;
	pairs_free(&h->keys);
	free(h->edges < h->spare ? h->edges : h->spare);
	free(h->ns);
	free(h->touched);
	free(h);
}

static void add_edge(struct holder_ranges *h, uint32_t key, uint64_t change, int64_t count)
{
	h->edges[h->n++] = (struct keyed) { (uint64_t)key << KEY_SHIFT | change, (uint64_t)count };
}

void holder_ranges_add(struct holder_ranges *h, uint32_t a, uint32_t b, uint32_t cpu, size_t first,
		       size_t end, int64_t count)
{
	uint64_t base = h->ran->cpus[cpu].first;
	uint32_t key;

	if (h->n + 2 > EDGES_MAX)
		holder_ranges_sum(h);
	key = pairs_id(&h->keys, a, b);
	add_edge(h, key, base + first, count);
	add_edge(h, key, base + end, -count);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* A cpu_ran_fn. */
static void add_ns(void *arg, uint32_t number, uint64_t ns)
{
	struct holder_ranges *h = arg;

	if (!h->ns[number])
		h->touched[h->n_touched++] = number;
	h->ns[number] += ns * h->count;
}

static void give_sums(struct holder_ranges *h, uint32_t key)
{
	struct pair of = h->keys.at[key];

	for (size_t i = 0; i < h->n_touched; i++) {
		uint64_t *ns = &h->ns[h->touched[i]];

		h->fn(h->arg, of.a, of.b, h->touched[i], *ns);
		*ns = 0;
	}
	h->n_touched = 0;
}

/* Sums up the ranges of one key, the edges [e, end). */
static void sum_key(struct holder_ranges *h, const struct keyed *e, const struct keyed *end)
{
	const uint64_t change = (UINT64_C(1) << KEY_SHIFT) - 1;
	const struct cpu_ran *r = h->ran;
	uint32_t cpu = 0;

	h->count = 0;
	for (; e < end; e++) {
		uint64_t from = e->key & change, to;

		h->count += e->value;
		if (!h->count) /* also at the last one */
			continue;
		to = e[1].key & change;
		if (from == to)
			continue;
		while (from >= r->cpus[cpu].first + r->cpus[cpu].n)
			cpu++;
		cpu_ran_sum(r, cpu, from - r->cpus[cpu].first, to - r->cpus[cpu].first, add_ns, h);
	}
}

void holder_ranges_sum(struct holder_ranges *h)
{
	struct keyed *sorted;
	const struct keyed *end;

	if (!h->n)
		return;
	sorted = keyed_sort_in(h->edges, h->spare, h->n);
	if (sorted != h->edges) {
		h->spare = h->edges;
		h->edges = sorted;
	}
	end = h->edges + h->n;
	for (const struct keyed *e = h->edges, *next; e < end; e = next) {
		uint32_t key = (uint32_t)(e->key >> KEY_SHIFT);

		for (next = e + 1; next < end && next->key >> KEY_SHIFT == key;)
			next++;
		sum_key(h, e, next);
		give_sums(h, key);
	}
	h->n = 0;
	pairs_clear(&h->keys);
}
