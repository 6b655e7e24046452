/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writer_faults.h - a shim between the writer and the kernel, for tests of what a kernel cannot be
 * made to do, or not at the moment that counts. The linker puts __wrap_NAME() in the place of
 * NAME() (see the Makefile). All that is not to fail goes on to the real kernel. A test sets
 * `faults`, and reads there what came of it.
 */
#pragma once

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

/* What the shim is to do; all zero: nothing. Calls are counted from 1; number 0 is none of them. */
static struct faults {
	int init_err, register_err;	     /* of every call */
	int submit_err;			     /* what submitting says ... */
	unsigned int submit_from, submit_to; /* ... from the n-th request to the m-th */
	int write_err;			   /* what a write says: through the ring or plainly ... */
	unsigned int write_from, write_to; /* ... likewise */
	bool take_nothing;		   /* not an error: zero bytes */
	unsigned int short_every;	   /* each n-th write takes only a part */
	int wait_err;			   /* what waiting says, from the n-th time on */
	unsigned int wait_from;
	unsigned int swallow; /* the n-th request is never completed */
	/* How often it came to that. */
	unsigned int submits, writes, waits, failed, shortened;
} faults;

static atomic_uint failed_waits; /* what a reader goes by, in its own thread */
static int silent_pipe[2];	 /* nothing ever comes through it */

static bool is_between(unsigned int n, unsigned int from, unsigned int to)
{
	return from && n >= from && n <= to;
}

/* What is to become of the next write: an error to give, or 0 and a length to cut it to. */
static int next_write(size_t *len)
{
	unsigned int n = ++faults.writes;

	if (is_between(n, faults.write_from, faults.write_to)) {
		faults.failed++;
		if (faults.take_nothing)
			*len = 0;
		return faults.write_err;
	}
	if (faults.short_every && n % faults.short_every == 0 && *len > 1) {
		faults.shortened++;
		*len = *len / 3 + 1;
	}
	return 0;
}

/* ---- in the place of the real ones -------------------------------------------------------- */

/* The names are the linker's. */
int __wrap_io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags);
int __real_io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags);
int __wrap_io_uring_register_buffers(struct io_uring *ring, const struct iovec *iov,
				     unsigned int n);
int __real_io_uring_register_buffers(struct io_uring *ring, const struct iovec *iov,
				     unsigned int n);
int __wrap_io_uring_submit(struct io_uring *ring);
int __real_io_uring_submit(struct io_uring *ring);
int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned int submit,
			      unsigned int wait, sigset_t *sigmask);
int __real___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned int submit,
			      unsigned int wait, sigset_t *sigmask);
ssize_t __wrap_pwrite(int fd, const void *p, size_t len, off_t offset);
ssize_t __real_pwrite(int fd, const void *p, size_t len, off_t offset);
ssize_t __wrap_write(int fd, const void *p, size_t len);
ssize_t __real_write(int fd, const void *p, size_t len);

int __wrap_io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags)
{
	return faults.init_err ? faults.init_err : __real_io_uring_queue_init(entries, ring, flags);
}

int __wrap_io_uring_register_buffers(struct io_uring *ring, const struct iovec *iov, unsigned int n)
{
	return faults.register_err ? faults.register_err
				   : __real_io_uring_register_buffers(ring, iov, n);
}

/* The completion of the request with this number, which the kernel has just given. */
static struct io_uring_cqe *completion_of(struct io_uring *ring, uint64_t data)
{
	unsigned int tail = __atomic_load_n(ring->cq.ktail, __ATOMIC_ACQUIRE);

	for (unsigned int at = *ring->cq.khead; at != tail; at++) {
		struct io_uring_cqe *cqe = &ring->cq.cqes[at & ring->cq.ring_mask];

		if (cqe->user_data == data)
			return cqe;
	}
	return NULL;
}

int __wrap_io_uring_submit(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = &ring->sq.sqes[(ring->sq.sqe_tail - 1) & ring->sq.ring_mask];
	uint64_t data = sqe->user_data;
	size_t len = sqe->len;
	int err, n;

	faults.submits++;
	if (is_between(faults.submits, faults.submit_from, faults.submit_to)) {
		faults.failed++;
		return faults.submit_err;
	}
	if (sqe->opcode == IORING_OP_NOP)
		return __real_io_uring_submit(ring);
	err = next_write(&len);
	sqe->len = (unsigned int)len;
	if (faults.swallow && faults.writes == faults.swallow) {
		faults.failed++;
		io_uring_prep_poll_add(sqe, silent_pipe[0], POLLIN);
		sqe->user_data = data;
		return __real_io_uring_submit(ring);
	}
	if (err) {
		/* Does nothing, completes at once, and then says what we want. */
		io_uring_prep_nop(sqe);
		sqe->user_data = data;
	}
	n = __real_io_uring_submit(ring);
	if (err && n > 0) {
		struct io_uring_cqe *cqe = completion_of(ring, data);

		if (!cqe)
			abort();
		cqe->res = err;
	}
	return n;
}

int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned int submit,
			      unsigned int wait, sigset_t *sigmask)
{
	if (wait && faults.wait_from && ++faults.waits >= faults.wait_from) {
		faults.failed++;
		failed_waits++;
		return faults.wait_err;
	}
	return __real___io_uring_get_cqe(ring, cqe, submit, wait, sigmask);
}

ssize_t __wrap_pwrite(int fd, const void *p, size_t len, off_t offset)
{
	int err = next_write(&len);

	errno = -err;
	return err ? -1 : __real_pwrite(fd, p, len, offset);
}

ssize_t __wrap_write(int fd, const void *p, size_t len)
{
	int err = next_write(&len);

	errno = -err;
	return err ? -1 : __real_write(fd, p, len);
}
