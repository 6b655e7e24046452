/* SPDX-License-Identifier: GPL-2.0-or-later */
/* synth_schedule_private.h - the lines of a schedule, for the files that make it. */
#pragma once

#include "synth_schedule.h"

#define SCHEDULE_CPUS 4 /* the most */

/* Appends a line. */
__attribute__((format(printf, 2, 3))) void schedule_put(struct schedule *s, const char *format,
							...);
/* Whether a line is an event, and then when and where. */
bool schedule_is_event(const char *line, uint64_t *ns, unsigned int *cpu);
