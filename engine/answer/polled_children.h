/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * polled_children.h - a thread that looks again and again whether a child of its process has ended,
 * and sleeps in between, waits for that child (chain-semantics, section 19), though only its own
 * timer ends the sleeps.
 */
#pragma once

#include "attribute/chain.h"

/* A part of a sleep of the thread, which the child explains. */
struct polled_child {
	const struct wait *wait;
	uint64_t from_ns, to_ns; /* not empty; all of it is in the wait's blocked part */
	uint32_t child;		 /* its process's first thread */
};

/* The nodes below which what begins at at_ns is. */
struct polled_heads {
	void *arg;
	uint32_t (*of_life)(void *arg, uint32_t thread, uint64_t at_ns);
	/* What the child did, for the wait of parent. */
	uint32_t (*of_child)(void *arg, const struct polled_child *of, uint32_t parent,
			     uint64_t at_ns);
};

/*
 * As life_explain(), but of a wait for such a child what the child did is in its place. 0 or
 * -ENOMEM, also if c->out_of_memory.
 */
void polled_life_explain(struct chains *c, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
			 const struct polled_heads *heads);
