/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector.h - what the fuzz targets of the collector's parsers share.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay.h"

static inline void must(int ok)
{
	if (!ok)
		abort();
}

/* A file that holds these bytes, the same one each time: for parsers that read files. */
static inline int file_of(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("input", MFD_CLOEXEC);
	must(fd >= 0 && !ftruncate(fd, 0));
	must(pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

/* Its name, to be opened. */
static inline const char *path_of(int fd)
{
	static char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/* The i-th number that the input holds, somewhere in it: addresses to look for. */
static inline uint64_t number_at(const uint8_t *data, size_t size, size_t i)
{
	uint64_t v = 0;

	if (size >= sizeof(v))
		memcpy(&v, data + i * 13 % (size - sizeof(v) + 1), sizeof(v));
	return v;
}
