// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for ever again at mutexes of the GNU C library whose words say that thread TID has them: in
 * its own memory, and in memory that it shares with a child.
 *
 *     forged_locks TID...       (cc -pthread)
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 5000000

enum { PLAIN, ROBUST, INHERITS, KINDS };

static int init(pthread_mutex_t *m, int kind)
{
	pthread_mutexattr_t a;

	if (pthread_mutexattr_init(&a) || pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED))
		return -1;
	if (kind == ROBUST && pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST))
		return -1;
	if (kind == INHERITS && pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT))
		return -1;
	return pthread_mutex_init(m, &a);
}

static void forge(pthread_mutex_t *m, int kind, int tid)
{
	m->__data.__owner = tid;
	m->__data.__lock = kind == PLAIN ? 2 : kind == ROBUST ? tid | (int)FUTEX_WAITERS : tid;
}

static void wait_in_vain(pthread_mutex_t *m, int kind)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += NAP_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	/* The library gives up (abort()) when the kernel says that the owner may not be asked. */
	if (kind != INHERITS)
		pthread_mutex_timedlock(m, &until);
	else if (syscall(SYS_futex, &m->__data.__lock, FUTEX_LOCK_PI, 0, &until, NULL, 0))
		usleep(1000);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? (size_t)(argc - 1) * KINDS : 0, bytes = n * sizeof(pthread_mutex_t);
	pthread_mutex_t *all;
	pid_t self = getpid();

	if (!n)
		return 1;
	all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < n; i++)
		if (init(&all[i], (int)(i % KINDS)))
			return 1;
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			return 1;
	}
	for (size_t i = 0;; i = (i + 1) % n) {
		forge(&all[i], (int)(i % KINDS), atoi(argv[1 + i / KINDS]));
		wait_in_vain(&all[i], (int)(i % KINDS));
	}
}
