/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Remarks on the input that the picture shows below its headings: lines "[note] TEXT 0", which
 * chainwalk writes. A line without counts has no frames for other tools. "[note] title: TEXT 0" is
 * the title of the picture, if the user gave none; "[note] process;PROCESS;THREAD;FRAME... 0" says
 * of which process the stacks are that begin so: the script groups them.
 */
#include <stdbool.h>

#include "folded.h"

#define REMARKS_PROCESSES 200000 /* bytes of names of processes and threads, at most */
#define REMARKS_MAX 4		 /* that are shown; of others only that there are more */

struct remarks {
	char *title; /* NULL: none */
	char *text[REMARKS_MAX];
	unsigned n;
	bool more;
	/* A process and how stacks of it begin, by turns, each a line; NULL: none. */
	char *processes;
	size_t processes_len;
};

/* Takes the line if it is a remark; equal ones, and titles, once. 1: it is one; 0: it is not; or
 * -ENOMEM. */
int remarks_take(struct remarks *r, const struct folded_line *line);
void remarks_free(struct remarks *r);
