// SPDX-License-Identifier: GPL-2.0-or-later
#include "open_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int open_regular(const char *path)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd;
	char self[40];
	struct stat st;

	if (place < 0)
		return -errno;
	if (fstat(place, &st) || !S_ISREG(st.st_mode)) {
		close(place);
		return -EINVAL;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	fd = open(self, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(place);
	return fd;
}
