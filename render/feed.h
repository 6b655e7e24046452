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

#include "batch.h"
#include "split.h"
#include "tree.h"

struct feed {
	struct tree *tree;
	bool reverse; /* merge from the leaves */
	struct split split;
	uint32_t room;	     /* lines for the batch that is being filled */
	uint64_t lines;	     /* handed over so far */
	struct batch *fill;  /* the caller's */
	struct batch *spare; /* free to be filled next; NULL: the other thread has it */
	struct batch *merge; /* to be merged; NULL: none waits */
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
