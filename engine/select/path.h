/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path.h - whose path from when to when is shown: that of the command that was recorded, or of the
 * process or thread that the user named.
 */
#pragma once

#include "base/options.h"
#include "timeline/timeline.h"

/* A part of a thread's life; from_ns == to_ns: there is none. */
struct path {
	uint32_t thread;
	uint64_t from_ns, to_ns;
	bool is_command;
};

/*
 * With o->command the command's main thread, from when the command's program began; else the main
 * thread of the process that the user named, or with --from or --to the thread: of several the one
 * that lives longest, and of a recorded command's those first. Of all only what is between --from
 * and --to. None if neither was recorded or named, or if there are requests to the one that was
 * named.
 */
void path_find(struct path *p, const struct timelines *tl, const struct options *o);
/* How long threads ran while it lasted: those that o chooses, and all others. */
void path_ran_ns(uint64_t *own_ns, uint64_t *others_ns, const struct path *p,
		 const struct timelines *tl, const struct options *o);
