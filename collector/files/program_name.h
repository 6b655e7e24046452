/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program_name.h - by which of its names a process runs its program's file: one file may have
 * several (Debian's redis-server is a symbolic link to redis-check-rdb, busybox has hundreds), and
 * the kernel tells the one that the others lead to. Which it was is known by what exec noted, and
 * by the process alone, which may have written anything there: so a name counts only if it leads to
 * the file.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct program_name {
	uint32_t tgid;
	char comm[16];	     /* in: as exec set it, or as it is now; "": not known */
	char path[PATH_MAX]; /* in: the file's path below the root directory */
	char name[PATH_MAX]; /* out: another path of that file; "": it is run by its own */
};

/*
 * Whether a file at this path is run by its own name as far as comm says; then there is nothing to
 * look for. One that is cut says nothing.
 */
bool program_name_is_own(const char *path, const char *comm);

/*
 * A call_fn (helper/call_timeout.h): looks for the name. root: the process's root directory; -1:
 * our own. Returns -1.
 */
int program_name_find(void *program_name, int root);
