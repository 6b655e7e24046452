/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_notes.h - what the recorder says that the stacks of processes lack, one line for all
 * processes of which it says the same: "java/812, java/815, java/816 and 3 more: compiled Java
 * frames are missing: -XX:+PreserveFramePointer".
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "names.h"
#include "timeline/timeline.h"

/* Lines without newline; texts are the trace's: to be cleaned for where they are written. */
struct process_notes {
	char **line;
	size_t n;
};

/* The summary has at most so many lines of them; the last one says how many more there are. */
#define PROCESS_NOTES_SHOWN 4
#define PROCESS_NOTES_SCREEN 2 /* where it fits a screen */

#define PROCESS_NOTES_NAMED 3 /* processes, where there is little room */

/*
 * Those of a trace, to be freed, in the order in which they were recorded; each names at most
 * `named` processes. only: of these processes; NULL: of all.
 */
void process_notes_of(struct process_notes *out, const struct trace *t,
		      const struct process_list *only, uint64_t named);
/*
 * Adds the processes of which the trace has notes and one of whose threads has one of these names
 * (names_thread() at its end) to the list.
 */
void process_notes_find(struct process_list *list, const struct timelines *tl, struct names *names,
			const struct word_list *told);
void process_notes_free(struct process_notes *notes);
