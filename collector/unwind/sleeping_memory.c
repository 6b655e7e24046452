// SPDX-License-Identifier: GPL-2.0-or-later
#include "sleeping_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/host_proc.h"

/* /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): a word for each page. */
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)
#define PAGE_OF_FILE (1ull << 61) /* or of shared memory */
#define PAGES (SLEEPING_READ_MAX / 4096 + 1)

/* ---- whether it sleeps ---------------------------------------------------------------------- */

/* Reads the beginning of a /proc file of the thread as text. False if the thread is gone. */
static bool read_text(uint32_t tgid, uint32_t tid, const char *file, char *text, size_t size)
{
	char in_process[48];
	ssize_t n;
	int fd;

	snprintf(in_process, sizeof(in_process), "task/%u/%s", tid, file);
	fd = open(host_proc_name(tgid, in_process).text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* "running", or numbers of which the last two are the stack pointer and the pc (proc(5)). */
bool sleeping_is_at(const struct sleeping_thread *a)
{
	char text[256], *last, *before;

	if (!read_text(a->tgid, a->tid, "syscall", text, sizeof(text)))
		return false;
	last = strrchr(text, ' ');
	if (!last)
		return false;
	*last = '\0';
	before = strrchr(text, ' ');
	return before && strtoull(before, NULL, 16) == a->sp &&
	       strtoull(last + 1, NULL, 16) == a->pc;
}

/*
 * The kernel counts a switch before the thread leaves its CPU. So the number is read after the
 * thread was seen asleep: it includes the switch with which the sleep began.
 */
bool sleeping_is_asleep(const struct sleeping_thread *a)
{
	static const char voluntary[] = "\nvoluntary_ctxt_switches:",
			  other[] = "\nnonvoluntary_ctxt_switches:";
	char text[4096], *n, *m;

	if (!sleeping_is_at(a))
		return false;
	if (!read_text(a->tgid, a->tid, "status", text, sizeof(text)))
		return false;
	n = strstr(text, voluntary);
	m = strstr(text, other);
	return n && m &&
	       strtoull(n + strlen(voluntary), NULL, 10) + strtoull(m + strlen(other), NULL, 10) ==
		       a->switches;
}

/* ---- its memory ---------------------------------------------------------------------------- */

/* Opens a file of the process in /proc. */
static int open_of(uint32_t tgid, const char *file)
{
	return open(host_proc_name(tgid, file).text, O_RDONLY | O_CLOEXEC);
}

void sleeping_memory_open(struct sleeping_memory *m, uint32_t tgid)
{
	m->mem = open_of(tgid, "mem");
	m->pagemap = open_of(tgid, "pagemap");
}

void sleeping_memory_close(struct sleeping_memory *m)
{
	if (m->mem >= 0)
		close(m->mem);
	if (m->pagemap >= 0)
		close(m->pagemap);
}

/* How many of the len bytes from addr on lie in anonymous memory, without a gap. */
static size_t anonymous(int pagemap, uint64_t addr, size_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), map[PAGES];
	uint64_t first = addr / page, n = (addr + len - 1) / page - first + 1, own = 0;
	ssize_t got;

	if (n > PAGES)
		n = PAGES;
	got = pread(pagemap, map, n * sizeof(*map), (off_t)(first * sizeof(*map)));
	while (got >= (ssize_t)((own + 1) * sizeof(*map)) && !(map[own] & PAGE_OF_FILE) &&
	       map[own] & (PAGE_PRESENT | PAGE_SWAPPED))
		own++;
	if (!own)
		return 0;
	own = own * page - addr % page;
	return len < own ? len : own;
}

size_t sleeping_memory_read(const struct sleeping_memory *m, uint64_t addr, void *buf, size_t len)
{
	ssize_t got = -1;

	if (m->mem < 0 || m->pagemap < 0 || !len || addr > INT64_MAX - SLEEPING_READ_MAX)
		return 0;
	len = anonymous(m->pagemap, addr, len < SLEEPING_READ_MAX ? len : SLEEPING_READ_MAX);
	if (len)
		got = pread(m->mem, buf, len, (off_t)addr);
	return got > 0 ? (size_t)got : 0;
}
