// SPDX-License-Identifier: GPL-2.0-or-later
#include "debugfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coderoot.h"
#include "minidebug.h"

#define DIRECTORY "/usr/lib/debug/.build-id/"

static bool is_of_the_same_hands(int fd, int debug)
{
	struct stat program, st;

	return !fstat(fd, &program) && !fstat(debug, &st) && st.st_dev == program.st_dev &&
	       (!st.st_uid || st.st_uid == program.st_uid);
}

static int open_in(struct elfsym **out, int root, const char *path, int program)
{
	int fd = code_open_in_root(root, path, 0);

	*out = NULL;
	if (fd < 0)
		return fd;
	if (program >= 0 && !is_of_the_same_hands(program, fd)) {
		close(fd);
		return -EPERM;
	}
	return elfsym_take_fd(out, fd);
}

static int open_by_build_id(struct elfsym **out, const struct elfsym *e, int fd, int root)
{
	char path[sizeof(DIRECTORY) + 2 * ELFSYM_BUILD_ID_MAX + 16], *p = path;
	uint8_t id[ELFSYM_BUILD_ID_MAX];
	size_t len = elfsym_build_id(e, id);
	int own, err;

	*out = NULL;
	if (len < 2)
		return -ENOENT;
	p += sprintf(p, DIRECTORY "%02x/", id[0]);
	for (size_t i = 1; i < len; i++)
		p += sprintf(p, "%02x", id[i]);
	strcpy(p, ".debug");
	own = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = own < 0 ? -errno : open_in(out, own, path, -1);
	if (own >= 0)
		close(own);
	if (err && root >= 0 && fd >= 0)
		err = open_in(out, root, path, fd);
	return err;
}

void debugfile_add(struct elfsym *e, int fd, int root)
{
	struct elfsym *more;

	if (open_by_build_id(&more, e, fd, root))
		(void)minidebug_open(&more, e);
	if (more)
		elfsym_add(e, more);
}
