/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Counts by name, of all frames of the tree: the page's table shows them where the file does not
 * have all frames, from which its script would add them up otherwise.
 */
#include <stdint.h>

#include "tree.h"

struct sums_name {
	double own, total;		 /* counts after; nested frames of a name count once */
	double before_own, before_total; /* differential input: counts before */
	uint32_t open;			 /* of the stack so far */
	uint32_t place;			 /* among those that are listed, from 1 on; 0: it is not */
};

struct sums {
	struct sums_name *name; /* by name id */
	uint32_t names;		/* that any frame has; delimiters and the root's are none */
	uint32_t listed;	/* those of these that the file lists */
};

/* How many names are listed: those with the greatest own counts, and as many by total ones. */
#define SUMS_LISTED 5000

/* Add up the finished tree. 0 or -ENOMEM; call sums_free() in both cases. */
int sums_fill(struct sums *s, const struct tree *t);
void sums_free(struct sums *s);
