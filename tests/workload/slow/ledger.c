// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server: clients ask two workers, which need a lock for a moment. A janitor takes the lock now
 * and then, and writes and syncs a journal (argument: its path) while it has it; a second
 * argument: there is no janitor.
 */
#include <fcntl.h>
#include <sys/socket.h>

#include "slow.h"

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static int requests[2];
static const char *journal;

static NOINLINE void look_up(void)
{
	pthread_mutex_lock(&table);
	compute(50);
	pthread_mutex_unlock(&table);
	after++;
}

static NOINLINE void serve(void)
{
	char byte;

	while (read(requests[1], &byte, 1) == 1) {
		look_up();
		if (write(requests[1], &byte, 1) != 1)
			die("write");
	}
}

static void *worker(void *arg)
{
	call_it("worker");
	serve();
	return arg;
}

static NOINLINE void compact_journal(int fd)
{
	static char block[1 << 20];

	pthread_mutex_lock(&table);
	for (int i = 0; i < 8; i++) {
		if (pwrite(fd, block, sizeof(block), i * (off_t)sizeof(block)) < 0 || fsync(fd))
			die(journal);
	}
	pthread_mutex_unlock(&table);
	after++;
}

static void *janitor(void *arg)
{
	int fd = open(journal, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	call_it("janitor");
	if (fd < 0)
		die(journal);
	for (;;) {
		compact_journal(fd);
		nap(5000);
	}
	return arg;
}

static NOINLINE void ask(void)
{
	char byte = 'q';

	if (write(requests[0], &byte, 1) != 1 || read(requests[0], &byte, 1) != 1)
		die("ask");
	after++;
}

int main(int argc, char **argv)
{
	uint64_t end = now_us() + RUN_US;

	journal = argc > 1 ? argv[1] : "journal";
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, requests))
		die("socketpair");
	start(worker, NULL);
	start(worker, NULL);
	if (argc < 3)
		start(janitor, NULL);
	call_it("client");
	while (now_us() < end)
		ask();
	return 0;
}
