/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watched_child.h - for the tests of the collector: a process to look at, which is this program or
 * a copy of it. main() calls be_child() if its argument is "child". Include test.h before it.
 */
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline, unused)) static int a_function_of_the_child(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3 + 1;
}

static inline uint64_t addr_of_child_function(void)
{
	return (uint64_t)(uintptr_t)a_function_of_the_child + 2;
}

__attribute__((unused)) static char self_exe[4096];

struct child {
	pid_t pid;
	int to, from;
	uint64_t addr;
};

/* The child's side: says where the function is and lives until its input ends. */
static inline int be_child(void)
{
	uint64_t addr = addr_of_child_function();
	char c;

	if (write(STDOUT_FILENO, &addr, sizeof(addr)) != (ssize_t)sizeof(addr))
		return 1;
	return read(STDIN_FILENO, &c, 1) ? a_function_of_the_child(1) : 0;
}

/* In a mount namespace of its own, if so wanted, where the program is in a tmpfs nobody else has.
 */
static inline void exec_child(const char *path, const char *hidden_root)
{
	char hidden[4096 + 64];
	int from, to;
	char buf[65536];
	ssize_t n;

	if (!hidden_root) {
		execl(path, path, "child", (char *)NULL);
		_exit(127);
	}
	snprintf(hidden, sizeof(hidden), "%s/hidden", hidden_root);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", hidden_root, "tmpfs", 0, NULL))
		_exit(126);
	from = open(path, O_RDONLY | O_CLOEXEC);
	to = open(hidden, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			_exit(125);
	close(to);
	execl(hidden, hidden, "child", (char *)NULL);
	_exit(127);
}

static inline struct child start_child(const char *path, const char *hidden_root)
{
	struct child c = { 0 };
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		exec_child(path, hidden_root);
	}
	close(in[0]);
	close(out[1]);
	c.to = in[1];
	c.from = out[0];
	if (read(c.from, &c.addr, sizeof(c.addr)) != (ssize_t)sizeof(c.addr))
		c.addr = 0;
	return c;
}

static inline void end_child(struct child *c)
{
	int status;

	close(c->to);
	close(c->from);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
}

/* A copy of this program under another name. */
static inline void copy_self(char path[64])
{
	char buf[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	ssize_t n;

	strcpy(path, "/tmp/symbolize-test-XXXXXX");
	to = mkstemp(path);
	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		assert_int_equal(write(to, buf, (size_t)n), n);
	assert_int_equal(fchmod(to, 0700), 0);
	close(from);
	close(to);
}
