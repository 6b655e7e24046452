// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server whose clients live for one question each, as curl does: three of 300 ms, and then ten of
 * 0.2 ms. Two functions make up an answer, both of which look at the clock all the time. Prints how
 * long a client that waited longest waited, from its start to its end, in ns.
 */
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "slow.h"

#define DEAR 3
#define CLIENTS 13

/* Not the same as the other one: the compiler makes one function of two equal ones. */
static NOINLINE void spin_cheap(uint64_t us)
{
	compute(us);
	after += 2;
}

static NOINLINE void spin_dear(uint64_t us)
{
	compute(us);
	after++;
}

static NOINLINE void answer(int fd, uint64_t us)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		die("read");
	spin_cheap(us * 55 / 100);
	spin_dear(us * 45 / 100);
	if (write(fd, &byte, 1) != 1)
		die("write");
}

static NOINLINE void serve(int listening)
{
	for (int i = 0;; i++) {
		int fd = accept(listening, NULL, NULL);

		if (fd < 0)
			die("accept");
		answer(fd, i < DEAR ? 300000 : 200);
		close(fd);
	}
}

static NOINLINE void ask(const struct sockaddr_un *to, socklen_t len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte = 1;

	if (fd < 0 || connect(fd, (const struct sockaddr *)to, len) || write(fd, &byte, 1) != 1 ||
	    read(fd, &byte, 1) != 1)
		die("ask");
}

int main(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	uint64_t longest_us = 0;
	socklen_t len;
	int listening = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t server;

	/* Of nobody else: in no file system, and with the process's id. */
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			  (size_t)snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "answers.%d",
					   getpid()));
	if (listening < 0 || bind(listening, (struct sockaddr *)&at, len) || listen(listening, 8))
		die("listen");
	server = fork();
	if (!server) {
		call_it("server");
		serve(listening);
	}
	for (int i = 0; i < CLIENTS; i++) {
		uint64_t from_us = now_us();
		pid_t client = fork();

		if (!client) {
			call_it("client");
			ask(&at, len);
			_exit(0);
		}
		waitpid(client, NULL, 0);
		if (longest_us < now_us() - from_us)
			longest_us = now_us() - from_us;
	}
	printf("told longest_ns %llu\n", (unsigned long long)longest_us * 1000);
	kill(server, SIGKILL);
	return 0;
}
