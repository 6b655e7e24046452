/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_sums.h - what chains have, by the node to which they lead (chain.h): time by end, what
 * stands above the end (who had the CPU, a disk and its stage), samples, and waits.
 */
#pragma once

#include "attribute/chain.h"
#include "chain_rows.h"

struct node_times {
	uint64_t ns[CHAIN_ENDS];
};

/* 32 bits: more waits than that do not fit into memory. */
struct node_counts {
	uint32_t waits[CHAIN_NO_END + 1];
};

/* All zero is empty. */
struct node_sums {
	struct node_times *times;   /* by node */
	struct node_counts *counts; /* likewise; only where waits are counted */
	size_t n_times, n_counts;
	struct pair_table ran;	 /* int64_t: samples by (node, stack pair) */
	struct pair_table above; /* ns by (node and end, number of the part), of times */
};

void node_sums_free(struct node_sums *s);
/* As node_sums_add(), after making room for the node. */
void node_sums_add_grown(struct node_sums *s, uint32_t node, enum chain_end end, uint64_t ns);

static inline void node_sums_add(struct node_sums *s, uint32_t node, enum chain_end end,
				 uint64_t ns)
{
	if (node < s->n_times)
		s->times[node].ns[end] += ns;
	else
		node_sums_add_grown(s, node, end, ns);
}

void node_sums_add_waits(struct node_sums *s, uint32_t node, uint32_t end, uint32_t waits);
/*
 * ns of the time of (node, end) are of part (a number from interned_stacks.h), which stands above
 * the end: whoever had the CPU of CHAIN_RUNNABLE and CHAIN_PREEMPTED, the disk of CHAIN_DISK, the
 * socket of CHAIN_NETWORK. Other ends have no such part.
 */
void node_sums_add_above(struct node_sums *s, uint32_t node, enum chain_end end, uint32_t part,
			 uint64_t ns);
void node_sums_add_ran(struct node_sums *s, uint32_t node, uint32_t pair, int64_t samples);
/* Adds all of from, whose nodes 1..n are nodes[1..n] in to. */
void node_sums_move(struct node_sums *to, const struct node_sums *from, const uint32_t *nodes,
		    uint32_t n);
/*
 * Makes rows of the nodes 1..n, and their samples, for which p makes lists. What has a part above
 * its end is no longer in the times then.
 */
void node_sums_rows(struct node_sums *s, uint32_t n, struct stack_cache *p,
		    struct chain_rows *rows);
