/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held_locks.h - which thread had a lock, as the lock's own word said to those who went to sleep at
 * it and as they were woken, and when that thread last ran (chain-semantics, section 14).
 */
#pragma once

#include "timeline/timeline.h"

struct held_locks;

/*
 * lock_of: by stack pair, the lock at which a thread with that off-CPU stack is, if that is 1 to
 * n_locks; wanted: by lock, whether anybody will ask; is_end: whether a thread ended a sleep.
 */
void held_locks_new(struct held_locks **out, const struct timelines *tl, const uint32_t *lock_of,
		    uint32_t n_locks, const bool *wanted,
		    bool (*is_end)(const void *arg, const struct wait *w), const void *arg);
void held_locks_free(struct held_locks *h);

/* So many of the last things that are known of a lock are looked at. */
#define HELD_LOCKS_MAX 8

/*
 * The threads that had the lock, by what is known last in [from_ns, to_ns], the last one first: a
 * sleep at it began that tells; or a thread ended one that told, and the sleeper has it. Returns
 * how many there are.
 */
uint32_t held_locks_last(const struct held_locks *h, uint32_t lock, uint64_t from_ns,
			 uint64_t to_ns, uint32_t holders[HELD_LOCKS_MAX]);

/* When a thread last ran in a time. */
struct last_ran {
	bool known;		 /* its timeline says all the time what it did */
	bool ran;		 /* it did */
	uint64_t at_ns;		 /* the end of that */
	const struct wait *then; /* the interval that began with it; NULL: it ran on */
};

/* In (from_ns, to_ns]. */
struct last_ran thread_last_ran(const struct thread *th, uint64_t from_ns, uint64_t to_ns);
