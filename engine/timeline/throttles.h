/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * throttles.h - when threads that were ready could not run, as a quota of CPU time was used up
 * (chain-semantics, section 9).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct throttle {
	/* Of the thread's wait for a CPU in which to_ns lies; from_ns may be before that. */
	uint64_t from_ns, to_ns;
	uint32_t thread;
	uint32_t group; /* whose quota it is: its path (string id); 0: not known */
	uint32_t why;	/* enum chainlog_quota; others are as if it was not known whose */
};

/* All zero is empty. */
struct throttles {
	struct throttle
		*at; /* once sorted, by thread, then time; those of a thread do not overlap */
	size_t n, cap;
};

void throttles_add(struct throttles *t, const struct throttle *throttle);
/* When all of them are there. Of two that overlap the later one begins when the other is over. */
void throttles_sort(struct throttles *t);
void throttles_free(struct throttles *t);

/* The *n of a thread that end in (ready_ns, in_ns], in which it waited for a CPU. */
const struct throttle *throttles_of(const struct throttles *t, uint32_t thread, uint64_t ready_ns,
				    uint64_t in_ns, size_t *n);
