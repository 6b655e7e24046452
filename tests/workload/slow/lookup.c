// SPDX-License-Identifier: GPL-2.0-or-later
/* A program that asks a name server which does not answer, and tries again after a timeout. */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "slow.h"

static NOINLINE void ask_name(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (send(fd, "who am i", 8, 0) < 0)
		die("send");
	poll(&p, 1, 200);
	after++;
}

static NOINLINE void handle_request(int fd)
{
	ask_name(fd);
	compute(500);
	after++;
}

int main(void)
{
	struct sockaddr_in dumb = { .sin_family = AF_INET };
	socklen_t len = sizeof(dumb);
	int silent = socket(AF_INET, SOCK_DGRAM, 0), fd = socket(AF_INET, SOCK_DGRAM, 0);
	uint64_t end = now_us() + RUN_US;

	dumb.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (silent < 0 || fd < 0 || bind(silent, (void *)&dumb, sizeof(dumb)) ||
	    getsockname(silent, (void *)&dumb, &len) || connect(fd, (void *)&dumb, len))
		die("socket");
	call_it("gateway");
	while (now_us() < end)
		handle_request(fd);
	return 0;
}
