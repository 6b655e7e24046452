/* SPDX-License-Identifier: GPL-2.0-or-later */
/* class_columns.h - columns of the table of threads: blocked time by what it was for. */
#ifndef ENGINE_CLASS_COLUMNS_H
#define ENGINE_CLASS_COLUMNS_H

#include <stdio.h>

#include "base/options.h"
#include "select/wait_filter.h"

#define CLASS_COLUMNS 5

struct class_columns {
	struct names *names;
	uint64_t (*ns)[CLASS_COLUMNS + 1]; /* by row; the last is all other classes */
	uint32_t classes[CLASS_COLUMNS];   /* string ids of the classes with most time */
	size_t n;			   /* how many of these there are */
	bool shown;			   /* the trace says what was waited for */
};

/*
 * Sums up the waits of n threads, in the order of the rows, and chooses the columns. names must
 * outlive it. 0 or -ENOMEM; free it in both cases.
 */
int class_columns_init(struct class_columns *c, const struct timelines *tl, struct names *names,
		       struct wait_filter *f, const uint32_t *threads, size_t n);
void class_columns_free(struct class_columns *c);
/* The columns' heading; nothing if they are not shown. */
void class_columns_head(const struct class_columns *c, FILE *out);
/* Their figures for n rows from the given one on together; the last column has what is in no other.
 */
void class_columns_put(const struct class_columns *c, const struct options *o, size_t first,
		       size_t n, FILE *out);

#endif /* ENGINE_CLASS_COLUMNS_H */
