/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chain_private.h - what exact (chain.c) and classic (classic.c) attribution share. */
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

void chain_classic(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
		   uint64_t ns);

#endif /* ENGINE_CHAIN_PRIVATE_H */
