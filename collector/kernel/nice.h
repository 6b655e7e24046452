/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nice.h - the nice values that the recorder takes, if it is allowed to.
 */
#pragma once

#include <stdbool.h>

/* While somebody waits for it to begin, and for little else. */
#define NICE_HIGHEST (-20)
/* Half of a CPU that ten ordinary threads want. */
#define NICE_RECORDING (-10)

/*
 * The nice value of this process's session (setsid(2)) among others. Linux gives each session an
 * equal share of the CPUs, and a thread's nice value counts only within its own (sched(7), "The
 * autogroup feature"): whoever starts many sessions would leave little to the recorder.
 */
/* False: there is none, or it is not known. */
bool session_nice(int *nice);
/* 0 or a negative errno: -EPERM without CAP_SYS_NICE, -EAGAIN too soon after somebody's last one.
 */
int session_set_nice(int nice);
