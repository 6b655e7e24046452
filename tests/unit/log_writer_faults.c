// SPDX-License-Identifier: GPL-2.0-or-later
/* The writer when the kernel fails it, which a shim sees to. */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "log/writer.h"
#include "writer_faults.h"

#define TOTAL (9u << 20)
/*
 * A test that takes longer than this hangs. The longest makes 5000 pauses of a millisecond, each of
 * which takes some more where other programs have the CPUs.
 */
#define HANG_S 300
/* How long a reader waits for the writer to get stuck, which it does after eight buffers. */
#define STUCK_MS 20000

/* ---- what is written, and what arrives ----------------------------------------------------- */

/* Bytes that say where they stand, so that any misplaced piece shows. */
static void pattern(uint8_t *p, size_t len, uint64_t at)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)((at + i) * 2654435761u >> 13);
}

/* Writes TOTAL bytes in pieces and closes the writer. Returns its error, the same all along. */
static int write_all(struct writer *w)
{
	static uint8_t buf[100000];
	int err = 0, closed;

	for (uint64_t at = 0; at < TOTAL && !err;) {
		size_t n = sizeof(buf) - at % 977;

		if (n > TOTAL - at)
			n = (size_t)(TOTAL - at);
		pattern(buf, n, at);
		err = writer_put(w, buf, n);
		at += n;
		if (!err && at % 5 == 0)
			err = writer_flush(w);
	}
	if (err)
		assert_int_equal(writer_put(w, buf, 1), err); /* it stays with its first error */
	closed = writer_close(w);
	if (err)
		assert_int_equal(closed, err);
	return closed;
}

/* The bytes of the file from offset on are the pattern from its beginning. Returns how many. */
static uint64_t check_file(int fd, off_t offset)
{
	uint8_t got[4096], want[4096];
	uint64_t at = 0;
	ssize_t n;

	while ((n = pread(fd, got, sizeof(got), offset + (off_t)at)) > 0) {
		pattern(want, (size_t)n, at);
		assert_memory_equal(got, want, (size_t)n);
		at += (uint64_t)n;
	}
	assert_int_equal(n, 0);
	return at;
}

static int unlinked_file(void)
{
	char path[] = "/tmp/writer-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

/* A whole recording into a file under these faults. Returns its error; *bytes: what is there. */
static int through_file(struct faults f, uint64_t *bytes, char *method, size_t method_size)
{
	int fd = unlinked_file(), err;
	struct writer *w;

	faults = f;
	assert_int_equal(writer_new(&w, fd), 0);
	if (method)
		snprintf(method, method_size, "%s", writer_method(w));
	err = write_all(w);
	*bytes = check_file(fd, 0);
	close(fd);
	return err;
}

struct reader {
	int fd;
	bool is_late; /* reads nothing until a wait of the writer has failed */
	uint64_t wrong, bytes;
};

static void *read_all(void *arg)
{
	struct reader *r = arg;
	uint8_t got[5000], want[5000];
	ssize_t n;

	for (int ms = 0; r->is_late && ms < STUCK_MS && !atomic_load(&failed_waits); ms++)
		usleep(1000);
	while ((n = read(r->fd, got, sizeof(got))) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		pattern(want, (size_t)n, r->bytes);
		r->wrong += memcmp(got, want, (size_t)n) != 0;
		r->bytes += (uint64_t)n;
	}
	return NULL;
}

/* Likewise into a pipe with this reader, where what comes out has to be in order. */
static int to_reader(struct reader r, struct faults f, uint64_t *bytes)
{
	pthread_t thread;
	struct writer *w;
	int p[2], err;

	faults = f;
	failed_waits = 0;
	assert_int_equal(pipe(p), 0);
	r.fd = p[0];
	assert_int_equal(pthread_create(&thread, NULL, read_all, &r), 0);
	assert_int_equal(writer_new(&w, p[1]), 0);
	err = write_all(w);
	close(p[1]);
	pthread_join(thread, NULL);
	close(p[0]);
	assert_int_equal(r.wrong, 0);
	*bytes = r.bytes;
	return err;
}

static int through_pipe(struct faults f, uint64_t *bytes)
{
	return to_reader((struct reader) { 0 }, f, bytes);
}

static int begin(void **state)
{
	(void)state;
	faults = (struct faults) { 0 };
	signal(SIGPIPE, SIG_IGN);
	alarm(HANG_S);
	return pipe2(silent_pipe, O_CLOEXEC);
}

static int end(void **state)
{
	(void)state;
	alarm(0);
	close(silent_pipe[0]);
	close(silent_pipe[1]);
	return 0;
}

/* The ring where it can be had, and plain writes: both have to stand the same. */
static const int ways[] = { 0, -ENOSYS };

/* ---- the tests ----------------------------------------------------------------------------- */

static void short_writes_are_continued(void **state)
{
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct faults f = { .init_err = ways[i], .short_every = 1 };

		assert_int_equal(through_file(f, &bytes, NULL, 0), 0);
		assert_int_equal(bytes, TOTAL);
		assert_true(faults.shortened > 100);
		assert_int_equal(through_pipe(f, &bytes), 0);
		assert_int_equal(bytes, TOTAL);
		assert_true(faults.shortened > 100);
	}
}

static void writes_that_were_interrupted_or_found_no_room_are_made_again(void **state)
{
	static const int errors[] = { -EINTR, -EAGAIN };
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct faults f = {
			.init_err = ways[i / 2],
			.write_err = errors[i % 2],
			.write_from = 3,
			.write_to = 20,
			.short_every = 4,
		};

		assert_int_equal(through_file(f, &bytes, NULL, 0), 0);
		assert_int_equal(bytes, TOTAL);
		assert_int_equal(faults.failed, 18);
		assert_int_equal(through_pipe(f, &bytes), 0);
		assert_int_equal(bytes, TOTAL);
		assert_int_equal(faults.failed, 18);
	}
}

/* A file never is without room for a moment: after some seconds it is an error, not a hang. */
static void a_file_that_always_says_try_again_is_given_up(void **state)
{
	struct faults f = { .write_err = -EAGAIN, .write_from = 2, .write_to = UINT32_MAX };
	uint64_t bytes;

	(void)state;
	assert_int_equal(through_file(f, &bytes, NULL, 0), -EAGAIN);
	assert_true(bytes < TOTAL);
}

/* Only one write fails, those around it go through: the file has to end where the hole begins. */
static void a_failed_write_ends_the_file_before_the_hole(void **state)
{
	static const int errors[] = { -EIO, -ENOSPC, -EDQUOT, -EFBIG };
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		struct faults f = {
			.init_err = ways[i / 4],
			.write_err = errors[i % 4],
			.write_from = 5,
			.write_to = 5,
			.short_every = 3, /* so that a piece of it is there already, too */
		};

		assert_int_equal(through_file(f, &bytes, NULL, 0), errors[i % 4]);
		assert_int_equal(faults.failed, 1);
		assert_in_range(bytes, 1, TOTAL - 1);
		assert_int_equal(through_pipe(f, &bytes), errors[i % 4]);
		assert_int_equal(faults.failed, 1);
		assert_in_range(bytes, 1, TOTAL - 1);
	}
}

/* Zero bytes taken of more than zero, for ever: neither a hang nor a loss that nobody is told of.
 */
static void a_write_that_takes_nothing_is_an_error(void **state)
{
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct faults f = {
			.init_err = ways[i], .take_nothing = true, .write_from = 6, .write_to = 6
		};

		assert_int_equal(through_file(f, &bytes, NULL, 0), -EIO);
		assert_in_range(bytes, 1, TOTAL - 1);
		assert_int_equal(through_pipe(f, &bytes), -EIO);
		assert_in_range(bytes, 1, TOTAL - 1);
	}
}

static void without_io_uring_it_writes_plainly_and_says_why(void **state)
{
	char method[96], want[96];
	uint64_t bytes;
	static const int errors[] = { -EPERM, -ENOSYS, -ENOMEM };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct faults f = { .init_err = errors[i] };

		assert_int_equal(through_file(f, &bytes, method, sizeof(method)), 0);
		assert_int_equal(bytes, TOTAL);
		snprintf(want, sizeof(want), "plain writes (io_uring: %s)", strerror(-errors[i]));
		assert_string_equal(method, want);
		assert_int_equal(through_pipe(f, &bytes), 0);
		assert_int_equal(bytes, TOTAL);
	}
}

/* As under a filter that knows io_uring_enter() only. */
static void a_ring_that_may_not_be_used_is_noticed_at_once(void **state)
{
	struct faults f = { .submit_err = -EPERM, .submit_from = 1, .submit_to = UINT32_MAX };
	char method[96];
	uint64_t bytes;

	(void)state;
	assert_int_equal(through_file(f, &bytes, method, sizeof(method)), 0);
	assert_int_equal(bytes, TOTAL);
	assert_string_equal(method, "plain writes (io_uring: Operation not permitted)");
	assert_int_equal(faults.failed, 1);
}

static void without_registered_buffers_it_uses_plain_ones(void **state)
{
	struct faults f = { .register_err = -ENOMEM };
	char method[96];
	uint64_t bytes;

	(void)state;
	assert_int_equal(through_file(f, &bytes, method, sizeof(method)), 0);
	assert_int_equal(bytes, TOTAL);
	if (strncmp(method, "plain", 5))
		assert_string_equal(method, "io_uring");
}

/* Where the kernel running the tests has no ring, there is nothing of it to fail. */
static bool has_ring(void)
{
	struct io_uring ring;

	faults = (struct faults) { 0 };
	if (io_uring_queue_init(2, &ring, 0))
		return false;
	io_uring_queue_exit(&ring);
	return true;
}

static void requests_that_the_kernel_has_no_memory_for_are_submitted_again(void **state)
{
	static const int errors[] = { -EAGAIN, -EBUSY, -EINTR, 0 };
	uint64_t bytes;

	(void)state;
	if (!has_ring())
		skip();
	for (size_t i = 0; i < 4; i++) {
		struct faults f = { .submit_err = errors[i], .submit_from = 4, .submit_to = 40 };

		assert_int_equal(through_file(f, &bytes, NULL, 0), 0);
		assert_int_equal(bytes, TOTAL);
		assert_int_equal(faults.failed, 37);
		assert_int_equal(through_pipe(f, &bytes), 0);
		assert_int_equal(bytes, TOTAL);
	}
}

static void a_ring_that_fails_midway_is_left_for_plain_writes(void **state)
{
	struct faults f = {
		.submit_err = -EPERM, .submit_from = 7, .submit_to = UINT32_MAX, .short_every = 3
	};
	uint64_t bytes;

	(void)state;
	if (!has_ring())
		skip();
	assert_int_equal(through_file(f, &bytes, NULL, 0), 0);
	assert_int_equal(bytes, TOTAL);
	assert_int_equal(faults.failed, 1);
	assert_int_equal(through_pipe(f, &bytes), 0);
	assert_int_equal(bytes, TOTAL);
	assert_int_equal(faults.failed, 1);
}

static void completions_that_may_not_be_waited_for_are_looked_for(void **state)
{
	struct faults f = { .wait_err = -EPERM, .wait_from = 1 };
	uint64_t bytes;

	(void)state;
	if (!has_ring())
		skip();
	assert_int_equal(to_reader((struct reader) { .is_late = true }, f, &bytes), 0);
	assert_int_equal(bytes, TOTAL);
	assert_true(failed_waits >= 1);
}

/* Neither that nor a write that never ends: the file is cut before it, and nobody hangs. */
static void a_write_that_is_never_heard_of_again_is_given_up(void **state)
{
	struct faults f = { .wait_err = -EPERM, .wait_from = 1, .swallow = 4 };
	uint64_t bytes;

	(void)state;
	if (!has_ring())
		skip();
	assert_int_equal(through_file(f, &bytes, NULL, 0), -EPERM);
	assert_in_range(bytes, 1, TOTAL - 1);
}

static void nothing(int sig)
{
	(void)sig;
}

/* Real signals all the time, without SA_RESTART, into each wait. */
static void a_storm_of_signals_changes_nothing(void **state)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec often = { { 0, 500000 }, { 0, 500000 } };
	uint64_t bytes;
	timer_t timer;

	(void)state;
	sigaction(SIGUSR1, &sa, NULL);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &ev, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		struct faults f = { .init_err = ways[i] };

		assert_int_equal(through_file(f, &bytes, NULL, 0), 0);
		assert_int_equal(bytes, TOTAL);
		assert_int_equal(through_pipe(f, &bytes), 0);
		assert_int_equal(bytes, TOTAL);
	}
	timer_delete(timer);
}

static off_t size_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

/* chaincap -o - >>file: the kernel appends, whatever offset is asked for. */
static void what_was_in_a_file_that_is_appended_to_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		int fd = unlinked_file();
		struct writer *w;

		faults = (struct faults) { 0 };
		assert_int_equal(__real_write(fd, "before", 6), 6);
		assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
		faults = (struct faults) { .init_err = ways[i % 2], .short_every = 3 };
		if (i / 2) {
			faults.write_err = -EIO;
			faults.write_from = faults.write_to = 9;
		}
		assert_int_equal(writer_new(&w, fd), 0);
		assert_int_equal(write_all(w), i / 2 ? -EIO : 0);
		if (i / 2)
			assert_in_range(check_file(fd, 6), 1, TOTAL - 1);
		else
			assert_int_equal(check_file(fd, 6), TOTAL);
		assert_int_equal(size_of(fd), 6 + (off_t)check_file(fd, 6));
		close(fd);
	}
}

/* { chaincap -o -; echo after; } >file */
static void who_writes_next_goes_on_behind(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		int fd = unlinked_file();
		struct writer *w;

		faults = (struct faults) { 0 };
		assert_int_equal(__real_write(fd, "before", 6), 6);
		faults = (struct faults) { .init_err = ways[i] };
		assert_int_equal(writer_new(&w, fd), 0);
		assert_int_equal(write_all(w), 0);
		assert_int_equal(lseek(fd, 0, SEEK_CUR), 6 + TOTAL);
		assert_int_equal(check_file(fd, 6), TOTAL);
		close(fd);
	}
}

#define FAULT(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAULT(short_writes_are_continued),
		FAULT(writes_that_were_interrupted_or_found_no_room_are_made_again),
		FAULT(a_file_that_always_says_try_again_is_given_up),
		FAULT(a_failed_write_ends_the_file_before_the_hole),
		FAULT(a_write_that_takes_nothing_is_an_error),
		FAULT(without_io_uring_it_writes_plainly_and_says_why),
		FAULT(a_ring_that_may_not_be_used_is_noticed_at_once),
		FAULT(without_registered_buffers_it_uses_plain_ones),
		FAULT(requests_that_the_kernel_has_no_memory_for_are_submitted_again),
		FAULT(a_ring_that_fails_midway_is_left_for_plain_writes),
		FAULT(completions_that_may_not_be_waited_for_are_looked_for),
		FAULT(a_write_that_is_never_heard_of_again_is_given_up),
		FAULT(a_storm_of_signals_changes_nothing),
		FAULT(what_was_in_a_file_that_is_appended_to_stays),
		FAULT(who_writes_next_goes_on_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
