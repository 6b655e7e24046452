// SPDX-License-Identifier: GPL-2.0-or-later
/* A child with MIB of memory crashes, and its core is dumped into the working directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	size_t bytes = (size_t)(argc > 1 ? atol(argv[1]) : 100) << 20;
	int status;
	pid_t pid;

	if (setrlimit(RLIMIT_CORE, &all))
		return 1;
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid) {
		char *p = malloc(bytes);

		if (!p)
			_exit(1);
		memset(p, 7, bytes);
		__asm__ volatile("" : : "r"(p) : "memory"); /* it is used */
		*(volatile int *)8 = 1;
		free(p);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		return 1;
	printf("dumped %d\n", WCOREDUMP(status) != 0);
	return 0;
}
