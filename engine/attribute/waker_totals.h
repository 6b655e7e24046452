/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waker_totals.h - running totals over wakers' timelines, for chain.c. A long window costs as much
 * as it has different chains, not as much as it has off-CPU intervals (law 5: a thousand idle
 * threads that each wait for the whole trace for one busy waker). The chain of a whole sleep of a
 * waker is the same whoever waits for that waker. So for each waker and number of links left there
 * are totals of every chain that its sleeps lead to, relative to the waker.
 */
#pragma once

#include "attributed_time.h"
#include "common/intern.h"
#include "running_totals.h"

/* Those of one waker. */
struct waker_entry {
	struct running_totals totals; /* of (relative node, id of an amount_key) */
	uint64_t walked;	      /* intervals walked while the totals were not there */
	bool built, building;
};

struct waker_totals {
	struct intern keys;	   /* struct amount_key */
	struct pairs kinds;	   /* (links left, root) */
	struct pair_table entries; /* by (thread, kind) */
	struct pair_table grafted; /* node (uint32_t), by (node, relative node) */
};

/* The amount_key of an id. */
struct amount_key waker_totals_key(const struct waker_totals *t, uint32_t id);
/* NULL: out of memory. */
struct waker_totals *waker_totals_new(void);
void waker_totals_free(struct waker_totals *t);
/*
 * The entry of a thread, below a relative root and with so many links left; all zero when it is
 * new. NULL: out of memory. Moves when another one is asked for.
 */
struct waker_entry *waker_totals_entry(struct waker_totals *t, uint32_t thread, uint32_t links_left,
				       uint32_t root);
/* Where it is kept what a relative node is below another node; 0: not made yet. Moves likewise. */
uint32_t *waker_totals_grafted(struct waker_totals *t, uint32_t node, uint32_t relative);
