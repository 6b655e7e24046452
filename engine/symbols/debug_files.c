// SPDX-License-Identifier: GPL-2.0-or-later
#include "debug_files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "common/build_id.h"
#include "common/xalloc.h"
#include "common/lower_bound.h"
#include "import/perf_modules.h"

#define SYSTEM_DIR "/usr/lib/debug"
/* No more files are looked at, in case a folder is not one of debug files at all. */
#define FILES_MAX 1000000u
/* The longest that all requests to servers together may take. */
#define ASK_SECONDS 300u
#define URLS "DEBUGINFOD_URLS"

/* ---- servers ------------------------------------------------------------------------------- */

/* libdebuginfod's own. */
struct debuginfod_client;

typedef int (*debuginfod_find)(struct debuginfod_client *c, const unsigned char *build_id, int len,
			       char **path);

/* Those in DEBUGINFOD_URLS, through libdebuginfod, which is loaded only if they are asked. */
struct servers {
	char *urls; /* NULL: none is asked */
	struct debuginfod_client *client;
	debuginfod_find find_debuginfo, find_executable;
	void (*end)(struct debuginfod_client *c);
};

/* CLOCK_MONOTONIC, s. The library passes nothing of ours to its progress function. */
static time_t ask_until;

static time_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Called by the library several times a second; nonzero ends the request. */
static int is_too_late(struct debuginfod_client *c, long done, long total)
{
	(void)c;
	(void)done;
	(void)total;
	return now_s() >= ask_until;
}

static void close_servers(struct servers *s)
{
	/* The library stays: what it loaded itself does not free all that it allocated. */
	if (s->client)
		s->end(s->client);
	free(s->urls);
}

/* Returns NULL, or why no server can be asked. To be closed in both cases. */
static const char *open_servers(struct servers *s)
{
	const char *urls = getenv(URLS);
	void *library;
	struct debuginfod_client *(*begin)(void);
	void (*set_progress)(struct debuginfod_client * c,
			     int (*fn)(struct debuginfod_client * c, long done, long total));

	if (!urls || !*urls)
		return "--debuginfod: DEBUGINFOD_URLS names no server";
	/* Linked statically: another C library, with libraries of its own, must not be loaded. */
	if (!getauxval(AT_BASE))
		return "--debuginfod: this program was built without libraries (make static)";
	library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return "--debuginfod: libdebuginfod.so.1 cannot be loaded";
	/* As POSIX has it, for pointers to functions. */
	*(void **)&begin = dlsym(library, "debuginfod_begin");
	*(void **)&set_progress = dlsym(library, "debuginfod_set_progressfn");
	*(void **)&s->end = dlsym(library, "debuginfod_end");
	*(void **)&s->find_debuginfo = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&s->find_executable = dlsym(library, "debuginfod_find_executable");
	if (begin && set_progress && s->end && s->find_debuginfo && s->find_executable)
		s->client = begin();
	if (!s->client)
		return "--debuginfod: libdebuginfod.so.1 cannot be loaded";
	ask_until = now_s() + ASK_SECONDS;
	set_progress(s->client, is_too_late);
	s->urls = xstrdup(urls);
	return NULL;
}

/* A file below a folder of --debug-dir. */
struct indexed {
	char *build_id; /* hex */
	char *path;
	int worth; /* 2: it has debug information, 1: symbols, 0: neither */
};

struct debug_files {
	const struct path_list *dirs;
	struct indexed *index; /* sorted by build ID, then the most useful file first */
	size_t n, cap;
	bool is_indexed;
	struct servers servers;
	const char *complaint;
};

/*
 * The sources of debug files, after the first ones: each folder of --debug-dir, by the path that
 * follows from the build ID, and then one source for the index of all these folders.
 */
enum {
	SOURCE_SYSTEM,
	SOURCE_RECORDED, /* the path in the trace */
	SOURCE_PERF_CACHE,
	SOURCE_SERVER_DEBUG,
	SOURCE_SERVER_PROGRAM,
	SOURCES,
};

void debug_files_new(struct debug_files **out, const struct options *o)
{
	struct debug_files *d = xcalloc(1, sizeof(*d));

	*out = d;
	d->dirs = &o->debug_dirs;
	elf_version(EV_CURRENT);
	if (o->debuginfod)
		d->complaint = open_servers(&d->servers);
	/* libdwfl would ask the servers, too: without the option, and for as long as it takes. */
	unsetenv(URLS);
}

void debug_files_free(struct debug_files *d)
{
	if (!d)
		return;
	close_servers(&d->servers);
	for (size_t i = 0; i < d->n; i++) {
		free(d->index[i].build_id);
		free(d->index[i].path);
	}
	free(d->index);
	free(d);
}

const char *debug_files_complaint(const struct debug_files *d)
{
	return d->complaint;
}

char *debug_files_path(struct debug_files *d)
{
	size_t len = sizeof(":.debug:" SYSTEM_DIR);
	char *path;

	for (size_t i = 0; i < d->dirs->n; i++)
		len += strlen(d->dirs->paths[i]) + 1;
	path = xmalloc(len);
	strcpy(path, ":.debug:" SYSTEM_DIR);
	for (size_t i = 0; i < d->dirs->n; i++)
		strcat(strcat(path, ":"), d->dirs->paths[i]);
	return path;
}

/* ---- the index ----------------------------------------------------------------------------- */

static char *hex_of(const uint8_t *bytes, size_t len)
{
	char *hex = xmalloc(2 * len + 1);

	for (size_t i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", bytes[i]);
	return hex;
}

/* See struct indexed. */
static int worth_of(Elf *elf)
{
	size_t names;
	Elf_Scn *scn = NULL;
	int worth = 0;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
			return 2;
		if (sh.sh_type == SHT_SYMTAB || (name && !strcmp(name, ".gnu_debugdata")))
			worth = 1;
	}
	return worth;
}

static int add(struct debug_files *d, const char *path, Elf *elf)
{
	struct indexed *i;
	uint8_t id[BUILD_ID_MAX];
	size_t len = build_id_find(elf, id);

	if (!len)
		return 0;
	XGROW(d->index, d->n, d->cap);
	i = &d->index[d->n++];
	*i = (struct indexed) { hex_of(id, len), xstrdup(path), worth_of(elf) };
	return i->build_id && i->path ? 0 : -ENOMEM;
}

static int add_file(struct debug_files *d, const char *path)
{
	int fd = open_regular(path), err = 0;
	char magic[SELFMAG];
	Elf *elf;

	if (fd < 0)
		return 0;
	if (pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG)) {
		elf = elf_begin(fd, ELF_C_READ, NULL);
		if (elf_kind(elf) == ELF_K_ELF)
			err = add(d, path, elf);
		elf_end(elf);
	}
	close(fd);
	return err;
}

static int by_build_id(const void *pa, const void *pb)
{
	const struct indexed *a = pa, *b = pb;
	int order = strcmp(a->build_id, b->build_id);

	return order		      ? order
	       : b->worth != a->worth ? b->worth - a->worth
				      : strcmp(a->path, b->path);
}

static int make_index(struct debug_files *d)
{
	size_t seen = 0;
	int err = 0;

	for (size_t i = 0; i < d->dirs->n && !err; i++) {
		char *roots[] = { (char *)d->dirs->paths[i], NULL };
		FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
		FTSENT *entry;

		while (!err && tree && seen++ < FILES_MAX && (entry = fts_read(tree)))
			if (entry->fts_info == FTS_F)
				err = add_file(d, entry->fts_path);
		if (tree)
			fts_close(tree);
	}
	if (!err && d->n)
		qsort(d->index, d->n, sizeof(*d->index), by_build_id);
	d->is_indexed = true;
	return err;
}

/* ---- candidates ---------------------------------------------------------------------------- */

/* These return a descriptor or a negative errno, and put where the file was found into name. */

static int open_by_id(const char *dir, const char *build_id, char *name, size_t size)
{
	if (strlen(build_id) < 3)
		return -ENOENT;
	snprintf(name, size, "%s/.build-id/%.2s/%s.debug", dir, build_id, build_id + 2);
	return open_regular(name);
}

static int open_indexed(struct debug_files *d, const char *build_id, char *name, size_t size)
{
	int err = d->is_indexed ? 0 : make_index(d);
	size_t i;

	if (err)
		return err;
	i = LOWER_BOUND(k, d->n, strcmp(d->index[k].build_id, build_id) < 0);
	if (i == d->n || strcmp(d->index[i].build_id, build_id))
		return -ENOENT;
	snprintf(name, size, "%s", d->index[i].path);
	return open_regular(name);
}

/* The length of the build ID in bytes; 0: it is none. */
static size_t bytes_of(const char *build_id, uint8_t id[BUILD_ID_MAX])
{
	size_t len = strlen(build_id) / 2;
	unsigned int byte;

	if (len > BUILD_ID_MAX)
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (sscanf(build_id + 2 * i, "%2x", &byte) != 1)
			return 0;
		id[i] = (uint8_t)byte;
	}
	return len;
}

/* perf's cache has programs as they were when perf recorded. */
static int open_cached(const char *build_id, char *name, size_t size)
{
	uint8_t id[BUILD_ID_MAX];
	size_t len = bytes_of(build_id, id);
	int fd = perf_cache_open(id, len, "elf");

	snprintf(name, size, "perf's cache");
	if (fd < 0)
		fd = perf_cache_open(id, len, "vdso");
	return fd < 0 ? -ENOENT : fd;
}

static int ask(struct debug_files *d, const char *build_id, bool program, char *name, size_t size)
{
	uint8_t id[BUILD_ID_MAX];
	size_t len = bytes_of(build_id, id);
	int fd;

	if (!d->servers.urls || !len)
		return -ENOENT;
	if (now_s() >= ask_until)
		return -ETIMEDOUT;
	snprintf(name, size, "debuginfod");
	setenv(URLS, d->servers.urls, 1);
	fd = (program ? d->servers.find_executable : d->servers.find_debuginfo)(d->servers.client,
										id, (int)len, NULL);
	unsetenv(URLS);
	return fd;
}

size_t debug_files_sources(const struct debug_files *d)
{
	return d->dirs->n + 1 + SOURCES;
}

int debug_files_open(struct debug_files *d, size_t source, const char *build_id, const char *path,
		     char *name, size_t name_size)
{
	if (source < d->dirs->n)
		return open_by_id(d->dirs->paths[source], build_id, name, name_size);
	if (source == d->dirs->n)
		return open_indexed(d, build_id, name, name_size);
	switch (source - d->dirs->n - 1) {
	case SOURCE_SYSTEM:
		return open_by_id(SYSTEM_DIR, build_id, name, name_size);
	case SOURCE_RECORDED:
		snprintf(name, name_size, "%s", path);
		return open_regular(path);
	case SOURCE_PERF_CACHE:
		return open_cached(build_id, name, name_size);
	case SOURCE_SERVER_DEBUG:
		return ask(d, build_id, false, name, name_size);
	default:
		return ask(d, build_id, true, name, name_size);
	}
}
