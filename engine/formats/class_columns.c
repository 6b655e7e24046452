// SPDX-License-Identifier: GPL-2.0-or-later
#include "class_columns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format.h"

/* Those with most time. */
static void choose(struct class_columns *c, struct who_sums *all)
{
	who_sums_sort(all, c->names);
	for (size_t i = 0; i < all->n && c->n < CLASS_COLUMNS; i++)
		if (all->sorted[i].who != WHO_UNKNOWN && all->sorted[i].ns)
			c->classes[c->n++] = all->sorted[i].who;
}

/* The column of a class. */
static size_t column_of(const struct class_columns *c, uint32_t class)
{
	size_t k = 0;

	while (k < c->n && c->classes[k] != class)
		k++;
	return k < c->n ? k : CLASS_COLUMNS;
}

/* ns by (row, class); all gets those of all rows. */
static bool sum_up(struct pair_table *rows, struct who_sums *all, const struct timelines *tl,
		   struct wait_filter *f, const uint32_t *threads, size_t n)
{
	struct who_sums one = { .n = 0 };
	bool ok = true;

	for (size_t i = 0; i < n && ok; i++) {
		const uint64_t *ns;

		class_sums_add_thread(&one, tl, f, threads[i]);
		ns = one.table.at;
		for (uint32_t k = 1; k <= one.table.keys.n && ok; k++)
			ok = pair_table_add(rows, (uint32_t)i, one.table.keys.at[k].a, ns[k]);
		who_sums_add_all(all, &one);
		who_sums_clear(&one);
	}
	ok &= !one.out_of_memory && !all->out_of_memory;
	who_sums_free(&one);
	return ok;
}

int class_columns_init(struct class_columns *c, const struct timelines *tl, struct names *names,
		       struct wait_filter *f, const uint32_t *threads, size_t n)
{
	struct pair_table rows = { .cap = 0 };
	struct who_sums all = { .n = 0 };
	const uint64_t *ns;
	bool ok;

	*c = (struct class_columns) { .names = names, .shown = class_sums_known(tl) };
	if (!c->shown)
		return 0;
	c->ns = calloc(n + 1, sizeof(*c->ns));
	ok = c->ns && sum_up(&rows, &all, tl, f, threads, n);
	choose(c, &all);
	ns = rows.at;
	for (uint32_t i = 1; i <= rows.keys.n && ok; i++)
		c->ns[rows.keys.at[i].a][column_of(c, rows.keys.at[i].b)] += ns[i];
	pair_table_free(&rows);
	who_sums_free(&all);
	return ok ? 0 : -ENOMEM;
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
