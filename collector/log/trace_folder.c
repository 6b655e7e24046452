// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/grow.h"
#include "writer.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* Of one name for the same second. */
#define NUMBERS_MAX 1000u
/* How many traces are looked at: a folder with more of the recorder's own is thinned out later. */
#define TRACES_MAX (1u << 18)

/* ---- names --------------------------------------------------------------------------------- */

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.';
}

void trace_folder_host(const char *nodename, char host[TRACE_FOLDER_HOST])
{
	size_t n = 0;

	for (; n < TRACE_FOLDER_HOST - 1 && nodename[n]; n++)
		/* A dot at the beginning hides a file, a dash there is an option of programs. */
		host[n] = is_plain(nodename[n]) && (n || isalnum((unsigned char)nodename[n]))
				  ? nodename[n]
				  : '_';
	if (!n)
		host[n++] = '_';
	host[n] = '\0';
}

void trace_folder_name(const char *host, uint64_t wall_ns, unsigned int n,
		       char name[TRACE_FOLDER_NAME])
{
	time_t seconds = (time_t)(wall_ns / 1000000000u);
	char at[32] = "", number[16] = "";
	struct tm utc;

	if (gmtime_r(&seconds, &utc))
		strftime(at, sizeof(at), "%Y%m%dT%H%M%SZ", &utc);
	if (n)
		snprintf(number, sizeof(number), ".%u", n);
	snprintf(name, TRACE_FOLDER_NAME, "%s-%s%s.bin", host, at, number);
}

/* The length of what in s is as in pattern, where 0 stands for any digit; 0: it is not. */
static size_t matches(const char *s, const char *pattern)
{
	size_t n = strlen(pattern);

	for (size_t i = 0; i < n; i++)
		if (pattern[i] == '0' ? !(s[i] >= '0' && s[i] <= '9') : s[i] != pattern[i])
			return 0;
	return n;
}

/* Whether a trace of this host is called name; end: what follows ".bin". */
static bool is_trace(const char *host, const char *name, const char *end)
{
	size_t n = strlen(host), step;

	if (strncmp(name, host, n) || name[n] != '-')
		return false;
	name += n + 1;
	step = matches(name, "00000000T000000Z");
	if (!step)
		return false;
	name += step;
	if (*name == '.' && name[1] >= '1' && name[1] <= '9') {
		for (n = 1; name[n] >= '0' && name[n] <= '9'; n++)
			;
		name += n <= 4 ? n : 0;
	}
	return matches(name, ".bin") && !strcmp(name + 4, end);
}

static void part_name(const char *name, char part[TRACE_FOLDER_NAME])
{
	snprintf(part, TRACE_FOLDER_NAME, ".%.*s.part", TRACE_FOLDER_NAME - 8, name);
}

/* ---- what is there ------------------------------------------------------------------------- */

/* A regular file of the recorder's user, or of the user who called sudo. */
static bool is_own(const struct trace_folder *d, const char *name, uint64_t *bytes)
{
	const char *uid = getenv("SUDO_UID");
	struct stat st;

	if (fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return false;
	*bytes = (uint64_t)st.st_size;
	return st.st_uid == geteuid() ||
	       (!geteuid() && uid && st.st_uid == (uid_t)strtoul(uid, NULL, 10));
}

/* Calls fn with each name in the folder until it returns false. Returns 0 or a negative errno. */
static int each(const struct trace_folder *d, bool (*fn)(void *ctx, const char *name), void *ctx)
{
	int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int err = dir ? 0 : -errno;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	while ((entry = readdir(dir)) && fn(ctx, entry->d_name))
		;
	closedir(dir);
	return 0;
}

static bool remove_part(void *folder, const char *name)
{
	const struct trace_folder *d = folder;
	uint64_t bytes;

	if (*name == '.' && is_trace(d->host, name + 1, ".part") && is_own(d, name, &bytes))
		(void)unlinkat(d->fd, name, 0);
	return true;
}

void trace_folder_clean(const struct trace_folder *d)
{
	struct trace_folder folder = *d;

	(void)each(d, remove_part, &folder);
}

/* ---- the folder ---------------------------------------------------------------------------- */

static void lock_name(const struct trace_folder *d, char name[TRACE_FOLDER_NAME])
{
	snprintf(name, TRACE_FOLDER_NAME, ".%s.chaincap", d->host);
}

int trace_folder_open(struct trace_folder *d, const char *path, const char *nodename, char *why,
		      size_t why_size)
{
	char name[TRACE_FOLDER_NAME];
	bool empty;

	*d = (struct trace_folder) { .fd = -1, .lock = -1 };
	trace_folder_host(nodename, d->host);
	d->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (d->fd < 0) {
		int err = -errno;

		snprintf(why, why_size, "%s", strerror(-err));
		return err;
	}
	lock_name(d, name);
	d->lock = writer_claim_output(d->fd, name, &empty, why, why_size);
	if (d->lock < 0)
		return d->lock;
	trace_folder_clean(d);
	return 0;
}

void trace_folder_close(struct trace_folder *d)
{
	char name[TRACE_FOLDER_NAME];

	lock_name(d, name);
	if (d->lock >= 0) {
		writer_remove_output(d->fd, name, d->lock);
		close(d->lock);
	}
	if (d->fd >= 0)
		close(d->fd);
	d->fd = d->lock = -1;
}

int trace_folder_create(const struct trace_folder *d, uint64_t wall_ns,
			char part[TRACE_FOLDER_NAME], char *why, size_t why_size)
{
	char name[TRACE_FOLDER_NAME];

	trace_folder_name(d->host, wall_ns, 0, name);
	part_name(name, part);
	return writer_create_output(d->fd, part, why, why_size);
}

/* rename() that overwrites nothing, also where the file system cannot do that by itself. */
static int rename_new(int folder, const char *from, const char *to)
{
	if (!renameat2(folder, from, folder, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(folder, from, folder, to, 0))
		return -errno;
	return unlinkat(folder, from, 0) ? -errno : 0;
}

int trace_folder_publish(const struct trace_folder *d, int fd, uint64_t wall_ns, const char *part,
			 char name[TRACE_FOLDER_NAME])
{
	int err = -EEXIST;

	/* Else a power failure could leave the name, and not what was written. */
	if (fsync(fd))
		return -errno;
	for (unsigned int n = 0; err == -EEXIST && n < NUMBERS_MAX; n++) {
		trace_folder_name(d->host, wall_ns, n, name);
		err = rename_new(d->fd, part, name);
	}
	return err;
}

void trace_folder_abandon(const struct trace_folder *d, const char *part)
{
	(void)remove_part((void *)(uintptr_t)d, part);
}

/* ---- how much is kept ---------------------------------------------------------------------- */

struct trace_entry {
	uint64_t bytes;
	char name[TRACE_FOLDER_NAME];
};

struct listing {
	const struct trace_folder *folder;
	const char *newest;
	struct trace_entry *list;
	size_t n, cap;
	uint64_t bytes; /* of all */
	int err;
};

/* Behind the host, names are in the order of time. */
static int by_age(const void *pa, const void *pb, void *newest)
{
	const struct trace_entry *a = pa, *b = pb;
	bool a_later = strcmp(a->name, newest) > 0, b_later = strcmp(b->name, newest) > 0;

	if (a_later != b_later)
		return a_later ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool take_entry(void *ctx, const char *name)
{
	struct listing *l = ctx;
	uint64_t bytes;

	if (!is_trace(l->folder->host, name, "") || !is_own(l->folder, name, &bytes))
		return true;
	l->bytes += bytes;
	if (!strcmp(name, l->newest))
		return true;
	if (!GROW(l->list, l->n, l->cap)) {
		l->err = -ENOMEM;
		return false;
	}
	l->list[l->n].bytes = bytes;
	snprintf(l->list[l->n].name, TRACE_FOLDER_NAME, "%s", name);
	return ++l->n < TRACES_MAX;
}

int trace_folder_keep(const struct trace_folder *d, uint64_t keep_bytes, const char *newest)
{
	struct listing l = { .folder = d, .newest = newest };
	int removed = 0, err = each(d, take_entry, &l);

	if (l.n)
		qsort_r(l.list, l.n, sizeof(*l.list), by_age, (void *)(uintptr_t)newest);
	for (size_t i = 0; i < l.n && l.bytes > keep_bytes; i++) {
		uint64_t bytes;

		/* A folder has time to become another one. */
		if (!is_own(d, l.list[i].name, &bytes) || unlinkat(d->fd, l.list[i].name, 0))
			continue;
		l.bytes -= l.list[i].bytes;
		removed++;
	}
	free(l.list);
	if (!err)
		err = l.err;
	return err ? err : removed;
}
