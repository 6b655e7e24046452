/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What a differential graph does to its input: mask addresses, scale the first file, and make
 * stacks visible that only the first file has.
 */
#include <stddef.h>

#include "folded.h"
#include "tree.h"

/* --strip-hex: addresses change from run to run and keep equal stacks apart. */
struct diff_strip {
	char *text; /* the last line's stack */
	size_t cap;
};

/*
 * Replace every 0x1234 in the line's stack by 0x..., in a copy that is valid until the next call.
 * A zeroed struct is a new one. 0 or -ENOMEM.
 */
int diff_strip_hex(struct diff_strip *s, struct folded_line *line);
void diff_strip_free(struct diff_strip *s);

/* The following take a tree with .diff, after the last tree_add_path(), before tree_finish(). */

/* --normalize: scale the counts before to the sum of the counts after. */
void diff_normalize(struct tree *t);

/*
 * Widths are counts after, so a stack that only the first file has would be invisible. Add each of
 * them once more under a region of its own, as wide as it was before. 0, -ENOMEM or -EOVERFLOW.
 */
static inline const char *diff_gone(const struct tree *t)
{
	return t->negated ? "[only after]" : "[only before]";
}
int diff_add_gone(struct tree *t);

/* Instead of diff_add_gone(): the count of each stack becomes the larger of its two counts. */
void diff_widen(struct tree *t);

/* Does a tree of chains have the larger counts by default? Not without links, or with an order. */
static inline bool diff_is_wide(const struct tree *t, bool reverse)
{
	return t->diff && t->chain && !t->in_order && !reverse;
}
