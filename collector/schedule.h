/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedule.h - when recordings begin that are repeated: at multiples of a time by the machine's
 * clock (UTC), so that machines whose clocks agree record at the same moments. It knows no clock:
 * its user says what time it is, and says so often, as the clock may be put forward and back, and
 * the machine may sleep.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct schedule {
	uint64_t every_ns;
	uint64_t at_wall_ns; /* the next beginning, nanoseconds since 1970 */
	uint64_t at_ns;	     /* the same as CLOCK_MONOTONIC now shows it */
	uint64_t missed;     /* beginnings that passed unnoticed */
};

/* A beginning may be late by this much, of the time between two at most half; then it is missed. */
#define SCHEDULE_LATE_NS 1000000000u

/* The first beginning after wall_ns. */
void schedule_begin(struct schedule *s, uint64_t every_ns, uint64_t wall_ns, uint64_t now_ns);

/*
 * It is wall_ns, and CLOCK_MONOTONIC shows now_ns. Finds out when the next beginning is; if that
 * has been missed, or the clock was put back, chooses another one and returns true.
 */
bool schedule_look(struct schedule *s, uint64_t wall_ns, uint64_t now_ns);

/* The beginning at at_wall_ns has been taken: the next one is the first after wall_ns. */
void schedule_next(struct schedule *s, uint64_t wall_ns, uint64_t now_ns);
