// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What services ask: a thread for each connection, which is told in a line how many milliseconds
 * the answer takes. The argument is what it and its threads are called.
 */
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <netinet/tcp.h>
#include <string>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

__attribute__((noinline)) static void work_out(int ms)
{
	usleep(static_cast<useconds_t>(ms) * 1000);
	asm volatile("");
}

static void serve(int fd, const std::string &name)
{
	char line[64];
	ssize_t n;

	prctl(PR_SET_NAME, name.c_str());
	while ((n = read(fd, line, sizeof(line) - 1)) > 0) {
		line[n] = 0;
		if (int ms = atoi(line))
			work_out(ms);
		if (write(fd, "done\n", 5) != 5)
			break;
	}
	close(fd);
}

int main(int argc, char **argv)
{
	sockaddr_in address = {};
	socklen_t length = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0), fd, on = 1;
	std::string name = argc > 1 ? argv[1] : "upstream";

	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listening, reinterpret_cast<sockaddr *>(&address), length) || listen(listening, 64) ||
	    getsockname(listening, reinterpret_cast<sockaddr *>(&address), &length))
		return 1;
	printf("port %u\n", ntohs(address.sin_port));
	fflush(stdout);
	prctl(PR_SET_NAME, name.c_str());
	while ((fd = accept(listening, nullptr, nullptr)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		std::thread(serve, fd, name).detach();
	}
	return 1;
}
