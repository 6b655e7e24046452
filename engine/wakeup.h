/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakeup.h - folded lines of wakers only (--view wakeup), as bcc's wakeuptime writes them: who
 * woke, its stack root first, and on top the thread that it woke; wide as that had been blocked.
 */
#ifndef ENGINE_WAKEUP_H
#define ENGINE_WAKEUP_H

#include <stdio.h>

#include "options.h"
#include "timeline.h"

/*
 * Writes the lines of the waits that the options choose, sorted, in their unit, rounded as
 * fold_write() does. Returns 0 or -ENOMEM; write errors are left in ferror(out).
 */
int wakeup_write(const struct timelines *tl, const struct options *o, FILE *out);

#endif /* ENGINE_WAKEUP_H */
