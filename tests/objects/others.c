// SPDX-License-Identifier: GPL-2.0-or-later
/* What has no descriptor, a ring, and a system call of a 32-bit program. */
#define _GNU_SOURCE
#include "waiter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool init_nothing(struct waiter *w)
{
	w->name[0] = '\0';
	return true;
}

void poke_nothing(struct waiter *w)
{
	(void)w;
}

static bool init_sleep(struct waiter *w)
{
	called(w, "20ms");
	return true;
}

static void wait_sleep(struct waiter *w)
{
	struct timespec t = { 0, PAUSE_NS };

	(void)w;
	nanosleep(&t, NULL);
}

static void wait_signal(struct waiter *w)
{
	sigset_t set;

	(void)w;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &(struct timespec) { 1, 0 });
}

static void poke_signal(struct waiter *w)
{
	pthread_kill(w->thread, SIGUSR1);
}

/* A child that lives as long as the test does. */
static bool init_child(struct waiter *w)
{
	int ends[2];

	must(!pipe2(ends, O_CLOEXEC), "pipe");
	w->fd = fork();
	must(w->fd >= 0, "fork");
	if (!w->fd) {
		char c;

		close(ends[1]);
		if (read(ends[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(ends[0]);
	w->other = ends[1];
	called(w, "classes/%d", w->fd);
	return true;
}

static void wait_child(struct waiter *w)
{
	waitpid(w->fd, NULL, 0);
	while (!ending)
		usleep(1000);
}

static bool init_semaphore(struct waiter *w)
{
	w->fd = semget(IPC_PRIVATE, 1, 0600);
	if (w->fd < 0)
		return cannot(w);
	called(w, "%d", w->fd);
	return true;
}

static void change_semaphore(struct waiter *w, short by)
{
	struct sembuf op = { 0, by, 0 };

	if (semop(w->fd, &op, 1))
		return;
}

static void wait_semaphore(struct waiter *w)
{
	change_semaphore(w, -1);
}

static void poke_semaphore(struct waiter *w)
{
	change_semaphore(w, 1);
}

/* A ring that has nothing to do until its timeout. */
static bool init_uring(struct waiter *w)
{
	struct io_uring_params p = { 0 };

	w->fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	if (w->fd < 0)
		return cannot(w);
	called(w, "%d:%d", (int)getpid(), w->fd);
	return true;
}

static void wait_uring(struct waiter *w)
{
	syscall(SYS_io_uring_enter, w->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

#if defined(__x86_64__)
/* A system call of a 32-bit program: its number and registers are others. */
static long call_32(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

static bool init_32(struct waiter *w)
{
	int status = 0;
	pid_t child;

	init_pipe(w);
	w->word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
		       -1, 0);
	must(w->word != MAP_FAILED, "mmap");
	/* Where there are no such calls, they return -ENOSYS, or the kernel kills who makes one. */
	child = fork();
	must(child >= 0, "fork");
	if (!child) /* read() of nothing */
		_exit(call_32(3, -1, (long)w->word, 0) != -EBADF);
	must(waitpid(child, &status, 0) == child, "waitpid");
	errno = ENOSYS;
	return !status || cannot(w);
}

static void wait_32(struct waiter *w)
{
	call_32(3, w->fd, (long)w->word, 8);
}
#endif

struct waiter of_others[] = {
	WAITER("sleep", init_sleep, wait_sleep, poke_nothing),
	WAITER("signal", init_nothing, wait_signal, poke_signal),
	WAITER("child", init_child, wait_child, poke_nothing),
	WAITER("ipc", init_semaphore, wait_semaphore, poke_semaphore),
	WAITER("io_uring", init_uring, wait_uring, poke_signal),
#if defined(__x86_64__)
	WAITER("pipe", init_32, wait_32, write_byte),
#endif
	{ .class = NULL },
};
