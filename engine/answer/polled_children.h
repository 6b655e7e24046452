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

struct polled_children;

/* Finds those of a thread, once for all parts of its life. To be freed. */
void polled_children_new(struct polled_children **out, const struct chains *c, uint32_t thread);
void polled_children_free(struct polled_children *p);
/* As life_explain(), but of a wait for such a child what the child did is in its place. */
void polled_life_explain(struct chains *c, const struct polled_children *p, uint64_t from_ns,
			 uint64_t to_ns, const struct polled_heads *heads);
