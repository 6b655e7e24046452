/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sleepers.h - a queue of the threads that were asleep when the recording began. Each becomes a
 * record to be unwound (struct wire_copy). Its stack is read in its turn, while events are already
 * being recorded.
 */
#ifndef UNWIND_SLEEPERS_H
#define UNWIND_SLEEPERS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

struct sleepers;

/* NULL when out of memory. */
struct sleepers *sleepers_new(void);
void sleepers_free(struct sleepers *s);

/* Adds a thread that has a user stack. False: the queue is full, or out of memory. */
bool sleepers_add(struct sleepers *s, const struct wire_thread *t);
/* Threads that sleepers_next() has not returned yet. */
uint32_t sleepers_left(const struct sleepers *s);

/*
 * Takes the next thread. The record has its registers and, if read, the beginning of its stack, as
 * far as it is readable. NULL if there is none. Valid until the next call.
 */
const struct wire_copy *sleepers_next(struct sleepers *s, bool read);
/*
 * Queues the thread again that sleepers_next() returned last. False: the queue is full, or out of
 * memory.
 */
bool sleepers_put_back(struct sleepers *s);

#endif /* UNWIND_SLEEPERS_H */
