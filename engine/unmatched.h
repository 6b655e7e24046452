/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unmatched.h - says which of the user's choices fit nothing in a trace. A filter that silently
 * gives nothing looks just like a program that never waits.
 */
#ifndef ENGINE_UNMATCHED_H
#define ENGINE_UNMATCHED_H

#include <stdio.h>

#include "options.h"
#include "timeline.h"

/*
 * A line for each -p, -t and -c that fits no thread of the trace called name, and for a --from
 * behind its end.
 */
void unmatched_print(const struct timelines *tl, const struct options *o, const char *name,
		     FILE *out);

#endif /* ENGINE_UNMATCHED_H */
