/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_dump.h - writes what the flight recorder has kept as a trace like any other. The events
 * are encoded anew, so that it defines just what it names, in ids of its own.
 */
#ifndef FLIGHT_DUMP_H
#define FLIGHT_DUMP_H

#include "encode.h"
#include "flight.h"

/*
 * Writes the window from from_ns (see flight_from()) to out, whose INFO block is written already,
 * and ends the trace at end_ns. It takes the flight apart: to be called in a process of its own, or
 * at the end, with f and its symbolizer only to be freed afterwards. Returns 0 or a negative errno.
 */
int flight_dump(struct flight *f, struct encoder *out, uint64_t from_ns, uint64_t end_ns,
		struct symbolizer_stats *stats);

#endif /* FLIGHT_DUMP_H */
