// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A pool of two threads, one too small: a job waits for the result of a part that it has put into
 * the same pool. While two jobs wait, nobody makes their parts; each gives up after a while.
 */
#include <errno.h>

#include "slow.h"

#define QUEUE 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int queue[QUEUE], head, tail, parts_done, jobs_done;

/* With the lock. Negative: a part. */
static void put(int job)
{
	queue[tail++ % QUEUE] = job;
	pthread_cond_signal(&queued);
}

static NOINLINE void wait_for_part(int had)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 100000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (parts_done == had)
		if (pthread_cond_timedwait(&done, &lock, &until) == ETIMEDOUT)
			break;
	after++;
}

static NOINLINE void do_job(void)
{
	put(-1);
	wait_for_part(parts_done);
	jobs_done++;
	pthread_cond_broadcast(&done);
	after++;
}

static void *worker(void *arg)
{
	int job;

	call_it("pool");
	pthread_mutex_lock(&lock);
	for (;;) {
		while (head == tail)
			pthread_cond_wait(&queued, &lock);
		job = queue[head++ % QUEUE];
		if (job < 0)
			parts_done++, pthread_cond_broadcast(&done);
		else
			do_job();
	}
	return arg;
}

static NOINLINE void wait_for_jobs(int n)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < n; i++)
		put(1);
	for (int want = jobs_done + n; jobs_done < want;)
		pthread_cond_wait(&done, &lock);
	pthread_mutex_unlock(&lock);
	after++;
}

int main(void)
{
	uint64_t end = now_us() + RUN_US;

	start(worker, NULL);
	start(worker, NULL);
	call_it("caller");
	while (now_us() < end)
		wait_for_jobs(4);
	return 0;
}
