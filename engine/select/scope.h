/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope.h - whose waits are shown: the threads that -p, -t, --tree-of and --no-kthreads choose, or
 * those of the command that was recorded, and the clients of their processes. (-c depends on a
 * thread's name at the time, and is up to wait_filter.h.)
 */
#pragma once

#include "base/options.h"
#include "timeline/timeline.h"

/* Sets (*in)[thread], to be freed with free(). */
void scope_find(bool **in, const struct timelines *tl, const struct options *o);

/*
 * A process is called by the name of its leader, cut to the 15 bytes that the kernel keeps, or by
 * that and its id, as formats write it: "postgres/811".
 */
bool process_is_called(const char *process, uint32_t id, const char *name);
