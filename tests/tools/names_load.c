// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * names_load MODE ... - a program whose stacks are known, for tests of names: sleeps under
 *   main; exported_outer; local_outer; exported_inner; local_inner; local_sleep
 * of which a stripped program still has the exported ones.
 *
 *   wait ROUNDS US               sleeps so often, that long
 *   jit ROUNDS US                the same through two functions that it makes at run time, and
 * tells of in /tmp/perf-PID.map as language runtimes do rename ROUNDS US             changes its
 * thread's name before each sleep exec ROUNDS US PROGRAM       sleeps; then a second thread runs
 * PROGRAM wait ROUNDS US in its place storm N PARALLEL US PROGRAM  N short-lived processes, as a
 * parallel build makes them: each sleeps twice, runs PROGRAM wait 2 US, and ends
 *
 * Prints "pid N" first. Exit status: 0 done, 1 something failed, 2 bad usage.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../workload/calls.h"

/* In the dynamic symbol table (the program is linked with -rdynamic), and a frame of its own. */
#define EXPORTED __attribute__((noinline, visibility("default")))

static long rounds, sleep_us;
static void (*before_sleep)(long round);

/* A frame of its own only where inlined functions are shown. */
INLINED void inlined_sleep(void)
{
	struct timespec t = { sleep_us / 1000000, sleep_us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

IN_STACK void local_sleep(void)
{
	inlined_sleep();
}

IN_STACK void local_inner(void)
{
	for (long i = 0; i < rounds; i++) {
		if (before_sleep)
			before_sleep(i);
		local_sleep();
	}
}

void exported_inner(void);
EXPORTED void exported_inner(void)
{
	local_inner();
	__asm__ volatile("" ::: "memory");
}

IN_STACK void local_outer(void (*next)(void))
{
	next();
	__asm__ volatile("" ::: "memory");
}

void exported_outer(void (*next)(void));
EXPORTED void exported_outer(void (*next)(void))
{
	local_outer(next);
	__asm__ volatile("" ::: "memory");
}

/* ---- generated code ------------------------------------------------------------------------ */

/* void f(void (**list)(void *)): calls the first of the list with the rest of it. */
static const uint32_t generated_function[] = {
#if defined(__x86_64__)
	/* push rbp; mov rbp, rsp; mov rax, [rdi]; add rdi, 8; call rax; pop rbp; ret */
	0xe5894855, 0x48078b48, 0xff08c783, 0x90c35dd0
#elif defined(__aarch64__)
	/* stp x29, x30, [sp, -16]!; mov x29, sp; ldr x1, [x0], 8; blr x1; ldp x29, x30, [sp], 16;
	   ret */
	0xa9bf7bfd, 0x910003fd, 0xf8408401, 0xd63f0020, 0xa8c17bfd, 0xd65f03c0
#else
#error "names_load generates code for x86-64 and arm64"
#endif
};

static void *generated[3];

static void end_of_generated(void *rest)
{
	(void)rest;
	exported_inner();
	__asm__ volatile("" ::: "memory");
}

IN_STACK void call_generated(void)
{
	void (*first)(void *);

	memcpy(&first, &generated[0], sizeof(first));
	first(&generated[1]);
	__asm__ volatile("" ::: "memory");
}

static int generate(void)
{
	static const char *const names[] = { "generated_outer", "generated_inner" };
	size_t len = 4096, size = sizeof(generated_function);
	uint8_t *code = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*end)(void *) = end_of_generated;
	char path[40];
	FILE *map;

	if (code == MAP_FAILED)
		return 1;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "we");
	if (!map) {
		perror(path);
		return 1;
	}
	for (size_t i = 0; i < 2; i++) {
		uint8_t *at = code + i * 256;

		memcpy(at, generated_function, size);
		generated[i] = at;
		fprintf(map, "%" PRIxPTR " %zx %s\n", (uintptr_t)at, size, names[i]);
	}
	memcpy(&generated[2], &end, sizeof(end));
	fclose(map);
	__builtin___clear_cache((char *)code, (char *)code + len);
	return mprotect(code, len, PROT_READ | PROT_EXEC) != 0;
}

/* ---- other threads and processes ----------------------------------------------------------- */

static void rename_thread(long round)
{
	char name[16];

	snprintf(name, sizeof(name), "name_%ld", round % 10);
	prctl(PR_SET_NAME, name);
}

static char *exec_args[5];

static void *exec_from_thread(void *unused)
{
	(void)unused;
	execv(exec_args[0], exec_args);
	perror(exec_args[0]);
	_exit(1);
}

/* The thread that calls exec does not lead its process; the leader sleeps on meanwhile. */
static int exec_over(char **argv)
{
	pthread_t t;

	exec_args[0] = argv[4];
	exec_args[1] = (char[]) { "wait" };
	exec_args[2] = argv[2];
	exec_args[3] = argv[3];
	exported_outer(exported_inner);
	if (pthread_create(&t, NULL, exec_from_thread, NULL))
		return 1;
	exported_outer(exported_inner);
	pthread_join(t, NULL);
	return 1;
}

IN_STACK long wait_for_child(void)
{
	int status = 0;
	pid_t pid = waitpid(-1, &status, 0);

	return pid < 0 || status ? -1 : pid;
}

IN_STACK void short_life(char *const args[])
{
	exported_outer(exported_inner);
	execve(args[0], args, environ);
	_exit(1);
}

static int storm(char **argv)
{
	char *args[] = { argv[5], (char[]) { "wait" }, (char[]) { "2" }, argv[4], NULL };
	long n = atol(argv[2]), parallel = atol(argv[3]), running = 0;

	rounds = 2;
	sleep_us = atol(argv[4]);
	while (n || running) {
		if (n && running < parallel) {
			pid_t pid = fork();

			if (pid < 0)
				return 1;
			if (!pid)
				short_life(args);
			n--;
			running++;
		} else {
			if (wait_for_child() < 0)
				return 1;
			running--;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc >= 4 ? argv[1] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	rounds = argc >= 4 ? atol(argv[2]) : 0;
	sleep_us = argc >= 4 ? atol(argv[3]) : 0;
	if (!strcmp(mode, "storm") && argc == 6) {
		printf("pid %d\n", (int)getpid());
		return storm(argv);
	}
	if (!strcmp(mode, "exec") && argc == 5) {
		printf("pid %d\n", (int)getpid());
		return exec_over(argv);
	}
	if (argc != 4) {
		fputs("usage: names_load wait|jit|rename|exec|storm ..., see its source\n", stderr);
		return 2;
	}
	if (strcmp(mode, "wait"))
		printf("pid %d\n", (int)getpid());
	if (!strcmp(mode, "rename"))
		before_sleep = rename_thread;
	if (!strcmp(mode, "jit") && generate())
		return 1;
	exported_outer(strcmp(mode, "jit") ? exported_inner : call_generated);
	return 0;
}
