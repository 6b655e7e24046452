// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * COUNT processes that export the variable of OpenTelemetry's thread context, and never say which
 * keys their attributes have. Prints "ready", and sleeps until it is ended.
 *
 *     publishers COUNT       (cc -rdynamic)
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((visibility("default"))) __thread const void *volatile otel_thread_ctx_v1;

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	pid_t self = getpid();

	for (unsigned long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			return 1;
		pause();
		return 0;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return otel_thread_ctx_v1 != NULL;
}
