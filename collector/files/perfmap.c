// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "helper/call_timeout.h"
#include "common/lower_bound.h"
#include "kernel/clock.h"
#include "process_status.h"

/* After months of running a map has some 100 MB; reading stops here. */
#define SIZE_MAX_BYTES (1ull << 30)
#define LINE_MAX_BYTES 4096
/* Bounds lines times addresses that they cover, which is quadratic in a hostile file. */
#define HITS_MAX (16u << 20)

/*
 * When the process was forked, in ns of CLOCK_REALTIME as it is now, rounded down; 0: not known.
 * The kernel tells it in ticks since the boot.
 */
static uint64_t read_start(uint32_t tgid)
{
	uint64_t real_ns, ticks = process_start_ticks(tgid);
	long per_second = sysconf(_SC_CLK_TCK);

	if (!ticks || per_second <= 0)
		return 0;
	/* In this order: what passes in between makes it earlier, never later than it was. */
	real_ns = clock_ns(CLOCK_REALTIME);
	return real_ns - clock_ns(CLOCK_BOOTTIME) + ticks * (1000000000u / (uint64_t)per_second);
}

int perfmap_locate(struct perfmap_place *place, uint32_t tgid, struct code_roots *roots)
{
	struct process_status status;

	*place = (struct perfmap_place) { .roots = roots, .ns_pid = tgid };
	if (process_status_read(&status, tgid))
		return -ESRCH;
	place->ns_pid = status.ns_pid;
	place->uid = status.uid;
	place->start_ns = read_start(tgid);
	if (roots)
		place->is_lost = code_roots_get(roots, tgid, &place->root) == -EMFILE;
	return 0;
}

void perfmap_forget(struct perfmap_place *place)
{
	if (place->root)
		code_roots_put(place->roots, place->root);
	place->root = 0;
}

struct opening {
	uint32_t ns_pid, uid;
	uint64_t start_ns;
	int err; /* out */
};

/* File systems have the time of the last tick of the kernel's clock, which is 10 ms at most. */
static bool is_older(const struct stat *st, uint64_t ns)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec +
		       10000000u <
	       ns;
}

/* root: that of the process; -1: ours. */
static int run_opening(void *opening, int root)
{
	struct opening *o = opening;
	struct stat st;
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "tmp/perf-%u.map", o->ns_pid);
	fd = code_open_in_root(root, path, O_NOFOLLOW);
	if (fd < 0) {
		o->err = fd == -EINVAL ? -EPERM : fd;
		return -1;
	}
	if (fstat(fd, &st) || (st.st_uid && st.st_uid != o->uid))
		o->err = -EPERM;
	else if (is_older(&st, o->start_ns))
		o->err = -ESTALE;
	if (!o->err)
		return fd;
	close(fd);
	return -1;
}

/* The process chooses the file system, which need not answer. */
int perfmap_open(const struct perfmap_place *place)
{
	struct opening o = {
		.ns_pid = place->ns_pid,
		.uid = place->uid,
		.start_ns = place->start_ns,
	};
	int root = place->root ? code_roots_dir(place->roots, place->root) : -1, fd, err;

	if (place->is_lost)
		return -ENOENT;
	err = call_with_timeout(run_opening, call_key_process(place->ns_pid), &o, sizeof(o), root,
				&fd);
	if (err || fd >= 0)
		return err ? err : fd;
	return o.err ? o.err : -EMFILE;
}

/* "START SIZE name", hex with or without 0x. */
static bool parse_line(char *line, uint64_t *start, uint64_t *size, char **name)
{
	char *p;

	*start = strtoull(line, &p, 16);
	if (p == line || *p != ' ')
		return false;
	line = p;
	*size = strtoull(line, &p, 16);
	if (p == line || *p != ' ')
		return false;
	*name = p + 1;
	(*name)[strcspn(*name, "\n")] = '\0';
	return **name && *size && *start + *size > *start;
}

size_t perfmap_first_at(const struct perfmap_address *a, size_t n, uint64_t start)
{
	return LOWER_BOUND(i, n, a[i].addr < start);
}

int perfmap_find(int fd, struct perfmap_address *a, size_t n)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), err = 0;
	char line[LINE_MAX_BYTES];
	uint64_t taken = 0, hits = 0;
	bool is_rest = false; /* inside a line that is too long */
	FILE *f;

	if (own < 0)
		return -errno;
	f = fdopen(own, "r");
	if (!f) {
		close(own);
		return -ENOMEM;
	}
	rewind(f);
	while (taken < SIZE_MAX_BYTES && hits < HITS_MAX && fgets(line, sizeof(line), f)) {
		size_t len = strlen(line);
		bool was_rest = is_rest;
		uint64_t start, size;
		char *name;

		is_rest = !len || line[len - 1] != '\n';
		/* A line with null bytes, as in a hole of the file, is longer than it looks. */
		taken += is_rest ? sizeof(line) - 1 : len;
		if (was_rest || !parse_line(line, &start, &size, &name))
			continue;
		for (size_t i = perfmap_first_at(a, n, start); i < n && a[i].addr < start + size;
		     i++) {
			hits++;
			free(a[i].name);
			a[i].start = start;
			a[i].name = strdup(name);
		}
	}
	if (ferror(f))
		err = -EIO;
	fclose(f);
	return err;
}
