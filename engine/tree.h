/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - one wait and its chain in words, on a few lines. What several pieces of a chain have in
 * common (the same waker, from the same stack) is one line with the sum of their times.
 */
#ifndef ENGINE_TREE_H
#define ENGINE_TREE_H

#include <stdio.h>

#include "chain.h"
#include "names.h"
#include "select.h"

struct tree;

/* 0 or -ENOMEM; to be freed with tree_free(). What is given must outlive it. */
int tree_new(struct tree **out, const struct timelines *tl, const struct options *o,
	     struct names *names);
void tree_free(struct tree *t);

/* The line that tells whose waits follow. */
void tree_put_thread(struct tree *t, uint32_t thread, uint64_t at_ns, FILE *out);
/* What is shown of a wait, and its chain. 0 or -ENOMEM. */
int tree_put_wait(struct tree *t, uint32_t thread, const struct wait *w, const struct shown *shown,
		  FILE *out);

#endif /* ENGINE_TREE_H */
