/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context.h - in what context a waker woke: as a task, which is then the cause, or as an
 * interrupt that borrowed the current thread's CPU, and whose frames are then cut off from those
 * of the innocent thread below. It is read from the names in the waker's kernel stack (see
 * chain-semantics, section 3), once for each stack.
 */
#ifndef ENGINE_CONTEXT_H
#define ENGINE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace.h"

struct contexts;

struct context {
	bool interrupt;
	uint32_t frames; /* of the kernel stack, from the leaf on, that belong to the waker */
};

/* NULL: out of memory. t must outlive it. */
struct contexts *contexts_new(const struct trace *t);
void contexts_free(struct contexts *c);
/* The context of a waking with this kernel stack; idle: the current thread was the idle loop. */
struct context context_of(struct contexts *c, uint32_t kstack, bool idle);

#endif /* ENGINE_CONTEXT_H */
