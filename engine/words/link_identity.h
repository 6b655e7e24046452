/* SPDX-License-Identifier: GPL-2.0-or-later */
/* link_identity.h - which links are one. */
#pragma once

#include "names.h"

/*
 * Identities of links (chain-semantics, section 12): the waker's name and stack, and where its
 * wakee slept, for what. All zero is empty.
 */
struct link_identities {
	struct pairs slept; /* (text: where, text: for what) */
	struct pairs at;    /* (text of the link, slept or 0) */
};

void link_identities_free(struct link_identities *j);
/*
 * The identity of a link, from 1 on; text stands for its stack and name: any number. The options
 * have fold_repeats.
 */
uint32_t link_identity(struct link_identities *j, struct names *n, const struct timelines *tl,
		       const struct link *l, uint32_t text);
