/* SPDX-License-Identifier: GPL-2.0-or-later */
/* missing.h - processes and threads that were asked for and that a trace does not have. */
#ifndef ENGINE_MISSING_H
#define ENGINE_MISSING_H

#include "base/options.h"
#include "timeline/timeline.h"

/*
 * A line on standard error for each entry of -p, -t, -c and --tree-of that fits no thread of the
 * trace `name`, with what is near to it. Returns true if there was one.
 */
bool print_missing(const char *name, const struct timelines *tl, const struct options *o);

#endif /* ENGINE_MISSING_H */
