// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/asleep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/call_timeout.h"

/* /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): a word for each page. */
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)
#define PAGE_OF_FILE (1ull << 61) /* or of shared memory */
#define PAGES (ASLEEP_READ_MAX / 4096 + 1)

/* ---- in a process that may hang: whether it sleeps ----------------------------------------- */

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
static bool is_at(const struct asleep *a)
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
static bool is_asleep(const struct asleep *a)
{
	static const char voluntary[] = "\nvoluntary_ctxt_switches:",
			  other[] = "\nnonvoluntary_ctxt_switches:";
	char text[4096], *n, *m;

	if (!is_at(a))
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
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/%s", tgid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* How many of the len bytes from addr on lie in anonymous memory, without a gap. */
static size_t anonymous(uint32_t tgid, uint64_t addr, size_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), map[PAGES];
	uint64_t first = addr / page, n = (addr + len - 1) / page - first + 1, own = 0;
	int fd = open_of(tgid, "pagemap");
	ssize_t got;

	if (fd < 0)
		return 0;
	if (n > PAGES)
		n = PAGES;
	got = pread(fd, map, n * sizeof(*map), (off_t)(first * sizeof(*map)));
	close(fd);
	while (got >= (ssize_t)((own + 1) * sizeof(*map)) && !(map[own] & PAGE_OF_FILE) &&
	       map[own] & (PAGE_PRESENT | PAGE_SWAPPED))
		own++;
	if (!own)
		return 0;
	own = own * page - addr % page;
	return len < own ? len : own;
}

static size_t read_memory(uint32_t tgid, uint64_t addr, void *buf, size_t len)
{
	int fd = open_of(tgid, "mem");
	ssize_t got = -1;

	if (fd < 0)
		return 0;
	len = anonymous(tgid, addr, len);
	if (len)
		got = pread(fd, buf, len, (off_t)addr);
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

/* ---- over there, and here ------------------------------------------------------------------ */

struct reading {
	struct asleep who;
	uint64_t addr;
	uint32_t len;	/* in: wanted; out: read */
	uint32_t is_it; /* out: it sleeps */
	uint8_t data[ASLEEP_READ_MAX];
};

_Static_assert(sizeof(struct reading) <= CALL_MAX_BYTES, "one message holds it");

static int run_reading(void *reading, int none)
{
	struct reading *r = reading;

	(void)none;
	r->len = is_at(&r->who) ? (uint32_t)read_memory(r->who.tgid, r->addr, r->data, r->len) : 0;
	r->is_it = is_asleep(&r->who);
	return -1;
}

static bool call(const struct asleep *a, struct reading *r)
{
	int none;

	r->who = *a;
	r->is_it = 0;
	return !call_with_timeout(run_reading, call_key_process(a->tgid), r,
				  offsetof(struct reading, data) + r->len, -1, &none) &&
	       r->is_it;
}

size_t asleep_read(const struct asleep *a, uint64_t addr, void *buf, size_t len)
{
	struct reading r = {
		.addr = addr,
		.len = len < ASLEEP_READ_MAX ? (uint32_t)len : ASLEEP_READ_MAX,
	};

	if (!r.len || !call(a, &r) || r.len > len)
		return 0;
	memcpy(buf, r.data, r.len);
	return r.len;
}
