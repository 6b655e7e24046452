/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data.h - imports the data file of perf record itself, or what perf record -o - writes: it
 * becomes a trace in memory, which is read like any other. It needs no perf, and is several times
 * faster than the text of perf script.
 *
 * User functions have no names in it, but files and offsets: symbols/ names them.
 */
#pragma once

#include "import_output.h"
#include "import_report.h"
#include "perf_file.h"

/* Turns bytes of which perf_file_is() is true into a trace: as import_stream(). */
int perf_data_import(const struct import_input *s, struct trace_bytes *out,
		     struct import_report *report);
