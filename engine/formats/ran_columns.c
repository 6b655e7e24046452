// SPDX-License-Identifier: GPL-2.0-or-later
#include "ran_columns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct ran_stack {
	uint32_t text;
	uint64_t ns;
};

/* A chain_interrupted_fn. */
static void add_interrupted(void *arg, uint32_t node, uint64_t ns)
{
	struct ran_columns *r = arg;

	(void)node;
	r->interrupted_ns += ns;
}

/* A chain_ran_fn. */
static void add_ran(void *arg, uint32_t node, uint32_t pair, int64_t count)
{
	struct ran_columns *r = arg;

	ran_sums_add(&r->ran, node, pair, count);
}

int ran_columns_init(struct ran_columns *r, struct chains *c, struct names *names)
{
	r->names = names;
	r->sampled = timelines_sampled(c->timelines);
	r->interrupts = timelines_interrupts(c->timelines) != NULL;
	return chain_samples_init(&c->samples, c->timelines, add_ran, add_interrupted, r);
}

void ran_columns_free(struct ran_columns *r)
{
	intern_free(&r->links);
	pair_table_free(&r->running);
	pair_table_free(&r->stacks);
	ran_sums_free(&r->ran);
}

uint32_t ran_columns_label(struct ran_columns *r, const struct link *l)
{
	return intern_id(&r->links, l, sizeof(*l), NULL);
}

void ran_columns_begin(struct ran_columns *r)
{
	pair_table_clear(&r->running, sizeof(uint64_t));
	pair_table_clear(&r->stacks, sizeof(struct ran_stack));
	ran_sums_clear(&r->ran);
	r->interrupted_ns = 0;
}

void ran_columns_add(struct ran_columns *r, uint32_t node, uint64_t ns)
{
	if (r->sampled)
		r->out_of_memory |= !pair_table_add(&r->running, node, 0, ns);
}

void ran_columns_head(const struct ran_columns *r, FILE *out)
{
	if (r->interrupts)
		fputs(",end_running_interrupts_ns", out);
	for (unsigned int i = 1; i <= RAN_COLUMNS && r->sampled; i++)
		fprintf(out, ",ran_%u,ran_%u_ns", i, i);
}

static int most_first(const void *pa, const void *pb, void *names)
{
	const struct ran_stack *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return strcmp(names_text(names, a->text), names_text(names, b->text));
}

/* Shares out the time of a node over the n stacks that were seen in it. */
static bool share(struct ran_columns *r, struct ran_sum *of, size_t n)
{
	uint32_t id = pairs_find(&r->running.keys, of->node, 0);
	uint64_t ns = id ? ((const uint64_t *)r->running.at)[id] : 0;

	if (ran_sums_share(of, n, ns, r->names))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct ran_stack *s = pair_table_at(&r->stacks, of[i].text, 0, sizeof(*s));

		if (!s)
			return false;
		s->text = of[i].text;
		s->ns += of[i].ns;
	}
	return true;
}

int ran_columns_put(struct ran_columns *r, void (*put)(void *arg, const char *text), void *arg,
		    FILE *out)
{
	struct ran_stack *stacks;
	size_t n;

	if (r->interrupts)
		fprintf(out, ",%" PRIu64, r->interrupted_ns);
	if (!r->sampled)
		return 0;
	ran_sums_sort(&r->ran, r->names);
	for (size_t i = 0; i < r->ran.n; i += n) {
		const struct ran_sum *sums = r->ran.table.at;
		struct ran_sum *of = ran_sums_of(&r->ran, sums[1 + i].node, &n);

		r->out_of_memory |= !share(r, of, n);
	}
	if (r->ran.out_of_memory || r->out_of_memory)
		return -ENOMEM;
	stacks = r->stacks.at;
	n = r->stacks.keys.n;
	if (n)
		qsort_r(stacks + 1, n, sizeof(*stacks), most_first, r->names);
	for (size_t i = 1; i <= RAN_COLUMNS; i++) {
		putc(',', out);
		if (i <= n)
			put(arg, names_text(r->names, stacks[i].text));
		putc(',', out);
		if (i <= n)
			fprintf(out, "%" PRIu64, stacks[i].ns);
	}
	return 0;
}
