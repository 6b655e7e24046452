/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retries.h - timed waits for a lock and for a condition, tried again, each as long as --sleep. */
#pragma once

#include <time.h>

#include "options.h"
#include "threads.h"

static struct {
	pthread_mutex_t lock, guard; /* guard: of ready */
	pthread_cond_t is_ready;
	uint64_t ready; /* rounds that the holder was done with */
	/* The round, from 1 on, in which the holder has the lock; how many others are done with it.
	 */
	_Atomic uint64_t held, finished;
} retries = { .lock = PTHREAD_MUTEX_INITIALIZER,
	      .guard = PTHREAD_MUTEX_INITIALIZER,
	      .is_ready = PTHREAD_COND_INITIALIZER };

INLINED struct timespec after_a_try(void)
{
	struct timespec at;
	uint64_t ns;

	clock_gettime(CLOCK_REALTIME, &at);
	ns = (uint64_t)at.tv_nsec + options.sleep_us * 1000;
	at.tv_sec += (time_t)(ns / 1000000000);
	at.tv_nsec = (long)(ns % 1000000000);
	return at;
}

INLINED void nap(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + 500000);
}

IN_STACK void holder_works(struct thread *holder)
{
	work_on_cpu(holder, options.work_us[0]);
}

IN_STACK void holder_signals(uint64_t round)
{
	pthread_mutex_lock(&retries.guard);
	retries.ready = round;
	pthread_cond_signal(&retries.is_ready);
	pthread_mutex_unlock(&retries.guard);
}

IN_STACK void holder_unlocks(void)
{
	pthread_mutex_unlock(&retries.lock);
}

IN_STACK int holder_runs(struct thread *holder)
{
	for (; holder->rounds < options.rounds; holder->rounds++) {
		uint64_t round = holder->rounds + 1;

		pthread_mutex_lock(&retries.lock);
		retries.held = round;
		holder_works(holder);
		holder_signals(round);
		holder_unlocks();
		while (retries.finished < 2 * round)
			nap();
	}
	return 0;
}

IN_STACK int locker_waits(void)
{
	int error;

	do {
		struct timespec until = after_a_try();

		error = pthread_mutex_timedlock(&retries.lock, &until);
	} while (error == ETIMEDOUT);
	return -error;
}

IN_STACK int locker_runs(struct thread *locker)
{
	int error = 0;

	for (; !error && locker->rounds < options.rounds; locker->rounds++) {
		while (retries.held <= locker->rounds)
			nap();
		error = locker_waits();
		if (!error)
			pthread_mutex_unlock(&retries.lock);
		retries.finished++;
	}
	return error;
}

IN_STACK void watcher_waits(uint64_t round)
{
	pthread_mutex_lock(&retries.guard);
	while (retries.ready < round) {
		struct timespec until = after_a_try();

		pthread_cond_timedwait(&retries.is_ready, &retries.guard, &until);
	}
	pthread_mutex_unlock(&retries.guard);
}

IN_STACK int watcher_runs(struct thread *watcher)
{
	for (; watcher->rounds < options.rounds; watcher->rounds++) {
		while (retries.held <= watcher->rounds)
			nap();
		watcher_waits(watcher->rounds + 1);
		retries.finished++;
	}
	return 0;
}

static int retries_sets_up(void)
{
	crew_add("holder", holder_runs);
	crew_add("locker", locker_runs);
	crew_add("watcher", watcher_runs);
	return 0;
}
