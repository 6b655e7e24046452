/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_private.h - what exact (chain.c, chain_sums.c) and classic (classic.c) attribution share.
 */
#ifndef ENGINE_CHAIN_PRIVATE_H
#define ENGINE_CHAIN_PRIVATE_H

#include "chain.h"

/* The threads of a chain, from its last link back to the one whose wait it is. */
struct chain_member {
	uint32_t thread;
	const struct chain_member *up;
};

bool chain_has(const struct chain_member *m, uint32_t thread);
/*
 * Goes one link further, to whoever woke w. Returns the link's node, and its context; or 0 if there
 * is no such link, *end saying why.
 */
uint32_t chain_link(struct chains *c, uint32_t node, const struct wait *w, uint32_t links_left,
		    bool first, struct context *context, enum chain_end *end);

/* A window of a waker's time, and what it did in it so far as it was looked at. */
struct chain_window {
	uint32_t node; /* of the waker's link */
	uint64_t from_ns, to_ns;
	uint64_t slept_ns, runnable_ns, unknown_ns;
};

/*
 * Adds the part of one of the waker's stretches that lies in the window: what it slept goes to
 * whoever woke it, right away; the rest to the window's sums. waker: the waker and all before it.
 */
void chain_take(struct chains *c, struct chain_window *win, const struct wait *w,
		uint32_t links_left, const struct chain_member *waker);

void chain_classic(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
		   uint64_t ns);

#endif /* ENGINE_CHAIN_PRIVATE_H */
