/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfmap.h - names of generated code: the text file /tmp/perf-PID.map that a runtime (a JVM,
 * Node.js, ...) writes, with lines "START SIZE name" in hex. Anyone can create such a file, so it
 * is read only if it belongs to the process's user or to root, and used for nothing but names. One
 * that was last written before the process began is another process's, which had the same PID.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coderoot.h"

/* Where a process's perf map is or will be; most are written late, when the process ends. */
struct perfmap_place {
	struct code_roots *roots; /* borrowed; NULL: all are taken for ours */
	uint32_t root;		  /* its root directory, of which it holds a reference; 0: ours */
	bool is_lost;		  /* its root is another one, and there are too many */
	uint32_t ns_pid;   /* its PID in its own PID namespace, which is in the file's name */
	uint32_t uid;	   /* its effective user */
	uint64_t start_ns; /* when it was forked, CLOCK_REALTIME; 0: not known */
};

/*
 * Fills *place for process tgid, whose root directory is kept open in roots if it is not ours. If
 * the process has ended it returns -ESRCH: then the map is looked for in our root, and must be
 * root's.
 */
int perfmap_locate(struct perfmap_place *place, uint32_t tgid, struct code_roots *roots);
/* Returns the root directory. */
void perfmap_forget(struct perfmap_place *place);

/*
 * Opens the perf map. Returns a descriptor to close; -ENOENT if there is none; -EPERM if it cannot
 * be trusted: a symbolic link, not a regular file, or another user's; -ESTALE if it is older than
 * the process.
 */
int perfmap_open(const struct perfmap_place *place);

struct perfmap_address {
	uint64_t addr;
	uint64_t time_ns; /* when it was seen, for a jitdump */
	uint64_t start;	  /* out: where the code begins */
	char *name;	  /* out: free() it; NULL: no line covers addr */
};

/*
 * Names the n addresses, which are sorted. Where lines overlap the last one wins: code moves, and
 * runtimes append. Returns 0 or a negative errno.
 */
int perfmap_find(int fd, struct perfmap_address *a, size_t n);

/* The place of the first address at or above start; n: there is none. */
size_t perfmap_first_at(const struct perfmap_address *a, size_t n, uint64_t start);

/* ---- jitdumps (jitdump.c) -------------------------------------------------------------------- */

/*
 * jit-PID.dump has the records of each piece of code with the time at which it was written, by
 * Node.js --perf-prof, agents of JVMs and others (the kernel's
 * tools/perf/Documentation/jitdump-specification.txt). The process that runs the code maps the
 * file, which is how it is found. Like a perf map it is untrusted: work and memory are bounded.
 */

/* Whether a file that is mapped as code is a jitdump, by its name. */
bool jitdump_is_name(const char *path);
/*
 * Names those of the n addresses, sorted, that a record covers, in place of a name that they have:
 * by the last record before time_ns, else by the first one after it. Returns 0; -ENOEXEC if it is
 * no jitdump of this machine's byte order; -ENOMEM; or the error of reading it.
 */
int jitdump_find(int fd, struct perfmap_address *a, size_t n);
