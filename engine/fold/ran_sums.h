/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ran_sums.h - what the wakers of one wait ran: the samples that chains_explain() finds, summed up
 * by the node whose waker ran and by stack, as it is shown.
 */
#ifndef ENGINE_RAN_SUMS_H
#define ENGINE_RAN_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pairs.h"
#include "words/names.h"

struct ran_sum {
	uint32_t node;
	uint32_t pair; /* one that has this stack */
	uint32_t text; /* the stack, root first, as in folded lines */
	uint64_t samples;
	uint64_t ns; /* its share of the node's running time, by ran_sums_share() */
};

/* All zero is empty. */
struct ran_sums {
	struct pair_table table; /* struct ran_sum, by (node, pair) until they are sorted */
	size_t n;		 /* when they are sorted: so many, from table.at[1] on */
	bool out_of_memory;
};

/* Forgets all; the memory is kept. ran_sums_free() releases it. */
void ran_sums_clear(struct ran_sums *s);
void ran_sums_free(struct ran_sums *s);
/* A chain_ran_fn, arg being the struct ran_sums. */
void ran_sums_add(void *arg, uint32_t node, uint32_t pair, int64_t count);
/* When all have been added: one sum for each stack of a node. Nothing if out_of_memory. */
void ran_sums_sort(struct ran_sums *s, struct names *names);
/* A node's sums, the most frequent stack first; *n: how many. Valid until s changes. */
struct ran_sum *ran_sums_of(const struct ran_sums *s, uint32_t node, size_t *n);
/*
 * Splits ns, the running time of the node with the sums of[0..n), n not 0, over them
 * (chain-semantics, section 8). 0 or -ENOMEM.
 */
int ran_sums_share(struct ran_sum *of, size_t n, uint64_t ns, struct names *names);

#endif /* ENGINE_RAN_SUMS_H */
