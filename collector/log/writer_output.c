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

static int create_file(int folder, const char *name)
{
	return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/*
 * Opens what is there. A stranger's pipe must get nothing, and be waited for by nobody: it is not
 * opened or, where it has just taken a file's place, opened without waiting.
 */
static int open_existing(int folder, const char *name, struct stat *st)
{
	int fd;

	if (fstatat(folder, name, st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (S_ISLNK(st->st_mode))
		return -ELOOP;
	if (!S_ISREG(st->st_mode))
		return -ENXIO;
	fd = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && !fcntl(fd, F_SETFL, 0))
		return fd;
	close(fd);
	return -ENXIO;
}

/* The reason is text; NULL: what err says. */
static int fail(int err, const char *text, char *why, size_t why_size)
{
	if (!text && err == -ELOOP)
		text = "it is a symbolic link; name the file itself";
	if (!text && err == -ENXIO)
		text = "it is not a regular file; -o - writes to standard output, whatever that is";
	snprintf(why, why_size, "%s", text ? text : strerror(-err));
	return err;
}

/* Opens and locks a regular file, without changing it. *created: it did not exist; else *st. */
static int open_file(int folder, const char *name, struct stat *st, bool *created, char *why,
		     size_t why_size)
{
	int fd = create_file(folder, name);

	*created = fd >= 0;
	if (fd < 0)
		fd = errno == EEXIST ? open_existing(folder, name, st) : -errno;
	if (fd < 0)
		return fail(fd, NULL, why, why_size);
	if (!*created && !is_callers_file(st)) {
		close(fd);
		return fail(-EPERM, "it exists and is not your own file", why, why_size);
	}
	if (lock_file(fd)) {
		close(fd);
		return fail(-EBUSY, "another recorder is writing it", why, why_size);
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
	fd = open_file(AT_FDCWD, path, &st, &created, why, why_size);
	if (fd < 0)
		return fd;
	if ((!created && fchmod(fd, 0600)) || ftruncate(fd, 0)) {
		err = -errno;
		close(fd);
		return fail(err, NULL, why, why_size);
	}
	give_to_caller(fd);
	return fd;
}

int writer_open_folder(const char *path, const char **name, char *why, size_t why_size)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int err = fd < 0 ? -errno : 0;

	*name = slash ? slash + 1 : path;
	free(folder);
	return err ? fail(err, NULL, why, why_size) : fd;
}

int writer_claim_output(int folder, const char *name, bool *empty, char *why, size_t why_size)
{
	struct stat st;
	bool created;
	int fd = open_file(folder, name, &st, &created, why, why_size);

	if (fd < 0)
		return fd;
	if (created)
		give_to_caller(fd);
	/* One that the caller's user made beforehand may be readable by others. */
	*empty = created || (!st.st_size && !fchmod(fd, 0600));
	return fd;
}

int writer_create_output(int folder, const char *name, char *why, size_t why_size)
{
	int fd = create_file(folder, name);

	if (fd < 0)
		return fail(-errno, NULL, why, why_size);
	give_to_caller(fd);
	return fd;
}

void writer_remove_output(int folder, const char *name, int fd)
{
	struct stat own, there;

	if (!fstat(fd, &own) && !fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) &&
	    own.st_dev == there.st_dev && own.st_ino == there.st_ino)
		(void)unlinkat(folder, name, 0);
}
