/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool_waits.h - which requests waited for a connection to another server, all of which their own
 * server had lent to others: seen from outside, as in an event loop, or among goroutines, no thread
 * sleeps for that. Known from the requests of both servers alone (chain-semantics, section 19).
 */
#pragma once

#include "words/object_names.h"

struct pool_waits;

/* A request waited so for a part of the time. */
struct pool_wait {
	uint64_t from_ns, to_ns;
	uint32_t connections;			 /* how many there are; 0: it did not wait so */
	uint32_t waiting;			 /* so many requests waited so at once, at most */
	const struct request_endpoint *endpoint; /* where they lead */
	const struct request *holder; /* one that had a connection meanwhile; NULL: not known */
};

/* tl and objects must outlive it. To be freed with pool_waits_free(). */
void pool_waits_new(struct pool_waits **out, const struct timelines *tl,
		    struct object_names *objects);
void pool_waits_free(struct pool_waits *p);
/* Of a request of the trace; all requests of the trace are looked at for the first. */
struct pool_wait pool_waits_of(struct pool_waits *p, const struct request *q);
