// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * moving_stacks WHAT [MS] - threads that sleep again and again, for MS each (default: 2), in
 * odd_naps(), which odd_middle() calls, which odd_begins() calls, while their memory is taken from
 * them and given back, or ends. Who wakes meanwhile waits in a handler for its stack. WHAT:
 *
 *     moves   their stacks are mapped elsewhere, and back again
 *     hides   nobody may read them, and then they may
 *     huge    they are in huge pages, which are split and put together again
 *     ends    processes that end while their threads sleep, one after the other
 *     execs   the same, which become another program then, that sleeps in after_naps()
 *
 * Prints "ready" before. Exit status 77: this cannot be done here.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define THREADS 4u
#define HUGE_BYTES (2u << 20)
#define STACK_BYTES (256u << 10)
/* At its top is what the C library, and by it the kernel, always need; odd_begins() is there, too.
 */
#define TOP_BYTES (32u << 10)
#define TAKEN_BYTES (STACK_BYTES - TOP_BYTES)

static const char *what, *ms = "2";
static struct timespec nap;
/* Of threads, each at the end of a huge page's place. */
static char *stacks[THREADS];
static _Atomic unsigned int begun;

static _Noreturn void cannot(const char *why)
{
	printf("%s: %s: %s\n", what, why, strerror(errno));
	exit(77);
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* ---- the functions whose names are known ---------------------------------------------------- */

__attribute__((noinline)) static void odd_naps(void)
{
	nanosleep(&nap, NULL);
	__asm__ volatile("");
}

__attribute__((noinline)) static void odd_middle(void)
{
	char room[512];

	memset(room, 1, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	odd_naps();
	__asm__ volatile("" : : "r"(room) : "memory");
}

__attribute__((noinline)) static void *odd_begins(void *handlers_stack)
{
	stack_t own = { .ss_sp = handlers_stack, .ss_size = STACK_BYTES };
	char room[TOP_BYTES];

	__asm__ volatile("" : : "r"(room) : "memory");
	if (sigaltstack(&own, NULL))
		cannot("sigaltstack");
	begun++;
	for (;;)
		odd_middle();
	return NULL;
}

__attribute__((noinline)) static void after_naps(void)
{
	nanosleep(&nap, NULL);
	__asm__ volatile("");
}

/* ---- threads -------------------------------------------------------------------------------- */

/* It is tried again. */
static void on_fault(int signal)
{
	(void)signal;
}

static char *map(size_t bytes)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		cannot("mmap");
	return at;
}

static void start_threads(void)
{
	const struct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };
	char *at = map((THREADS + 1) * HUGE_BYTES);

	at += -(uintptr_t)at & (HUGE_BYTES - 1);
	if (!strcmp(what, "huge")) {
		if (madvise(at, THREADS * HUGE_BYTES, MADV_HUGEPAGE))
			cannot("madvise");
		memset(at, 0, THREADS * HUGE_BYTES);
	}
	sigaction(SIGSEGV, &act, NULL);
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_attr_t attr;
		pthread_t thread;

		stacks[i] = at + (i + 1) * HUGE_BYTES - STACK_BYTES;
		pthread_attr_init(&attr);
		errno = pthread_attr_setstack(&attr, stacks[i], STACK_BYTES);
		if (!errno)
			errno = pthread_create(&thread, &attr, odd_begins, map(STACK_BYTES));
		if (errno)
			cannot("pthread_create");
	}
	while (begun < THREADS)
		sched_yield();
}

/* ---- what happens to their stacks ------------------------------------------------------------ */

static void move(char *stack, char *to)
{
	if (mremap(stack, TAKEN_BYTES, TAKEN_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to ||
	    mremap(to, TAKEN_BYTES, TAKEN_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, stack) != stack)
		cannot("mremap");
}

static void hide(char *stack)
{
	if (mprotect(stack, TAKEN_BYTES, PROT_NONE) ||
	    mprotect(stack, TAKEN_BYTES, PROT_READ | PROT_WRITE))
		cannot("mprotect");
}

static void split(char *stack)
{
	char *begin = stack + STACK_BYTES - HUGE_BYTES;

	if (mprotect(begin, 4096, PROT_NONE) || mprotect(begin, 4096, PROT_READ | PROT_WRITE))
		cannot("mprotect");
	if (madvise(begin, HUGE_BYTES, MADV_COLLAPSE) && errno == EINVAL)
		cannot("madvise");
}

static _Noreturn void disturb(void)
{
	char *elsewhere = map(TAKEN_BYTES);

	start_threads();
	say_ready();
	for (unsigned int i = 0;; i++) {
		char *stack = stacks[i % THREADS];

		if (!strcmp(what, "moves"))
			move(stack, elsewhere);
		else if (!strcmp(what, "hides"))
			hide(stack);
		else
			split(stack);
		/* Whose it is has some time with it. */
		nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
	}
}

/* ---- processes that end ---------------------------------------------------------------------- */

static void *become_another(void *unused)
{
	(void)unused;
	nanosleep(&nap, NULL);
	nanosleep(&nap, NULL);
	execl("/proc/self/exe", "moving_stacks", "after", ms, (char *)NULL);
	cannot("exec");
}

static _Noreturn void run_for_a_moment(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	start_threads();
	if (!strcmp(what, "execs") && pthread_create(&thread, NULL, become_another, NULL))
		cannot("pthread_create");
	for (int i = 0; i < 3; i++)
		odd_middle();
	while (!strcmp(what, "execs"))
		odd_middle();
	_exit(0);
}

static _Noreturn void end_again_and_again(void)
{
	say_ready();
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			run_for_a_moment();
		waitpid(pid, NULL, 0);
		nanosleep(&(struct timespec) { .tv_nsec = 100000000 }, NULL);
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	what = argv[1];
	if (argc > 2)
		ms = argv[2];
	nap.tv_nsec = atol(ms) * 1000000;
	prctl(PR_SET_NAME, what);
	if (!strcmp(what, "after")) {
		after_naps();
		after_naps();
	} else if (!strcmp(what, "ends") || !strcmp(what, "execs")) {
		end_again_and_again();
	} else {
		disturb();
	}
	return 0;
}
