/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_processes.h - which processes the path of a process goes through: of those that it started,
 * and these, how long each had it, with those below it. A process below another one is one that
 * ended a wait of it, on the way to what the path came down to at that time.
 */
#pragma once

#include "attribute/life.h"

/* A process on the path. Number 0 is that whose path it is. */
struct path_process {
	uint32_t above;	 /* number of the one whose wait it ended */
	uint32_t leader; /* its first thread */
	uint64_t ns;	 /* with all that is below it, at most what the one above has */
};

struct path_processes {
	struct path_process *at; /* each after the one above it */
	uint32_t n;
};

/* One of a path's longest steps. */
struct long_step {
	uint32_t leader; /* the process's first thread */
	uint64_t ns;
};

/*
 * Of [from_ns, to_ns) of a thread's life, which has to be within it. o as for chain_steps_new().
 * What threads of other processes did belongs to the last one above that was started by the
 * thread's. To be freed with path_processes_free().
 */
void path_processes_find(struct path_processes *p, const struct timelines *tl,
			 const struct options *o, uint32_t thread, uint64_t from_ns,
			 uint64_t to_ns);
void path_processes_free(struct path_processes *p);

/*
 * The steps of the path that a reader would name, longest first: the processes right below the one
 * whose path it is, but instead of one that only waits for another one, as a shell for its command,
 * or gcc for cc1, that one. A process is one step however often it is on the path. *n: how many. To
 * be freed with free(); NULL: there are none.
 */
struct long_step *path_processes_steps(const struct path_processes *p, size_t *n);

/* A part of a path in which one process had most of the time. */
struct path_stretch {
	uint64_t from_ns, to_ns;
	uint32_t leader;    /* the process's first thread */
	enum chain_end end; /* what most of its time in it came down to */
};

/*
 * Of [from_ns, to_ns), as for path_processes_find(), which process had the time when: of each of so
 * many equal parts (at least 1) the one that had most of it, and what is alike in a row is one
 * stretch. *n: how many, which follow each other. To be freed with free().
 */
struct path_stretch *path_processes_stretches(const struct timelines *tl, const struct options *o,
					      uint32_t thread, uint64_t from_ns, uint64_t to_ns,
					      uint32_t parts, size_t *n);
