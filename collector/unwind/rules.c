// SPDX-License-Identifier: GPL-2.0-or-later
#include "rules_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/clock.h"
#include "kernel/patience.h"
#include "kernel/sandbox.h"
#include "unwind/cfi.h"

/* Of files of as many owners, or on as many file systems. */
#define PROCESSES_MAX 8u
/* One that does not answer for this long is ended. */
#define HANGS_NS 5000000000u
/* A file in whose hands as many processes died has no rules. */
#define DEATHS_MAX 2u

struct process {
	uint64_t serial;	 /* never reused; 0: it is not running */
	bool has_owner;		 /* false: it was started for the first who comes, */
	uint32_t major, minor;	 /* then for files on this file system */
	uint32_t owner;		 /* of this owner */
	int socket, pid;	 /* pid 0: not known yet */
	uint32_t asked;		 /* the last request */
	bool is_late;		 /* which has no answer yet, */
	struct rules_file *file; /* of this file; NULL: that was closed */
	uint64_t asked_ns;
};

struct rules {
	struct readers *readers;
	struct process processes[PROCESSES_MAX];
	uint64_t last_serial;
	uint32_t last_request;
	struct patience patience;
	uint64_t restarts, late;
};

/* ---- processes ----------------------------------------------------------------------------- */

static struct process *start(struct rules *r, struct process *p)
{
	int socket = readers_fork(r->readers);

	if (socket < 0)
		return NULL;
	/* So that a process that reads no more does not stop the recorder. */
	fcntl(socket, F_SETFL, O_NONBLOCK);
	*p = (struct process) {
		.serial = ++r->last_serial,
		.socket = socket,
	};
	return p;
}

static void end(struct rules *r, struct process *p)
{
	if (!p->serial)
		return;
	close(p->socket);
	if (p->pid)
		readers_end(r->readers, p->pid);
	*p = (struct process) { 0 };
}

/* It died, or is ended because it hangs: the file that it was reading may be the reason. */
static void lose(struct rules *r, struct process *p)
{
	if (p->file)
		p->file->deaths++;
	r->restarts++;
	end(r, p);
}

struct rules *rules_new(struct readers *readers)
{
	struct rules *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->readers = readers;
	/* Starting takes milliseconds on a busy machine. */
	(void)start(r, &r->processes[0]);
	return r;
}

void rules_free(struct rules *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < PROCESSES_MAX; i++)
		end(r, &r->processes[i]);
	free(r);
}

static bool is_for(const struct process *p, const struct rules_file *f)
{
	return p->serial && p->has_owner && p->major == f->major && p->minor == f->minor &&
	       p->owner == f->owner;
}

/* The process for the file, started if need be; NULL: it cannot be. */
static struct process *process_for(struct rules *r, const struct rules_file *f)
{
	struct process *p, *other = &r->processes[0];

	for (p = r->processes; p < r->processes + PROCESSES_MAX; p++) {
		if (is_for(p, f))
			return p;
		/* Rather a fresh one, then a free place, then the one that was idle for longest. */
		if (other->has_owner && p->asked_ns < other->asked_ns)
			other = p;
	}
	if (other->serial && other->has_owner)
		end(r, other);
	if (!other->serial && !start(r, other))
		return NULL;
	other->has_owner = true;
	other->major = f->major;
	other->minor = f->minor;
	other->owner = f->owner;
	other->asked_ns = clock_now_ns();
	return other;
}

static struct process *process_of(struct rules *r, const struct rules_file *f)
{
	for (uint32_t i = 0; f->process && i < PROCESSES_MAX; i++)
		if (r->processes[i].serial == f->process)
			return &r->processes[i];
	return NULL;
}

/* ---- answers, which come from a stranger --------------------------------------------------- */

static bool is_sane_rule(const struct unwind_rule *r)
{
	return r->kind <= UNWIND_HARD && r->cfa_register < UNWIND_REGISTERS &&
	       r->ra_register < UNWIND_REGISTERS;
}

static bool is_sane(const struct rules_window *w, uint64_t offset)
{
	uint64_t at = offset % RULES_WINDOW;

	if (!w->n)
		return true;
	if (w->n > RULES_ROWS_MAX || w->from > at || w->to <= at || w->to > RULES_WINDOW ||
	    w->starts[0] != w->from)
		return false;
	for (uint32_t i = 0; i < w->n; i++)
		if (!is_sane_rule(&w->rules[i]) || w->starts[i] >= w->to ||
		    (i && w->starts[i] <= w->starts[i - 1]))
			return false;
	return true;
}

static void wait_for(const struct process *p, uint64_t ns)
{
	struct timespec left = { .tv_sec = 0, .tv_nsec = (long)ns };
	struct pollfd in = { .fd = p->socket, .events = POLLIN };

	(void)ppoll(&in, 1, &left, NULL);
}

/* The answer to the last request. Returns 0; -EAGAIN: none yet; or -EPIPE. */
static int hear(struct process *p, struct rules_answer *a)
{
	struct reader_hello hello;
	ssize_t n = 0;
	int fd = -1;

	if (!p->pid) {
		n = sandbox_receive(p->socket, &hello, sizeof(hello), &fd);
		if (n == sizeof(hello))
			p->pid = hello.pid;
	}
	if (p->pid && fd < 0)
		n = sandbox_receive(p->socket, a, sizeof(*a), &fd);
	if (fd >= 0)
		close(fd);
	if (n == -EAGAIN)
		return -EAGAIN;
	return n == sizeof(*a) && a->serial == p->asked && fd < 0 ? 0 : -EPIPE;
}

/* Waits for the answer for at most wait_ns. */
static int hear_in_time(struct rules *r, struct process *p, uint64_t wait_ns,
			struct rules_answer *a)
{
	uint64_t until_ns = clock_now_ns() + wait_ns, now_ns;
	int err;

	while ((err = hear(p, a)) == -EAGAIN && (now_ns = clock_now_ns()) < until_ns)
		wait_for(p, until_ns - now_ns);
	p->is_late = err == -EAGAIN;
	if (err == -EPIPE)
		lose(r, p);
	return err;
}

/* ---- asking -------------------------------------------------------------------------------- */

static int say(struct rules *r, struct process *p, enum rules_op op, const struct rules_file *f,
	       uint64_t offset, int fd)
{
	struct rules_request q = {
		.op = op,
		.serial = ++r->last_request,
		.file = f->index,
		.offset = offset,
	};

	return sandbox_send(p->socket, &q, sizeof(q), fd) == sizeof(q) ? 0 : -EPIPE;
}

int rules_open(struct rules *r, struct rules_file *f, int fd)
{
	struct statx st;
	struct process *p;

	if (f->deaths >= DEATHS_MAX)
		return -EIO;
	/* What is known already: the file system is not asked again. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_UID, &st))
		return -errno;
	f->major = st.stx_dev_major;
	f->minor = st.stx_dev_minor;
	f->owner = st.stx_uid;
	p = process_for(r, f);
	if (!p)
		return -EPIPE;
	if (say(r, p, RULES_OPEN, f, 0, fd)) {
		lose(r, p);
		return -EPIPE;
	}
	f->process = p->serial;
	return 0;
}

void rules_close(struct rules *r, struct rules_file *f)
{
	struct process *p = process_of(r, f);

	if (p && p->file == f)
		p->file = NULL;
	if (p && say(r, p, RULES_CLOSE, f, 0, -1))
		end(r, p);
	f->process = 0;
}

/* Whether a request can be sent: a late answer to the one before is waited for as long. */
static int take_late(struct rules *r, struct process *p)
{
	struct rules_answer late;
	int err;

	if (!p->is_late)
		return 0;
	if (patience_now(&r->patience) > PATIENCE_LEAST_NS)
		err = hear_in_time(r, p, patience_now(&r->patience), &late);
	else
		err = hear_in_time(r, p, 0, &late);
	patience_spend(&r->patience);
	if (err == -EAGAIN && clock_now_ns() - p->asked_ns > HANGS_NS) {
		lose(r, p);
		err = -EPIPE;
	}
	return err;
}

static int ask(struct rules *r, struct rules_file *f, enum rules_op op, uint64_t offset,
	       struct rules_answer *a)
{
	struct process *p = process_of(r, f);
	int err;

	if (f->deaths >= DEATHS_MAX)
		return -EIO;
	if (!p)
		return -ENOTCONN;
	err = take_late(r, p);
	if (err)
		return err == -EPIPE ? -ENOTCONN : err;
	p->asked_ns = clock_now_ns();
	p->file = NULL;
	if (say(r, p, op, f, offset, -1)) {
		lose(r, p); /* it was dead before */
		return -ENOTCONN;
	}
	p->file = f;
	p->asked = r->last_request;
	/* Some 10 us; 100 ms for the first one of a file on a cold disk. */
	err = hear_in_time(r, p, patience_now(&r->patience), a);
	patience_spend(&r->patience);
	r->late += err == -EAGAIN;
	if (err)
		return err == -EPIPE ? -ENOTCONN : err;
	if (a->bytes > CFI_MAX_BYTES || !is_sane(&a->window, offset)) {
		lose(r, p);
		return -ENOTCONN;
	}
	p->file = NULL;
	f->bytes = a->bytes;
	return 0;
}

int rules_find(struct rules *r, struct rules_file *f, uint64_t offset, struct rules_window *w,
	       bool *is_signal)
{
	struct rules_answer a;
	int err = ask(r, f, RULES_FIND, offset, &a);

	if (err)
		return err;
	*w = a.window;
	*is_signal = a.is_it;
	return 0;
}

int rules_is_call(struct rules *r, struct rules_file *f, uint64_t offset, bool *is_call)
{
	struct rules_answer a;
	int err = ask(r, f, RULES_CALL, offset, &a);

	if (!err)
		*is_call = a.is_it;
	return err;
}

void rules_trouble(const struct rules *r, uint64_t *restarts, uint64_t *late)
{
	*restarts = r->restarts;
	*late = r->late;
}
