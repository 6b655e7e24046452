// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lock_holders SECONDS - threads that wait for locks whose holder is known, and for things whose
 * neighbouring word only looks like one. For each of them a line: "THREAD waits for HOLDER", both
 * NAME/TID, or "THREAD waits for nobody". Then it tells "ready". Two threads have each other's
 * lock. Some locks are another process's, in a page that has another address there; and some, in
 * memory of its own, say that a stranger has them.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Between processes, and those with forged words. */
enum { S_MUTEX, S_ROBUST, S_WRITER, S_PI, SHARED_THINGS };
enum { F_MUTEX, F_ROBUST, F_WRITER, F_PI, FORGED_THINGS };

enum { MUTEX, TIMED, ROBUST, SHARED, WRITER, READER, OWN, SEM, DEADLOCK_1, DEADLOCK_2, THINGS };

struct thing {
	const char *holder, *waiter; /* names of threads */
	void (*take)(struct thing *);
	void (*give)(struct thing *);
	bool nobody; /* no word says who has it */
	bool for_ever;
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	sem_t sem;
	pthread_cond_t cond;
	/* As a mutex of the GNU C library looks, but it is not one. */
	_Atomic uint32_t own[3];
	_Atomic int holder_tid, waiter_tid;
};

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec) { ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void take_mutex(struct thing *t)
{
	if (pthread_mutex_lock(&t->mutex))
		exit(1);
}

static void give_mutex(struct thing *t)
{
	pthread_mutex_unlock(&t->mutex);
}

static void take_in_time(struct thing *t)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	if (pthread_mutex_timedlock(&t->mutex, &until))
		exit(1);
}

static void write_lock(struct thing *t)
{
	if (pthread_rwlock_wrlock(&t->rwlock))
		exit(1);
}

static void give_rwlock(struct thing *t)
{
	pthread_rwlock_unlock(&t->rwlock);
}

/* The holder is a writer, the waiter a reader. */
static void read_or_write(struct thing *t)
{
	if (t->holder_tid == gettid())
		write_lock(t);
	else if (pthread_rwlock_rdlock(&t->rwlock))
		exit(1);
}

static void take_sem(struct thing *t)
{
	while (sem_wait(&t->sem))
		;
}

static void give_sem(struct thing *t)
{
	sem_post(&t->sem);
}

static void take_own(struct thing *t)
{
	uint32_t free = 0;

	if (!atomic_compare_exchange_strong(&t->own[0], &free, 1))
		while (atomic_exchange(&t->own[0], 2))
			syscall(SYS_futex, &t->own[0], FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	t->own[2] = (uint32_t)gettid();
}

static void give_own(struct thing *t)
{
	t->own[2] = (uint32_t)t->holder_tid;
	if (atomic_exchange(&t->own[0], 0) == 2)
		syscall(SYS_futex, &t->own[0], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* What it waits for it never gets. */
static void mutex_in_vain(struct thing *t)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 20000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (t->take == mutex_in_vain ? !pthread_mutex_timedlock(&t->mutex, &until)
				     : !pthread_rwlock_timedrdlock(&t->rwlock, &until))
		exit(1);
}

static void rwlock_in_vain(struct thing *t)
{
	mutex_in_vain(t);
}

static void give_nothing(struct thing *t)
{
	(void)t;
}

/* In memory of its own alone, which is read of threads that slept before the recording, too. */
static struct thing things[THINGS];
static _Atomic int here;

static _Noreturn void *hold(void *thing)
{
	struct thing *t = thing;

	prctl(PR_SET_NAME, t->holder);
	t->holder_tid = gettid();
	here++;
	for (;;) {
		t->take(t);
		pause_ms(30);
		t->give(t);
		pause_ms(3);
	}
}

static _Noreturn void *wait_for_it(void *thing)
{
	struct thing *t = thing;

	prctl(PR_SET_NAME, t->waiter);
	t->waiter_tid = gettid();
	here++;
	for (;;) {
		t->take(t);
		t->give(t);
		pause_ms(5);
	}
}

/* Takes the first lock, and then the second, which the other one has. */
static void *deadlock(void *thing)
{
	struct thing *t = thing, *other = things + DEADLOCK_1 + DEADLOCK_2 - (t - things);

	prctl(PR_SET_NAME, t->waiter);
	t->waiter_tid = other->holder_tid = gettid();
	take_mutex(other);
	here++;
	while (here < 2 * THINGS - 2)
		pause_ms(1);
	take_mutex(t);
	return NULL;
}

static void init(struct thing *t)
{
	pthread_mutexattr_t attr;
	pthread_rwlockattr_t rw;

	pthread_mutexattr_init(&attr);
	pthread_rwlockattr_init(&rw);
	if (t - things == ROBUST)
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (t - things == SHARED)
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&t->mutex, &attr);
	pthread_rwlock_init(&t->rwlock, &rw);
	sem_init(&t->sem, 0, 1);
}

/* ---- other processes ------------------------------------------------------------------------ */

static void init_shared(struct thing *t, bool robust, bool pi)
{
	pthread_mutexattr_t attr;
	pthread_rwlockattr_t rw;

	pthread_mutexattr_init(&attr);
	pthread_rwlockattr_init(&rw);
	pthread_rwlockattr_setpshared(&rw, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (robust)
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (pi)
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&t->mutex, &attr);
	pthread_rwlock_init(&t->rwlock, &rw);
}

/* A process that ends with this one. */
static pid_t another_process(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* Locks that another process has, which sees them at another address. NULL: that cannot be. */
static struct thing *begin_shared(void)
{
	static const struct thing all[SHARED_THINGS] = {
		[S_MUTEX] = { "p_janitor", "p_user", take_mutex, .give = give_mutex },
		[S_ROBUST] = { "pr_janitor", "pr_user", take_mutex, .give = give_mutex },
		[S_WRITER] = { "p_writer", "p_reader", read_or_write, .give = give_rwlock },
		[S_PI] = { "pi_janitor", "pi_user", take_mutex, .give = give_mutex },
	};
	int fd = memfd_create("locks", MFD_CLOEXEC);
	struct thing *here_too, *there;
	size_t bytes = sizeof(all);
	pthread_t thread;
	pid_t pid;

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		return NULL;
	here_too = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (here_too == MAP_FAILED)
		return NULL;
	for (int i = 0; i < SHARED_THINGS; i++) {
		here_too[i] = all[i];
		init_shared(&here_too[i], i == S_ROBUST, i == S_PI);
	}
	pid = another_process();
	if (pid < 0)
		return NULL;
	if (pid) {
		for (int i = 0; i < SHARED_THINGS; i++)
			while (!here_too[i].holder_tid)
				pause_ms(1);
		return here_too;
	}
	there = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (there == MAP_FAILED || munmap(here_too, bytes))
		_exit(1);
	for (int i = 0; i < SHARED_THINGS; i++)
		if (pthread_create(&thread, NULL, hold, &there[i]))
			_exit(1);
	for (;;)
		pause();
}

/* Another user's process, if that is permitted, which has nothing to do with any of this. */
static pid_t begin_innocent(void)
{
	pid_t pid = another_process();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, "innocent");
	if (setuid(65534))
		pause();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the change has cleared it */
	for (;;)
		pause();
}

/* Locks of this process alone whose words say that the innocent has them. */
static struct thing *begin_forged(void)
{
	static const struct thing all[FORGED_THINGS] = {
		[F_MUTEX] = { "", "f_user", mutex_in_vain, give_nothing, .nobody = true },
		[F_ROBUST] = { "", "fr_user", mutex_in_vain, give_nothing, .nobody = true },
		[F_WRITER] = { "", "f_reader", rwlock_in_vain, give_nothing, .nobody = true },
		[F_PI] = { "", "fpi_user", mutex_in_vain, give_nothing, .nobody = true },
	};
	pid_t innocent = begin_innocent(); /* before there is anything that it could share */
	struct thing *forged =
		mmap(NULL, sizeof(all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (forged == MAP_FAILED || innocent < 0)
		return NULL;
	for (int i = 0; i < FORGED_THINGS; i++) {
		struct thing *t = &forged[i];

		*t = all[i];
		init_shared(t, i == F_ROBUST, i == F_PI);
		if (i == F_WRITER) {
			write_lock(t);
			t->rwlock.__data.__cur_writer = innocent;
			continue;
		}
		t->mutex.__data.__owner = innocent;
		t->mutex.__data.__lock = i == F_MUTEX	 ? 2
					 : i == F_ROBUST ? innocent | (int)FUTEX_WAITERS
							 : innocent;
	}
	return forged;
}

static void tell(const struct thing *t)
{
	printf("%s/%d waits for ", t->waiter, t->waiter_tid);
	if (t->nobody)
		puts("nobody");
	else
		printf("%s/%d\n", t->holder, t->holder_tid);
}

int main(int argc, char **argv)
{
	struct thing *forged = begin_forged(), *shared = begin_shared();
	static const struct thing all[THINGS] = {
		[MUTEX] = { "janitor", "user", take_mutex, .give = give_mutex },
		[TIMED] = { "t_janitor", "t_user", take_in_time, .give = give_mutex },
		[ROBUST] = { "r_janitor", "r_user", take_mutex, .give = give_mutex },
		[SHARED] = { "s_janitor", "s_user", take_mutex, .give = give_mutex },
		[WRITER] = { "writer", "writer2", write_lock, .give = give_rwlock },
		[READER] = { "writer3", "reader", read_or_write, .give = give_rwlock },
		[OWN] = { "o_holder", "o_user", take_own, give_own, .nobody = true },
		[SEM] = { "sem_holder", "sem_user", take_sem, give_sem, .nobody = true },
		[DEADLOCK_1] = { "castor", "pollux", NULL, NULL, .for_ever = true },
		[DEADLOCK_2] = { "pollux", "castor", NULL, NULL, .for_ever = true },
	};
	pthread_t thread;

	if (!forged || !shared)
		return 1;
	for (int i = 0; i < THINGS; i++) {
		struct thing *t = &things[i];

		*t = all[i];
		init(t);
		if (!t->for_ever && pthread_create(&thread, NULL, hold, t))
			return 1;
	}
	while (here < THINGS - 2)
		pause_ms(1);
	for (int i = 0; i < THINGS; i++)
		if (pthread_create(&thread, NULL, things[i].for_ever ? deadlock : wait_for_it,
				   &things[i]))
			return 1;
	while (here < 2 * THINGS - 2)
		pause_ms(1);
	for (int i = 0; i < SHARED_THINGS; i++)
		if (pthread_create(&thread, NULL, wait_for_it, &shared[i]))
			return 1;
	for (int i = 0; i < FORGED_THINGS; i++)
		if (pthread_create(&thread, NULL, wait_for_it, &forged[i]))
			return 1;
	pause_ms(100);
	for (struct thing *t = things; t < things + THINGS; t++)
		tell(t);
	for (int i = 0; i < SHARED_THINGS; i++)
		tell(&shared[i]);
	for (int i = 0; i < FORGED_THINGS; i++)
		tell(&forged[i]);
	puts("ready");
	fflush(stdout);
	pause_ms(argc > 1 ? atol(argv[1]) * 1000 : 1000);
	return 0;
}
