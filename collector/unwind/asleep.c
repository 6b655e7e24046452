// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/asleep.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/deadline.h"

/* /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): a word for each page. */
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)
#define PAGE_OF_FILE (1ull << 61) /* or of shared memory */
#define PAGES 8u		  /* checked by one read */
#define READ_MAX_BYTES (28u << 10)

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
static bool is_at(uint32_t tgid, uint32_t tid, uint64_t sp, uint64_t pc)
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
static bool is_since(uint32_t tgid, uint32_t tid, uint64_t sp, uint64_t pc, uint64_t switches)
{
	static const char voluntary[] = "\nvoluntary_ctxt_switches:",
			  other[] = "\nnonvoluntary_ctxt_switches:";
	char text[4096], *a, *b;

	if (!is_at(tgid, tid, sp, pc) || !read_text(tgid, tid, "status", text, sizeof(text)))
		return false;
	a = strstr(text, voluntary);
	b = strstr(text, other);
	return a && b &&
	       strtoull(a + strlen(voluntary), NULL, 10) + strtoull(b + strlen(other), NULL, 10) ==
		       switches;
}

/* One of the two, in a process that may hang (kernel/deadline.h). */
struct question {
	uint32_t tgid, tid;
	uint64_t sp, pc, switches;
	bool since; /* else: at */
	bool is_so; /* out */
};

static int answer(void *question, int none)
{
	struct question *q = question;

	(void)none;
	q->is_so = q->since ? is_since(q->tgid, q->tid, q->sp, q->pc, q->switches)
			    : is_at(q->tgid, q->tid, q->sp, q->pc);
	return -1;
}

static bool ask(struct question q)
{
	int none;

	return !deadline_call(answer, deadline_process(q.tgid), &q, sizeof(q), -1, &none) &&
	       q.is_so;
}

bool asleep_at(uint32_t tgid, uint32_t tid, uint64_t sp, uint64_t pc)
{
	return ask((struct question) { .tgid = tgid, .tid = tid, .sp = sp, .pc = pc });
}

bool asleep_since(uint32_t tgid, uint32_t tid, uint64_t sp, uint64_t pc, uint64_t switches)
{
	return ask((struct question) { tgid, tid, sp, pc, switches, .since = true });
}

/* ---- its memory ---------------------------------------------------------------------------- */

struct reading {
	uint32_t tgid;
	uint64_t addr;
	size_t len; /* wanted; out: read */
	uint8_t bytes[];
};

static int open_file(uint32_t tgid, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/%s", tgid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* How many of the bytes are in its own anonymous memory. */
static size_t count_own(int pages, uint64_t addr, size_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), map[PAGES];
	uint64_t first = addr / page, n = (addr + len - 1) / page - first + 1, own = 0;
	ssize_t got;

	if (n > PAGES)
		n = PAGES;
	got = pread(pages, map, n * sizeof(*map), (off_t)(first * sizeof(*map)));
	while (got >= (ssize_t)((own + 1) * sizeof(*map)) && !(map[own] & PAGE_OF_FILE) &&
	       map[own] & (PAGE_PRESENT | PAGE_SWAPPED))
		own++;
	if (!own)
		return 0;
	return len > own * page - addr % page ? own * page - addr % page : len;
}

static int read_memory(void *reading, int none)
{
	struct reading *r = reading;
	int words = open_file(r->tgid, "mem"), pages = open_file(r->tgid, "pagemap");
	size_t len = words >= 0 && pages >= 0 ? count_own(pages, r->addr, r->len) : 0;
	ssize_t got = len ? pread(words, r->bytes, len, (off_t)r->addr) : 0;

	(void)none;
	r->len = got > 0 ? (size_t)got : 0;
	if (words >= 0)
		close(words);
	if (pages >= 0)
		close(pages);
	return -1;
}

size_t asleep_read(uint32_t tgid, uint64_t addr, void *buf, size_t len)
{
	struct reading *r;
	size_t n = 0;
	int none;

	if (len > READ_MAX_BYTES)
		len = READ_MAX_BYTES;
	r = malloc(sizeof(*r) + len);
	if (!r)
		return 0;
	*r = (struct reading) { tgid, addr, len };
	if (!deadline_call(read_memory, deadline_process(tgid), r, sizeof(*r) + len, -1, &none))
		n = r->len;
	memcpy(buf, r->bytes, n);
	free(r);
	return n;
}
