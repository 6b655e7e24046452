/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sleepers.h - the threads that were asleep when the recording began, as records to be unwound
 * (struct wire_copy), one by one: their stacks are read while events are being recorded already.
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

/* Adds a thread that has a user stack. False: it is one too many. */
bool sleepers_add(struct sleepers *s, const struct wire_thread *t);
/* Threads that sleepers_next() has not returned yet. */
uint32_t sleepers_left(const struct sleepers *s);

/*
 * The next thread's registers, with read the beginning of its stack as well, as far as it can be
 * read. NULL: there is none. Valid until the next call.
 */
const struct wire_copy *sleepers_next(struct sleepers *s, bool read);
/*
 * Whether the thread that sleepers_next() returned last has not run since it was listed: then what
 * has been read of its stack belongs to its registers.
 */
bool sleepers_slept(const struct sleepers *s);

#endif /* UNWIND_SLEEPERS_H */
