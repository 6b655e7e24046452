// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens the file of a trace: checks its owner, and sets it. */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Under sudo the trace belongs to the calling user, so that chainwalk needs no sudo. */
static void give_to_caller(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	char *end;

	if (geteuid() || !uid || !gid)
		return;
	unsigned long u = strtoul(uid, &end, 10);

	if (*end || end == uid)
		return;
	unsigned long g = strtoul(gid, &end, 10);

	if (*end || end == gid)
		return;
	/* If it fails the file stays root's, which is readable with sudo. */
	if (fchown(fd, (uid_t)u, (gid_t)g))
		return;
}

static bool is_callers_file(const struct stat *st)
{
	const char *uid = getenv("SUDO_UID");

	if (st->st_nlink != 1)
		return false;
	return st->st_uid == geteuid() ||
	       (!geteuid() && uid && st->st_uid == (uid_t)strtoul(uid, NULL, 10));
}

/* Keeps other recorders away for as long as fd is open; where locks do not work, nobody is. */
static int lock_file(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK ? -EBUSY : 0;
}

static int create_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/*
 * Opens a file that may be written to, without changing it; a regular one is locked then. *created:
 * it did not exist.
 */
static int open_file(const char *path, struct stat *st, bool *created, char *why, size_t why_size)
{
	int fd, err;

	*created = true;
	fd = create_file(path);
	if (fd < 0 && errno == EEXIST) {
		*created = false;
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	}
	if (fd < 0) {
		err = -errno;
		snprintf(why, why_size, "%s",
			 err == -ELOOP ? "it is a symbolic link; name the file itself"
				       : strerror(-err));
		return err;
	}
	if (fstat(fd, st)) {
		err = -errno;
		snprintf(why, why_size, "%s", strerror(-err));
		close(fd);
		return err;
	}
	if (S_ISREG(st->st_mode) && !*created && !is_callers_file(st)) {
		snprintf(why, why_size, "it exists and is not your own file");
		close(fd);
		return -EPERM;
	}
	if (S_ISREG(st->st_mode) && lock_file(fd)) {
		snprintf(why, why_size, "another recorder is writing it");
		close(fd);
		return -EBUSY;
	}
	return fd;
}

int writer_open_output(const char *path, char *why, size_t why_size)
{
	struct stat st;
	bool created;
	int fd, err;

	if (!strcmp(path, "-"))
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	fd = open_file(path, &st, &created, why, why_size);
	if (fd < 0 || !S_ISREG(st.st_mode))
		return fd;
	if ((!created && fchmod(fd, 0600)) || ftruncate(fd, 0)) {
		err = -errno;
		snprintf(why, why_size, "%s", strerror(-err));
		close(fd);
		return err;
	}
	give_to_caller(fd);
	return fd;
}

int writer_claim_output(const char *path, bool *empty, char *why, size_t why_size)
{
	struct stat st;
	bool created;
	int fd;

	/* Opening a pipe would wait for its reader. */
	if (!lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		snprintf(why, why_size, "it is not a file");
		return -EINVAL;
	}
	fd = open_file(path, &st, &created, why, why_size);
	if (fd < 0)
		return fd;
	if (created)
		give_to_caller(fd);
	/* One that the caller's user made beforehand may be readable by others. */
	*empty = created || (!st.st_size && !fchmod(fd, 0600));
	return fd;
}

int writer_create_output(const char *path, char *why, size_t why_size)
{
	int fd = create_file(path), err = fd < 0 ? -errno : 0;

	if (err) {
		snprintf(why, why_size, "%s", strerror(-err));
		return err;
	}
	give_to_caller(fd);
	return fd;
}
