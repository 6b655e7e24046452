/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * From folded lines to the queue. A name can end in a number ("GC Thread 1 5"), so one line does
 * not tell whether lines have one count or two, before and after. All lines decide: two if more
 * than half of them have two. Lines with two counts are therefore held until the end; lines with
 * one mean the same in both cases (no change) and are passed on at once.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input_queue.h"
#include "folded.h"
#include "tree.h"

/* If more bytes than this are held, the lines so far decide. */
#define INPUT_HELD_MAX (UINT64_C(64) << 20)

enum input_counts { COUNTS_ASK, COUNTS_ONE, COUNTS_TWO };

struct input_reader {
	struct input_queue queue;
	struct tree *tree;
	bool reverse;
	enum input_counts counts;
	bool asked;	   /* the lines decided, not the caller */
	uint64_t one, two; /* valid lines with one count, with two */
	unsigned decimals; /* digits after the point in the counts that are used; at most 15 */
	unsigned decimals_before;
	char *held;
	size_t held_len, held_cap, held_max;
};

/*
 * Begin to fill the tree, which tree_init() has made. reverse: merge from the leaves. counts: how
 * many a line has; a tree in the input's order takes COUNTS_ASK as COUNTS_ONE. 0, or an error of
 * input_queue_open(). input_reader_close() must follow in both cases.
 */
int input_reader_open(struct input_reader *in, struct tree *t, bool reverse,
		      enum input_counts counts);

/* Add a valid line. 0, -ENOMEM, or an error of input_queue_add(). */
int input_reader_line(struct input_reader *in, const struct folded_line *line);

/* COUNTS_TWO: add a line of one of two inputs, whose lines have one count each. Errors as above. */
int input_reader_pair(struct input_reader *in, const struct folded_line *line, bool before);

/* Decide if that is still open, add the rest, free all but the tree. 0 or an error as above. */
int input_reader_close(struct input_reader *in);
