/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ran_columns.h - the columns of a table of waits that say what wakers did while they ran: how much
 * of that time went to interrupts, and the stacks in which most of it was spent, by the samples
 * (chain-semantics, section 8). Traces that do not have these have no such columns.
 */
#ifndef ENGINE_RAN_COLUMNS_H
#define ENGINE_RAN_COLUMNS_H

#include <stdio.h>

#include "attribute/chain.h"
#include "common/intern.h"
#include "words/names.h"

#define RAN_COLUMNS 3u

/* For one wait at a time. All zero is empty. */
struct ran_columns {
	struct names *names;
	bool sampled, interrupts;  /* what the trace has */
	struct intern links;	   /* struct link; their ids are the labels */
	struct pair_table running; /* ns by (node, 0) */
	struct sums ran;	   /* samples by (node, stack pair) */
	struct sums stacks;	   /* ns by (0, text) */
	uint64_t interrupted_ns;
	bool out_of_memory;
};

/*
 * For chains whose user has ran_columns_label() as its label if there are samples. names must
 * outlive it. To be ended with ran_columns_free().
 */
void ran_columns_init(struct ran_columns *r, const struct timelines *tl, struct names *names);
void ran_columns_free(struct ran_columns *r);
/* The label of a link: chains are told apart by all that is written of them. 0: out of memory. */
uint32_t ran_columns_label(struct ran_columns *r, const struct link *l);
/* Another wait follows. */
void ran_columns_begin(struct ran_columns *r);
/* For a chain_sink's add(), of amounts that belong to CHAIN_RUNNING. */
void ran_columns_add(struct ran_columns *r, uint32_t node, struct amount_key key, uint64_t amount);

/* The names of the columns, each with a comma before it. */
void ran_columns_head(const struct ran_columns *r, FILE *out);
/*
 * Writes the fields, put(arg, text) being called for texts. Call it once for each wait. 0 or
 * -ENOMEM.
 */
int ran_columns_put(struct ran_columns *r, void (*put)(void *arg, const char *text), void *arg,
		    FILE *out);

#endif /* ENGINE_RAN_COLUMNS_H */
