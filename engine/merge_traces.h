/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * merge_traces.h - several traces in one output. Folded lines are added up, below a frame for their
 * trace if that is asked for; other formats are written for one trace after the other, with a
 * heading or, in each JSON object, a member that names the trace.
 */
#ifndef ENGINE_MERGE_TRACES_H
#define ENGINE_MERGE_TRACES_H

#include <stdio.h>

#include "fold/folded.h"
#include "format_table.h"

/*
 * Adds the folded lines of a trace to lines, below a frame if --root asks for one: the trace's
 * host, or name, its path. 0 or a negative errno.
 */
int merge_trace(struct folded *lines, const struct format_input *in, const char *name);

/*
 * Writes the part of one trace where lines are not added up: below a heading, or each object with
 * its key. The first part has no empty line before it. 0 or a negative errno; write errors are left
 * in ferror(out).
 */
int write_trace_part(const struct format_input *in, const char *name, bool first, FILE *out);

#endif /* ENGINE_MERGE_TRACES_H */
