// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes with COUNT descriptors of one socket each, in one table that all of them share, or with
 * "own" in one table for each. Prints "ready" when all are there, and sleeps until it is ended.
 *
 *     many_files COUNT PROCESSES [own]
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int sleeps(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0,
		      processes = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int shared = argc > 3 ? 0 : CLONE_FILES, s = socket(AF_UNIX, SOCK_STREAM, 0);
	struct rlimit limit;
	static char stack[1 << 16];

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	if (s < 0 || setrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	for (unsigned long i = 4; i < count; i++)
		if (dup(s) < 0)
			return 1;
	/* All sleep on one stack, which they only read. */
	for (unsigned long i = 1; i < processes; i++)
		if (clone(sleeps, stack + sizeof(stack) - 64, CLONE_VM | shared | SIGCHLD, NULL) <
		    0)
			return 1;
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
