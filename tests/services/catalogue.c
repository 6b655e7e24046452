// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A catalogue: each connection has a thread, which asks redis (argument: its socket) for the item.
 * Redis does one command after the other, also those of others.
 */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../workload/slow/slow.h"

static struct sockaddr_un redis_address = { .sun_family = AF_UNIX };

static NOINLINE size_t ask_redis(int redis, const char *item, char *value, size_t size)
{
	char command[128];
	ssize_t n = snprintf(command, sizeof(command), "*2\r\n$3\r\nGET\r\n$%zu\r\n%s\r\n",
			     strlen(item), item);

	if (write(redis, command, (size_t)n) != n || (n = read(redis, value, size - 1)) <= 0)
		die("redis");
	after++;
	value[n] = 0;
	return (size_t)n;
}

static NOINLINE void serve(int fd, int redis)
{
	char request[2048], value[256], answer[1024], item[64];
	ssize_t n;

	while ((n = read(fd, request, sizeof(request) - 1)) > 0) {
		request[n] = 0;
		if (sscanf(request, "GET /%63s ", item) != 1)
			break;
		n = (ssize_t)ask_redis(redis, item, value, sizeof(value));
		n = snprintf(answer, sizeof(answer),
			     "HTTP/1.1 200 OK\r\nContent-Length: %zd\r\n\r\n%s", n, value);
		if (write(fd, answer, (size_t)n) != n)
			break;
	}
	close(fd);
	close(redis);
}

static void *connection(void *arg)
{
	int redis = socket(AF_UNIX, SOCK_STREAM, 0);

	call_it("shelf");
	if (redis < 0 || connect(redis, (struct sockaddr *)&redis_address, sizeof(redis_address)))
		die("redis");
	serve((int)(intptr_t)arg, redis);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0), fd;

	if (argc != 2)
		return 2;
	snprintf(redis_address.sun_path, sizeof(redis_address.sun_path), "%s", argv[1]);
	if (bind(listening, (struct sockaddr *)&address, length) || listen(listening, 64) ||
	    getsockname(listening, (struct sockaddr *)&address, &length))
		die("listen");
	printf("port %u\n", ntohs(address.sin_port));
	fflush(stdout);
	while ((fd = accept(listening, NULL, NULL)) >= 0)
		start(connection, (void *)(intptr_t)fd);
	die("accept");
}
