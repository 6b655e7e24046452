/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unknown_times.h - when it is not known what the threads of a process did. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "timeline/timeline.h"

struct unknown_times;

/* Takes O(n log n) for n unknown intervals. To be freed by unknown_times_free(). NULL: no memory.
 */
struct unknown_times *unknown_times_new(const struct timelines *tl);
void unknown_times_free(struct unknown_times *u);

/*
 * Whether, at any instant of [from_ns, to_ns], it is not known what another thread of this thread's
 * process did; true also if the process is not known.
 */
bool unknown_times_of_others(const struct unknown_times *u, uint32_t thread, uint64_t from_ns,
			     uint64_t to_ns);
