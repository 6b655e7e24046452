// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * classes.c - one thread for each class of thing that a thread can wait for: each waits for its own
 * again and again, and the main thread ends the waits. For two seconds, or as many as the argument
 * says. It prints, for each thread,
 *
 *	waits TID CLASS NAME
 *
 * with the name as the kernel's own interfaces say it (/proc, getsockname(), stat()), or
 * "cannot CLASS REASON" where the machine does not have it.
 */
#define _GNU_SOURCE
#include "waiter.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sem.h>
#include <unistd.h>

char folder[] = "/tmp/chain-objects.XXXXXX";
volatile bool ending;

void called(struct waiter *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->name, sizeof(w->name), format, args);
	va_end(args);
}

bool cannot(const struct waiter *w)
{
	printf("cannot %s %s\n", w->class, strerror(errno));
	return false;
}

void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "classes: %s: %s\n", what, strerror(errno));
	exit(1);
}

static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *arg)
{
	struct waiter *w = arg;
	sigset_t unblocked;

	/* A ring's wait ends by a signal alone. */
	sigemptyset(&unblocked);
	if (!strcmp(w->class, "io_uring")) {
		sigaddset(&unblocked, SIGUSR1);
		pthread_sigmask(SIG_UNBLOCK, &unblocked, NULL);
	}
	pthread_mutex_lock(&telling);
	printf("waits %d %s%s%s\n", (int)gettid(), w->class, *w->name ? " " : "", w->name);
	pthread_mutex_unlock(&telling);
	while (!ending)
		w->wait(w);
	return NULL;
}

static void clean(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command))
		fprintf(stderr, "classes: %s stays\n", folder);
}

static void handle(int signal)
{
	(void)signal;
}

/* Calls fn for each waiter that the machine has. */
static void each(void (*fn)(struct waiter *w))
{
	static struct waiter *const all[] = { of_others, of_files, of_sockets, of_locks, of_sets };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (struct waiter *w = all[i]; w->class; w++)
			if (!w->without)
				fn(w);
}

static void init(struct waiter *w)
{
	w->without = !w->init(w);
}

static void start(struct waiter *w)
{
	must(!pthread_create(&w->thread, NULL, run, w), "pthread_create");
}

static void poke(struct waiter *w)
{
	w->poke(w);
}

static void finish(struct waiter *w)
{
	if (!strcmp(w->class, "child"))
		close(w->other);
	for (int n = 0; pthread_tryjoin_np(w->thread, NULL) && n < 1000; n++) {
		w->poke(w);
		usleep(2000);
	}
	if (!strcmp(w->class, "ipc"))
		semctl(w->fd, 0, IPC_RMID);
}

int main(int argc, char **argv)
{
	int pokes = (argc > 1 ? atoi(argv[1]) : 2) * (1000000000 / PAUSE_NS);
	sigset_t blocked;

	must(mkdtemp(folder), "mkdtemp");
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	sigaction(SIGUSR1, &(struct sigaction) { .sa_handler = handle }, NULL);
	each(init);
	each(start);
	for (int n = 0; n < pokes; n++) {
		usleep(PAUSE_NS / 1000);
		each(poke);
	}
	ending = true;
	each(finish);
	clean();
	return 0;
}
