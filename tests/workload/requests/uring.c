// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uring N: a server that reads and writes one connection by io_uring, and its client, which asks N
 * times. Prints "port P", "writer TID" (the server's thread) and "client C answers".
 */
#include <arpa/inet.h>
#include <liburing.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MESSAGE = 32 };

static int failed(const char *what, int err)
{
	fprintf(stderr, "uring: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

/* Submits the one request, and returns its result. */
static int result_of(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	int err, res;

	io_uring_submit(ring);
	err = io_uring_wait_cqe(ring, &cqe);
	if (err)
		failed("io_uring_wait_cqe", err);
	res = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return res;
}

static void *serve(void *listener)
{
	struct io_uring ring;
	char message[MESSAGE];
	int err = io_uring_queue_init(8, &ring, 0), conn, n;

	if (err)
		failed("io_uring_queue_init", err);
	printf("writer %ld\n", (long)syscall(SYS_gettid));
	io_uring_prep_accept(io_uring_get_sqe(&ring), *(int *)listener, NULL, NULL, 0);
	conn = result_of(&ring);
	if (conn < 0)
		failed("accept", conn);
	for (;;) {
		io_uring_prep_recv(io_uring_get_sqe(&ring), conn, message, sizeof(message),
				   MSG_WAITALL);
		n = result_of(&ring);
		if (n != MESSAGE)
			break;
		io_uring_prep_send(io_uring_get_sqe(&ring), conn, message, sizeof(message), 0);
		n = result_of(&ring);
		if (n != MESSAGE)
			failed("send", n);
	}
	close(conn);
	io_uring_queue_exit(&ring);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int listener = socket(AF_INET, SOCK_STREAM, 0), conn = socket(AF_INET, SOCK_STREAM, 0);
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1, answers = 0;
	socklen_t len = sizeof(at);
	char message[MESSAGE] = { 0 };
	pthread_t server;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (void *)&at, sizeof(at)) || listen(listener, 1) ||
	    getsockname(listener, (void *)&at, &len) ||
	    pthread_create(&server, NULL, serve, &listener) ||
	    connect(conn, (void *)&at, sizeof(at))) {
		perror("uring");
		return 1;
	}
	printf("port %u\n", ntohs(at.sin_port));
	for (long i = 0; i < n; i++) {
		memcpy(message, &i, sizeof(i));
		if (send(conn, message, sizeof(message), 0) == MESSAGE &&
		    recv(conn, message, sizeof(message), MSG_WAITALL) == MESSAGE)
			answers += !memcmp(message, &i, sizeof(i));
	}
	close(conn);
	pthread_join(server, NULL);
	printf("client %ld answers\n", answers);
	return 0;
}
