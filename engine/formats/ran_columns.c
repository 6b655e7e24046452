// SPDX-License-Identifier: GPL-2.0-or-later
#include "ran_columns.h"

#include <errno.h>
#include <inttypes.h>

void ran_columns_init(struct ran_columns *r, const struct timelines *tl, struct names *names)
{
	r->names = names;
	r->sampled = timelines_sampled(tl);
	r->interrupts = timelines_interrupts(tl) != NULL;
}

void ran_columns_free(struct ran_columns *r)
{
	intern_free(&r->links);
	pair_table_free(&r->running);
	sums_free(&r->stacks);
	sums_free(&r->ran);
}

uint32_t ran_columns_label(struct ran_columns *r, const struct link *l)
{
	return intern_id(&r->links, l, sizeof(*l), NULL);
}

void ran_columns_begin(struct ran_columns *r)
{
	pair_table_clear(&r->running, sizeof(uint64_t));
	sums_clear(&r->stacks);
	sums_clear(&r->ran);
	r->interrupted_ns = 0;
}

void ran_columns_add(struct ran_columns *r, uint32_t node, struct amount_key key, uint64_t amount)
{
	if (key.kind == AMOUNT_SAMPLES)
		sums_add(&r->ran, node, key.value, amount);
	else if (key.kind == AMOUNT_INTERRUPTED)
		r->interrupted_ns += amount;
	else if (r->sampled)
		r->out_of_memory |= !pair_table_add(&r->running, node, 0, amount);
}

void ran_columns_head(const struct ran_columns *r, FILE *out)
{
	if (r->interrupts)
		fputs(",end_running_interrupts_ns", out);
	for (unsigned int i = 1; i <= RAN_COLUMNS && r->sampled; i++)
		fprintf(out, ",ran_%u,ran_%u_ns", i, i);
}

/* Shares out the time of a node over the n stacks that were seen in it. */
static void share(struct ran_columns *r, struct sum *of, size_t n)
{
	uint32_t id = pairs_find(&r->running.keys, of->thing, 0);
	uint64_t ns = id ? ((const uint64_t *)r->running.at)[id] : 0;

	r->out_of_memory |= sums_share(of, n, ns, r->names) != 0;
	for (size_t i = 0; i < n; i++)
		sums_add(&r->stacks, 0, of[i].text, of[i].share);
}

int ran_columns_put(struct ran_columns *r, void (*put)(void *arg, const char *text), void *arg,
		    FILE *out)
{
	const struct sum *stacks;
	size_t n;

	if (r->interrupts)
		fprintf(out, ",%" PRIu64, r->interrupted_ns);
	if (!r->sampled)
		return 0;
	sums_merge(&r->ran, r->names, names_off_cpu);
	sums_sort(&r->ran, r->names, names_off_cpu);
	for (size_t i = 0; i < r->ran.n; i += n) {
		struct sum *of = (struct sum *)r->ran.table.at + 1 + i;

		of = sums_of(&r->ran, of->thing, &n);
		share(r, of, n);
	}
	sums_sort(&r->stacks, r->names, sums_key_is_text);
	if (r->ran.out_of_memory || r->stacks.out_of_memory || r->out_of_memory)
		return -ENOMEM;
	stacks = sums_of(&r->stacks, 0, &n);
	for (size_t i = 0; i < RAN_COLUMNS; i++) {
		putc(',', out);
		if (i < n)
			put(arg, names_text(r->names, stacks[i].text));
		putc(',', out);
		if (i < n)
			fprintf(out, "%" PRIu64, stacks[i].amount);
	}
	return 0;
}
