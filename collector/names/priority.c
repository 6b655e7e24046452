// SPDX-License-Identifier: GPL-2.0-or-later
#include "priority.h"

#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "kernel/caps.h"
#include "kernel/clock.h"
#include "kernel/nice.h"

struct job {
	int (*work)(void *ctx);
	void *ctx;
	int result;
	_Atomic pid_t tid; /* of the thread that does it; 0: it has not begun */
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

	atomic_store(&job->tid, gettid());
	sched_setscheduler(0, SCHED_IDLE, &none);
	job->result = job->work(job->ctx);
	return NULL;
}

/* Whether the thread has ended by then. */
static bool ends_within(pthread_t thread, uint32_t ms)
{
	uint64_t until_ns = clock_now_ns() + ms * UINT64_C(1000000);
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / 1000000000),
		.tv_nsec = (long)(until_ns % 1000000000),
	};

	return !pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until);
}

/* Not permitted: then it stays as it is. */
static void set_nice(struct job *job, int nice)
{
	pid_t tid = atomic_load(&job->tid);

	if (tid)
		(void)setpriority(PRIO_PROCESS, (id_t)tid, nice);
}

int priority_run_low(int (*work)(void *ctx), void *ctx, uint32_t idle_ms, uint32_t hurry_ms)
{
	const struct sched_param none = { 0 };
	struct job job = { .work = work, .ctx = ctx };
	int nice = getpriority(PRIO_PROCESS, 0);
	pthread_t thread;

	if (sched_getscheduler(0) != SCHED_OTHER || !can_return() ||
	    pthread_create(&thread, NULL, run, &job))
		return work(ctx);
	if (ends_within(thread, idle_ms))
		return job.result;
	pthread_setschedparam(thread, SCHED_OTHER, &none);
	if (!nice && hurry_ms) {
		set_nice(&job, NICE_RECORDING);
		if (ends_within(thread, hurry_ms))
			return job.result;
		set_nice(&job, nice);
	}
	pthread_join(thread, NULL);
	return job.result;
}
