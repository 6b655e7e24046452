/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chain_ends.h - what the chains of several waits came down to: chain_steps.h without the way. */
#pragma once

#include "answer/chain_steps.h"

/* Texts are of the names of the steps; 0: there is none. */
struct chain_end_sum {
	uint32_t who, at; /* the last thread of the chain, and where in its own code */
	uint32_t words;	  /* what it did: "ran", "unknown: events are missing" */
	uint64_t ns;
};

/*
 * Most time first; their sum is chain_steps_total_ns(). names: those of the steps, to which words
 * are added. *n: how many; to be freed with free(); NULL: there are none.
 */
struct chain_end_sum *chain_ends(const struct chain_steps *s, struct names *names, size_t *n);
