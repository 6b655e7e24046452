/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * connection_pools.h - which waits for another thread of the same process are for a connection to a
 * server: who was let go on then waits for an answer on a connection that several threads use, as
 * the one that let it go on had used one to the same server. So a pool of connections is known,
 * whatever its lock or condition is called.
 */
#pragma once

#include "timeline/timeline.h"
#include "words/kernel_stacks.h"

struct connection_pools;

struct connection_pool {
	uint32_t pair; /* stack pair of a wait for an answer on one of the connections; 0: none */
	uint32_t n;    /* how many of its connections to that end the process lent */
};

/* tl and k must outlive it. 0 or -ENOMEM, with *out NULL. To be freed with connection_pools_free().
 */
void connection_pools_new(struct connection_pools **out, const struct timelines *tl,
			  struct kernel_stacks *k);
void connection_pools_free(struct connection_pools *p);
/* Whether a thread slept with the stack pair until another one of its process, or one with which it
 * shares memory, let it go on; not a thread of Go's runtime, which is let go on for any goroutine.
 */
bool wait_is_between_threads(const struct timelines *tl, uint32_t pair);
/* What sleeps with a stack pair were for, as those with the same user stack; all sleeps of the
 * trace are looked at for the first. */
void connection_pools_find(struct connection_pools *p, uint32_t pair, struct connection_pool *pool);
