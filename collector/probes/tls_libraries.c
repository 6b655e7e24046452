// SPDX-License-Identifier: GPL-2.0-or-later
#include "tls_libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/grow.h"
#include "files/coderoot.h"
#include "files/proc_images.h"

struct finder {
	struct tls_libraries *to;
	struct code_files *files;
	uint32_t *seen; /* of these */
	size_t n_seen, cap_seen;
	bool out_of_memory;
};

/* By what the kernel knows: a file system that hangs is not asked. */
static bool is_same(int a, int b)
{
	struct statx of_a, of_b;
	int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;

	return !statx(a, "", flags, STATX_INO, &of_a) && !statx(b, "", flags, STATX_INO, &of_b) &&
	       of_a.stx_ino == of_b.stx_ino && of_a.stx_dev_major == of_b.stx_dev_major &&
	       of_a.stx_dev_minor == of_b.stx_dev_minor;
}

/* Takes fd over; negative: it could not be opened. */
static void add(struct tls_libraries *t, int fd)
{
	for (size_t i = 0; i < t->n && fd >= 0; i++) {
		if (!is_same(t->fd[i], fd))
			continue;
		close(fd);
		return;
	}
	if (fd >= 0 && t->n < TLS_LIBRARIES_MAX) {
		t->fd[t->n++] = fd;
		return;
	}
	t->left_out++;
	if (fd >= 0)
		close(fd);
}

static void add_installed(struct tls_libraries *t)
{
	static const char *const where[] = { "/usr/lib/*/libssl.so.*", "/usr/lib64/libssl.so.*",
					     "/usr/lib/libssl.so.*", "/usr/local/lib/libssl.so.*",
					     "/usr/local/lib64/libssl.so.*" };

	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		glob_t found;

		if (glob(where[i], 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			add(t, code_open_in_root(-1, found.gl_pathv[k], 0));
		globfree(&found);
	}
}

/* For images_each_mapping(). */
static void add_mapped(void *ctx, uint32_t tgid, const struct mapping *m)
{
	struct finder *f = ctx;
	const char *path, *slash;
	int fd;

	(void)tgid;
	if (!m->file || code_files_kind(f->files, m->file) != CODE_FILE)
		return;
	path = code_files_path(f->files, m->file);
	slash = strrchr(path, '/');
	if (!slash || strncmp(slash, "/libssl.so", strlen("/libssl.so")) != 0)
		return;
	for (size_t i = 0; i < f->n_seen; i++)
		if (f->seen[i] == m->file)
			return;
	if (!GROW(f->seen, f->n_seen, f->cap_seen)) {
		f->out_of_memory = true;
		return;
	}
	f->seen[f->n_seen++] = m->file;
	fd = code_files_open(f->files, m->file);
	add(f->to, fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

int tls_libraries_open(struct tls_libraries *t)
{
	struct finder f = { .to = t };
	struct images *images = NULL;
	struct rlimit limit;
	bool is_limited = !getrlimit(RLIMIT_NOFILE, &limit);
	int err;

	t->n = t->left_out = 0;
	add_installed(t);
	err = code_files_new(&f.files) || images_new(&images, f.files) ? -ENOMEM : 0;
	if (!err) {
		(void)procmaps_read_all(images, f.files);
		images_each_mapping(images, add_mapped, &f);
	}
	if (images)
		images_free(images);
	if (f.files)
		code_files_free(f.files);
	/* A command that is started inherits it. */
	if (is_limited)
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	free(f.seen);
	return f.out_of_memory ? -ENOMEM : err;
}

void tls_libraries_close(struct tls_libraries *t)
{
	while (t->n)
		close(t->fd[--t->n]);
}
