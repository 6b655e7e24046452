/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - a bar on standard error for whoever waits longer than a second. The stages of the
 * work (reading, linking, folding) tell how far they are, from whatever thread; a thread of the
 * bar's own draws it ten times a second. There is one terminal and so one bar: it belongs to the
 * program, and does nothing unless main() started it.
 */
#ifndef ENGINE_PROGRESS_H
#define ENGINE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum progress_stage {
	PROGRESS_READ,
	PROGRESS_LINK,
	PROGRESS_FOLD,
};

/* From here on a bar is drawn, if it is wanted and standard error is a terminal. */
void progress_start(bool wanted);
/* A stage begins: units of work (of any kind), in which so many events are worked on. */
void progress_begin(enum progress_stage stage, uint64_t units, uint64_t events);
/* So many more units are done. */
void progress_add(uint64_t units);
/* The stage is over: the bar is gone when this returns, so that there is room for results. */
void progress_end(void);
/* No bar is drawn any more. */
void progress_stop(void);

#endif /* ENGINE_PROGRESS_H */
