/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording.h - opens a recording by its path: chaincap's trace; or perf's data file, text of perf
 * script or a trace of Go, which are imported into a trace in memory. Their bytes decide which it
 * is.
 */
#pragma once

#include "import/import.h"
#include "trace/trace.h"

struct recording {
	struct trace *trace;
	struct import_report *import; /* NULL: the recording is chaincap's */
};

/*
 * Opens path, "-" being standard input (no seeking needed). checked: see trace_open_bytes().
 * sample_event: see import_stream().
 * Returns 0; what trace_open_bytes() returns; a negative errno if the path cannot be opened or
 * read; or a negative enum import_error (import.h) if it does not hold enough. To be
 * closed with recording_close() after success.
 */
int recording_open(struct recording *r, const char *path, bool checked, const char *sample_event);
void recording_close(struct recording *r);

/*
 * A line that says what the regular file at path is, which is no recording, by its first bytes, and
 * what to do with it; NULL: not known.
 */
const char *recording_other(const char *path);
