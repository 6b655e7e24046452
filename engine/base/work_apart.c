// SPDX-License-Identifier: GPL-2.0-or-later
#include "work_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*
 * Waits until the other end is closed, as that process has ended. False: it has not. Signals come
 * only in ppoll(2).
 */
static bool wait_for_end(int end, int64_t until_ms, const volatile sig_atomic_t *stop,
			 const sigset_t *mask)
{
	struct pollfd p = { .fd = end };
	int64_t left_ms;

	while (!*stop && (left_ms = until_ms - now_ms()) > 0) {
		const struct timespec t = { left_ms / 1000, left_ms % 1000 * 1000000 };

		if (ppoll(&p, 1, &t, mask) > 0)
			return true;
	}
	return false;
}

int work_apart(int (*work)(const void *ctx), const void *ctx, int limit_ms,
	       const volatile sig_atomic_t *stop)
{
	int64_t until_ms = now_ms() + limit_ms;
	sigset_t all, mask;
	int ends[2], status = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	child = fork();
	if (!child) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		sigprocmask(SIG_SETMASK, &mask, NULL);
		exit(work(ctx));
	}
	status = child < 0 ? -errno : 0;
	close(ends[1]);
	if (child > 0) {
		if (!wait_for_end(ends[0], until_ms, stop, &mask))
			kill(child, SIGKILL);
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return status;
}
