/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.h - imports text of perf script with the scheduler's switches and wakeups: it becomes a
 * trace in memory, which is read like any other.
 *
 * What the text lacks (the idle loop's events on some kernels, chunks that perf lost) is not made
 * up: the timelines find it to be unknown, and a loss that the text reports is a loss in the trace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import_output.h"
#include "import_report.h"

/* Bytes of the beginning that import_is_text() looks at. */
#define IMPORT_SNIFF 4096u

/* True if what begins with these bytes can be text of perf script (it may be any text). */
bool import_is_text(const void *p, size_t len);

/*
 * Turns text into a trace, *out, which is to be freed with trace_bytes_free(). Returns 0; a
 * negative errno: -ENOMEM, read()'s, -EBADMSG if no line of the first 4 MiB is one of perf script;
 * or a negative enum import_error.
 */
int import_stream(const struct import_input *s, struct trace_bytes *out,
		  struct import_report *report);
