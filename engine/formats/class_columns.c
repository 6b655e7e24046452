// SPDX-License-Identifier: GPL-2.0-or-later
#include "class_columns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format.h"
#include "select/wait_nature.h"

/* Those with most time. */
static void choose(struct class_columns *c, const struct sums *all)
{
	size_t n;
	const struct sum *of = sums_of(all, 0, &n);

	for (size_t i = 0; i < n && c->n < CLASS_COLUMNS; i++)
		if (of[i].text && of[i].amount)
			c->classes[c->n++] = of[i].key;
}

/* The column of a class. */
static size_t column_of(const struct class_columns *c, uint32_t class)
{
	size_t k = 0;

	while (k < c->n && c->classes[k] != class)
		k++;
	return k < c->n ? k : CLASS_COLUMNS;
}

int class_columns_init(struct class_columns *c, const struct timelines *tl, struct names *names,
		       struct wait_filter *f, const uint32_t *threads, size_t n)
{
	struct sums rows = { .n = 0 }, all = { .n = 0 };
	const struct sum *sum;
	bool failed;

	*c = (struct class_columns) { .names = names, .shown = wait_classes_known(tl) };
	if (!c->shown)
		return 0;
	c->ns = calloc(n + 1, sizeof(*c->ns));
	for (size_t i = 0; i < n; i++)
		wait_filter_sum_classes(f, threads[i], (uint32_t)i, &rows);
	sum = rows.table.at;
	for (uint32_t i = 1; i <= rows.table.keys.n; i++)
		sums_add(&all, 0, sum[i].key, sum[i].amount);
	sums_sort(&all, names, names_string);
	choose(c, &all);
	for (uint32_t i = 1; i <= rows.table.keys.n && c->ns; i++)
		c->ns[sum[i].thing][column_of(c, sum[i].key)] += sum[i].amount;
	failed = !c->ns || rows.out_of_memory || all.out_of_memory;
	sums_free(&rows);
	sums_free(&all);
	return failed ? -ENOMEM : 0;
}

void class_columns_free(struct class_columns *c)
{
	free(c->ns);
}

void class_columns_head(const struct class_columns *c, FILE *out)
{
	for (size_t i = 0; i < c->n && c->shown; i++)
		fprintf(out, " %13s", names_text(c->names, names_string(c->names, c->classes[i])));
	if (c->shown)
		fprintf(out, " %13s", "others");
}

void class_columns_put(const struct class_columns *c, const struct options *o, size_t first,
		       size_t n, FILE *out)
{
	uint64_t ns[CLASS_COLUMNS + 1] = { 0 };

	if (!c->shown)
		return;
	for (size_t i = first; i < first + n; i++)
		for (size_t k = 0; k <= CLASS_COLUMNS; k++)
			ns[k] += c->ns[i][k];
	for (size_t k = 0; k < c->n; k++)
		format_put_time(out, o, 13, ns[k]);
	format_put_time(out, o, 13, ns[CLASS_COLUMNS]);
}
