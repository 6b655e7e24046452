/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hosts.h - joins the traces of machines that talk to each other (chain-semantics, section 16):
 * their clocks are aligned by their messages, and sleeps that an answer from another machine ended
 * get it (timeline/remote_answers.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/timeline.h"

/* What was found out of two traces, of which the first asks and the second answers. */
struct host_pair {
	uint32_t client, server; /* places among the traces */
	uint64_t answers;	 /* how many sleeps of the first one ended with an answer */
	uint64_t joined;	 /* how many of these are explained by it */
	uint64_t contradicting;	 /* not, as messages contradict each other */
	uint64_t unbounded;	 /* not, as the clocks are known less exactly than they are long */
	/* Where the clocks are known best: how far the second one is ahead, and how exactly. */
	int64_t ahead_ns;
	uint64_t width_ns; /* UINT64_MAX: not known anywhere */
};

/* Traces that are joined at most. */
#define HOSTS_MAX 16u

/* Whether any two of n traces have both ends of a connection between two machines. */
void hosts_share(const struct trace *const *traces, uint32_t n, bool *is_shared);
/*
 * Joins n traces, of which those that are NULL are left out. 0, *pairs, to be freed, has those that
 * share a connection, in order; or -ENOMEM.
 */
int hosts_join(struct timelines *const *traces, uint32_t n, struct host_pair **pairs,
	       size_t *n_pairs);
