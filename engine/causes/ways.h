/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ways.h - the threads through which a root cause came to those who waited, in a line of text. */
#ifndef ENGINE_WAYS_H
#define ENGINE_WAYS_H

#include "base/pairs.h"
#include "words/names.h"

struct ways {
	struct names *names;
	const struct pair *nodes; /* chains: (parent or 0, label) */
	/* The name (text id) of the thread of a label; 0: an interrupt, which is not shown. */
	uint32_t (*who)(const void *arg, uint32_t label);
	const void *arg;
};

/* A chain that ends in the cause, and its time. */
struct way_chain {
	uint64_t ns;
	uint32_t node;
};

/*
 * "client <- worker x 6 <- janitor": from the cause on always to the threads through which most of
 * its time came, as long as that is a quarter of what came so far: who waits behind a thread
 * counts, even if that thread's own waits are more. Returns a text id, 0 when out of memory;
 * changes at[].
 */
uint32_t way_text(const struct ways *w, struct way_chain *at, size_t n);

#endif /* ENGINE_WAYS_H */
