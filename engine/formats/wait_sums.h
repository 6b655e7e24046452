/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait_sums.h - the figures of waits that a table adds up in a row, and in its last rows. */
#ifndef ENGINE_WAIT_SUMS_H
#define ENGINE_WAIT_SUMS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct wait_sums {
	uint64_t waits, total_ns, longest_ns;
};

static inline void wait_sums_count(struct wait_sums *s, uint64_t ns)
{
	s->waits++;
	s->total_ns += ns;
	if (s->longest_ns < ns)
		s->longest_ns = ns;
}

static inline void wait_sums_add(struct wait_sums *s, const struct wait_sums *other)
{
	s->waits += other->waits;
	s->total_ns += other->total_ns;
	if (s->longest_ns < other->longest_ns)
		s->longest_ns = other->longest_ns;
}

/* A table of n rows, of which the first `top` are shown: the sums below these. */
struct wait_table {
	size_t n, top, added;
	struct wait_sums total, other; /* other: of the rows that are not shown */
	int width, width_max;	       /* of the first column: that of the names shown */
};

/* top: of --top, 0 for all rows. */
static inline struct wait_table wait_table(size_t n, uint64_t top, int width_max)
{
	return (struct wait_table) {
		.n = n,
		.top = top && top < n ? (size_t)top : n,
		.width = 16,
		.width_max = width_max,
	};
}

/* Adds the next row. */
static inline void wait_table_add(struct wait_table *t, const char *name, const struct wait_sums *s)
{
	size_t len = strlen(name);

	wait_sums_add(&t->total, s);
	if (t->added++ >= t->top)
		wait_sums_add(&t->other, s);
	else if (len > (size_t)t->width)
		t->width = len < (size_t)t->width_max ? (int)len : t->width_max;
}

#endif /* ENGINE_WAIT_SUMS_H */
