// SPDX-License-Identifier: GPL-2.0-or-later
/* Work in a process of its own: how it ends, and who waits for it. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "base/work_apart.h"

#define MINUTE_MS 60000

static volatile sig_atomic_t stop;

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int exit_with(const void *ctx)
{
	return *(const int *)ctx;
}

static int end_badly(const void *ctx)
{
	(void)ctx;
	abort();
}

static int never_end(const void *ctx)
{
	(void)ctx;
	signal(SIGTERM, SIG_IGN);
	while (pause())
		;
	return 0;
}

TEST(what_it_returns_is_its_status)
{
	int64_t begin = now_ms();
	int status;

	for (int code = 0; code < 20; code++) {
		status = work_apart(exit_with, &code, MINUTE_MS, &stop);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), code);
	}
	status = work_apart(end_badly, NULL, MINUTE_MS, &stop);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_true(now_ms() - begin < MINUTE_MS / 2);
}

/* Who waits for it does nothing meanwhile. */
TEST(it_ends_after_its_time)
{
	struct rusage before, after;
	int64_t begin = now_ms();
	int status;

	getrusage(RUSAGE_SELF, &before);
	status = work_apart(never_end, NULL, 700, &stop);
	getrusage(RUSAGE_SELF, &after);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_true(now_ms() - begin >= 700);
	assert_true(now_ms() - begin < MINUTE_MS / 2);
	assert_in_range(after.ru_nvcsw - before.ru_nvcsw, 1, 20);
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
}

static void on_alarm(int signal)
{
	(void)signal;
	stop = 1;
}

/* Also by a signal that came before it began to wait. */
TEST(a_signal_ends_it)
{
	const struct itimerval soon = { .it_value.tv_usec = 300000 };
	const struct sigaction act = { .sa_handler = on_alarm };
	int64_t begin = now_ms();

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (int i = 0; i < 2; i++) {
		int status = work_apart(never_end, NULL, MINUTE_MS, &stop);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGKILL);
	}
	assert_true(now_ms() - begin < MINUTE_MS / 2);
	stop = 0;
}
