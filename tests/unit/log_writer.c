// SPDX-License-Identifier: GPL-2.0-or-later
/* The writer against real files, pipes and a full disk. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "log/writer.h"

/* Bytes that say where they stand, so that any misplaced piece shows. */
static void pattern(uint8_t *p, size_t len, uint64_t at)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)((at + i) * 2654435761u >> 13);
}

#define TOTAL (9u << 20)

static void put_pattern(struct writer *w, size_t total, int *first_error)
{
	static const size_t sizes[] = { 1, 70000, 4096, 65536, 333, 262144, 17 };
	uint8_t *buf = malloc(300000);
	uint64_t at = 0;

	*first_error = 0;
	for (size_t i = 0; at < total && !*first_error; i++) {
		size_t n = sizes[i % (sizeof(sizes) / sizeof(sizes[0]))];

		if (n > total - at)
			n = (size_t)(total - at);
		pattern(buf, n, at);
		*first_error = writer_put(w, buf, n);
		at += n;
		if (!*first_error && i % 5 == 0)
			*first_error = writer_flush(w);
	}
	free(buf);
}

static void check_pattern(int fd, size_t total)
{
	uint8_t got[4096], want[4096];
	uint64_t at = 0;
	ssize_t n;

	while ((n = read(fd, got, sizeof(got))) > 0) {
		pattern(want, (size_t)n, at);
		assert_memory_equal(got, want, (size_t)n);
		at += (uint64_t)n;
	}
	assert_int_equal(at, total);
}

TEST(a_file_gets_every_byte_in_its_place)
{
	char path[] = "/tmp/writer-XXXXXX";
	int fd = mkstemp(path), err;
	struct writer *w;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(writer_new(&w, fd), 0);
	put_pattern(w, TOTAL, &err);
	assert_int_equal(err, 0);
	assert_int_equal(writer_close(w), 0);
	lseek(fd, 0, SEEK_SET);
	check_pattern(fd, TOTAL);
	close(fd);
}

struct reader {
	int fd;
	unsigned int delay_us;
	uint64_t wrong, bytes;
};

static void *slow_reader(void *arg)
{
	struct reader *r = arg;
	uint8_t got[5000], want[5000];
	ssize_t n;

	while ((n = read(r->fd, got, sizeof(got))) > 0) {
		pattern(want, (size_t)n, r->bytes);
		r->wrong += memcmp(got, want, (size_t)n) != 0;
		r->bytes += (uint64_t)n;
		if (r->delay_us && r->bytes % 7 == 0)
			usleep(r->delay_us);
	}
	return NULL;
}

static void through_pipe(int flags)
{
	struct reader r = { .delay_us = 200 };
	pthread_t thread;
	struct writer *w;
	int p[2], err;

	assert_int_equal(pipe(p), 0);
	assert_int_equal(fcntl(p[1], F_SETFL, flags), 0);
	r.fd = p[0];
	assert_int_equal(pthread_create(&thread, NULL, slow_reader, &r), 0);
	assert_int_equal(writer_new(&w, p[1]), 0);
	put_pattern(w, TOTAL, &err);
	assert_int_equal(err, 0);
	assert_int_equal(writer_close(w), 0);
	close(p[1]);
	pthread_join(thread, NULL);
	close(p[0]);
	assert_int_equal(r.wrong, 0);
	assert_int_equal(r.bytes, TOTAL);
}

TEST(a_pipe_gets_every_byte_in_order)
{
	through_pipe(0);
}

TEST(a_full_pipe_that_does_not_block_is_waited_for)
{
	through_pipe(O_NONBLOCK);
}

TEST(a_closed_pipe_is_an_error_with_its_errno)
{
	struct writer *w;
	int p[2], err;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(p), 0);
	close(p[0]);
	assert_int_equal(writer_new(&w, p[1]), 0);
	put_pattern(w, TOTAL, &err);
	if (!err)
		err = writer_close(w);
	else
		assert_int_equal(writer_close(w), err);
	assert_int_equal(err, -EPIPE);
	close(p[1]);
}

TEST(a_device_without_room_is_an_error_with_its_errno)
{
	int fd = open("/dev/full", O_WRONLY), err;
	struct writer *w;

	assert_true(fd >= 0);
	assert_int_equal(writer_new(&w, fd), 0);
	put_pattern(w, TOTAL, &err);
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(writer_close(w), -ENOSPC);
	close(fd);
}

static int set_file_limit(rlim_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit))
		return -1;
	limit.rlim_cur = bytes;
	return setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(a_file_at_its_size_limit_is_cut_back_to_what_is_whole)
{
	char path[] = "/tmp/writer-XXXXXX";
	int fd = mkstemp(path), err;
	struct writer *w;
	struct stat st;

	/* RLIMIT_FSIZE gives short writes at the limit and EFBIG behind it. */
	signal(SIGXFSZ, SIG_IGN);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(set_file_limit(1000000), 0);
	assert_int_equal(writer_new(&w, fd), 0);
	put_pattern(w, TOTAL, &err);
	assert_int_equal(writer_close(w), -EFBIG);
	assert_int_equal(set_file_limit(RLIM_INFINITY), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 1000000);
	lseek(fd, 0, SEEK_SET);
	check_pattern(fd, 1000000);
	close(fd);
}

static char dir[] = "/tmp/writer-dir-XXXXXX";
static char path_in_dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path_in_dir, sizeof(path_in_dir), "%s/trace.bin", dir);
	return 0;
}

static int remove_dir(void **state)
{
	char other[80];

	(void)state;
	snprintf(other, sizeof(other), "%s/other", dir);
	unlink(path_in_dir);
	unlink(other);
	return rmdir(dir);
}

TEST_IN(the_output_is_private_and_emptied, make_dir, remove_dir)
{
	char why[200] = "";
	struct stat st;
	int fd;

	umask(0);
	fd = open(path_in_dir, O_CREAT | O_WRONLY, 0666);
	assert_int_equal(write(fd, "old", 3), 3);
	close(fd);
	fd = writer_open_output(path_in_dir, why, sizeof(why));
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, 0);
	close(fd);
}

TEST_IN(links_are_refused, make_dir, remove_dir)
{
	char why[200], other[80];
	int fd;

	snprintf(other, sizeof(other), "%s/other", dir);
	assert_int_equal(symlink("/dev/null", path_in_dir), 0);
	assert_int_equal(writer_open_output(path_in_dir, why, sizeof(why)), -ELOOP);
	assert_non_null(strstr(why, "symbolic link"));
	unlink(path_in_dir);
	assert_int_equal(writer_open_output("/dev/null", why, sizeof(why)), -ENXIO);
	assert_non_null(strstr(why, "-o -"));
	fd = open(other, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "keep", 4), 4);
	assert_int_equal(link(other, path_in_dir), 0);
	assert_int_equal(writer_open_output(path_in_dir, why, sizeof(why)), -EPERM);
	assert_int_equal(lseek(fd, 0, SEEK_END), 4);
	close(fd);
}

TEST_IN(a_file_has_one_recorder, make_dir, remove_dir)
{
	char why[200];
	bool empty;
	const char *name;
	int fd, claimed, folder = writer_open_folder(path_in_dir, &name, why, sizeof(why));

	assert_true(folder >= 0);
	fd = writer_open_output(path_in_dir, why, sizeof(why));
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "mine", 4), 4);
	assert_int_equal(writer_open_output(path_in_dir, why, sizeof(why)), -EBUSY);
	assert_non_null(strstr(why, "another recorder"));
	assert_int_equal(writer_claim_output(folder, name, &empty, why, sizeof(why)), -EBUSY);
	assert_int_equal(lseek(fd, 0, SEEK_END), 4);
	close(fd);
	claimed = writer_claim_output(folder, name, &empty, why, sizeof(why));
	assert_true(claimed >= 0);
	assert_false(empty);
	assert_int_equal(writer_open_output(path_in_dir, why, sizeof(why)), -EBUSY);
	assert_int_equal(lseek(claimed, 0, SEEK_END), 4);
	close(claimed);
	assert_int_equal(writer_create_output(folder, name, why, sizeof(why)), -EEXIST);
	close(folder);
}

/* A pipe that nobody reads is not waited for, and one that somebody reads gets nothing. */
TEST_IN(a_pipe_is_refused_at_once, make_dir, remove_dir)
{
	char why[200], byte;
	int reader;

	assert_int_equal(mkfifo(path_in_dir, 0666), 0);
	alarm(60);
	assert_int_equal(writer_open_output(path_in_dir, why, sizeof(why)), -ENXIO);
	alarm(0);
	reader = open(path_in_dir, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(writer_open_output(path_in_dir, why, sizeof(why)), -ENXIO);
	assert_int_equal(read(reader, &byte, 1), 0);
	close(reader);
}

/* The folder's owner puts another one in its place, or another file in the file's. */
TEST_IN(nothing_is_touched_outside_of_the_folder, make_dir, remove_dir)
{
	char why[200], aside[80], other[80];
	const char *name;
	struct stat st;
	bool empty;
	int fd, folder = writer_open_folder(path_in_dir, &name, why, sizeof(why));

	snprintf(aside, sizeof(aside), "%s.aside", dir);
	fd = writer_claim_output(folder, name, &empty, why, sizeof(why));
	assert_true(fd >= 0);
	assert_int_equal(rename(dir, aside), 0);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(close(open(path_in_dir, O_CREAT | O_WRONLY, 0600)), 0);
	close(writer_create_output(folder, "other", why, sizeof(why)));
	snprintf(other, sizeof(other), "%s/other", dir);
	assert_int_equal(stat(other, &st), -1);
	writer_remove_output(folder, name, fd);
	assert_int_equal(stat(path_in_dir, &st), 0);
	assert_int_equal(fstatat(folder, name, &st, 0), -1);
	/* Another file than that of the descriptor stays. */
	close(fd);
	fd = writer_claim_output(folder, name, &empty, why, sizeof(why));
	assert_int_equal(renameat(folder, "other", folder, name), 0);
	writer_remove_output(folder, name, fd);
	assert_int_equal(fstatat(folder, name, &st, 0), 0);
	assert_int_equal(unlinkat(folder, name, 0), 0);
	assert_int_equal(rmdir(aside), 0);
	close(fd);
	close(folder);
}

TEST(a_missing_directory_is_said)
{
	char why[200];

	assert_int_equal(writer_open_output("/nonexistent/trace", why, sizeof(why)), -ENOENT);
	assert_string_equal(why, strerror(ENOENT));
}
