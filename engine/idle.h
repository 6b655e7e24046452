/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * idle.h - which waits only wait for work (--no-idle): a thread that has nothing to do and sleeps
 * at the top of its loop. It is read from the kernel function that went to sleep, and owns the
 * table of those; the manual page lists them.
 */
#ifndef ENGINE_IDLE_H
#define ENGINE_IDLE_H

#include <stdbool.h>

#include "trace.h"

/*
 * True if a thread that sleeps with this kernel stack waits for work. Only the function that
 * called the scheduler counts: a worker that sleeps in the midst of its work has the loop on its
 * stack, too, and is not idle.
 */
bool idle_stack(const struct trace *t, uint32_t kstack);

#endif /* ENGINE_IDLE_H */
