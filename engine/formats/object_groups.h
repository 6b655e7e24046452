/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_groups.h - which objects are one thing for who reads a table of them: the words of a
 * condition variable and its mutex; the peers of one port; the files of a folder, if there are very
 * many; what the threads of one name waited for once each, as for their children.
 */
#pragma once

#include "timeline/timeline.h"
#include "words/names.h"

struct object_row {
	uint32_t name;		/* text: as frames, in full */
	uint32_t object, ready; /* ids of the trace, 0: none */
	uint32_t waiter;	/* text: the name of a thread that waited for it */
	uint64_t waits;
	uint32_t group; /* set by object_groups_find() */
};

struct object_group {
	uint32_t name;	  /* text */
	uint32_t objects; /* how many there are */
};

/* Sets the group of each of n rows, a number below *n_groups. *groups is to be freed. */
void object_groups_find(struct object_group **groups, uint32_t *n_groups, struct object_row *rows,
			size_t n, const struct timelines *tl, struct names *names);
