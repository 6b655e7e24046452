// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cost - runs a command, its output thrown away, and prints what it took: seconds on the wall,
 * seconds of CPU, and the most memory it had at once in KiB. Exits with the command's status.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static void run(char **argv)
{
	int null = open("/dev/null", O_WRONLY);

	if (null >= 0)
		dup2(null, STDOUT_FILENO);
	execvp(argv[0], argv);
	fprintf(stderr, "cost: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int main(int argc, char **argv)
{
	double started = now();
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2) {
		fputs("usage: cost COMMAND [ARG...]\n", stderr);
		return 2;
	}
	pid = fork();
	if (!pid)
		run(argv + 1);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
		fprintf(stderr, "cost: %s\n", strerror(errno));
		return 1;
	}
	printf("%.3f %.3f %ld\n", now() - started,
	       seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
