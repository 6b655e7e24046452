// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A batch program that asks a name server (its own process) for each item, over UDP. Somebody else
 * floods the server with questions, unless there is an argument.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "slow.h"

static struct sockaddr_in server = { .sin_family = AF_INET };

static NOINLINE void find_name(void)
{
	compute(2000);
	after++;
}

static NOINLINE void answer(int fd)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char question[64];

	if (recvfrom(fd, question, sizeof(question), 0, (void *)&from, &len) < 0)
		die("recvfrom");
	find_name();
	sendto(fd, question, 8, 0, (void *)&from, len);
	after++;
}

static void be_server(int fd)
{
	call_it("nameserver");
	for (;;)
		answer(fd);
}

static int new_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		die("socket");
	return fd;
}

static void be_flooder(void)
{
	int fd = new_socket();

	call_it("audit");
	for (;;) {
		for (int i = 0; i < 5; i++)
			sendto(fd, "who is it", 8, 0, (void *)&server, sizeof(server));
		for (int i = 0; i < 5; i++) {
			char byte[64];

			recv(fd, byte, sizeof(byte), 0);
		}
	}
}

static NOINLINE void resolve(int fd)
{
	char name[64];

	sendto(fd, "who am i", 8, 0, (void *)&server, sizeof(server));
	if (recv(fd, name, sizeof(name), 0) < 0)
		die("recv");
	after++;
}

int main(int argc, char **argv)
{
	socklen_t len = sizeof(server);
	int fd = new_socket(), mine = new_socket();
	uint64_t end = now_us() + RUN_US;
	pid_t children[2];

	(void)argv;
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (void *)&server, sizeof(server)) || getsockname(fd, (void *)&server, &len))
		die("bind");
	children[0] = fork();
	if (!children[0])
		be_server(fd);
	children[1] = fork();
	if (!children[1] && argc > 1)
		pause();
	else if (!children[1])
		be_flooder();
	call_it("batch");
	while (now_us() < end) {
		resolve(mine);
		compute(100);
	}
	for (int i = 0; i < 2; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	return 0;
}
