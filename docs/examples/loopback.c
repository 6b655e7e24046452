// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * loopback.c - a client and a service that talk over loopback TCP, one small question at a time.
 *
 *	loopback [--nodelay] QUESTIONS
 *
 * The client writes a question in two pieces, head and body, as many libraries do. Prints how long
 * an answer took on average. --nodelay sets TCP_NODELAY on the client's socket.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_BYTES = 16, BODY_BYTES = 48, ANSWER_BYTES = 32 };

static bool read_all(int fd, char *to, size_t size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = read(fd, to + have, size - have);

		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

static bool read_question(int fd, char *question)
{
	return read_all(fd, question, HEAD_BYTES) &&
	       read_all(fd, question + HEAD_BYTES, BODY_BYTES);
}

static bool send_answer(int fd)
{
	static const char answer[ANSWER_BYTES] = "42";

	return write(fd, answer, sizeof(answer)) == sizeof(answer);
}

static void *serve(void *arg)
{
	int listener = *(const int *)arg;
	int fd = accept(listener, NULL, NULL);
	char question[HEAD_BYTES + BODY_BYTES];

	pthread_setname_np(pthread_self(), "service");
	while (fd >= 0 && read_question(fd, question) && send_answer(fd))
		;
	if (fd >= 0)
		close(fd);
	return NULL;
}

static bool send_question(int fd)
{
	static const char head[HEAD_BYTES] = "ASK 48", body[BODY_BYTES] = "everything";

	return write(fd, head, sizeof(head)) == sizeof(head) &&
	       write(fd, body, sizeof(body)) == sizeof(body);
}

static bool await_answer(int fd)
{
	char answer[ANSWER_BYTES];

	return read_all(fd, answer, sizeof(answer));
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	bool nodelay = argc > 2 && strcmp(argv[1], "--nodelay") == 0;
	int questions = argc > 1 ? atoi(argv[argc - 1]) : 0;
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	int on = 1, asked = 0;
	pthread_t service;
	double start;

	if (questions <= 0) {
		fprintf(stderr, "usage: %s [--nodelay] QUESTIONS\n", argv[0]);
		return 2;
	}
	if (listener < 0 || fd < 0 || bind(listener, (struct sockaddr *)&address, size) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &size) ||
	    pthread_create(&service, NULL, serve, &listener) ||
	    connect(fd, (struct sockaddr *)&address, size)) {
		perror("loopback");
		return 1;
	}
	if (nodelay)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	pthread_setname_np(pthread_self(), "client");
	start = now_ms();
	while (asked < questions && send_question(fd) && await_answer(fd))
		asked++;
	printf("%d answers, %.2f ms each\n", asked, (now_ms() - start) / (asked ? asked : 1));
	close(fd);
	pthread_join(service, NULL);
	return asked == questions ? 0 : 1;
}
