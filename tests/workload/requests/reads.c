// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server for each way to read a request, and two clients of each, which ask for /users/N/orders
 * 25 times. Writes "WAY PORT" lines. The last two get no bytes of a request as it is: TRUNC throws
 * them away, MANY reads two messages by one call.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS 2
#define REQUESTS 25

enum way {
	READ,
	RECV,
	RECVFROM,
	READV,
	RECVMSG,
	RECVMMSG,
	PEEK,
	BYTES,
	HEADER,
	SPLIT,
	TRUNC,
	MANY
};

static const char *const names[] = { "read", "recv",  "recvfrom", "readv", "recvmsg", "recvmmsg",
				     "peek", "bytes", "header",	  "split", "trunc",   "many" };

#define WAYS (sizeof(names) / sizeof(names[0]))

static char buffers[WAYS][4096];

struct server {
	enum way way;
	int fd;
};

/* The first part has three bytes. */
static ssize_t read_parts(enum way way, int fd, char *to, size_t size)
{
	struct iovec v[2] = { { to, 3 }, { to + 3, size - 3 } };
	struct mmsghdr m[2] = { { .msg_hdr = { .msg_iov = v, .msg_iovlen = 2 } } };
	char second[8];
	struct iovec of_second = { second, sizeof(second) };

	if (way == READV)
		return readv(fd, v, 2);
	if (way == RECVMSG)
		return recvmsg(fd, &m[0].msg_hdr, 0);
	m[1].msg_hdr = (struct msghdr) { .msg_iov = &of_second, .msg_iovlen = 1 };
	if (recvmmsg(fd, m, way == MANY ? 2 : 1, MSG_WAITFORONE, NULL) < 1)
		return -1;
	return m[0].msg_len;
}

static ssize_t read_some(enum way way, int fd, char *to, size_t size, int is_begun)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);

	switch (way) {
	case READ:
	case SPLIT:
		return read(fd, to, size);
	case RECVFROM:
		return recvfrom(fd, to, size, 0, (void *)&from, &len);
	case READV:
	case RECVMSG:
	case RECVMMSG:
	case MANY:
		return read_parts(way, fd, to, size);
	case PEEK:
		recv(fd, to, size, MSG_PEEK);
		memset(to, 'x', 20);
		return recv(fd, to, size, 0);
	case BYTES:
		return recv(fd, to, 1, 0);
	case HEADER:
		return recv(fd, to, is_begun ? size : 4, 0);
	case TRUNC:
		/* What is there of another request is not what it reads. */
		strcpy(to, "GET /not/this/one HTTP/1.1\r\n\r\n");
		return recv(fd, to, size, MSG_TRUNC);
	default:
		return recv(fd, to, size, 0);
	}
}

static int read_request(enum way way, int fd)
{
	size_t n = 0;
	char *to = buffers[way];

	do {
		ssize_t got = read_some(way, fd, to + n, 4095 - n, n > 0);

		if (got <= 0)
			return 0;
		n += (size_t)got;
		to[n] = '\0';
	} while (way != TRUNC && !strstr(to, "\r\n\r\n"));
	return 1;
}

static void *serve(void *arg)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	const struct server *s = arg;

	for (int i = 0; i < CLIENTS; i++) {
		int fd = accept(s->fd, NULL, NULL);

		while (read_request(s->way, fd))
			if (write(fd, answer, sizeof(answer) - 1) < 0)
				break;
		close(fd);
	}
	return NULL;
}

static void ask(enum way way, const struct sockaddr_in *to)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	char request[100], answer[100];
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (connect(fd, (const void *)to, sizeof(*to)))
		exit(1);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (int i = 0; i < REQUESTS; i++) {
		int n = snprintf(request, sizeof(request),
				 "GET /users/%d/orders?token=secretquery HTTP/1.1\r\n\r\n",
				 1000 + i);
		int at = way == SPLIT ? 2 : 0;

		if (at && write(fd, request, 2) != 2)
			exit(1);
		if (at)
			nanosleep(&ms, NULL);
		if (write(fd, request + at, (size_t)(n - at)) != n - at ||
		    read(fd, answer, sizeof(answer)) <= 0)
			exit(1);
	}
	close(fd);
}

int main(void)
{
	static struct server servers[WAYS];
	struct sockaddr_in at[WAYS];
	pthread_t threads[WAYS];

	for (size_t i = 0; i < WAYS; i++) {
		socklen_t len = sizeof(at[i]);

		at[i] = (struct sockaddr_in) { .sin_family = AF_INET,
					       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		servers[i] = (struct server) { (enum way)i, socket(AF_INET, SOCK_STREAM, 0) };
		if (bind(servers[i].fd, (void *)&at[i], len) || listen(servers[i].fd, 4) ||
		    getsockname(servers[i].fd, (void *)&at[i], &len) ||
		    pthread_create(&threads[i], NULL, serve, &servers[i]))
			return 1;
		printf("%s %u\n", names[i], ntohs(at[i].sin_port));
	}
	for (size_t i = 0; i < WAYS; i++) {
		for (int k = 0; k < CLIENTS; k++)
			ask((enum way)i, &at[i]);
		pthread_join(threads[i], NULL);
	}
	return 0;
}
