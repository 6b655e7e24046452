/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfmap.h - names of generated code: the text file /tmp/perf-PID.map that a runtime (a JVM,
 * Node.js, ...) leaves, "START SIZE name" a line in hex. Anyone can write such a file, so only one
 * of the process's own user or of root is read, and nothing in it is believed but names.
 */
#ifndef PERFMAP_H
#define PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a process's perf map is or will be: taken while it lives, as most are written late. */
struct perfmap_place {
	int root; /* its root directory if another than ours, else -1; for perfmap_forget() */
	uint32_t ns_pid; /* its PID in its own PID namespace, by which the file is named */
	uint32_t uid;	 /* its effective user */
};

/*
 * Finds out about process tgid. Of one that is gone nothing is known: -ESRCH, its map is looked for
 * in our own root, and has to be root's. keep_root: hold its root directory open if it is another.
 */
int perfmap_locate(struct perfmap_place *place, uint32_t tgid, bool keep_root);
void perfmap_forget(struct perfmap_place *place);

/*
 * Opens the perf map. Returns a descriptor to close; -ENOENT if there is none; -EPERM if it is not
 * to be trusted: a symbolic link, not a regular file, or another user's.
 */
int perfmap_open(const struct perfmap_place *place);

struct perfmap_address {
	uint64_t addr;
	uint64_t start; /* out: where the code begins */
	char *name;	/* out: to be freed; NULL: none covers addr */
};

/*
 * Names the n addresses, which are sorted. Where lines overlap the last one is right: code moves,
 * and runtimes append. Returns 0 or a negative errno.
 */
int perfmap_find(int fd, struct perfmap_address *a, size_t n);

#endif /* PERFMAP_H */
