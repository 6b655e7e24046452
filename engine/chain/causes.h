/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * causes.h - the chosen waits summed up by root cause: the last thread of each chain and what it
 * did there. Each instant of a wait belongs to exactly one cause, so the times add up to those of
 * the chain graph.
 */
#ifndef ENGINE_CAUSES_H
#define ENGINE_CAUSES_H

#include "chain.h"
#include "top_waits.h"
#include "words/names.h"

/* Links that are followed unless --depth says how many: repeated ones are shown as one. */
#define CAUSES_DEPTH 64

/* A root cause. who, where and by are ids of texts in names; 0: there is none. */
struct cause {
	enum chain_end end;
	uint32_t who;	/* the last thread of the chain, by name */
	uint32_t where; /* of a sleep: its place; of a waker that ran: from where it woke most often
			 */
	uint32_t by;	/* the handler of the interrupt that ended its sleep */
	bool itself;	/* there is no waker in the chain: who is the thread whose wait it is */
	uint64_t ns;
	uint64_t waits;		    /* in which it has a part */
	uint64_t longest_ns;	    /* the largest part of one wait, */
	struct chosen_wait example; /* which is this one */
	/* How most of it came to those who waited: "client <- worker x 6 <- janitor". */
	uint32_t way;
};

struct causes;

/*
 * Sums up the waits that f chooses, which has the same options and names. Options should have
 * blocked_stacks set, without which it is not known where a waker slept. 0 or -ENOMEM. To be freed
 * with causes_free().
 */
int causes_new(struct causes **out, const struct timelines *tl, const struct options *o,
	       struct names *names, struct wait_filter *f);
void causes_free(struct causes *c);

/* The causes, most time first; they belong to c. */
const struct cause *causes_list(const struct causes *c, size_t *n);

#endif /* ENGINE_CAUSES_H */
