// SPDX-License-Identifier: GPL-2.0-or-later
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFERS 8u
#define BUFFER_SIZE (256u << 10)
#define MEMORY_SIZE ((size_t)BUFFERS * BUFFER_SIZE)
/* Limit of a wait for a transient error to pass. */
#define RETRY_MAX_MS 5000u

struct buffer {
	enum { FREE, READY, IN_FLIGHT } state;
	uint64_t offset; /* in the file */
	size_t len, done;
	uint8_t *bytes;
};

struct writer {
	int fd;
	bool seekable; /* else one write at a time, in order */
	bool has_ring; /* to be closed */
	bool uring;    /* the next writes go through the ring */
	bool registered;
	bool abandoned; /* the kernel may still read the buffers: they are not freed */
	struct io_uring ring;
	uint8_t *memory;
	struct buffer buffers[BUFFERS];
	/* Used in turn: n from first on are ready or in flight, the next one is being filled. */
	unsigned int first, n, in_flight;
	uint64_t next_offset;
	unsigned int tries; /* transient errors in a row */
	int error;
	uint64_t good; /* after an error: everything before this offset has been written */
	char method[96];
};

/* ---- the ring ---------------------------------------------------------------------------- */

/* The next buffers are written with write(); those in flight are still waited for. */
static void leave_ring(struct writer *w, int err)
{
	w->uring = false;
	snprintf(w->method, sizeof(w->method), "plain writes (io_uring: %s)", strerror(-err));
}

/* Submits a no-op: a seccomp filter may allow the ring but not its use. */
static int try_ring(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	int n;

	io_uring_prep_nop(io_uring_get_sqe(ring));
	n = io_uring_submit(ring);
	if (n == 1)
		n = io_uring_wait_cqe(ring, &cqe);
	else if (n >= 0)
		n = -EIO;
	if (!n)
		io_uring_cqe_seen(ring, cqe);
	return n;
}

static void open_ring(struct writer *w)
{
	struct iovec iov[BUFFERS];
	int err = io_uring_queue_init(BUFFERS, &w->ring, 0);

	w->has_ring = !err;
	if (!err)
		err = try_ring(&w->ring);
	if (err) {
		leave_ring(w, err);
		return;
	}
	for (unsigned int i = 0; i < BUFFERS; i++)
		iov[i] = (struct iovec) { w->buffers[i].bytes, BUFFER_SIZE };
	w->uring = true;
	w->registered = !io_uring_register_buffers(&w->ring, iov, BUFFERS);
	snprintf(w->method, sizeof(w->method), "io_uring%s",
		 w->registered ? ", registered buffers" : "");
}

int writer_new(struct writer **out, int fd)
{
	struct writer *w = calloc(1, sizeof(*w));
	struct stat st;

	if (!w)
		return -ENOMEM;
	w->memory =
		mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->memory == MAP_FAILED) {
		free(w);
		return -ENOMEM;
	}
	w->fd = fd;
	/* A file opened for appending (>>) ignores offsets: only the order of writes counts. */
	w->seekable = !fstat(fd, &st) && S_ISREG(st.st_mode) && !(fcntl(fd, F_GETFL) & O_APPEND);
	if (w->seekable) {
		/* Standard output may be a file with earlier output of other programs. */
		off_t at = lseek(fd, 0, SEEK_CUR);

		w->next_offset = at > 0 ? (uint64_t)at : 0;
	}
	for (unsigned int i = 0; i < BUFFERS; i++)
		w->buffers[i].bytes = w->memory + (size_t)i * BUFFER_SIZE;
	open_ring(w);
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

static void pause_1ms(void)
{
	nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
}

/*
 * Waits after a transient error. A full non-blocking pipe returns -EAGAIN at once: wait for room,
 * without limit, because its reader decides. A file is tried for RETRY_MAX_MS; then this returns
 * false.
 */
static bool try_again(struct writer *w, int err)
{
	struct pollfd p = { .fd = w->fd, .events = POLLOUT };

	if (w->seekable) {
		pause_1ms();
		return ++w->tries < RETRY_MAX_MS;
	}
	if (err == -EAGAIN)
		poll(&p, 1, 100);
	return true;
}

static void write_plainly(struct writer *w, struct buffer *b)
{
	while (!w->error && b->done < b->len) {
		size_t len = b->len - b->done;
		ssize_t n = w->seekable ? pwrite(w->fd, b->bytes + b->done, len,
						 (off_t)(b->offset + b->done))
					: write(w->fd, b->bytes + b->done, len);
		int err = n < 0 ? -errno : n ? 0 : -EIO;

		if (err && !(is_transient(err) && try_again(w, err))) {
			set_error(w, err, b->offset + b->done);
		} else if (!err) {
			b->done += (size_t)n;
			w->tries = 0;
		}
	}
	b->state = FREE;
}

/* Submits the rest of buffer i. Returns 0, or a negative errno if it was not submitted. */
static int submit_to_ring(struct writer *w, unsigned int i)
{
	struct buffer *b = &w->buffers[i];
	struct io_uring_sqe *sqe = io_uring_get_sqe(&w->ring);
	unsigned int len = (unsigned int)(b->len - b->done);
	uint64_t offset = w->seekable ? b->offset + b->done : UINT64_MAX;
	int n;

	if (!sqe)
		return -EBUSY;
	if (w->registered)
		io_uring_prep_write_fixed(sqe, w->fd, b->bytes + b->done, len, offset, (int)i);
	else
		io_uring_prep_write(sqe, w->fd, b->bytes + b->done, len, offset);
	io_uring_sqe_set_data64(sqe, i);
	for (unsigned int tries = 0;; tries++) {
		n = io_uring_submit(&w->ring);
		if (n > 0)
			return 0;
		/* Nothing submitted and no error: treat it as a lack of memory. */
		if (!n)
			n = -EAGAIN;
		if (!(is_transient(n) || n == -EBUSY) || tries == RETRY_MAX_MS)
			return n;
		pause_1ms();
	}
}

static void submit(struct writer *w, unsigned int i)
{
	struct buffer *b = &w->buffers[i];
	int err = w->uring ? submit_to_ring(w, i) : 0;

	/* The failed request stays in the ring, which is never submitted again: no double write. */
	if (err)
		leave_ring(w, err);
	if (!w->uring) {
		write_plainly(w, b);
		return;
	}
	b->state = IN_FLIGHT;
	w->in_flight++;
}

/* Submits the ready buffers: all to a file, only the oldest to a pipe, where order counts. */
static void submit_ready(struct writer *w)
{
	for (unsigned int k = 0; k < w->n; k++) {
		unsigned int i = (w->first + k) % BUFFERS;

		if (w->error && w->buffers[i].state == READY) {
			/* A buffer that is not written leaves a hole: the file is cut before it. */
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
	if (is_transient(res) && try_again(w, res)) {
		b->state = READY;
	} else if (res <= 0) {
		/* A write that takes 0 bytes would be retried for ever. */
		set_error(w, res ? res : -EIO, b->offset + b->done);
	} else {
		w->tries = 0;
		b->done += (size_t)res;
		if (b->done < b->len)
			b->state = READY;
	}
}

/* The state of the writes in flight is unknown: the kernel may still read their buffers. */
static void give_up(struct writer *w, int err)
{
	for (unsigned int k = 0; k < w->n; k++) {
		struct buffer *b = &w->buffers[(w->first + k) % BUFFERS];

		if (b->state != IN_FLIGHT)
			continue;
		set_error(w, err, b->offset + b->done);
		b->state = FREE;
	}
	w->in_flight = 0;
	w->abandoned = true;
}

/* Waits for a completion; polls where waiting is not permitted. Returns 0 or a negative errno. */
static int wait_completion(struct writer *w, struct io_uring_cqe **cqe)
{
	int err;

	do {
		err = io_uring_wait_cqe(&w->ring, cqe);
	} while (is_transient(err));
	if (!err)
		return 0;
	leave_ring(w, err);
	for (unsigned int tries = 0; tries < RETRY_MAX_MS; tries++) {
		if (!io_uring_peek_cqe(&w->ring, cqe))
			return 0;
		pause_1ms();
	}
	return err;
}

/* Takes completions, waiting for one if wait is set and something is in flight. */
static void reap(struct writer *w, bool wait)
{
	struct io_uring_cqe *cqe;
	int err = 0;

	if (wait && w->in_flight)
		err = wait_completion(w, &cqe);
	if (err)
		give_up(w, err);
	while (w->in_flight && !io_uring_peek_cqe(&w->ring, &cqe))
		complete(w, cqe);
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
	/* The next program that writes to the same standard output continues behind the trace. */
	if (w->seekable)
		lseek(w->fd, (off_t)(err ? w->good : w->next_offset), SEEK_SET);
	if (w->has_ring)
		io_uring_queue_exit(&w->ring);
	if (!w->abandoned)
		munmap(w->memory, MEMORY_SIZE);
	free(w);
	return err;
}

const char *writer_method(const struct writer *w)
{
	return w->method;
}
