// SPDX-License-Identifier: GPL-2.0-or-later
#include "proc_images.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "helper/call_timeout.h"
#include "kernel/clock.h"
#include "kernel/host_proc.h"
#include "process_status.h"

/* Enough for 65536 mappings with paths of several hundred characters. */
#define TEXT_MAX_BYTES (64u << 20)

/* "start-end perms offset major:minor inode   path" */
int procmaps_parse(char *line, struct code_place *place, uint64_t *pgoff)
{
	char perms[5];
	int path = 0;
	size_t len;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &place->start, &place->end, perms, pgoff, &place->maj, &place->min, &place->ino,
		   &path) != 7 ||
	    !path || strlen(perms) != 4 || place->start >= place->end)
		return -EINVAL;
	place->path = line + path;
	len = strlen(line);
	if (len && line[len - 1] == '\n')
		line[len - 1] = '\0';
	return perms[2] == 'x';
}

/* What is read, in a process that may hang: this one may hold the lock of its mappings. */
struct reading {
	uint32_t tgid;
	int err;
	bool is_cut;
	char exe[PATH_MAX]; /* "": not known */
};

static void read_exe(uint32_t tgid, char exe[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	ssize_t n;

	n = readlink(host_proc_name(tgid, "exe").text, exe, PATH_MAX - 1);
	if (n < 0)
		n = 0;
	exe[n] = '\0';
	if ((size_t)n >= sizeof(deleted) && !strcmp(exe + n - (sizeof(deleted) - 1), deleted))
		exe[n - (ssize_t)(sizeof(deleted) - 1)] = '\0';
}

bool procmaps_runs_program(const struct image *i)
{
	char exe[PATH_MAX];

	if (!i->maps || !i->maps->exe)
		return true;
	read_exe(i->tgid, exe);
	return !strcmp(exe, i->maps->exe);
}

/* "start-end perms ..." */
static bool is_executable(const char *line)
{
	const char *perms = strchr(line, ' ');

	return perms && strnlen(perms, 4) == 4 && perms[3] == 'x';
}

/* Returns a file in memory: lines of executable mappings, each with its '\0'. */
static int run_reading(void *reading, int none)
{
	struct reading *r = reading;
	char *line = NULL;
	size_t cap = 0, len = 0;
	FILE *f, *out;
	int fd, copy;

	(void)none;
	f = fopen(host_proc_name(r->tgid, "maps").text, "re");
	if (!f) {
		r->err = -errno;
		return -1;
	}
	fd = memfd_create("maps", MFD_CLOEXEC);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	out = copy >= 0 ? fdopen(copy, "w") : NULL;
	while (out && getline(&line, &cap, f) > 0) {
		size_t bytes = strlen(line) + 1;

		if (!is_executable(line))
			continue;
		r->is_cut = len + bytes > TEXT_MAX_BYTES || fwrite(line, bytes, 1, out) != 1;
		if (r->is_cut)
			break;
		len += bytes;
	}
	if (!out || ferror(f) || fclose(out))
		r->err = -EIO;
	free(line);
	fclose(f);
	read_exe(r->tgid, r->exe);
	return fd;
}

/* What was read says which file is the program; name: by which it is run, NULL: its path. */
struct program {
	const char *exe, *name;
};

static void take_line(struct images *im, struct code_files *files, struct image *i,
		      const struct program *program, char *line, uint64_t time_ns)
{
	struct code_place p = { .tgid = i->tgid, .parent = i->parent };
	struct mapping m = { .time_ns = time_ns };

	if (procmaps_parse(line, &p, &m.pgoff) <= 0)
		return;
	m.start = p.start;
	m.end = p.end;
	if (program->name && !strcmp(p.path, program->exe))
		p.name = program->name;
	m.file = code_files_get(files, &p);
	if (m.file)
		images_map(im, i, &m);
	else
		images_overflow(im, i);
}

static void take_lines(struct images *im, struct code_files *files, struct image *i,
		       const struct program *program, int fd, uint64_t time_ns)
{
	size_t len = (size_t)lseek(fd, 0, SEEK_END);
	char *text = malloc(len + 1);

	if (!text || pread(fd, text, len, 0) != (ssize_t)len) {
		images_overflow(im, i);
		free(text);
		return;
	}
	text[len] = '\0';
	for (size_t at = 0, next; at < len; at = next) {
		next = at + strlen(text + at) + 1;
		take_line(im, files, i, program, text + at, time_ns);
	}
	free(text);
}

/*
 * Whether the process began after that time (CLOCK_MONOTONIC): then it is another one, to which the
 * kernel gave the id of one that has ended. The kernel tells it in ticks since the boot.
 */
static bool began_later(uint32_t tgid, uint64_t time_ns)
{
	uint64_t ticks = process_start_ticks(tgid), slept_ns;
	long per_second = sysconf(_SC_CLK_TCK);

	slept_ns = clock_ns(CLOCK_BOOTTIME) - clock_now_ns();
	return !ticks || per_second <= 0 ||
	       ticks * (1000000000u / (uint64_t)per_second) > time_ns + slept_ns;
}

/* Another name by which the process runs its program now; NULL: none. To be freed. */
static char *find_name(struct code_files *files, const struct image *i, const char *exe)
{
	struct code_place place = { .tgid = i->tgid, .parent = i->parent, .path = exe };
	char comm[sizeof(i->comm)];

	return exe[0] && process_comm(comm, i->tgid) ? code_files_find_name(files, &place, comm)
						     : NULL;
}

/* Of a process of which records tell no mapping yet, what was read a moment ago holds, too. */
static int read_in_time(struct image *i, struct reading *r, int *fd)
{
	uint64_t key = call_key_process(i->tgid);
	int err;

	if (i->maps && i->maps->n)
		err = call_with_timeout(run_reading, key, r, sizeof(*r), -1, fd);
	else
		err = call_or_earlier(run_reading, key, r, sizeof(*r), fd);
	if (err != -ETIMEDOUT && err != -EBUSY && err != -EPIPE)
		i->late = 0;
	else if (i->late < PROCMAPS_LATE_MAX)
		i->late++;
	return err;
}

int procmaps_read(struct images *im, struct code_files *files, struct image *i, uint64_t time_ns)
{
	struct reading r = { .tgid = i->tgid };
	struct program program = { .exe = r.exe };
	uint32_t memory;
	char *name = NULL;
	int fd, err = read_in_time(i, &r, &fd);

	if (err)
		return err;
	/* In the host's PID namespace its end and the other's beginning are known in time. */
	if (fd >= 0 && !host_proc_is_here() && began_later(i->tgid, time_ns)) {
		close(fd);
		return -ESRCH;
	}
	if (fd >= 0) {
		memory = i->memory;
		i->memory = 0; /* it is nothing new to who shares it */
		program.name = name = find_name(files, i, r.exe);
		take_lines(im, files, i, &program, fd, time_ns);
		i->memory = memory;
		close(fd);
	}
	if (r.is_cut)
		images_overflow(im, i);
	if (!r.err && r.exe[0])
		images_exe(im, i, r.exe, name);
	free(name);
	return r.err;
}

static void read_process(struct images *im, struct code_files *files, uint32_t tgid,
			 uint64_t now_ns)
{
	struct image *i;
	char exe[2];

	if (images_find(im, tgid, now_ns))
		return;
	/* Kernel threads have no program. */
	if (readlink(host_proc_name(tgid, "exe").text, exe, sizeof(exe)) < 0 && errno == ENOENT)
		return;
	i = images_found(im, tgid, now_ns);
	if (i && !procmaps_read(im, files, i, now_ns))
		i->read_ns = now_ns;
}

int procmaps_read_all(struct images *im, struct code_files *files)
{
	const char *dir = host_proc_dir();
	DIR *proc = dir ? opendir(dir) : NULL;
	struct dirent *d;

	if (!proc)
		return dir ? -errno : -ENOENT;
	while ((d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]))
			read_process(im, files, (uint32_t)strtoul(d->d_name, NULL, 10),
				     clock_now_ns());
	closedir(proc);
	return 0;
}
