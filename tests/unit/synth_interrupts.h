/* SPDX-License-Identifier: GPL-2.0-or-later */
/* synth_interrupts.h - interrupts for random schedules (synth_schedule.h). */
#pragma once

#include "synth_schedule.h"

/*
 * Adds what interrupts took, after most switches: some of the time that passed, at times more than
 * that, or after a switch that is missing.
 */
void schedule_interrupts(struct schedule *s);
