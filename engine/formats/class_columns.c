// SPDX-License-Identifier: GPL-2.0-or-later
#include "class_columns.h"

#include <errno.h>
#include <inttypes.h>

#include "format.h"

/* Sums up the waits of n threads from the given one on, sorted. */
static int sum_up(struct class_columns *c, size_t first, size_t n)
{
	who_sums_clear(&c->sums);
	for (size_t i = first; i < first + n; i++)
		class_sums_add(&c->sums, c->timelines, c->filter, c->threads[i]);
	who_sums_sort(&c->sums, c->names);
	return c->sums.out_of_memory ? -ENOMEM : 0;
}

int class_columns_init(struct class_columns *c, const struct timelines *tl, struct names *names,
		       struct wait_filter *f, const uint32_t *threads, size_t n)
{
	*c = (struct class_columns) {
		.timelines = tl, .filter = f, .names = names, .threads = threads
	};
	c->shown = trace_objects_end(timelines_trace(tl)) > 1;
	if (!c->shown || sum_up(c, 0, n))
		return c->sums.out_of_memory ? -ENOMEM : 0;
	for (size_t i = 0; i < c->sums.n && c->n < CLASS_COLUMNS; i++)
		if (c->sums.sorted[i].who != WHO_UNKNOWN && c->sums.sorted[i].ns)
			c->classes[c->n++] = c->sums.sorted[i].who;
	return 0;
}

void class_columns_free(struct class_columns *c)
{
	who_sums_free(&c->sums);
}

void class_columns_head(const struct class_columns *c, FILE *out)
{
	for (size_t i = 0; i < c->n && c->shown; i++)
		fprintf(out, " %13s", names_text(c->names, names_string(c->names, c->classes[i])));
	if (c->shown)
		fprintf(out, " %13s", "others");
}

int class_columns_put(struct class_columns *c, const struct options *o, size_t first, size_t n,
		      FILE *out)
{
	uint64_t ns[CLASS_COLUMNS + 1] = { 0 };

	if (!c->shown)
		return 0;
	if (sum_up(c, first, n))
		return -ENOMEM;
	for (size_t i = 0; i < c->sums.n; i++) {
		size_t k = 0;

		while (k < c->n && c->classes[k] != c->sums.sorted[i].who)
			k++;
		ns[k < c->n ? k : CLASS_COLUMNS] += c->sums.sorted[i].ns;
	}
	for (size_t k = 0; k < c->n; k++)
		format_put_time(out, o, 13, ns[k]);
	format_put_time(out, o, 13, ns[CLASS_COLUMNS]);
	return 0;
}
