/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_lines.h - which threads belong together, for pictures of a whole machine: folded lines
 * begin with the names of threads, and those of a program's pool have other names than the program.
 */
#pragma once

#include "words/names.h"

/*
 * Appends "[note] process;PROCESS;THREAD 0" to a text for each name that threads only of processes
 * with that one name have, if threads of such processes have other names, too; sorted by their
 * bytes. PROCESS and THREAD are written as in folded lines. At most PROCESS_LINES_MAX lines:
 * nothing if there would be more, or if threads were chosen.
 */
#define PROCESS_LINES_MAX 2000
void process_lines_put(struct text_buf *to, const struct timelines *tl, const struct options *o);
