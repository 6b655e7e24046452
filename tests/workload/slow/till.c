// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A shop that is a command: a client asks a worker at a unix socket (argument: its path) 400 times,
 * which needs the till for a moment. Now and then a janitor takes the till, and counts what is in
 * it for so many microseconds: the second argument.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "slow.h"

#define ASKED 400

static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
static struct sockaddr_un shop = { .sun_family = AF_UNIX };
static uint64_t counts_us;

static NOINLINE void pay(void)
{
	pthread_mutex_lock(&till);
	compute(50);
	pthread_mutex_unlock(&till);
	after++;
}

static void *worker(void *listens)
{
	int fd = accept(*(int *)listens, NULL, NULL);
	char byte;

	call_it("worker");
	while (fd >= 0 && read(fd, &byte, 1) == 1) {
		pay();
		if (write(fd, &byte, 1) != 1)
			die("write");
	}
	return NULL;
}

static NOINLINE void count_till(void)
{
	pthread_mutex_lock(&till);
	nap(counts_us);
	pthread_mutex_unlock(&till);
	after++;
}

static void *janitor(void *arg)
{
	call_it("janitor");
	for (;;) {
		nap(20000);
		count_till();
	}
	return arg;
}

int main(int argc, char **argv)
{
	int listens = socket(AF_UNIX, SOCK_STREAM, 0), fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte = 0;

	if (argc < 3)
		return 2;
	strncpy(shop.sun_path, argv[1], sizeof(shop.sun_path) - 1);
	counts_us = strtoul(argv[2], NULL, 10);
	unlink(shop.sun_path);
	if (bind(listens, (struct sockaddr *)&shop, sizeof(shop)) || listen(listens, 5) ||
	    connect(fd, (struct sockaddr *)&shop, sizeof(shop)))
		die(shop.sun_path);
	start(worker, &listens);
	start(janitor, NULL);
	for (int i = 0; i < ASKED; i++) {
		nap(2000);
		if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
			die("the worker");
	}
	return 0;
}
