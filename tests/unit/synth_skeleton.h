/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synth_skeleton.h - what a test wants to see of long folded lines: those of one thread's waits in
 * certain functions, and of their frames only these functions, "--", the wakers' names and the end.
 */
#pragma once

#include "trace/trace.h"

/*
 * All waits and preempted intervals of the threads of that name that were off their CPU in one of
 * functions (names with blanks between), as sorted lines in ns; equal ones are added up. To be
 * freed.
 */
char *trace_skeleton(const struct trace *t, const char *thread, const char *functions);
