/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - a progress bar on standard error, drawn once the work has taken a second. The stages
 * of the work (reading, linking, folding) report their progress from any thread, which draws the
 * bar if that was not done in the last tenth of a second. There is one terminal and so one bar: it
 * belongs to the program, and does nothing unless main() started it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum progress_stage {
	PROGRESS_READ,
	PROGRESS_LINK,
	PROGRESS_FOLD,
};

/* Starts the bar if it is wanted and standard error is a terminal. */
void progress_start(bool wanted);
/* A stage of units of work (of any kind) begins, which processes that many events. */
void progress_begin(enum progress_stage stage, uint64_t units, uint64_t events);
/* Adds units that are done. */
void progress_add(uint64_t units);
/* The stage is over: the bar is erased when this returns, before results are written. */
void progress_end(void);
/* Stops the bar for good. */
void progress_stop(void);
