/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slices.h - all waits of a trace, in slices of its time, for several workers at once. The windows
 * of a slice's waits, and the wakers' time in it, stay in a cache.
 */
#ifndef ENGINE_SLICES_H
#define ENGINE_SLICES_H

#include <stdatomic.h>

#include "timeline/timeline.h"

struct slices {
	const struct timelines *timelines;
	uint64_t start_ns, span_ns;
	uint32_t n;
	atomic_uint next; /* that no worker has taken yet */
};

void slices_init(struct slices *s, const struct timelines *tl);

struct wait_visitor {
	void *arg;
	bool (*wants)(void *arg, const struct thread *th); /* any wait of the thread? */
	void (*visit)(void *arg, uint32_t thread, const struct wait *w);
};

/*
 * A worker's part: takes slices until none is left, and visits the waits that end in them, thread
 * by thread in each. Returns 0 or -ENOMEM.
 */
int slices_walk(struct slices *s, struct wait_visitor v);

/* Where the i-th of n equal shares of the trace's time begins; the first begins at 0. */
uint64_t slices_share_from(const struct slices *s, uint32_t i, uint32_t n);

/* Calls run for each of n workers, of size bytes each, on threads of their own where possible. */
void workers_run(void *workers, size_t size, uint32_t n, void *(*run)(void *worker));

#endif /* ENGINE_SLICES_H */
