/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * go_import.h - imports Go's execution traces: goroutines become threads, Ps (what may run Go code
 * at a time) CPUs, and the trace in memory is read like any other.
 *
 * What such a trace does not say is not made up: what ends a system call is not known, and what the
 * kernel does with Go's threads is not seen.
 */
#pragma once

#include "go_trace.h"
#include "import/import_output.h"
#include "import/import_report.h"

/*
 * Turns bytes of which go_is_trace() is true into a trace: as import_stream(). Of its errors, those
 * of times cannot occur.
 */
int go_import(const struct import_input *s, struct trace_bytes *out, struct import_report *report);
