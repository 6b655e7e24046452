/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data.h - imports the data file of perf record itself, or what perf record -o - writes: it
 * becomes a trace in memory, which is read like any other. It needs no perf, and is several times
 * faster than the text of perf script.
 *
 * User functions have no names in it, but files and offsets: symbols/ names them.
 */
#pragma once

#include "import_report.h"
#include "perf_file.h"

/*
 * Turns the len bytes at p, of which perf_file_is() is true, into a trace: as import_stream().
 * written_ns: when the recording was written, CLOCK_REALTIME; 0: not known.
 */
int perf_data_import(const uint8_t *p, size_t len, int64_t written_ns, const char *sample_event,
		     uint8_t **buf, size_t *offset, size_t *trace_len,
		     struct import_report *report);
