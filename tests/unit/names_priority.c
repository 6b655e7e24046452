// SPDX-License-Identifier: GPL-2.0-or-later
/* Alone: in the idle class of the scheduler a priority is none. */
/* Work at low priority, which does not stay there for ever. */
#include "test.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "names/priority.h"
#include "kernel/caps.h"
#include "kernel/nice.h"

#define SECOND 1000000000u

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

struct seen {
	int first, last; /* scheduling policies */
	uint64_t changed_ns;
};

static int see_policy(void *ctx)
{
	struct seen *s = ctx;

	s->first = s->last = sched_getscheduler(0);
	return 17;
}

/* Until the policy is another one, or ten seconds are over. */
static int await_another_policy(void *ctx)
{
	uint64_t start = now_ns();
	struct seen *s = ctx;

	s->first = sched_getscheduler(0);
	do
		s->last = sched_getscheduler(0);
	while (s->last == s->first && now_ns() - start < 10ull * SECOND);
	s->changed_ns = now_ns() - start;
	return 0;
}

TEST(work_is_done_where_nothing_else_wants_to_run)
{
	struct seen s = { -1, -1, 0 };

	if (!caps_have(CAP_SYS_NICE)) {
		print_message("needs CAP_SYS_NICE\n");
		skip();
	}
	assert_int_equal(priority_run_low(see_policy, &s, 10000, 0), 17);
	assert_int_equal(s.first, SCHED_IDLE);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

TEST(after_a_while_it_goes_on_as_any_other)
{
	struct seen s = { -1, -1, 0 };

	if (!caps_have(CAP_SYS_NICE)) {
		print_message("needs CAP_SYS_NICE\n");
		skip();
	}
	assert_int_equal(priority_run_low(await_another_policy, &s, 200, 0), 0);
	assert_int_equal(s.first, SCHED_IDLE);
	assert_int_equal(s.last, SCHED_OTHER);
	print_message("raised after %.3f s\n", (double)s.changed_ns / SECOND);
}

/* What nice values the work had, each once, in that order; for two seconds. */
struct nices {
	int seen[8];
	unsigned int n;
};

static int watch_nice(void *ctx)
{
	uint64_t start = now_ns();
	struct nices *s = ctx;

	do {
		int nice = getpriority(PRIO_PROCESS, 0);

		if ((!s->n || s->seen[s->n - 1] != nice) && s->n < 8)
			s->seen[s->n++] = nice;
		usleep(1000);
	} while (now_ns() - start < 2ull * SECOND);
	return 0;
}

TEST(it_hurries_for_a_while)
{
	struct nices s = { .n = 0 };

	if (!caps_have(CAP_SYS_NICE) || getpriority(PRIO_PROCESS, 0)) {
		print_message("needs CAP_SYS_NICE, and no nice value\n");
		skip();
	}
	assert_int_equal(priority_run_low(watch_nice, &s, 200, 500), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.seen[0], 0);
	assert_int_equal(s.seen[1], NICE_RECORDING);
	assert_int_equal(s.seen[2], 0);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 0);
}

TEST(the_users_nice_value_is_kept)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		struct nices s = { .n = 0 };

		if (setpriority(PRIO_PROCESS, 0, 19) || priority_run_low(watch_nice, &s, 200, 500))
			_exit(2);
		_exit(s.n == 1 && s.seen[0] == 19 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Where it could not come back it does not go there. */
TEST(without_the_right_to_return_the_priority_stays)
{
	struct rlimit none = { 0, 0 };
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		struct seen s = { -1, -1, 0 };

		if (setrlimit(RLIMIT_NICE, &none) || (!geteuid() && setuid(65534)))
			_exit(2);
		if (priority_run_low(see_policy, &s, 10000, 0) != 17)
			_exit(3);
		_exit(s.first == SCHED_OTHER ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}
