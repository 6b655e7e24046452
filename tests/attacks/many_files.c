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
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define STACK_BYTES 8192

static atomic_ulong sleeping; /* how many processes end with this one */

static int sleeps(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	atomic_fetch_add(&sleeping, 1);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0,
		      processes = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int shared = argc > 3 ? 0 : CLONE_FILES, s = socket(AF_UNIX, SOCK_STREAM, 0);
	struct rlimit limit;
	char *stacks = malloc((processes + 1) * STACK_BYTES);

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	if (!stacks || s < 0 || setrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	for (unsigned long i = 4; i < count; i++)
		if (dup(s) < 0)
			return 1;
	for (unsigned long i = 1; i < processes; i++)
		if (clone(sleeps, stacks + (i + 1) * STACK_BYTES, CLONE_VM | shared | SIGCHLD,
			  NULL) < 0)
			return 1;
	while (atomic_load(&sleeping) < processes - 1)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
