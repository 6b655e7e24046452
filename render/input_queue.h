/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * From the text of stacks to the tree. The caller's thread splits stacks into name ids; if there
 * are many, a second thread merges them into the tree, batch by batch in input order, so the tree
 * does not depend on the number of threads. While a queue is open the caller must not touch the
 * tree or its names: the splitting thread owns tree->names, the merging thread the rest.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "name_table.h"
#include "tree.h"

struct input_queue {
	struct tree *tree;
	bool reverse; /* merge from the leaves */
	struct split split;
	uint32_t room;	    /* lines per batch */
	uint64_t lines;	    /* handed over to the merging thread so far */
	struct batch *fill; /* being filled; the caller's thread alone uses it */
	pthread_t thread;   /* the merging thread, if .started */
	bool started;

	pthread_mutex_t lock; /* protects: spare, merge, done, err */
	pthread_cond_t change;
	struct batch *spare; /* empty; NULL: the merging thread has it */
	struct batch *merge; /* full; NULL: none waits */
	bool done;	     /* no more batches will come */
	int err;	     /* the first error of merging */
};

/* All return 0, -ENOMEM, -EOVERFLOW, or an error of pthread_create(3), negated. */
int input_queue_open(struct input_queue *f, struct tree *t, bool reverse);
int input_queue_add(struct input_queue *f, const char *stack, size_t len, double count,
		    double before);

/* Merge the rest, set tree->chain, end the thread, free all but the tree. Also after errors. */
int input_queue_close(struct input_queue *f);
