// SPDX-License-Identifier: GPL-2.0-or-later
#include "program_name.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coderoot.h"
#include "kernel/host_proc.h"

/* More than the kernel gives (create_elf_tables). */
#define AUXV_MAX 1024u

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool program_name_is_own(const char *path, const char *comm)
{
	size_t len = strlen(comm);

	return !len ||
	       (len < sizeof(((struct program_name *)0)->comm) - 1 && !strcmp(base_of(path), comm));
}

/* ---- what the process says of itself -------------------------------------------------------- */

/* The value of a type in an auxiliary vector of words of that many bytes; 0: it is not there. */
static uint64_t auxv_value(const uint8_t *auxv, size_t len, size_t word, uint64_t type)
{
	for (size_t at = 0; at + 2 * word <= len; at += 2 * word) {
		uint64_t key = 0, value = 0;

		memcpy(&key, auxv + at, word);
		memcpy(&value, auxv + at + word, word);
		if (key == type)
			return value;
	}
	return 0;
}

/* Reads from a file of the process; "" if it cannot, or if what is there is not terminated. */
static void read_text(uint32_t tgid, const char *file, uint64_t at, char text[PATH_MAX])
{
	int fd = open(host_proc_name(tgid, file).text, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? pread(fd, text, PATH_MAX, (off_t)at) : -1;

	if (n <= 0 || !memchr(text, '\0', (size_t)n))
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* What was passed to exec: of a script its own name. */
static void read_executed(uint32_t tgid, char name[PATH_MAX])
{
	uint8_t auxv[AUXV_MAX];
	int fd = open(host_proc_name(tgid, "auxv").text, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, auxv, sizeof(auxv)) : -1;
	uint64_t at = 0;

	if (n > 0)
		at = auxv_value(auxv, (size_t)n, 8, AT_EXECFN);
	if (n > 0 && !at) /* a 32-bit program's */
		at = auxv_value(auxv, (size_t)n, 4, AT_EXECFN);
	if (fd >= 0)
		close(fd);
	name[0] = '\0';
	if (at && at <= INT64_MAX)
		read_text(tgid, "mem", at, name);
}

/* Of a script the interpreter's name that it has in its first line. */
static void read_first_argument(uint32_t tgid, char name[PATH_MAX])
{
	read_text(tgid, "cmdline", 0, name);
}

/* ---- whether it leads to the file ------------------------------------------------------------ */

/* Nothing is opened for that. */
static bool look_up(int root, const char *path, struct statx *st)
{
	int fd = code_find_in_root(root, path, 0);
	bool is_there = fd >= 0 && !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
					  STATX_INO | STATX_TYPE, st);

	if (fd >= 0)
		close(fd);
	return is_there && S_ISREG(st->stx_mode);
}

static bool leads_to(int root, const char *path, const struct statx *file)
{
	struct statx st;

	return look_up(root, path, &st) && st.stx_ino == file->stx_ino &&
	       st.stx_dev_major == file->stx_dev_major && st.stx_dev_minor == file->stx_dev_minor;
}

/*
 * If what the process is called by leads to the file: beside it first, where what belongs to the
 * file is, too. Then p->name is set, "" for the file's own name.
 */
static bool take(struct program_name *p, int root, const struct statx *file, const char *called)
{
	const char *base = base_of(called), *own = base_of(p->path);
	int n = snprintf(p->name, sizeof(p->name), "%.*s%s", (int)(own - p->path), p->path, base);
	bool is_it = *base && n > 0 && (size_t)n < sizeof(p->name) && leads_to(root, p->name, file);

	if (!is_it && *base && called[0] == '/') {
		strcpy(p->name, called);
		is_it = leads_to(root, p->name, file);
	}
	if (!is_it || !strcmp(base, own))
		p->name[0] = '\0';
	return is_it;
}

int program_name_find(void *program_name, int root)
{
	struct program_name *p = program_name;
	char called[PATH_MAX];
	struct statx file;

	p->name[0] = '\0';
	if (p->path[0] != '/' || !look_up(root, p->path, &file))
		return -1;
	/* One that fills its room may be cut. */
	if (strlen(p->comm) < sizeof(p->comm) - 1 && take(p, root, &file, p->comm))
		return -1;
	read_executed(p->tgid, called);
	if (take(p, root, &file, called))
		return -1;
	read_first_argument(p->tgid, called);
	(void)take(p, root, &file, called);
	return -1;
}
