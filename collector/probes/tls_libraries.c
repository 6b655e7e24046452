// SPDX-License-Identifier: GPL-2.0-or-later
#include "tls_libraries.h"

#include <ctype.h>
#include <dirent.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* So many lines are read of a process's mappings: somebody may have very many. */
#define LINES_MAX 4096

struct finder {
	struct tls_libraries *to;
	struct {
		dev_t dev;
		ino_t ino;
	} seen[TLS_LIBRARIES_MAX];
};

static void add(struct finder *f, const char *path)
{
	struct tls_libraries *t = f->to;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || strlen(path) >= sizeof(t->path[0]))
		return;
	for (size_t i = 0; i < t->n; i++)
		if (f->seen[i].dev == st.st_dev && f->seen[i].ino == st.st_ino)
			return;
	if (t->n == TLS_LIBRARIES_MAX) {
		t->left_out++;
		return;
	}
	f->seen[t->n].dev = st.st_dev;
	f->seen[t->n].ino = st.st_ino;
	strcpy(t->path[t->n++], path);
}

static void add_installed(struct finder *f)
{
	static const char *const where[] = { "/usr/lib/*/libssl.so.*", "/usr/lib64/libssl.so.*",
					     "/usr/lib/libssl.so.*", "/usr/local/lib/libssl.so.*",
					     "/usr/local/lib64/libssl.so.*" };

	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		glob_t found;

		if (glob(where[i], 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			add(f, found.gl_pathv[k]);
		globfree(&found);
	}
}

/* The file of a line of /proc/PID/maps, if it is called as the library is; NULL: it is not. */
static const char *library_of(char *line)
{
	char *path = strchr(line, '/'), *name, *end;

	if (!path)
		return NULL;
	end = path + strcspn(path, "\n");
	*end = '\0';
	name = strrchr(path, '/') + 1;
	return strncmp(name, "libssl.so", strlen("libssl.so")) ? NULL : path;
}

static void add_mapped(struct finder *f, const char *pid)
{
	char line[PATH_MAX + 128], before[PATH_MAX + 128] = "", path[PATH_MAX + 40];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return;
	for (size_t n = 0; n < LINES_MAX && fgets(line, sizeof(line), maps); n++) {
		const char *library = library_of(line);

		if (!library || !strcmp(library, before))
			continue;
		snprintf(before, sizeof(before), "%s", library);
		snprintf(path, sizeof(path), "/proc/%s/root%s", pid, library);
		add(f, path);
	}
	fclose(maps);
}

void tls_libraries_find(struct tls_libraries *t)
{
	struct finder f = { .to = t };
	struct dirent *e;
	DIR *proc;

	t->n = t->left_out = 0;
	add_installed(&f);
	proc = opendir("/proc");
	while (proc && (e = readdir(proc)))
		if (isdigit((unsigned char)*e->d_name))
			add_mapped(&f, e->d_name);
	if (proc)
		closedir(proc);
}
