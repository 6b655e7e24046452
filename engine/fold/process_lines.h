/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_lines.h - whose threads are whose, for pictures of a whole machine: folded lines begin
 * with the names of threads, which do not say of which program they are, and several programs have
 * threads of one name. What tells them apart is how their stacks begin. It is told beside the
 * lines, which stay as they are.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "base/text.h"

/* A line, ";FRAME;FRAME...", and the process of the thread at its head. */
struct owned_line {
	char *text;
	const char *process; /* equal names are one pointer; NULL: unknown, or several */
};

/* What is told: all zero is nothing, ready for use. */
struct process_lines {
	struct process_line *at;
	size_t n, cap;
};

/* Do the options want it? Who chooses threads, or another root, has no picture of the machine. */
bool process_lines_wanted(const struct options *o);
/* All lines that begin with the len bytes at path, ";FRAME;FRAME...", are of this process. */
void process_lines_add(struct process_lines *p, const char *process, const char *path, size_t len);
/*
 * Finds of n lines, all of them that have this head, by which first frames as few as possible their
 * processes are told apart, and adds these. Only frames before the first "--" are looked at, and
 * lines of which that cannot be told so have none. Sorts them.
 */
void process_lines_split(struct process_lines *p, struct owned_line *lines, size_t n);
/*
 * Appends "[note] process;PROCESS;THREAD 0" to a text, with further frames of the path behind the
 * thread's name, sorted by their bytes: of processes that have threads with other names than their
 * own. At most PROCESS_LINES_MAX lines and PROCESS_LINES_BYTES: else only those with the name
 * alone, and nothing if these are more. Frees p.
 */
#define PROCESS_LINES_MAX 2000
#define PROCESS_LINES_BYTES 150000
void process_lines_put(struct text_buf *to, struct process_lines *p);
