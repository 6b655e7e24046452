// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-PID.map: which are opened, and what their lines mean. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "files/perfmap.h"

static char own_map[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(own_map, sizeof(own_map), "/tmp/perf-%d.map", getpid());
	unlink(own_map);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(own_map);
	return 0;
}

static void write_map(const char *text)
{
	FILE *f = fopen(own_map, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int open_own(void)
{
	struct perfmap_place place;
	int fd;

	perfmap_locate(&place, (uint32_t)getpid(), NULL);
	fd = perfmap_open(&place);
	perfmap_forget(&place);
	return fd;
}

static void find(const char *text, struct perfmap_address *a, size_t n)
{
	int fd;

	write_map(text);
	fd = open_own();
	assert_true(fd >= 0);
	assert_int_equal(perfmap_find(fd, a, n), 0);
	close(fd);
}

TEST_IN(lines_cover_their_addresses_and_the_last_one_is_right, set_up, tear_down)
{
	struct perfmap_address a[] = { { .addr = 0xfff },
				       { .addr = 0x1000 },
				       { .addr = 0x10ff },
				       { .addr = 0x1100 },
				       { .addr = 0x2008 } };

	find("1000 100 Lfoo;::bar (interpreted)\n"
	     "0x2000 0x10 old code\n"
	     "2004 8 new code\n",
	     a, 5);
	assert_null(a[0].name);
	assert_string_equal(a[1].name, "Lfoo;::bar (interpreted)");
	assert_string_equal(a[2].name, "Lfoo;::bar (interpreted)");
	assert_int_equal(a[2].start, 0x1000);
	assert_null(a[3].name);
	assert_string_equal(a[4].name, "new code");
	assert_int_equal(a[4].start, 0x2004);
	for (size_t i = 0; i < 5; i++)
		free(a[i].name);
}

TEST_IN(rubbish_between_the_lines_is_passed_over, set_up, tear_down)
{
	static char text[20000];
	struct perfmap_address a = { .addr = 0x1010 };
	char *p = text;

	p += sprintf(p, "\n \nxyz\n1000\n1000 \n1000 20\n1000 20 \n1000 0 empty\n-1 2 wraps\n"
			"ffffffffffffffff 10 wraps\n1000 20 right\n5000 20 ");
	memset(p, 'x', 9000);
	p += 9000;
	strcpy(p, "1000 20 the end of a line that is too long\n1000 20");
	find(text, &a, 1);
	assert_string_equal(a.name, "right");
	free(a.name);
}

TEST_IN(a_map_in_which_all_covers_all_ends_in_bounded_time, set_up, tear_down)
{
	enum { ADDRESSES = 100000, LINES = 100000 };
	struct perfmap_address *a = calloc(ADDRESSES, sizeof(*a));
	FILE *f = fopen(own_map, "w");
	int fd;

	assert_non_null(a);
	assert_non_null(f);
	for (size_t i = 0; i < ADDRESSES; i++)
		a[i].addr = 1 + i;
	for (int i = 0; i < LINES; i++)
		fputs("1 ffffffff everything\n", f);
	fclose(f);
	fd = open_own();
	assert_true(fd >= 0);
	alarm(60); /* ten billion names otherwise */
	assert_int_equal(perfmap_find(fd, a, ADDRESSES), 0);
	alarm(0);
	close(fd);
	for (size_t i = 0; i < ADDRESSES; i++) {
		assert_string_equal(a[i].name, "everything");
		free(a[i].name);
	}
	free(a);
}

/* A hole: nobody has written it, but it takes as long to read. */
TEST_IN(a_map_of_nothing_ends_in_bounded_time, set_up, tear_down)
{
	struct perfmap_address a = { .addr = 0x1000 };
	int fd;

	write_map("1000 20 right\n");
	assert_int_equal(truncate(own_map, 1ll << 40), 0);
	fd = open_own();
	assert_true(fd >= 0);
	alarm(60); /* an hour otherwise */
	assert_int_equal(perfmap_find(fd, &a, 1), 0);
	alarm(0);
	close(fd);
	assert_string_equal(a.name, "right");
	free(a.name);
}

TEST_IN(none_is_said_to_be_missing, set_up, tear_down)
{
	assert_int_equal(open_own(), -ENOENT);
}

TEST_IN(a_symbolic_link_and_what_is_no_file_are_refused, set_up, tear_down)
{
	assert_int_equal(symlink("/etc/passwd", own_map), 0);
	assert_int_equal(open_own(), -EPERM);
	unlink(own_map);
	assert_int_equal(mkfifo(own_map, 0600), 0);
	assert_int_equal(open_own(), -EPERM);
}

TEST_IN(another_users_map_is_refused, set_up, tear_down)
{
	if (geteuid()) {
		print_message("needs root, to give a file away\n");
		skip();
	}
	write_map("1000 100 planted\n");
	assert_int_equal(chown(own_map, 12345, 12345), 0);
	assert_int_equal(open_own(), -EPERM);
}

/* An earlier process had the same PID. The file's time is what says when it was written. */
TEST_IN(a_map_older_than_its_process_is_not_believed, set_up, tear_down)
{
	struct timespec t[2] = { { .tv_nsec = UTIME_OMIT } };
	int fd;

	write_map("1000 100 earlier\n");
	clock_gettime(CLOCK_REALTIME, &t[1]);
	t[1].tv_sec -= 3600;
	assert_int_equal(utimensat(AT_FDCWD, own_map, t, 0), 0);
	assert_int_equal(open_own(), -ESTALE);
	write_map("1000 100 mine\n");
	fd = open_own();
	assert_true(fd >= 0);
	close(fd);
}

/* It may write it as the first thing that it does. */
TEST_IN(a_map_as_old_as_its_process_is_believed, set_up, tear_down)
{
	for (int i = 0; i < 20; i++) {
		struct perfmap_place place;
		int ready[2], status, fd;
		pid_t pid;
		char c;

		assert_int_equal(pipe(ready), 0);
		pid = fork_child();
		assert_true(pid >= 0);
		if (!pid) {
			snprintf(own_map, sizeof(own_map), "/tmp/perf-%d.map", getpid());
			write_map("1000 100 at once\n");
			if (write(ready[1], "", 1) != 1)
				_exit(1);
			pause();
		}
		assert_int_equal(read(ready[0], &c, 1), 1);
		close(ready[0]);
		close(ready[1]);
		perfmap_locate(&place, (uint32_t)pid, NULL);
		fd = perfmap_open(&place);
		perfmap_forget(&place);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		snprintf(own_map, sizeof(own_map), "/tmp/perf-%d.map", pid);
		unlink(own_map);
		assert_true(fd >= 0);
		close(fd);
		usleep(1700); /* at other times within a tick */
	}
}

/* It writes the map as its last act; what was known of it while it lived decides. */
TEST_IN(a_map_left_by_a_process_that_is_gone_is_its_users_or_roots, set_up, tear_down)
{
	struct perfmap_place place, gone;
	int go[2], ready[2], status, fd;
	pid_t pid;
	char c;

	if (geteuid()) {
		print_message("needs root, to be another user\n");
		skip();
	}
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(go[1]);
		if (setuid(12345) || write(ready[1], "", 1) != 1 || read(go[0], &c, 1))
			_exit(1);
		_exit(0);
	}
	close(go[0]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	perfmap_locate(&place, (uint32_t)pid, NULL);
	close(go[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	perfmap_locate(&gone, (uint32_t)pid, NULL);
	assert_int_equal(place.ns_pid, (uint32_t)pid);
	snprintf(own_map, sizeof(own_map), "/tmp/perf-%d.map", pid);
	write_map("1000 100 late\n");
	assert_int_equal(chown(own_map, 12345, 12345), 0);
	fd = perfmap_open(&place);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(perfmap_open(&gone), -EPERM);
	assert_int_equal(chown(own_map, 0, 0), 0);
	fd = perfmap_open(&gone);
	assert_true(fd >= 0);
	close(fd);
	perfmap_forget(&place);
	perfmap_forget(&gone);
}

/* A container: the runtime writes the PID that it sees, in the root that it sees. */
TEST_IN(a_containers_map_is_found_by_the_pid_and_root_that_it_has, set_up, tear_down)
{
	char root[] = "/tmp/perfmap-root-XXXXXX", path[128];
	struct code_roots *roots;
	struct perfmap_place place;
	int pid[2], written[2], status, fd;
	pid_t outer, inner = 0;
	char c;

	if (geteuid()) {
		print_message("needs root, for namespaces\n");
		skip();
	}
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/tmp", root);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(pipe(pid), 0);
	assert_int_equal(pipe(written), 0);
	outer = fork_child();
	assert_true(outer >= 0);
	if (!outer) {
		/* Nobody's pid stands for "not permitted". */
		inner = unshare(CLONE_NEWPID) ? 0 : fork_child();
		if (!inner && getpid() != 1) {
			if (write(pid[1], &inner, sizeof(inner)) < 0)
				_exit(1);
			_exit(0);
		}
		if (!inner) {
			FILE *f;

			if (chroot(root) || chdir("/"))
				_exit(1);
			snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
			f = fopen(path, "w");
			if (!f || fputs("1000 100 contained\n", f) < 0 || fclose(f))
				_exit(1);
			if (write(written[1], "", 1) != 1)
				_exit(1);
			pause();
		}
		if (write(pid[1], &inner, sizeof(inner)) != (ssize_t)sizeof(inner))
			_exit(1);
		waitpid(inner, &status, 0);
		_exit(0);
	}
	assert_int_equal(read(pid[0], &inner, sizeof(inner)), (ssize_t)sizeof(inner));
	if (!inner) {
		waitpid(outer, &status, 0);
		rmdir(path);
		rmdir(root);
		print_message("no PID namespace is permitted here\n");
		skip();
	}
	assert_int_equal(read(written[0], &c, 1), 1);
	assert_int_equal(code_roots_new(&roots), 0);
	perfmap_locate(&place, (uint32_t)inner, roots);
	kill(inner, SIGKILL);
	waitpid(outer, &status, 0);
	assert_int_equal(place.ns_pid, 1);
	fd = perfmap_open(&place); /* it is gone, and its root still held */
	perfmap_forget(&place);
	code_roots_free(roots);
	snprintf(path, sizeof(path), "%s/tmp/perf-1.map", root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/tmp", root);
	rmdir(path);
	rmdir(root);
	assert_true(fd >= 0);
	{
		struct perfmap_address a = { .addr = 0x1001 };

		assert_int_equal(perfmap_find(fd, &a, 1), 0);
		assert_string_equal(a.name, "contained");
		free(a.name);
	}
	close(fd);
	for (int i = 0; i < 2; i++) {
		close(pid[i]);
		close(written[i]);
	}
}
