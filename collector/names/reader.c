// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader_private.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/clock.h"
#include "kernel/sandbox.h"

/* How long an answer is waited for. It takes seconds at most, on a loaded machine. */
#define PATIENCE_NS 60000000000u
/* A reader that has used no CPU for this long waits for a file system. */
#define IDLE_NS 5000000000u
/* How long while recording, when the rings have to be drained. */
#define COPY_PATIENCE_NS 100000000u
#define COPIES_LATE_MAX 5u
/* How often to check whether a reader still has the priority of the thread that waits for it. */
#define LOOK_MS 20

struct readers {
	pid_t pid;
	int socket;
	int nice, usual; /* nice value now, and before the recorder raised its own priority */
	uint32_t late;	 /* number of copies that were not made in time */
};

struct reader {
	int socket;
	pid_t pid;
	bool is_low;
	int nice;
	uint64_t patience_ns;
	size_t n_asked, n_answered;
	bool has_read; /* generated code: the reader has sent whether it could read the files */
	struct reader_request request;
	uint8_t answers[READER_ANSWERS_BYTES];
};

/* ---- the first process --------------------------------------------------------------------- */

static uint64_t to_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000;
}

uint64_t readers_stop(struct readers *r)
{
	struct rusage used = { 0 };

	if (!r || r->socket < 0)
		return 0;
	close(r->socket);
	r->socket = -1;
	while (wait4(r->pid, NULL, 0, &used) < 0 && errno == EINTR)
		;
	return to_ns(used.ru_utime) + to_ns(used.ru_stime);
}

void readers_free(struct readers *r)
{
	(void)readers_stop(r);
	free(r);
}

int readers_start(struct readers **out, const struct readers_also *also)
{
	struct readers *r = calloc(1, sizeof(*r));
	struct reader_hello hello;
	int sockets[2], fd;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		int err = -errno;

		free(r);
		return err;
	}
	r->nice = r->usual = getpriority(PRIO_PROCESS, 0);
	r->pid = fork();
	if (!r->pid)
		reader_process(sockets[1], also);
	r->socket = sockets[0];
	close(sockets[1]);
	if (r->pid < 0) {
		int err = -errno;

		close(r->socket);
		free(r);
		return err;
	}
	/* It ends without a hello if it still has a right, or if the kernel has no seccomp. */
	if (sandbox_receive(r->socket, &hello, sizeof(hello), &fd) != sizeof(hello)) {
		readers_free(r);
		return -EPERM;
	}
	*out = r;
	return 0;
}

int readers_pid(const struct readers *r)
{
	return r->pid;
}

static bool can_fork(const struct readers *r)
{
	return r && r->socket >= 0;
}

/* Starts a process. Returns the socket on which it answers, or a negative errno. */
static int fork_process(const struct readers *r, const struct reader_start *start)
{
	int sockets[2], err = 0;

	if (!can_fork(r))
		return -ENOTSUP;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	if (sandbox_send(r->socket, start, sizeof(*start), sockets[1]) != sizeof(*start))
		err = -EPIPE;
	close(sockets[1]);
	if (err)
		close(sockets[0]);
	return err ? err : sockets[0];
}

static void set_nice(pid_t pid, int *nice, int to)
{
	if (to != *nice)
		(void)setpriority(PRIO_PROCESS, (id_t)pid, to);
	*nice = to;
}

/* Gives the process, whose nice value is *nice, that of the calling thread. */
static void follow(pid_t pid, int *nice)
{
	set_nice(pid, nice, getpriority(PRIO_PROCESS, 0));
}

int readers_fork(struct readers *r)
{
	if (can_fork(r))
		follow(r->pid, &r->nice); /* the forked process inherits it */
	return fork_process(r, &(struct reader_start) { .is_also = 1 });
}

void readers_end(struct readers *r, int pid)
{
	struct reader_start end = { .end = pid };

	(void)sandbox_send(r->socket, &end, sizeof(end), -1);
}

/* ---- messages ------------------------------------------------------------------------------ */

static bool is_low_here(void)
{
	return sched_getscheduler(0) == SCHED_IDLE;
}

/* When the recorder has left SCHED_IDLE or raised its priority, its reader follows. */
static void hurry(struct reader *rd)
{
	const struct sched_param none = { 0 };

	if (!rd->pid || rd->patience_ns != PATIENCE_NS)
		return;
	if (rd->is_low && !is_low_here()) {
		sched_setscheduler(rd->pid, SCHED_OTHER, &none);
		rd->is_low = false;
	}
	follow(rd->pid, &rd->nice);
}

/*
 * Receives the next message, of at most size bytes. Returns its length; -EPIPE; or -ETIMEDOUT, also
 * if the reader uses no CPU for a while, because it then waits for a file system.
 */
static ssize_t hear(struct reader *rd, void *message, size_t size)
{
	uint64_t now_ns = clock_now_ns(), until_ns = now_ns + rd->patience_ns;
	uint64_t idle_until_ns = now_ns + IDLE_NS, used_ns = clock_process_cpu_ns(rd->pid);
	int look_ms = rd->patience_ns < PATIENCE_NS ? 1 : LOOK_MS;
	struct pollfd p = { .fd = rd->socket, .events = POLLIN };
	ssize_t n;
	int fd;

	while (poll(&p, 1, look_ms) <= 0) {
		hurry(rd);
		now_ns = clock_now_ns();
		if (clock_process_cpu_ns(rd->pid) != used_ns) {
			used_ns = clock_process_cpu_ns(rd->pid);
			idle_until_ns = now_ns + IDLE_NS;
		}
		if (now_ns > until_ns || now_ns > idle_until_ns)
			return -ETIMEDOUT;
	}
	n = sandbox_receive(rd->socket, message, size, &fd);
	if (fd >= 0)
		close(fd);
	return n > 0 ? n : -EPIPE;
}

static int hear_exactly(struct reader *rd, void *message, size_t size)
{
	ssize_t n = hear(rd, message, size);

	if (n == (ssize_t)size)
		return 0;
	return n == -ETIMEDOUT ? -ETIMEDOUT : -EPIPE;
}

/* Sends rd->request with its first n values, and fd if it is not -1. 0 or -EPIPE. */
static int say(struct reader *rd, enum reader_op op, uint32_t arg, uint32_t n, int fd)
{
	size_t len = offsetof(struct reader_request, values) + n * sizeof(rd->request.values[0]);

	rd->request.op = op;
	rd->request.arg = arg;
	rd->request.n = n;
	return sandbox_send(rd->socket, &rd->request, len, fd) == (ssize_t)len ? 0 : -EPIPE;
}

static int hear_result(struct reader *rd)
{
	struct reader_told told;
	int err = hear_exactly(rd, &told, sizeof(told));

	return err ? err : told.result;
}

static int ask(struct reader *rd, enum reader_op op, uint32_t arg, int fd)
{
	int err = say(rd, op, arg, 0, fd);

	return err ? err : hear_result(rd);
}

/* Takes one message with answers, which may be hostile: all lengths are checked. */
static int hear_some(struct reader *rd, reader_take_fn fn, void *ctx)
{
	ssize_t got = hear(rd, rd->answers, sizeof(rd->answers));
	size_t len = got > 0 ? (size_t)got : 0, at = 0;
	char name[READER_NAME_MAX + 1];
	struct reader_answer a;
	int err = 0;

	if (!len)
		return -EPIPE;
	while (!err && at < len && rd->n_answered < rd->n_asked) {
		if (len - at < sizeof(a))
			return -EPIPE;
		memcpy(&a, rd->answers + at, sizeof(a));
		at += sizeof(a);
		if (a.len > len - at || a.len > READER_NAME_MAX)
			return -EPIPE;
		memcpy(name, rd->answers + at, a.len);
		name[a.len] = '\0';
		at += a.len;
		err = fn(ctx, rd->n_answered++, &a, a.flags & READER_NAMED ? name : NULL);
	}
	return err;
}

/* Takes n answers. */
static int hear_answers(struct reader *rd, size_t n, reader_take_fn fn, void *ctx)
{
	int err = 0;

	rd->n_asked = n;
	while (!err && rd->n_answered < n)
		err = hear_some(rd, fn, ctx);
	return err;
}

void reader_close(struct reader *rd)
{
	if (!rd)
		return;
	close(rd->socket);
	free(rd);
}

/*
 * Starts a reader. One with COPY_PATIENCE_NS works while events are recorded, and does not get the
 * recorder's priority. 0 or a negative errno.
 */
static int start(struct reader **out, struct readers *r, uint64_t patience_ns)
{
	struct reader_start first = { .is_low = is_low_here() };
	struct timeval patience = { .tv_sec = (time_t)(PATIENCE_NS / 1000000000u) };
	struct reader *rd;
	int socket;

	*out = NULL;
	if (can_fork(r) && patience_ns == PATIENCE_NS)
		follow(r->pid, &r->nice);
	else if (can_fork(r))
		set_nice(r->pid, &r->nice, r->usual);
	socket = fork_process(r, &first);
	if (socket < 0)
		return socket;
	rd = calloc(1, sizeof(*rd));
	if (!rd) {
		close(socket);
		return -ENOMEM;
	}
	rd->socket = socket;
	rd->is_low = first.is_low;
	rd->nice = r->nice;
	rd->patience_ns = patience_ns;
	setsockopt(rd->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	*out = rd;
	return 0;
}

/* Receives the reader's first message. 0 or a negative errno. */
static int hear_hello(struct reader *rd)
{
	struct reader_hello hello;
	int err = hear_exactly(rd, &hello, sizeof(hello));

	if (!err)
		rd->pid = hello.pid;
	return err;
}

/* ---- ELF files ----------------------------------------------------------------------------- */

static int hear_file(struct reader *rd, struct reader_file *file)
{
	int err = hear_exactly(rd, file, sizeof(*file));

	if (!err && (file->err || file->n_segments > READER_SEGMENTS_MAX ||
		     !debugfile_is_sane(&file->wanted)))
		err = file->err < 0 ? file->err : -EPIPE;
	return err;
}

int reader_open(struct reader **out, struct readers *r, int fd, struct reader_file *file)
{
	int err = start(out, r, PATIENCE_NS);

	if (err)
		return err;
	err = say(*out, READER_OPEN, 0, 0, fd);
	if (!err)
		err = hear_hello(*out);
	if (!err)
		err = hear_file(*out, file);
	if (err) {
		reader_close(*out);
		*out = NULL;
	}
	return err;
}

bool reader_add_debug(struct reader *rd, int fd, enum debugfile_claim claim)
{
	int taken = ask(rd, READER_DEBUG, claim, fd);

	close(fd);
	return taken > 0;
}

void reader_add_minidebug(struct reader *rd)
{
	(void)say(rd, READER_MINIDEBUG, 0, 0, -1);
}

int reader_offsets(struct reader *rd, const uint64_t *offsets, size_t n)
{
	int err = 0;

	rd->n_asked = n;
	for (size_t i = 0; !err && i < n;) {
		uint32_t batch = n - i < READER_BATCH ? (uint32_t)(n - i) : READER_BATCH;

		memcpy(rd->request.values, offsets + i, batch * sizeof(*offsets));
		err = say(rd, READER_ASK, 0, batch, -1);
		i += batch;
	}
	return err;
}

int reader_find(struct reader *rd, reader_take_fn fn, void *ctx)
{
	int err = say(rd, READER_FIND, 0, 0, -1);

	return err ? err : hear_answers(rd, rd->n_asked, fn, ctx);
}

/* ---- without waiting ----------------------------------------------------------------------- */

int reader_begin(struct reader **out, struct readers *r, int fd)
{
	int err = start(out, r, COPY_PATIENCE_NS);

	if (err)
		return err;
	err = say(*out, READER_OPEN, 0, 0, fd);
	if (err) {
		reader_close(*out);
		*out = NULL;
	}
	return err;
}

bool reader_wait(struct reader *rd, uint64_t wait_ns)
{
	struct timespec left = { .tv_sec = 0, .tv_nsec = (long)wait_ns };
	struct pollfd in = { .fd = rd->socket, .events = POLLIN };

	return ppoll(&in, 1, &left, NULL) > 0;
}

int reader_begun(struct reader *rd, struct reader_file *file)
{
	int err;

	if (!rd->pid) {
		err = hear_hello(rd);
		return err ? err : -EAGAIN;
	}
	return hear_file(rd, file);
}

int reader_find_begin(struct reader *rd)
{
	return say(rd, READER_FIND, 0, 0, -1);
}

int reader_found(struct reader *rd, reader_take_fn fn, void *ctx)
{
	int err = rd->n_answered < rd->n_asked ? hear_some(rd, fn, ctx) : 0;

	return err ? err : rd->n_answered < rd->n_asked ? -EAGAIN : 0;
}

void reader_kill(struct reader *rd, struct readers *r)
{
	if (rd && rd->pid)
		readers_end(r, rd->pid);
	reader_close(rd);
}

/* ---- copies -------------------------------------------------------------------------------- */

static int copy(struct reader *rd, int from, int to, uint32_t max_bytes)
{
	struct reader_file file;
	int err = say(rd, READER_OPEN, 0, 0, from);

	if (!err)
		err = hear_hello(rd);
	if (!err)
		err = hear_exactly(rd, &file, sizeof(file));
	return err ? err : ask(rd, READER_COPY, max_bytes, to);
}

int reader_copy(struct readers *r, int from, int to, uint32_t max_bytes)
{
	struct reader *rd;
	int err;

	if (r && r->late >= COPIES_LATE_MAX)
		return -ETIMEDOUT;
	err = start(&rd, r, COPY_PATIENCE_NS);
	if (err)
		return err;
	err = copy(rd, from, to, max_bytes);
	if (err == -ETIMEDOUT) {
		r->late++;
		reader_kill(rd, r);
	} else {
		reader_close(rd);
	}
	return err;
}

/* ---- generated code ------------------------------------------------------------------------ */

static int say_addresses(struct reader *rd, const struct perfmap_address *a, size_t n)
{
	int err = 0;

	for (size_t i = 0; !err && i < n;) {
		uint32_t k = 0;

		for (; k < READER_BATCH && i < n; i++) {
			rd->request.values[k++] = a[i].addr;
			rd->request.values[k++] = a[i].time_ns;
		}
		err = say(rd, READER_ASK_CODE, 0, k, -1);
	}
	return err;
}

static int begin_code(struct reader **out, struct readers *r, uint64_t patience_ns, int perf_map,
		      int jitdump)
{
	int err = start(out, r, patience_ns);

	if (err)
		return err;
	if (perf_map >= 0)
		err = say(*out, READER_PERF_MAP, 0, 0, perf_map);
	if (!err && jitdump >= 0)
		err = say(*out, READER_JITDUMP, 0, 0, jitdump);
	if (err) {
		reader_close(*out);
		*out = NULL;
	}
	return err;
}

int reader_generated(struct readers *r, int perf_map, int jitdump, const struct perfmap_address *a,
		     size_t n, reader_take_fn fn, void *ctx)
{
	struct reader *rd;
	int err = begin_code(&rd, r, PATIENCE_NS, perf_map, jitdump);

	if (!err)
		err = reader_ask_code(rd, a, n);
	if (!err)
		err = hear_result(rd);
	if (!err)
		err = hear_answers(rd, n, fn, ctx);
	reader_close(rd);
	return err;
}

int reader_begin_code(struct reader **out, struct readers *r, int perf_map, int jitdump)
{
	return begin_code(out, r, COPY_PATIENCE_NS, perf_map, jitdump);
}

int reader_ask_code(struct reader *rd, const struct perfmap_address *a, size_t n)
{
	int err = hear_hello(rd);

	if (!err)
		err = say_addresses(rd, a, n);
	if (!err)
		err = say(rd, READER_FIND_CODE, 0, 0, -1);
	rd->n_asked = n;
	return err;
}

int reader_found_code(struct reader *rd, reader_take_fn fn, void *ctx)
{
	int err;

	if (rd->has_read)
		return reader_found(rd, fn, ctx);
	err = hear_result(rd);
	rd->has_read = true;
	return err ? err : -EAGAIN;
}
