/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow.h - --follow and --live: the first screen of each new trace in a folder, as chaincap
 * --every writes them, until a signal, or the key q.
 */
#pragma once

#include "base/options.h"

/*
 * walk writes what the options ask for of one trace, in a process of its own; returns its exit
 * code. With o->live the recorder is started, writes into a folder of its own, and both are removed
 * at the end. Returns an exit code; errors are reported.
 */
int follow(const struct options *o, int (*walk)(const struct options *o));
