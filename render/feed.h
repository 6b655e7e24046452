/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_FEED_H
#define RENDER_FEED_H
/*
 * Stacks from their text into the tree, on two threads where there are many: the caller's splits
 * lines into names, a second one merges them, batch by batch and in order, so that the tree is the
 * same as if one thread had done both. While a feed is open the caller must leave the tree and its
 * names alone.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "split.h"
#include "tree.h"

#define FEED_LINES 1024 /* in a batch; fewer in all, and no thread is started */

struct feed_line {
	uint32_t n; /* name numbers; they follow each other in the batch's .id */
	double count, before;
};

struct feed_batch {
	struct feed_line line[FEED_LINES];
	uint32_t lines;
	uint32_t *id;
	size_t ids, cap;
};

struct feed {
	struct tree *tree;
	bool reverse; /* merge from the leaves */
	struct split split;
	struct feed_batch *fill;  /* the caller's */
	struct feed_batch *spare; /* free to be filled next; NULL: the other thread has it */
	struct feed_batch *merge; /* to be merged; NULL: none waits */
	pthread_mutex_t lock;
	pthread_cond_t change;
	pthread_t thread;
	bool started, done;
	int err;
};

/* All return 0 or a negative errno (-ENOMEM, -EOVERFLOW, what pthread_create(3) says). */
int feed_open(struct feed *f, struct tree *t, bool reverse);
int feed_add(struct feed *f, const char *stack, size_t len, double count, double before);

/* Merge what is left, end the thread, free all but the tree. Sets the tree's .chain. Also after an
 * error. */
int feed_close(struct feed *f);

#endif
