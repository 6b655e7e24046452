// SPDX-License-Identifier: GPL-2.0-or-later
#include "procmaps.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void read_exe(struct images *im, struct image *i)
{
	static const char deleted[] = " (deleted)";
	char link[40], exe[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/exe", i->tgid);
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n <= 0)
		return;
	exe[n] = '\0';
	if ((size_t)n >= sizeof(deleted) && !strcmp(exe + n - (sizeof(deleted) - 1), deleted))
		exe[n - (ssize_t)(sizeof(deleted) - 1)] = '\0';
	images_exe(im, i, exe);
}

int procmaps_read(struct images *im, struct code_files *files, struct image *i, uint64_t time_ns)
{
	char name[40], *line = NULL;
	size_t cap = 0;
	FILE *f;
	int err = 0;

	snprintf(name, sizeof(name), "/proc/%u/maps", i->tgid);
	f = fopen(name, "re");
	if (!f)
		return -errno;
	while (getline(&line, &cap, f) > 0) {
		struct code_place p = { .tgid = i->tgid, .parent = i->parent };
		struct mapping m = { .time_ns = time_ns };

		if (procmaps_parse(line, &p, &m.pgoff) <= 0)
			continue;
		m.start = p.start;
		m.end = p.end;
		m.file = code_files_get(files, &p);
		if (m.file)
			images_map(im, i, &m);
		else
			images_overflow(im, i);
	}
	if (ferror(f))
		err = -errno;
	free(line);
	fclose(f);
	if (!err)
		read_exe(im, i);
	return err;
}

static void read_process(struct images *im, struct code_files *files, uint32_t tgid,
			 uint64_t now_ns)
{
	char link[40], exe[2];
	struct image *i;

	if (images_find(im, tgid, now_ns))
		return;
	/* Kernel threads have no program. */
	snprintf(link, sizeof(link), "/proc/%u/exe", tgid);
	if (readlink(link, exe, sizeof(exe)) < 0 && errno == ENOENT)
		return;
	i = images_found(im, tgid, now_ns);
	if (i && !procmaps_read(im, files, i, now_ns))
		i->read_ns = now_ns;
}

int procmaps_read_all(struct images *im, struct code_files *files, uint64_t (*now_ns)(void))
{
	DIR *proc = opendir("/proc");
	struct dirent *d;

	if (!proc)
		return -errno;
	while ((d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]))
			read_process(im, files, (uint32_t)strtoul(d->d_name, NULL, 10), now_ns());
	closedir(proc);
	return 0;
}
