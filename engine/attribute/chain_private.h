/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chain_private.h - what the two attributions of chain.h have in common. */
#ifndef ENGINE_CHAIN_PRIVATE_H
#define ENGINE_CHAIN_PRIVATE_H

#include "chain.h"

/*
 * As chains_link(), and counts c->hops, which has a bound of its own: links that repeat others are
 * not bounded by the depth.
 */
uint32_t chains_hop(struct chains *c, uint32_t node, const struct wait *w, uint32_t links_left,
		    bool first, enum chain_end *end);
/* How many links may follow link, of the links_left before it, which is below parent. */
uint32_t chains_left(const struct chains *c, uint32_t parent, uint32_t link, uint32_t links_left);

/*
 * chain_classic.c: the whole wait, of ns, goes to one chain, each link being the most recent wakeup
 * of the thread before it, however old. Where that wakeup is not in the trace the chain ends in
 * [unknown].
 */
void chains_explain_classic(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
			    uint64_t ns);

#endif /* ENGINE_CHAIN_PRIVATE_H */
