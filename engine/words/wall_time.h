/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wall_time.h - a time of the trace's clock as wall clock time, in UTC. */
#pragma once

#include "trace/trace.h"

#define WALL_TIME_SIZE 64

/*
 * Write the wall clock time of ns to text and return it; "" if the trace does not contain it.
 * wall_time_iso() writes ISO 8601, "2026-11-21T13:09:36.000000001Z", wall_time() "2026-11-21
 * 13:09:36 UTC".
 */
const char *wall_time_iso(char text[WALL_TIME_SIZE], const struct trace_info *i, uint64_t ns);
const char *wall_time(char text[WALL_TIME_SIZE], const struct trace_info *i, uint64_t ns);
