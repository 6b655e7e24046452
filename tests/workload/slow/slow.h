/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slow.h - what the slow programs share. Each is a small program whose users complain, with one
 * cause; the functions are named for what they do, and call the C library as any program does.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, unused))

static volatile int after; /* written after calls, so that none is a tail call */

static inline uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Needs the CPU for so long. */
static NOINLINE void compute(uint64_t us)
{
	struct timespec t;
	uint64_t end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	end = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 + us;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while ((uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 < end);
	after++;
}

static inline void nap(uint64_t us)
{
	struct timespec t = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };

	nanosleep(&t, NULL);
}

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

static inline void start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg))
		die("pthread_create");
	pthread_detach(thread);
}

static inline void call_it(const char *name)
{
	prctl(PR_SET_NAME, name);
}

/* How long all of it goes on. */
#define RUN_US 1500000
