/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scratch.h - a file of the scenario's own, in the folder that --dir names. It has no name, and is
 * gone with the process.
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "options.h"

/* flags: as for open(), of a file to read and write. A descriptor or a negative errno. */
static inline int open_scratch(int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/chainload.XXXXXX", options.dir);
	fd = mkostemp(path, flags | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}
