/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ready.h - of waits for any of several things (an epoll instance, a poll()), the one that was
 * ready when the thread was woken. Noted while timelines are built; once all pairs of stacks are
 * there, the wait gets a pair of its own with it.
 */
#ifndef ENGINE_READY_H
#define ENGINE_READY_H

#include <stddef.h>
#include <stdint.h>

struct pairs;

struct ready_note {
	uint64_t wake_ns; /* of the wait */
	uint32_t thread, wait, object;
};

/* All zero is empty. */
struct ready_notes {
	struct ready_note *at;
	size_t n, cap;
};

/* Returns 0 or -ENOMEM. */
int ready_add(struct ready_notes *r, const struct ready_note *note);
/*
 * Replaces a wait's pair by one with what was ready, unless it has one, or is for nothing known.
 * Returns 0 or -ENOMEM.
 */
int ready_pair(struct pairs *pairs, uint32_t object, uint32_t *pair);
void ready_free(struct ready_notes *r);

#endif /* ENGINE_READY_H */
