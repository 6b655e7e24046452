// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * As a library called libssl.so.9, with -DLIBRARY: functions of OpenSSL's names that give back what
 * they are told. Else a program that calls them: with numbers that are too large, with buffers that
 * are not there, for connections that it has not, from a thread that never comes back; and a server
 * to itself, whose connections have all the same name, and what they ask for is made up.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef LIBRARY

int SSL_read(void *ssl, void *buffer, int n)
{
	(void)buffer;
	while (!ssl)
		pause();
	return n;
}

int SSL_read_ex(void *ssl, void *buffer, size_t n, size_t *n_read)
{
	(void)ssl, (void)buffer;
	if ((uintptr_t)n_read > 4096)
		*n_read = n;
	return 1;
}

void SSL_free(void *ssl)
{
	(void)ssl;
}

#else

int SSL_read(void *ssl, void *buffer, int n);
int SSL_read_ex(void *ssl, void *buffer, size_t n, size_t *n_read);

static void *never_comes_back(void *arg)
{
	(void)arg;
	SSL_read(NULL, NULL, 0);
	return NULL;
}

static void call_with_lies(uintptr_t i)
{
	char little[8];
	size_t n;

	SSL_read((void *)i, little, 1 << 30);
	SSL_read((void *)i, (void *)8, 100);
	SSL_read((void *)i, (void *)(UINTPTR_MAX - 10), 1000);
	SSL_read((void *)i, little, -1);
	SSL_read_ex((void *)i, little, SIZE_MAX, &n);
	SSL_read_ex((void *)i, little, 100, (size_t *)16);
}

/* A request and its answer on a new connection: both ends are this process. */
static void serve(int listener, const struct sockaddr_in *at, uintptr_t i)
{
	static const char record[] = { 0x17, 3, 3, 0, 64, 1, 2, 3, 4, 5 };
	int client = socket(AF_INET, SOCK_STREAM, 0), server;
	char got[sizeof(record)], lie[80];

	if (connect(client, (const struct sockaddr *)at, sizeof(*at)) ||
	    (server = accept(listener, NULL, NULL)) < 0)
		exit(1);
	if (write(client, record, sizeof(record)) < 0 || read(server, got, sizeof(got)) < 0)
		exit(1);
	snprintf(lie, sizeof(lie), "GET /liezzsecret%lu HTTP/1.1\r\n\r\n", (unsigned long)i);
	SSL_read((void *)1, lie, (int)sizeof(lie));
	if (write(server, record, sizeof(record)) < 0)
		exit(1);
	close(server);
	close(client);
	/* Of a connection that may be another one's now. */
	SSL_read((void *)1, lie, (int)sizeof(lie));
}

/* Prints its port. */
int main(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(at);
	pthread_t thread;

	if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 8) ||
	    getsockname(listener, (struct sockaddr *)&at, &len) ||
	    pthread_create(&thread, NULL, never_comes_back, NULL))
		return 1;
	printf("%d\n", ntohs(at.sin_port));
	fflush(stdout);
	for (uintptr_t i = 1;; i++) {
		call_with_lies(i);
		if (i % 20)
			continue;
		serve(listener, &at, i);
		usleep(5000);
	}
}

#endif
