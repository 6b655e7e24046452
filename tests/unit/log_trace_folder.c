// SPDX-License-Identifier: GPL-2.0-or-later
/* A folder of traces: what they are called, what is overwritten and removed, and what never. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "log/trace_folder.h"

/* 2026-11-28 10:59:00 UTC, and some of it. */
#define AT UINT64_C(1795863540500000000)
#define MINUTE UINT64_C(60000000000)

struct fixture {
	char path[64];
	struct trace_folder folder;
	char why[256];
};

static struct fixture fixture;

static int open_folder(struct fixture *f)
{
	return trace_folder_open(&f->folder, f->path, "host", f->why, sizeof(f->why));
}

static int setup(void **state)
{
	struct fixture *f = &fixture;

	snprintf(f->path, sizeof(f->path), "/tmp/trace_folder.XXXXXX");
	assert_non_null(mkdtemp(f->path));
	assert_int_equal(open_folder(f), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	trace_folder_close(&f->folder);
	snprintf(command, sizeof(command), "rm -rf '%s'", f->path);
	return system(command);
}

/* A file of so many bytes. */
static void put(const struct fixture *f, const char *name, off_t bytes)
{
	int fd = openat(f->folder.fd, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

static bool is_there(const struct fixture *f, const char *name)
{
	struct stat st;

	return !fstatat(f->folder.fd, name, &st, AT_SYMLINK_NOFOLLOW);
}

static void expect_host(const char *nodename, const char *expected)
{
	char host[TRACE_FOLDER_HOST];

	trace_folder_host(nodename, host);
	assert_string_equal(host, expected);
}

TEST(odd_names_of_hosts_are_made_plain)
{
	char longest[100], host[TRACE_FOLDER_HOST];

	expect_host("db-7.example.org", "db-7.example.org");
	expect_host("", "_");
	expect_host("../../etc/x", "_._.._etc_x");
	expect_host("-rf", "_rf");
	expect_host("a b\nc;d\xff", "a_b_c_d_");
	memset(longest, 'x', sizeof(longest));
	longest[99] = '\0';
	trace_folder_host(longest, host);
	assert_int_equal(strlen(host), TRACE_FOLDER_HOST - 1);
}

TEST(names_say_host_and_time)
{
	char name[TRACE_FOLDER_NAME];

	trace_folder_name("host", AT, 0, name);
	assert_string_equal(name, "host-20261128T105900Z.bin");
	trace_folder_name("host", AT, 12, name);
	assert_string_equal(name, "host-20261128T105900Z.12.bin");
}

/* Writes and publishes a trace of so many bytes. Its name is in name. */
static int publish(struct fixture *f, uint64_t at_ns, off_t bytes, char name[TRACE_FOLDER_NAME])
{
	char part[TRACE_FOLDER_NAME];
	int fd = trace_folder_create(&f->folder, at_ns, part, f->why, sizeof(f->why)), err;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_true(is_there(f, part));
	trace_folder_name("host", at_ns, 0, name);
	err = trace_folder_publish(&f->folder, fd, at_ns, part, name);
	assert_true(err || !is_there(f, part));
	close(fd);
	return err;
}

TEST_IN(a_trace_has_its_name_when_it_is_complete, setup, teardown)
{
	struct fixture *f = *state;
	char part[TRACE_FOLDER_NAME], name[TRACE_FOLDER_NAME];
	struct stat st;
	int fd = trace_folder_create(&f->folder, AT, part, f->why, sizeof(f->why));

	assert_true(fd >= 0);
	assert_string_equal(part, ".host-20261128T105900Z.bin.part");
	assert_false(is_there(f, "host-20261128T105900Z.bin"));
	assert_int_equal(trace_folder_publish(&f->folder, fd, AT, part, name), 0);
	assert_string_equal(name, "host-20261128T105900Z.bin");
	assert_false(is_there(f, part));
	assert_int_equal(fstatat(f->folder.fd, name, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	close(fd);
}

TEST_IN(nothing_is_overwritten, setup, teardown)
{
	struct fixture *f = *state;
	char name[TRACE_FOLDER_NAME];
	struct stat st;

	put(f, "host-20261128T105900Z.bin", 7);
	assert_int_equal(symlinkat("/dev/null", f->folder.fd, "host-20261128T105900Z.1.bin"), 0);
	assert_int_equal(mkdirat(f->folder.fd, "host-20261128T105900Z.2.bin", 0700), 0);
	assert_int_equal(publish(f, AT, 9, name), 0);
	assert_string_equal(name, "host-20261128T105900Z.3.bin");
	assert_int_equal(fstatat(f->folder.fd, "host-20261128T105900Z.bin", &st, 0), 0);
	assert_int_equal(st.st_size, 7);
}

TEST_IN(a_link_in_the_place_of_a_part_is_not_followed, setup, teardown)
{
	struct fixture *f = *state;
	char part[TRACE_FOLDER_NAME];

	assert_int_equal(symlinkat("victim", f->folder.fd, ".host-20261128T105900Z.bin.part"), 0);
	assert_int_equal(trace_folder_create(&f->folder, AT, part, f->why, sizeof(f->why)),
			 -EEXIST);
	assert_false(is_there(f, "victim"));
}

TEST_IN(parts_of_a_crash_are_removed_and_nothing_else, setup, teardown)
{
	static const char *const kept[] = {
		".host-20261128T105900Z.bin",	    "host-20261128T105900Z.bin.part",
		".other-20261128T105900Z.bin.part", ".host-20261128T105900Z.bin.part2",
		".host-2026112T105900Z.bin.part",   "..part",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		put(f, kept[i], 1);
	put(f, ".host-20261128T105800Z.bin.part", 1);
	put(f, ".host-20261128T105800Z.5.bin.part", 1);
	assert_int_equal(mkdirat(f->folder.fd, ".host-20261128T105700Z.bin.part", 0700), 0);
	trace_folder_close(&f->folder);
	assert_int_equal(open_folder(f), 0);
	assert_false(is_there(f, ".host-20261128T105800Z.bin.part"));
	assert_false(is_there(f, ".host-20261128T105800Z.5.bin.part"));
	assert_true(is_there(f, ".host-20261128T105700Z.bin.part"));
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		assert_true(is_there(f, kept[i]));
}

TEST_IN(another_recorder_is_kept_out, setup, teardown)
{
	struct fixture *f = *state;
	struct trace_folder second;
	char why[256];

	assert_int_equal(trace_folder_open(&second, f->path, "host", why, sizeof(why)), -EBUSY);
	trace_folder_close(&second);
	/* One of another host is not, as where the folder is on a server. */
	assert_int_equal(trace_folder_open(&second, f->path, "other", why, sizeof(why)), 0);
	assert_true(is_there(f, ".other.chaincap"));
	trace_folder_close(&second);
	assert_false(is_there(f, ".other.chaincap"));
	assert_true(is_there(f, ".host.chaincap"));
}

TEST_IN(the_oldest_go_until_the_rest_fits, setup, teardown)
{
	struct fixture *f = *state;

	put(f, "host-20261128T105600Z.bin", 400);
	put(f, "host-20261128T105700Z.bin", 300);
	put(f, "host-20261128T105700Z.1.bin", 100);
	put(f, "host-20261128T105800Z.bin", 200);
	put(f, "host-20261128T105900Z.bin", 100);
	assert_int_equal(trace_folder_keep(&f->folder, 1100, "host-20261128T105900Z.bin"), 0);
	assert_int_equal(trace_folder_keep(&f->folder, 699, "host-20261128T105900Z.bin"), 2);
	assert_false(is_there(f, "host-20261128T105600Z.bin"));
	assert_int_equal(trace_folder_keep(&f->folder, 300, "host-20261128T105900Z.bin"), 1);
	assert_true(is_there(f, "host-20261128T105800Z.bin"));
	/* The newest one stays, though it is too large alone. */
	assert_int_equal(trace_folder_keep(&f->folder, 10, "host-20261128T105900Z.bin"), 1);
	assert_true(is_there(f, "host-20261128T105900Z.bin"));
}

TEST_IN(other_files_neither_count_nor_go, setup, teardown)
{
	static const char *const others[] = {
		"host-20200101T000000Z.bin.gz", "host-20200101T000000Z.txt",
		"hosts-20200101T000000Z.bin",	"host-20200101.bin",
		"host-20200101T000000Z.0.bin",	"host-20200101T000000Z.12345.bin",
		"host-2020010xT000000Z.bin",	"host-20200101T000000Z..bin",
		"HOST-20200101T000000Z.bin",	".host-20200101T000000Z.bin",
		"other-20200101T000000Z.bin",	"trace.bin",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		put(f, others[i], 1 << 20);
	assert_int_equal(symlinkat("trace.bin", f->folder.fd, "host-20200101T000001Z.bin"), 0);
	assert_int_equal(mkdirat(f->folder.fd, "host-20200101T000002Z.bin", 0700), 0);
	assert_int_equal(mkfifoat(f->folder.fd, "host-20200101T000003Z.bin", 0600), 0);
	put(f, "host-20200101T000004Z.bin", 10);
	put(f, "host-20261128T105900Z.bin", 10);
	assert_int_equal(trace_folder_keep(&f->folder, 20, "host-20261128T105900Z.bin"), 0);
	assert_int_equal(trace_folder_keep(&f->folder, 19, "host-20261128T105900Z.bin"), 1);
	assert_false(is_there(f, "host-20200101T000004Z.bin"));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_true(is_there(f, others[i]));
	assert_true(is_there(f, "host-20200101T000001Z.bin"));
	assert_true(is_there(f, "host-20200101T000002Z.bin"));
	assert_true(is_there(f, "host-20200101T000003Z.bin"));
}

TEST_IN(strangers_files_neither_count_nor_go, setup, teardown)
{
	struct fixture *f = *state;

	if (geteuid()) {
		print_message("only root can make files of others\n");
		skip();
	}
	put(f, "host-20200101T000000Z.bin", 1 << 20);
	assert_int_equal(fchownat(f->folder.fd, "host-20200101T000000Z.bin", 65534, 65534, 0), 0);
	put(f, ".host-20200101T000000Z.bin.part", 1);
	assert_int_equal(fchownat(f->folder.fd, ".host-20200101T000000Z.bin.part", 65534, 65534, 0),
			 0);
	put(f, "host-20261128T105900Z.bin", 10);
	assert_int_equal(trace_folder_keep(&f->folder, 10, "host-20261128T105900Z.bin"), 0);
	trace_folder_clean(&f->folder);
	assert_true(is_there(f, "host-20200101T000000Z.bin"));
	assert_true(is_there(f, ".host-20200101T000000Z.bin.part"));
	/* The user who called sudo is one of us. */
	setenv("SUDO_UID", "65534", 1);
	trace_folder_clean(&f->folder);
	assert_int_equal(trace_folder_keep(&f->folder, 10, "host-20261128T105900Z.bin"), 1);
	unsetenv("SUDO_UID");
	assert_false(is_there(f, "host-20200101T000000Z.bin"));
	assert_false(is_there(f, ".host-20200101T000000Z.bin.part"));
}

TEST_IN(what_is_from_the_future_is_old, setup, teardown)
{
	struct fixture *f = *state;

	/* The clock was put back by years: these would stay for ever, and push out all others. */
	put(f, "host-20300101T000000Z.bin", 10);
	put(f, "host-20300101T000100Z.bin", 10);
	put(f, "host-20261128T105800Z.bin", 10);
	put(f, "host-20261128T105900Z.bin", 10);
	assert_int_equal(trace_folder_keep(&f->folder, 30, "host-20261128T105900Z.bin"), 1);
	assert_false(is_there(f, "host-20300101T000000Z.bin"));
	assert_int_equal(trace_folder_keep(&f->folder, 20, "host-20261128T105900Z.bin"), 1);
	assert_false(is_there(f, "host-20300101T000100Z.bin"));
	assert_true(is_there(f, "host-20261128T105800Z.bin"));
}

TEST_IN(the_folder_is_the_one_that_was_opened, setup, teardown)
{
	struct fixture *f = *state;
	char moved[80], name[TRACE_FOLDER_NAME], path[256];

	/* A stranger moves it away, and puts a link in its place. */
	snprintf(moved, sizeof(moved), "%s.moved", f->path);
	assert_int_equal(rename(f->path, moved), 0);
	assert_int_equal(symlink("/nowhere", f->path), 0);
	assert_int_equal(publish(f, AT, 10, name), 0);
	assert_int_equal(publish(f, AT + MINUTE, 10, name), 0);
	assert_int_equal(trace_folder_keep(&f->folder, 10, name), 1);
	snprintf(path, sizeof(path), "%s/%s", moved, name);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(rename(moved, f->path), 0);
}

TEST(a_folder_must_be_there)
{
	struct trace_folder none;
	char why[256];

	assert_int_equal(trace_folder_open(&none, "/nowhere/at/all", "host", why, sizeof(why)),
			 -ENOENT);
	trace_folder_close(&none);
	assert_int_equal(trace_folder_open(&none, "/dev/null", "host", why, sizeof(why)), -ENOTDIR);
	trace_folder_close(&none);
}
