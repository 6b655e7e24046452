/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk_join.h - joins a waking to the block request whose completion made it
 * (chain-semantics, section 11): the one that was done last on its CPU, if the waker's stack shows
 * that it was at it. Part of the cursor, which gives such a waking a pair of its own.
 */
#ifndef ENGINE_DISK_JOIN_H
#define ENGINE_DISK_JOIN_H

#include "base/pairs.h"
#include "trace.h"

struct last_done;

/* All zero is ready for disk_join(). */
struct disk_join {
	uint32_t n;	   /* EVENT_DISK_DONE so far */
	uint8_t *of_stack; /* by kernel stack: whether it ends requests; 0: not looked at */
	struct last_done *cpus;
	size_t n_cpus;
};

/*
 * Takes the next event of t. Returns 1 if it is a waking by a request: then *given is what stands
 * for it, with a pair of pairs; 0 if ev stands for itself; -ENOMEM.
 */
int disk_join(struct disk_join *j, const struct trace *t, struct pairs *pairs,
	      const struct event *ev, struct event *given);
void disk_join_free(struct disk_join *j);

#endif /* ENGINE_DISK_JOIN_H */
