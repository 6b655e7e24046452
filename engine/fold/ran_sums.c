// SPDX-License-Identifier: GPL-2.0-or-later
#include "ran_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/lower_bound.h"
#include "share_out.h"

void ran_sums_clear(struct ran_sums *s)
{
	pair_table_clear(&s->table, sizeof(struct ran_sum));
	s->n = 0;
}

void ran_sums_free(struct ran_sums *s)
{
	pair_table_free(&s->table);
	*s = (struct ran_sums) { .n = 0 };
}

void ran_sums_add(void *arg, uint32_t node, uint32_t pair, int64_t count)
{
	struct ran_sums *s = arg;
	struct ran_sum *sum = pair_table_at(&s->table, node, pair, sizeof(*sum));

	if (!sum) {
		s->out_of_memory = true;
		return;
	}
	sum->node = node;
	sum->pair = pair;
	sum->samples += (uint64_t)count;
}

static int by_node_and_text(const void *pa, const void *pb)
{
	const struct ran_sum *a = pa, *b = pb;

	return a->node != b->node   ? compare_numbers(a->node, b->node)
	       : a->text != b->text ? compare_numbers(a->text, b->text)
				    : compare_numbers(a->pair, b->pair);
}

static int by_node_and_samples(const void *pa, const void *pb, void *names)
{
	const struct ran_sum *a = pa, *b = pb;

	if (a->node != b->node)
		return compare_numbers(a->node, b->node);
	if (a->samples != b->samples)
		return compare_numbers(b->samples, a->samples);
	return strcmp(names_text(names, a->text), names_text(names, b->text));
}

void ran_sums_sort(struct ran_sums *s, struct names *names)
{
	struct ran_sum *at = s->table.at;
	size_t all = s->table.keys.n;

	for (size_t i = 1; i <= all; i++) {
		at[i].text = names_off_cpu(names, at[i].pair);
		s->out_of_memory |= !at[i].text;
	}
	s->n = 0;
	if (!all || s->out_of_memory)
		return;
	qsort(at + 1, all, sizeof(*at), by_node_and_text);
	for (size_t i = 1; i <= all; i++) {
		if (s->n && at[s->n].node == at[i].node && at[s->n].text == at[i].text)
			at[s->n].samples += at[i].samples;
		else
			at[++s->n] = at[i];
	}
	qsort_r(at + 1, s->n, sizeof(*at), by_node_and_samples, names);
}

struct ran_sum *ran_sums_of(const struct ran_sums *s, uint32_t node, size_t *n)
{
	struct ran_sum *at = s->table.at;
	size_t first;

	*n = 0;
	if (!s->n)
		return NULL;
	at++; /* ids count from 1 */
	first = LOWER_BOUND(i, s->n, at[i].node < node);
	while (first + *n < s->n && at[first + *n].node == node)
		++*n;
	return at + first;
}

static int by_text(const void *pa, const void *pb, void *names)
{
	const struct ran_sum *a = pa, *b = pb;

	return strcmp(names_text(names, a->text), names_text(names, b->text));
}

int ran_sums_share(struct ran_sum *of, size_t n, uint64_t ns, struct names *names)
{
	uint64_t *samples = malloc((2 * n + 1) * sizeof(*samples)), *shares;
	int err;

	if (!samples)
		return -ENOMEM;
	shares = samples + n;
	/* In the order of the lines, on which it depends who gets what is left. */
	qsort_r(of, n, sizeof(*of), by_text, names);
	for (size_t i = 0; i < n; i++)
		samples[i] = of[i].samples;
	err = share_out(ns, samples, n, shares);
	for (size_t i = 0; i < n && !err; i++)
		of[i].ns = shares[i];
	qsort_r(of, n, sizeof(*of), by_node_and_samples, names);
	free(samples);
	return err;
}
