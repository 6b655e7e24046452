// SPDX-License-Identifier: GPL-2.0-or-later
#include "let_go.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of the copy of one file, of all copies together, and of a file that is copied, at most. */
#define COPY_MAX_BYTES (64u << 20)
#define COPIES_MAX_BYTES (128u << 20)
#define FILE_MAX_BYTES (256 << 20)

/* What a file in memory takes. */
static uint64_t bytes_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}

/* Returns a descriptor of the copy, or a negative errno. */
static int copy(struct readers *readers, int from, uint64_t left)
{
	struct statx st;
	int to, err = 0;

	/* The file system is not asked: it may not answer. */
	if (statx(from, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE, &st))
		return -errno;
	if (!st.stx_size || st.stx_size > FILE_MAX_BYTES)
		return -EFBIG;
	to = memfd_create("names", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (to < 0)
		return -errno;
	if (ftruncate(to, (off_t)st.stx_size) ||
	    fcntl(to, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
		err = -errno;
	if (!err)
		err = reader_copy(readers, from, to, COPY_MAX_BYTES);
	/* The reader that wrote it is not trusted. */
	if (!err && (bytes_of(to) > COPY_MAX_BYTES + (1u << 20) || bytes_of(to) > left))
		err = -EFBIG;
	if (!err)
		return to;
	close(to);
	return err;
}

void let_go_of_one(struct code_files *files, struct readers *readers)
{
	uint32_t id = code_files_unused(files);
	uint64_t used;
	int fd;

	if (!id || !code_files_is_pinning(files, id))
		return;
	used = code_files_copied(files);
	fd = copy(readers, code_files_open(files, id),
		  used < COPIES_MAX_BYTES ? COPIES_MAX_BYTES - used : 0);
	code_files_let_go(files, id, fd, fd < 0 ? 0 : bytes_of(fd));
}
