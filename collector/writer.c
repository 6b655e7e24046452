// SPDX-License-Identifier: GPL-2.0-or-later
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFERS 8u
#define BUFFER_SIZE (256u << 10)

struct buffer {
	enum { FREE, READY, IN_FLIGHT } state;
	uint64_t offset; /* in the file */
	size_t len, done;
	uint8_t *bytes;
};

struct writer {
	int fd;
	bool seekable; /* else: one write at a time, in order */
	bool uring;
	bool registered;
	struct io_uring ring;
	uint8_t *memory;
	struct buffer buffers[BUFFERS];
	/* Used in turn: n from first are the kernel's or wait for it, the next is being filled. */
	unsigned int first, n, in_flight;
	uint64_t next_offset;
	uint64_t written;
	int error;
	uint64_t good; /* after an error: everything before this offset has been written */
	char method[96];
};

/* ---- the file ------------------------------------------------------------------------------ */

/* Under sudo the trace belongs to who called: else chainwalk could not read it without sudo. */
static void give_to_caller(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	char *end;

	if (geteuid() || !uid || !gid)
		return;
	unsigned long u = strtoul(uid, &end, 10);

	if (*end || end == uid)
		return;
	unsigned long g = strtoul(gid, &end, 10);

	if (*end || end == gid)
		return;
	/* If it fails the file stays root's: readable with sudo, and no reason to lose a trace. */
	if (fchown(fd, (uid_t)u, (gid_t)g))
		return;
}

static bool is_callers_file(const struct stat *st)
{
	const char *uid = getenv("SUDO_UID");

	if (st->st_nlink != 1)
		return false;
	return st->st_uid == geteuid() ||
	       (!geteuid() && uid && st->st_uid == (uid_t)strtoul(uid, NULL, 10));
}

int writer_open_output(const char *path, char *why, size_t why_size)
{
	struct stat st;
	bool created = true;
	int fd, err;

	if (!strcmp(path, "-"))
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno == EEXIST) {
		created = false;
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	}
	if (fd < 0) {
		err = -errno;
		snprintf(why, why_size, "%s",
			 err == -ELOOP ? "it is a symbolic link; name the file itself"
				       : strerror(-err));
		return err;
	}
	if (fstat(fd, &st)) {
		err = -errno;
		snprintf(why, why_size, "%s", strerror(-err));
		goto fail;
	}
	if (!S_ISREG(st.st_mode))
		return fd;
	if (!created && !is_callers_file(&st)) {
		err = -EPERM;
		snprintf(why, why_size, "it is there already and is not your own file");
		goto fail;
	}
	if ((!created && fchmod(fd, 0600)) || ftruncate(fd, 0)) {
		err = -errno;
		snprintf(why, why_size, "%s", strerror(-err));
		goto fail;
	}
	give_to_caller(fd);
	return fd;
fail:
	close(fd);
	return err;
}

/* ---- the writer ---------------------------------------------------------------------------- */

int writer_new(struct writer **out, int fd)
{
	struct iovec iov[BUFFERS];
	struct writer *w = calloc(1, sizeof(*w));
	struct stat st;
	int err;

	if (!w)
		return -ENOMEM;
	w->memory = aligned_alloc(4096, (size_t)BUFFERS * BUFFER_SIZE);
	if (!w->memory) {
		free(w);
		return -ENOMEM;
	}
	w->fd = fd;
	w->seekable = !fstat(fd, &st) && S_ISREG(st.st_mode);
	if (w->seekable) {
		/* Standard output may be a file that somebody has written to before us. */
		off_t at = lseek(fd, 0, SEEK_CUR);

		w->next_offset = at > 0 ? (uint64_t)at : 0;
	}
	for (unsigned int i = 0; i < BUFFERS; i++) {
		w->buffers[i].bytes = w->memory + (size_t)i * BUFFER_SIZE;
		iov[i] = (struct iovec) { w->buffers[i].bytes, BUFFER_SIZE };
	}
	err = io_uring_queue_init(BUFFERS, &w->ring, 0);
	w->uring = !err;
	if (w->uring)
		w->registered = !io_uring_register_buffers(&w->ring, iov, BUFFERS);
	if (w->uring)
		snprintf(w->method, sizeof(w->method), "io_uring%s",
			 w->registered ? ", registered buffers" : "");
	else
		snprintf(w->method, sizeof(w->method), "plain writes (io_uring: %s)",
			 strerror(-err));
	*out = w;
	return 0;
}

static void set_error(struct writer *w, int err, uint64_t offset)
{
	if (!w->error) {
		w->error = err;
		w->good = offset;
	} else if (offset < w->good) {
		w->good = offset;
	}
}

static bool is_transient(int err)
{
	return err == -EINTR || err == -EAGAIN;
}

/* A non-blocking pipe that is full says EAGAIN at once: wait for room instead of spinning. */
static void wait_for_room(struct writer *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLOUT };

	poll(&p, 1, 100);
}

static void write_plainly(struct writer *w, struct buffer *b)
{
	while (!w->error && b->done < b->len) {
		ssize_t n = w->seekable ? pwrite(w->fd, b->bytes + b->done, b->len - b->done,
						 (off_t)(b->offset + b->done))
					: write(w->fd, b->bytes + b->done, b->len - b->done);

		if (n < 0 && is_transient(-errno))
			wait_for_room(w);
		else if (n <= 0)
			set_error(w, n ? -errno : -EIO, b->offset + b->done);
		else
			b->done += (size_t)n;
	}
	w->written += b->done;
	b->state = FREE;
}

/* Submits buffer i; the kernel has it until its completion. */
static void submit(struct writer *w, unsigned int i)
{
	struct buffer *b = &w->buffers[i];
	struct io_uring_sqe *sqe;
	uint64_t offset = w->seekable ? b->offset + b->done : UINT64_MAX;
	int n;

	if (!w->uring) {
		write_plainly(w, b);
		return;
	}
	sqe = io_uring_get_sqe(&w->ring);
	if (w->registered)
		io_uring_prep_write_fixed(sqe, w->fd, b->bytes + b->done,
					  (unsigned int)(b->len - b->done), offset, (int)i);
	else
		io_uring_prep_write(sqe, w->fd, b->bytes + b->done,
				    (unsigned int)(b->len - b->done), offset);
	io_uring_sqe_set_data64(sqe, i);
	do {
		n = io_uring_submit(&w->ring);
	} while (n < 0 && is_transient(n));
	if (n < 0) {
		set_error(w, n, b->offset + b->done);
		b->state = FREE;
		return;
	}
	b->state = IN_FLIGHT;
	w->in_flight++;
}

/* Submits what is ready: all of it to a file, only the oldest to a pipe, where order counts. */
static void submit_ready(struct writer *w)
{
	for (unsigned int k = 0; k < w->n; k++) {
		unsigned int i = (w->first + k) % BUFFERS;

		if (w->error && w->buffers[i].state == READY) {
			/* What is not written any more leaves a hole: the file ends before it. */
			set_error(w, w->error, w->buffers[i].offset + w->buffers[i].done);
			w->buffers[i].state = FREE;
		}
		if (w->buffers[i].state != READY)
			continue;
		if (!w->seekable && w->in_flight)
			break;
		submit(w, i);
	}
	while (w->n && w->buffers[w->first].state == FREE && w->buffers[w->first].len) {
		w->buffers[w->first].len = w->buffers[w->first].done = 0;
		w->first = (w->first + 1) % BUFFERS;
		w->n--;
	}
}

static void complete(struct writer *w, struct io_uring_cqe *cqe)
{
	struct buffer *b = &w->buffers[io_uring_cqe_get_data64(cqe)];
	int res = cqe->res;

	io_uring_cqe_seen(&w->ring, cqe);
	w->in_flight--;
	b->state = FREE;
	if (is_transient(res)) {
		if (res == -EAGAIN)
			wait_for_room(w);
		b->state = READY;
	} else if (res <= 0) {
		/* A write of more than nothing that takes nothing would be tried for ever. */
		set_error(w, res ? res : -EIO, b->offset + b->done);
	} else {
		b->done += (size_t)res;
		w->written += (uint64_t)res;
		if (b->done < b->len)
			b->state = READY;
	}
}

/* Takes completions, waiting for one if wait is set and something is in flight. */
static void reap(struct writer *w, bool wait)
{
	struct io_uring_cqe *cqe;
	int err = 0;

	if (!w->uring)
		return;
	if (wait && w->in_flight) {
		do {
			err = io_uring_wait_cqe(&w->ring, &cqe);
		} while (is_transient(err));
		if (err)
			set_error(w, err, w->buffers[w->first].offset);
	}
	while (!err && w->in_flight && !io_uring_peek_cqe(&w->ring, &cqe))
		complete(w, cqe);
	if (err)
		w->in_flight = 0;
	submit_ready(w);
}

/* The buffer to fill, waiting for a free one if need be; NULL after an error. */
static struct buffer *filling(struct writer *w)
{
	while (w->n == BUFFERS && !w->error)
		reap(w, true);
	return w->error ? NULL : &w->buffers[(w->first + w->n) % BUFFERS];
}

int writer_flush(struct writer *w)
{
	struct buffer *b;

	reap(w, false);
	b = filling(w);
	if (b && b->len) {
		b->offset = w->next_offset;
		b->done = 0;
		b->state = READY;
		w->next_offset += b->len;
		w->n++;
		submit_ready(w);
	}
	return w->error;
}

int writer_put(struct writer *w, const void *p, size_t len)
{
	const uint8_t *bytes = p;

	while (len) {
		struct buffer *b = filling(w);
		size_t part;

		if (!b)
			return w->error;
		part = BUFFER_SIZE - b->len;
		if (part > len)
			part = len;
		memcpy(b->bytes + b->len, bytes, part);
		b->len += part;
		bytes += part;
		len -= part;
		if (b->len == BUFFER_SIZE && writer_flush(w))
			return w->error;
	}
	return w->error;
}

int writer_close(struct writer *w)
{
	int err;

	writer_flush(w);
	while (w->in_flight || (w->n && !w->error))
		reap(w, true);
	err = w->error;
	if (err && w->seekable && ftruncate(w->fd, (off_t)w->good))
		err = w->error; /* the first error is the one to report */
	if (w->uring)
		io_uring_queue_exit(&w->ring);
	free(w->memory);
	free(w);
	return err;
}

uint64_t writer_written(const struct writer *w)
{
	return w->written;
}

const char *writer_method(const struct writer *w)
{
	return w->method;
}
