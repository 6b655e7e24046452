/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.h - the named threads of a scenario, and what they measured of themselves.
 *
 * Every thread starts in thread_main(), calls its own run function, and counts there what it
 * did: rounds, CPU time of its work, time held and time spent waiting. The main thread prints the
 * thread ids once all have one, waits until all are done or the time is up, and prints the sums.
 */
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "hop.h"
#include "calls.h"

#define MAX_THREADS 2000

struct thread {
	char name[16];
	int (*run)(struct thread *); /* 0 or a negative errno */
	int index;
	_Atomic int tid;
	_Atomic int error;
	uint64_t let_go_ns; /* when another thread or a timer last let it go on, 0 while it waits */
	/*
	 * Sums that the thread itself counts; read by others only when it is done or never will be.
	 * held_ns: from when it was let go on until it was about to wait again. It ran or had no
	 * CPU then, whatever else the machine did.
	 */
	_Atomic uint64_t rounds, cpu_ns, held_ns, waited_ns;
};

struct crew {
	struct thread threads[MAX_THREADS];
	int count;
	_Atomic int done;
	_Atomic uint32_t
		all_here; /* 1 when every thread exists: none waits for one yet to be born */
};

static struct crew crew;

/* Adds a thread to the crew; it starts with crew_start(). */
static struct thread *crew_add(const char *name, int (*run)(struct thread *))
{
	struct thread *thread = &crew.threads[crew.count];

	snprintf(thread->name, sizeof(thread->name), "%s", name);
	thread->run = run;
	thread->index = crew.count++;
	return thread;
}

/* Works for work_us of this thread's CPU time, and counts it. */
INLINED void work_on_cpu(struct thread *thread, uint64_t work_us)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), now = cpu;

	while (now - cpu < work_us * 1000) {
		for (int i = 0; i < 200; i++)
			__asm__ volatile("" ::: "memory");
		now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	}
	thread->cpu_ns += now - cpu;
}

/* To be called when the thread is about to wait, and when it is done. */
INLINED void count_held(struct thread *thread)
{
	if (thread->let_go_ns)
		thread->held_ns += clock_ns(CLOCK_MONOTONIC) - thread->let_go_ns;
	thread->let_go_ns = 0;
}

/* Whether the thread sleeps, by its state in /proc. */
static bool is_asleep(int pid, int tid)
{
	char path[64], text[128];
	const char *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	state = strrchr(text, ')');
	return state && state[1] && state[2] == 'S';
}

/* The thread that a scenario's wakers work for, in memory that their processes share. */
static struct waiter {
	_Atomic int pid, tid;
	_Atomic uint64_t waits; /* that have begun */
} * waiter;

static int share_waiter(void)
{
	void *p = mmap(NULL, sizeof(*waiter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);

	waiter = p;
	return p == MAP_FAILED ? -errno : 0;
}

/* To be called by that thread when it is about to wait. */
INLINED void count_wait(void)
{
	waiter->pid = (int)getpid();
	waiter->tid = (int)gettid();
	waiter->waits++;
}

/*
 * Naps until it is asleep in the wait with this number, counted from 1, so that all that the waker
 * does from now on happens during that wait, however busy the machine is.
 */
IN_STACK void awaits_waiter(uint64_t number)
{
	while (waiter->waits != number || !is_asleep(waiter->pid, waiter->tid))
		sleep_until(clock_ns(CLOCK_MONOTONIC) + 500000);
}

/*
 * Naps for SETTLE_MS milliseconds (of the environment): a recorder takes a while to know a process
 * that has just started, and cuts its user stacks until then.
 */
IN_STACK void settles(void)
{
	const char *ms = getenv("SETTLE_MS");
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (ms ? strtoull(ms, NULL, 10) : 0) * 1000000;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		sleep_until(clock_ns(CLOCK_MONOTONIC) + 1000000);
}

IN_STACK void waits_for_all(void)
{
	while (!crew.all_here)
		futex_wait(&crew.all_here, 0);
}

IN_STACK void *thread_main(void *argument)
{
	struct thread *thread = argument;

	prctl(PR_SET_NAME, thread->name);
	thread->tid = (int)gettid();
	waits_for_all();
	thread->error = thread->run(thread);
	if (atomic_fetch_add(&crew.done, 1) + 1 == crew.count || thread->error)
		kill(getpid(), SIGUSR1);
	return NULL;
}

/*
 * Starts all threads, with the signals that crew_wait() takes blocked, prints a
 * "thread NAME TID" line for each, and then lets them all go. 0 or a negative errno.
 */
static int crew_start(void)
{
	pthread_attr_t attributes;
	sigset_t waited;
	int error = 0;

	sigemptyset(&waited);
	sigaddset(&waited, SIGTERM);
	sigaddset(&waited, SIGINT);
	sigaddset(&waited, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &waited, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	for (int i = 0; i < crew.count && !error; i++) {
		pthread_t id;

		error = -pthread_create(&id, &attributes, thread_main, &crew.threads[i]);
	}
	pthread_attr_destroy(&attributes);
	for (int i = 0; i < crew.count && !error; i++) {
		while (!crew.threads[i].tid)
			usleep(200);
		printf("thread %s %d\n", crew.threads[i].name, crew.threads[i].tid);
	}
	fflush(stdout);
	crew.all_here = 1;
	futex_wake_all(&crew.all_here);
	return error;
}

/*
 * Waits until every thread is done (returns 0), one failed (its negative errno), SIGTERM or SIGINT
 * came (0 as well), or until seconds are over (-ETIMEDOUT).
 */
static int crew_wait(double seconds)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	sigset_t waited;

	sigemptyset(&waited);
	sigaddset(&waited, SIGTERM);
	sigaddset(&waited, SIGINT);
	sigaddset(&waited, SIGUSR1);
	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		uint64_t left = end > now ? end - now : 0;
		struct timespec timeout = { (time_t)(left / 1000000000u),
					    (long)(left % 1000000000u) };
		int signal = sigtimedwait(&waited, NULL, &timeout);

		for (int i = 0; i < crew.count; i++)
			if (crew.threads[i].error)
				return crew.threads[i].error;
		if (signal == SIGTERM || signal == SIGINT || crew.done == crew.count)
			return 0;
		if (signal < 0 && errno == EAGAIN)
			return -ETIMEDOUT;
	}
}

/* "told NAME rounds N cpu_ns N held_ns N waited_ns N" for one thread. */
static void tell_thread(const struct thread *thread)
{
	printf("told %s rounds %ju cpu_ns %ju held_ns %ju waited_ns %ju\n", thread->name,
	       (uintmax_t)thread->rounds, (uintmax_t)thread->cpu_ns, (uintmax_t)thread->held_ns,
	       (uintmax_t)thread->waited_ns);
}
