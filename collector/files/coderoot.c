// SPDX-License-Identifier: GPL-2.0-or-later
#include "coderoot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kernel/host_proc.h"

/* Roots held open at a time; beyond that, only the files of containers are. */
#define ROOTS_MAX 256u

struct root {
	int fd;
	uint32_t refs; /* 0: the slot is free */
	uint32_t maj, min;
	uint64_t ino, mnt_id; /* one directory can be the root of several mounts */
};

struct code_roots {
	struct root own;
	struct root roots[ROOTS_MAX]; /* by id - 1 */
};

/* False if it cannot be opened. */
static bool open_root(struct root *r, const char *path)
{
	struct statx st;

	*r = (struct root) { .fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), .refs = 1 };
	if (r->fd < 0)
		return false;
	/* A file system whose server is dead has to be asked for nothing. */
	if (statx(r->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, &st)) {
		close(r->fd);
		r->fd = -1;
		return false;
	}
	r->maj = st.stx_dev_major;
	r->min = st.stx_dev_minor;
	r->ino = st.stx_ino;
	r->mnt_id = st.stx_mask & STATX_MNT_ID ? st.stx_mnt_id : 0;
	return true;
}

static bool is_same_root(const struct root *a, const struct root *b)
{
	return a->refs && a->maj == b->maj && a->min == b->min && a->ino == b->ino &&
	       a->mnt_id == b->mnt_id;
}

int code_roots_new(struct code_roots **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(void)open_root(&(*out)->own, "/");
	return 0;
}

void code_roots_free(struct code_roots *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < ROOTS_MAX; i++)
		if (r->roots[i].refs)
			close(r->roots[i].fd);
	if (r->own.fd >= 0)
		close(r->own.fd);
	free(r);
}

int code_roots_get(struct code_roots *r, uint32_t tgid, uint32_t *id)
{
	uint32_t free_id = 0;
	struct root found;

	*id = 0;
	if (!open_root(&found, host_proc_name(tgid, "root").text))
		return -ESRCH;
	if (is_same_root(&r->own, &found))
		goto out;
	for (uint32_t i = 0; i < ROOTS_MAX; i++) {
		if (is_same_root(&r->roots[i], &found)) {
			r->roots[i].refs++;
			*id = i + 1;
			goto out;
		}
		if (!free_id && !r->roots[i].refs)
			free_id = i + 1;
	}
	if (!free_id) {
		close(found.fd);
		return -EMFILE;
	}
	r->roots[free_id - 1] = found;
	*id = free_id;
	return 0;
out:
	close(found.fd);
	return 0;
}

void code_roots_put(struct code_roots *r, uint32_t id)
{
	if (id && !--r->roots[id - 1].refs)
		close(r->roots[id - 1].fd);
}

int code_roots_dir(const struct code_roots *r, uint32_t id)
{
	return id ? r->roots[id - 1].fd : r->own.fd;
}

bool code_roots_is_on_own_mount(const struct code_roots *r, int fd)
{
	struct statx st;

	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &st) &&
	       st.stx_mask & STATX_MNT_ID && st.stx_mnt_id == r->own.mnt_id;
}

/* ---- opening ------------------------------------------------------------------------------- */

int code_reopen_regular(int fd)
{
	char self[40];
	struct stat st;
	int real;

	if (fstat(fd, &st)) {
		real = -errno;
	} else if (!S_ISREG(st.st_mode)) {
		real = -EINVAL;
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		real = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (real < 0)
			real = -errno;
	}
	close(fd);
	return real;
}

int code_find_in_root(int dir, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int own = dir < 0 ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	long fd = syscall(SYS_openat2, dir < 0 ? own : dir, path, &how, sizeof(how));

	if (fd < 0)
		fd = -errno;
	if (own >= 0)
		close(own);
	return (int)fd;
}

int code_open_in_root(int dir, const char *path, uint64_t flags)
{
	int fd = code_find_in_root(dir, path, flags);

	return fd < 0 ? fd : code_reopen_regular(fd);
}

/* ---- proving ------------------------------------------------------------------------------- */

/* Whether our own /proc/self/maps has that device and inode number for the mapping at addr. */
static bool is_shown_as(uint64_t addr, uint32_t maj, uint32_t min, uint64_t ino)
{
	FILE *f = fopen("/proc/self/maps", "re");
	bool is_it = false;
	char *line = NULL;
	size_t cap = 0;

	while (f && !is_it && getline(&line, &cap, f) > 0) {
		unsigned int shown_maj, shown_min;
		uint64_t start, end, shown_ino;

		is_it = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %*x %x:%x %" SCNu64, &start,
			       &end, &shown_maj, &shown_min, &shown_ino) == 5 &&
			start <= addr && addr < end && shown_maj == maj && shown_min == min &&
			shown_ino == ino;
	}
	free(line);
	if (f)
		fclose(f);
	return is_it;
}

bool code_is_file(int fd, uint32_t maj, uint32_t min, uint64_t ino)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct stat st;
	bool is_it;
	void *p;

	if (fstat(fd, &st))
		return false;
	/* Device numbers belong to one file system at a time, so this cannot be another's. */
	if (st.st_ino == ino && major(st.st_dev) == maj && minor(st.st_dev) == min)
		return true;
	/* As the kernel shows any process's mapping of the file. Nothing of the file is read. */
	p = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	is_it = is_shown_as((uint64_t)(uintptr_t)p, maj, min, ino);
	munmap(p, page);
	return is_it;
}

uint32_t code_generation(int fd)
{
	/* The kernel writes an int, although the number of the request says long. */
	long generation = 0;

	return ioctl(fd, FS_IOC_GETVERSION, &generation) ? 0 : (uint32_t)generation;
}
