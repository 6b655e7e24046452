// SPDX-License-Identifier: GPL-2.0-or-later
/* A program that logs into a pipe, whose reader is slow: it naps after each block. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "slow.h"

static NOINLINE void rotate(void)
{
	nap(20000);
	after++;
}

static NOINLINE void store_lines(int fd)
{
	char block[4096];

	while (read(fd, block, sizeof(block)) > 0)
		rotate();
}

static NOINLINE void log_line(int fd)
{
	static char line[1024];

	memset(line, 'x', sizeof(line));
	if (write(fd, line, sizeof(line)) < 0)
		die("write");
	after++;
}

static NOINLINE void handle_request(int fd)
{
	compute(200);
	log_line(fd);
	after++;
}

int main(void)
{
	uint64_t end = now_us() + RUN_US;
	pid_t child;
	int ends[2];

	if (pipe(ends))
		die("pipe");
	child = fork();
	if (!child) {
		close(ends[1]);
		call_it("logd");
		store_lines(ends[0]);
		_exit(0);
	}
	close(ends[0]);
	call_it("service");
	while (now_us() < end)
		handle_request(ends[1]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
