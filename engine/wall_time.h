/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wall_time.h - a trace's time by the clock on the wall, in UTC. */
#ifndef ENGINE_WALL_TIME_H
#define ENGINE_WALL_TIME_H

#include "trace.h"

#define WALL_TIME_SIZE 64

/*
 * Write what ns of the trace's clock was and return text: "" if the trace does not say.
 * wall_time_iso(): "2026-11-21T13:09:36.000000001Z", as ISO 8601 has it; wall_time(): "2026-11-21
 * 13:09:36 UTC".
 */
const char *wall_time_iso(char text[WALL_TIME_SIZE], const struct trace_info *i, uint64_t ns);
const char *wall_time(char text[WALL_TIME_SIZE], const struct trace_info *i, uint64_t ns);

#endif /* ENGINE_WALL_TIME_H */
