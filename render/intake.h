/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_INTAKE_H
#define RENDER_INTAKE_H
/*
 * From folded lines to the feed. A name can end in a number ("GC Thread 1 5"), so one line does not
 * tell whether lines have one count or two, before and after. All lines decide: two if more than
 * half of them have two. Lines with two counts are therefore held until the end; lines with one
 * mean the same in both cases (no change) and are passed on at once.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed.h"
#include "folded.h"
#include "tree.h"

/* If more bytes than this are held, the lines so far decide. */
#define INTAKE_HELD_MAX (UINT64_C(64) << 20)

enum intake_counts { INTAKE_ASK, INTAKE_ONE, INTAKE_TWO };

struct intake {
	struct feed feed;
	struct tree *tree;
	bool reverse;
	enum intake_counts counts;
	bool asked;	   /* the lines decided, not the caller */
	uint64_t one, two; /* valid lines with one count, with two */
	unsigned decimals; /* digits after the point in the counts that are used; at most 15 */
	unsigned decimals_before;
	char *held;
	size_t held_len, held_cap, held_max;
};

/*
 * Begin to fill the tree, which tree_init() has made. reverse: merge from the leaves. counts: how
 * many a line has; a tree in the input's order takes INTAKE_ASK as INTAKE_ONE. 0, or an error of
 * feed_open(). intake_close() must follow in both cases.
 */
int intake_open(struct intake *in, struct tree *t, bool reverse, enum intake_counts counts);

/* Add a valid line. 0, -ENOMEM, or an error of feed_add(). */
int intake_line(struct intake *in, const struct folded_line *line);

/* INTAKE_TWO: add a line of one of two inputs, whose lines have one count each. Errors as above. */
int intake_pair(struct intake *in, const struct folded_line *line, bool before);

/* Decide if that is still open, add the rest, free all but the tree. 0 or an error as above. */
int intake_close(struct intake *in);

#endif
