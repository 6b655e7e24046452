// SPDX-License-Identifier: GPL-2.0-or-later
#include "priority.h"

#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

#include "kernel/caps.h"

struct job {
	int (*work)(void *ctx);
	void *ctx;
	int result;
	bool is_low;
};

/*
 * Leaving SCHED_IDLE takes a permission (sched(7)); in RLIMIT_NICE 20 is the nice value 0, 40 is
 * -20.
 */
static bool can_return(void)
{
	int nice = getpriority(PRIO_PROCESS, 0);
	struct rlimit r;

	return caps_have(CAP_SYS_NICE) ||
	       (!getrlimit(RLIMIT_NICE, &r) && r.rlim_cur >= (rlim_t)(20 - nice));
}

static void *run(void *arg)
{
	const struct sched_param none = { 0 };
	struct job *job = arg;

	if (job->is_low && sched_setscheduler(0, SCHED_IDLE, &none))
		job->is_low = false;
	job->result = job->work(job->ctx);
	return NULL;
}

int priority_run_low(int (*work)(void *ctx), void *ctx, uint32_t patience_ms)
{
	const struct sched_param none = { 0 };
	struct job job = { work, ctx, 0, sched_getscheduler(0) == SCHED_OTHER && can_return() };
	struct timespec until;
	pthread_t thread;

	if (!job.is_low || pthread_create(&thread, NULL, run, &job))
		return work(ctx);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += patience_ms / 1000;
	until.tv_nsec += (long)(patience_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until)) {
		pthread_setschedparam(thread, SCHED_OTHER, &none);
		pthread_join(thread, NULL);
	}
	return job.result;
}
