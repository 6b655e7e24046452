// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/sleeping_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/grow.h"
#include "helper/call_timeout.h"
#include "unwind/rule.h"

/* /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): a word for each page. */
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)
#define PAGE_OF_FILE (1ull << 61) /* or of shared memory */
#define PAGES (SLEEPING_READ_MAX / 4096 + 1)

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
static bool is_at(const struct sleeping_thread *a)
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
static bool is_asleep(const struct sleeping_thread *a)
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

/* ---- there, and here ------------------------------------------------------------------ */

struct reading {
	struct sleeping_thread who;
	uint64_t addr;
	uint32_t len;	/* in: wanted; out: read */
	uint32_t is_it; /* out: it sleeps */
	uint8_t data[SLEEPING_READ_MAX];
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

/* Returns 0, with the number of bytes in *got, or the negative errno of call_with_timeout(). */
static int read_sleeping(const struct sleeping_thread *a, uint64_t addr, void *buf, size_t len,
			 size_t *got)
{
	struct reading r = {
		.who = *a,
		.addr = addr,
		.len = len < SLEEPING_READ_MAX ? (uint32_t)len : SLEEPING_READ_MAX,
	};
	int none, err;

	*got = 0;
	if (!r.len)
		return 0;
	err = call_with_timeout(run_reading, call_key_process(a->tgid), &r,
				offsetof(struct reading, data) + r.len, -1, &none);
	if (err || !r.is_it || r.len > len)
		return err;
	memcpy(buf, r.data, r.len);
	*got = r.len;
	return 0;
}

size_t sleeping_thread_read(const struct sleeping_thread *a, uint64_t addr, void *buf, size_t len)
{
	size_t got;

	return read_sleeping(a, addr, buf, len, &got) ? 0 : got;
}

/* ---- those of before the recording ---------------------------------------------------------- */

#define SLEEPING_MAX (1u << 15)

_Static_assert(SLEEPING_READ_MAX <= sizeof(((struct wire_copy *)0)->words), "one copy holds it");

struct queued {
	uint64_t seen_ns, switches, space, look;
	uint64_t regs[UNWIND_REGISTERS];
	uint32_t tid, tgid, ustack;
};

struct sleeping_threads {
	struct queued *list;
	uint32_t n, next;
	size_t cap;
	struct queued current; /* returned last */
	struct wire_copy copy;
};

int sleeping_threads_new(struct sleeping_threads **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void sleeping_threads_free(struct sleeping_threads *s)
{
	if (!s)
		return;
	free(s->list);
	free(s);
}

/* A new place at the end of the queue; NULL: it is full, or out of memory. */
static struct queued *new_place(struct sleeping_threads *s)
{
	if (s->n == SLEEPING_MAX && s->next) {
		s->n -= s->next;
		memmove(s->list, s->list + s->next, s->n * sizeof(*s->list));
		s->next = 0;
	}
	if (s->n == SLEEPING_MAX || !GROW(s->list, s->n, s->cap))
		return NULL;
	return &s->list[s->n++];
}

bool sleeping_threads_add(struct sleeping_threads *s, const struct wire_thread *t)
{
	struct queued *place = new_place(s);

	if (!place)
		return false;
	*place = (struct queued) {
		.seen_ns = t->seen_ns,
		.switches = t->switches,
		.space = t->space,
		.look = t->look,
		.tid = t->tid,
		.tgid = t->tgid,
		.ustack = t->ustack,
	};
	memcpy(place->regs, t->regs, sizeof(place->regs));
	return true;
}

bool sleeping_threads_put_back(struct sleeping_threads *s)
{
	struct queued *place = new_place(s);

	if (place)
		*place = s->current;
	return place != NULL;
}

uint32_t sleeping_threads_left(const struct sleeping_threads *s)
{
	return s->n - s->next;
}

const struct wire_copy *sleeping_threads_next(struct sleeping_threads *s, bool read)
{
	struct wire_copy *c = &s->copy;
	const struct queued *t = &s->current;

	if (s->next == s->n)
		return NULL;
	s->current = s->list[s->next++];
	if (s->next == s->n) {
		free(s->list);
		s->list = NULL;
		s->n = s->next = 0;
		s->cap = 0;
	}
	c->r = (struct wire_record) { .time_ns = t->seen_ns, .kind = WIRE_COPY };
	c->id = t->ustack;
	c->tgid = t->tgid;
	c->tid = t->tid;
	c->n = 1;
	c->end = WIRE_END_UNKNOWN;
	c->sp = t->regs[UNWIND_SP];
	c->switches = t->switches;
	c->space = t->space;
	c->look = t->look;
	c->registers = 1;
	c->len = 0;
	c->base = c->sp & ~7ull;
	memcpy(c->regs, t->regs, sizeof(t->regs));
	c->frames[0] = t->regs[UNWIND_PC];
	if (read) {
		struct sleeping_thread who = { c->tgid, c->tid, c->sp, c->frames[0], c->switches };
		size_t got;

		if (read_sleeping(&who, c->base, c->words, SLEEPING_READ_MAX, &got) &&
		    sleeping_threads_put_back(s))
			return NULL;
		c->len = (uint32_t)got;
	}
	return c;
}
