// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that reads a file. It has no rights, because the file may take it over. */
#include "reader_private.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/demangle.h"
#include "common/grow.h"
#include "files/jitdump.h"
#include "kernel/sandbox.h"

/* A browser's debug file takes half of that, and some seconds. */
#define MEMORY_MAX_BYTES (2ull << 30)
#define CPU_MAX_SECONDS 60u

struct process {
	int socket;
	struct elfsym *e;
	int fd; /* its file */
	struct debugfile_wanted wanted;
	uint64_t *values; /* offsets; or address and time, in turn */
	size_t n, cap;
	struct elfsym_address *found; /* of the offsets in segments */
	size_t n_found;
	int perf_map, jitdump;
	char plain[READER_NAME_MAX], readable[READER_NAME_MAX];
	uint8_t answers[READER_ANSWERS_BYTES];
	size_t len; /* of answers */
};

/* ---- answering ----------------------------------------------------------------------------- */

static void tell(const struct process *p, const void *message, size_t len)
{
	if (sandbox_send(p->socket, message, len, -1) != (ssize_t)len)
		_exit(1);
}

static void tell_result(const struct process *p, int result)
{
	struct reader_told told = { result };

	tell(p, &told, sizeof(told));
}

static void flush(struct process *p)
{
	if (p->len)
		tell(p, p->answers, p->len);
	p->len = 0;
}

static void answer(struct process *p, struct reader_answer a, const char *name)
{
	a.len = name ? (uint32_t)strnlen(name, READER_NAME_MAX) : 0;
	if (p->len + sizeof(a) + a.len > sizeof(p->answers))
		flush(p);
	memcpy(p->answers + p->len, &a, sizeof(a));
	if (name)
		memcpy(p->answers + p->len + sizeof(a), name, a.len);
	p->len += sizeof(a) + a.len;
}

/* ---- ELF files ----------------------------------------------------------------------------- */

/* The name to show: without the symbol version, demangled, PLT stubs marked. */
static const char *readable(struct process *p, const struct elfsym_address *a)
{
	size_t len = strcspn(a->name, "@");
	const char *name;

	if (!len || len >= sizeof(p->plain))
		return a->name;
	memcpy(p->plain, a->name, len);
	p->plain[len] = '\0';
	name = demangle(p->plain, p->readable, sizeof(p->readable));
	if (!a->is_plt)
		return name;
	len = strlen(name);
	if (len + sizeof("@plt") > sizeof(p->readable))
		return name;
	if (name != p->readable)
		memcpy(p->readable, name, len);
	memcpy(p->readable + len, "@plt", sizeof("@plt"));
	return p->readable;
}

static void open_file(struct process *p, int fd)
{
	struct reader_file file = { .err = fd < 0 ? -EBADF : elfsym_open(&p->e, fd) };

	p->fd = fd;
	if (!file.err) {
		file.has_symtab = elfsym_has_symtab(p->e);
		while (file.n_segments < READER_SEGMENTS_MAX &&
		       elfsym_code(p->e, file.n_segments, &file.segments[file.n_segments]))
			file.n_segments++;
		debugfile_ask(&p->wanted, p->e);
		file.wanted = p->wanted;
	}
	tell(p, &file, sizeof(file));
}

static void add_minidebug(struct process *p)
{
	struct elfsym *more = NULL;

	if (p->e && !minidebug_open(&more, p->e))
		elfsym_add(p->e, more);
}

/* The offsets in loaded segments, as link-time addresses. */
static bool to_vaddrs(struct process *p)
{
	p->n_found = 0;
	p->found = malloc((p->n + 1) * sizeof(*p->found));
	for (size_t i = 0; p->found && i < p->n; i++) {
		uint64_t vaddr;

		if (p->values[i] == UINT64_MAX || !elfsym_vaddr(p->e, p->values[i], &vaddr) ||
		    /* Segments must be in the order of their file offsets. */
		    (p->n_found && vaddr < p->found[p->n_found - 1].vaddr)) {
			p->values[i] = UINT64_MAX;
			continue;
		}
		p->found[p->n_found++] = (struct elfsym_address) { .vaddr = vaddr };
	}
	return p->found;
}

static void answer_all(struct process *p)
{
	const struct elfsym_address *a;

	if (!p->e || !to_vaddrs(p))
		_exit(1);
	a = p->found;
	elfsym_find(p->e, p->found, p->n_found);
	elfsym_find_bounds(p->e, p->found, p->n_found);
	for (size_t i = 0; i < p->n; i++) {
		struct reader_answer out = { .flags = 0 };

		if (p->values[i] == UINT64_MAX) {
			answer(p, out, NULL);
			continue;
		}
		out.flags = READER_MAPPED | (a->name ? READER_NAMED : 0u) |
			    (a->is_bounded ? READER_BOUNDED : 0u);
		out.start = a->start;
		out.value = a->name || a->is_bounded ? a->vaddr - a->start : a->vaddr;
		answer(p, out, a->name ? readable(p, a) : NULL);
		a++;
	}
	flush(p);
}

/* ---- generated code ------------------------------------------------------------------------ */

/* Answers by the perf map, or by the jitdump for code that it has. */
static void answer_code(struct process *p)
{
	size_t n = p->n / 2;
	struct perfmap_address *a = calloc(n + 1, sizeof(*a));
	bool is_read = false;

	if (!a)
		_exit(1);
	for (size_t i = 0; i < n; i++) {
		a[i].addr = p->values[2 * i];
		a[i].time_ns = p->values[2 * i + 1];
	}
	if (p->perf_map >= 0)
		is_read = !perfmap_find(p->perf_map, a, n);
	if (p->jitdump >= 0 && !jitdump_find(p->jitdump, a, n))
		is_read = true;
	tell_result(p, is_read ? 0 : -ENOENT);
	for (size_t i = 0; is_read && i < n; i++) {
		struct reader_answer out = { .flags = READER_MAPPED };

		if (a[i].name) {
			out.flags |= READER_NAMED;
			out.start = a[i].start;
			out.value = a[i].addr + 1 - a[i].start;
		}
		answer(p, out,
		       a[i].name ? demangle(a[i].name, p->readable, sizeof(p->readable)) : NULL);
	}
	flush(p);
}

/* ---- the conversation ---------------------------------------------------------------------- */

static void keep(struct process *p, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t *grown = grow_array(p->values, p->n, &p->cap, sizeof(*grown));

		if (!grown)
			_exit(1);
		p->values = grown;
		grown[p->n++] = values[i];
	}
}

static void take(struct process *p, const struct reader_request *r, int fd)
{
	switch ((enum reader_op)r->op) {
	case READER_OPEN:
		open_file(p, fd);
		break;
	case READER_DEBUG:
		tell_result(p, p->e && fd >= 0 &&
				       debugfile_take(p->e, &p->wanted, fd,
						      (enum debugfile_claim)r->arg));
		break;
	case READER_COPY:
		tell_result(p, p->e ? elfsym_copy(p->e, p->fd, fd, r->arg) : -ENOEXEC);
		break;
	case READER_MINIDEBUG:
		add_minidebug(p);
		break;
	case READER_FIND:
		answer_all(p);
		break;
	case READER_PERF_MAP:
		p->perf_map = fd;
		break;
	case READER_JITDUMP:
		p->jitdump = fd;
		break;
	case READER_ASK:
	case READER_ASK_CODE:
		keep(p, r->values, r->n);
		break;
	case READER_FIND_CODE:
		answer_code(p);
		break;
	}
}

/* What is left to free goes with the process. */
static _Noreturn void converse(int socket)
{
	static struct process p = { .perf_map = -1, .jitdump = -1 };
	static struct reader_request r;
	ssize_t n;
	int fd;

	p.socket = socket;
	while ((n = sandbox_receive(socket, &r, sizeof(r), &fd)) > 0) {
		if ((size_t)n < offsetof(struct reader_request, values) || r.n > READER_BATCH ||
		    (size_t)n !=
			    offsetof(struct reader_request, values) + r.n * sizeof(r.values[0]))
			break;
		take(&p, &r, fd);
	}
	_exit(0);
}

static const struct readers_also names_reader = {
	.name = "chaincap-reader",
	.memory_bytes = MEMORY_MAX_BYTES,
	.cpu_seconds = CPU_MAX_SECONDS,
	.serve = converse,
};

static _Noreturn void become(const struct readers_also *what, int socket, bool is_low)
{
	struct reader_hello hello = { getpid() };
	const struct sched_param none = { 0 };

	prctl(PR_SET_NAME, what->name);
	/* Before it is low: who knows its id can make it hurry. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) ||
	    sandbox_send(socket, &hello, sizeof(hello), -1) != sizeof(hello))
		_exit(1);
	if (is_low)
		sched_setscheduler(0, SCHED_IDLE, &none);
	sandbox_limit(what->memory_bytes, what->cpu_seconds);
	if (!sandbox_seal(false))
		_exit(1);
	what->serve(socket);
	_exit(0);
}

/*
 * Those that were started, and not waited for yet: a recorder has one or two at a time for names,
 * and some of the other sort.
 */
#define RUNNING_MAX 32u
/* What they may take to end. */
#define END_MS 1000

struct running {
	pid_t pids[RUNNING_MAX];
	uint32_t n;
};

/* Waits for those that have ended, so that their time on a CPU is known. */
static void reap(struct running *r)
{
	for (uint32_t i = 0; i < r->n;) {
		if (waitpid(r->pids[i], NULL, WNOHANG))
			r->pids[i] = r->pids[--r->n];
		else
			i++;
	}
}

/* Nothing ends one that hangs in a file system: it is left behind. */
static void end_all(struct running *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		kill(r->pids[i], SIGKILL);
	for (int ms = 0; r->n && ms < END_MS; ms++) {
		reap(r);
		if (r->n)
			(void)ppoll(NULL, 0, &(struct timespec) { .tv_nsec = 1000000 }, NULL);
	}
	r->n = 0;
}

static void end(const struct running *r, pid_t pid)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->pids[i] == pid)
			kill(pid, SIGKILL);
}

_Noreturn void reader_process(int socket, const struct readers_also *also)
{
	struct reader_hello hello = { getpid() };
	struct running running = { .n = 0 };
	struct reader_start start;
	pid_t pid;
	int fd;

	if (!sandbox_enter("chaincap-readers", socket, SANDBOX_NOBODY, SANDBOX_NOBODY))
		_exit(1);
	if (!sandbox_seal(true) || sandbox_send(SANDBOX_SOCKET, &hello, sizeof(hello), -1) < 0)
		_exit(1);
	while (sandbox_receive(SANDBOX_SOCKET, &start, sizeof(start), &fd) == sizeof(start)) {
		end(&running, start.end);
		reap(&running);
		if (running.n == RUNNING_MAX)
			end_all(&running);
		if (fd < 0)
			continue;
		pid = start.is_also && !also ? -1 : fork();
		if (!pid) {
			close(SANDBOX_SOCKET);
			become(start.is_also ? also : &names_reader, fd, start.is_low);
		}
		if (pid > 0)
			running.pids[running.n++] = pid;
		close(fd);
	}
	end_all(&running);
	_exit(0);
}
