/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_amounts.h - all that attribution says of one wait, as a list: how long it waited for each
 * chain and end, and what else is known of that: who had the CPU, what wakers ran, whom else they
 * woke. Amounts are kept by place: the node of a chain, or what the user has instead.
 */
#pragma once

#include "attribute/chain.h"
#include "attribute/woken_meanwhile.h"
#include "common/intern.h"
#include "select/top_waits.h"

struct wait_amount {
	uint32_t place;
	struct amount_key key; /* of AMOUNT_TIME */
	uint64_t ns;
	uint64_t interrupted_ns; /* of CHAIN_RUNNING: how much of ns went to interrupts */
};

struct wait_amounts {
	struct names *names;
	struct chains chains;
	struct cpu_holders *cpu_holders; /* NULL: not known, or not asked for */
	struct woken_meanwhile *wakings; /* NULL: not asked for */
	struct pairs keys;		 /* amount_key: its first half, its value */
	struct pair_table at;		 /* struct wait_amount by (place, key) */
	struct sums had, ran, woken;	 /* by place: CPU holders, samples by stack pair, wakees */
	/* The place of a node. NULL: the node. */
	uint32_t (*place_of)(struct wait_amounts *w, uint32_t node);
};

/*
 * blocked_only: of a wait's blocked time, and not who had the CPU and who else was woken. label and
 * identity are a chain_user's; their arg is w. names have the options o; all must outlive w. To be
 * ended with wait_amounts_free().
 */
void wait_amounts_init(struct wait_amounts *w, const struct timelines *tl, const struct options *o,
		       struct names *names, bool blocked_only,
		       uint32_t (*label)(void *arg, const struct link *l),
		       uint32_t (*identity)(const void *arg, uint32_t label));
void wait_amounts_free(struct wait_amounts *w);
/* Forgets the wait before, and makes the amounts of another. */
void wait_amounts_make(struct wait_amounts *w, const struct chosen_wait *p);
/* The list, in the order in which chains were found; may be sorted. *n: how many. */
struct wait_amount *wait_amounts_list(const struct wait_amounts *w, size_t *n);
