// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/asleep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): a word for each page. */
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)
#define PAGE_OF_FILE (1ull << 61) /* or of shared memory */
#define PAGES 8u		  /* checked by one read */

/* ---- whether it sleeps --------------------------------------------------------------------- */

/* Reads the beginning of a /proc file of the thread as text. False if the thread is gone. */
static bool read_text(uint32_t tgid, uint32_t tid, const char *file, char *text, size_t size)
{
	char path[48];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", tgid, tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* "running", or numbers of which the last two are the stack pointer and the pc (proc(5)). */
bool asleep_at(uint32_t tgid, uint32_t tid, uint64_t sp, uint64_t pc)
{
	char text[256], *last, *before;

	if (!read_text(tgid, tid, "syscall", text, sizeof(text)))
		return false;
	last = strrchr(text, ' ');
	if (!last)
		return false;
	*last = '\0';
	before = strrchr(text, ' ');
	return before && strtoull(before, NULL, 16) == sp && strtoull(last + 1, NULL, 16) == pc;
}

/*
 * The kernel counts a switch before the thread leaves its CPU. So the number is read after the
 * thread was seen asleep: it includes the switch with which the sleep began.
 */
bool asleep_since(uint32_t tgid, uint32_t tid, uint64_t sp, uint64_t pc, uint64_t switches)
{
	static const char voluntary[] = "\nvoluntary_ctxt_switches:",
			  other[] = "\nnonvoluntary_ctxt_switches:";
	char text[4096], *a, *b;

	if (!asleep_at(tgid, tid, sp, pc) || !read_text(tgid, tid, "status", text, sizeof(text)))
		return false;
	a = strstr(text, voluntary);
	b = strstr(text, other);
	return a && b &&
	       strtoull(a + strlen(voluntary), NULL, 10) + strtoull(b + strlen(other), NULL, 10) ==
		       switches;
}

/* ---- its memory ---------------------------------------------------------------------------- */

int asleep_open(struct asleep_memory *m, uint32_t tgid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/mem", tgid);
	m->words = open(path, O_RDONLY | O_CLOEXEC);
	if (m->words < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%u/pagemap", tgid);
	m->pages = open(path, O_RDONLY | O_CLOEXEC);
	if (m->pages < 0) {
		int err = -errno;

		close(m->words);
		return err;
	}
	return 0;
}

void asleep_close(struct asleep_memory *m)
{
	close(m->words);
	close(m->pages);
}

size_t asleep_read(const struct asleep_memory *m, uint64_t addr, void *buf, size_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), map[PAGES];
	uint64_t first = addr / page, n = (addr + len - 1) / page - first + 1, own = 0;
	ssize_t got;

	if (n > PAGES)
		n = PAGES;
	got = pread(m->pages, map, n * sizeof(*map), (off_t)(first * sizeof(*map)));
	while (got >= (ssize_t)((own + 1) * sizeof(*map)) && !(map[own] & PAGE_OF_FILE) &&
	       map[own] & (PAGE_PRESENT | PAGE_SWAPPED))
		own++;
	if (!own)
		return 0;
	if (len > own * page - addr % page)
		len = own * page - addr % page;
	got = pread(m->words, buf, len, (off_t)addr);
	return got > 0 ? (size_t)got : 0;
}
