/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_pieces.h - the chains of one wait as a list: a piece for each chain and end, the widest
 * first, with what else is known of them, by the piece's node.
 */
#ifndef ENGINE_WAIT_PIECES_H
#define ENGINE_WAIT_PIECES_H

#include "attribute/chain.h"
#include "select/top_waits.h"
#include "common/intern.h"
#include "wait_facts.h"

struct wait_piece {
	uint64_t ns;
	uint32_t node;
	struct amount_key key; /* of AMOUNT_TIME */
};

struct wait_pieces {
	struct names *names;
	struct chains chains;
	struct intern links; /* struct link; their ids are the labels */
	struct wait_piece *at;
	size_t n, cap;
	struct wait_facts facts; /* by node */
	bool out_of_memory;
};

/*
 * names have the same options; all must outlive it. 0 or -ENOMEM. To be ended with
 * wait_pieces_free(), also after an error.
 */
int wait_pieces_init(struct wait_pieces *t, const struct timelines *tl, const struct options *o,
		     struct names *names);
void wait_pieces_free(struct wait_pieces *t);
/* Makes the pieces of a wait, its own time without a CPU among them. 0 or -ENOMEM. */
int wait_pieces_make(struct wait_pieces *t, const struct chosen_wait *p);
/* The labels of a chain's links, the last link first, without the head; returns how many. */
size_t wait_pieces_path(const struct wait_pieces *t, uint32_t node,
			uint32_t path[OPTIONS_DEPTH_MAX]);
struct link wait_pieces_link(const struct wait_pieces *t, uint32_t label);

#endif /* ENGINE_WAIT_PIECES_H */
