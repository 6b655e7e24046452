// SPDX-License-Identifier: GPL-2.0-or-later
/* client_http.c - a client of web servers: ADDRESS is a port of this machine, REQUEST a path. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <string.h>

#include "../workload/slow/slow.h"
#include "client.h"

void *client_connect(const char *address)
{
	struct sockaddr_in server = { .sin_family = AF_INET,
				      .sin_port = htons((uint16_t)atoi(address)),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int *connection = malloc(sizeof(*connection)), on = 1;

	if (!connection)
		die("malloc");
	*connection = socket(AF_INET, SOCK_STREAM, 0);
	if (*connection < 0 || connect(*connection, (struct sockaddr *)&server, sizeof(server)))
		die("connect");
	setsockopt(*connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return connection;
}

/* The length of the whole answer of which the beginning is there, 0 if that is not known yet. */
static size_t answer_length(const char *answer)
{
	const char *end = strstr(answer, "\r\n\r\n"),
		   *length = strcasestr(answer, "\r\ncontent-length:");

	if (!end)
		return 0;
	if (!length || length > end) {
		fprintf(stderr, "no length: %s\n", answer);
		exit(1);
	}
	return (size_t)(end + 4 - answer) + strtoul(length + 17, NULL, 10);
}

/* For servers that compare their clock with when they were asked. */
static unsigned long long wall_clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000;
}

/* The number in a header; 0: it is not there. */
static uint64_t number_of(const char *answer, const char *header)
{
	const char *at = strstr(answer, header);

	return at ? strtoull(at + strlen(header), NULL, 10) : 0;
}

struct server_clock client_ask(void *connection, const char *request)
{
	char text[1024], answer[16384];
	size_t got = 0, whole = 0;
	int fd = *(int *)connection;
	int length = snprintf(text, sizeof(text),
			      "GET %s HTTP/1.1\r\nHost: localhost\r\nX-Sent: %llu\r\n\r\n", request,
			      wall_clock_us());

	if (write(fd, text, (size_t)length) != length)
		die("write");
	while (!whole || got < whole) {
		ssize_t n = read(fd, answer + got, sizeof(answer) - 1 - got);

		if (n <= 0)
			die("read");
		got += (size_t)n;
		answer[got] = 0;
		whole = answer_length(answer);
	}
	if (strncmp(answer, "HTTP/1.1 200", 12) || got > whole) {
		fprintf(stderr, "wrong answer: %s\n", answer);
		exit(1);
	}
	return (struct server_clock) { number_of(answer, "\r\nX-Took: "),
				       number_of(answer, "\r\nX-Waited: ") };
}
