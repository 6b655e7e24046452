// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * As a library called libssl.so.9, with -DLIBRARY: functions of OpenSSL's names that give back what
 * they are told. Else a program that calls them: with numbers that are too large, with buffers that
 * are not there, for connections that it has not, from a thread that never comes back, and for one
 * socket after another with the same name.
 */
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
	if (!ssl)
		for (;;)
			pause();
	if (buffer == (void *)8)
		return n;
	return n < 0 ? -n : n;
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
void SSL_free(void *ssl);

static void *never_comes_back(void *arg)
{
	(void)arg;
	SSL_read(NULL, NULL, 0);
	return NULL;
}

int main(void)
{
	static const char lie[] = "GET /liezzsecret HTTP/1.1\r\n\r\n";
	pthread_t thread;
	size_t n;

	pthread_create(&thread, NULL, never_comes_back, NULL);
	puts("lies");
	fflush(stdout);
	for (unsigned long i = 1;; i++) {
		char tls[] = { 0x17, 3, 3, 0, 64, 1, 2, 3, 4, 5 }, got[16];
		int pair[2];

		SSL_read((void *)i, (void *)lie, 1 << 30);
		SSL_read((void *)i, (void *)8, 100);
		SSL_read((void *)i, (void *)(UINT64_MAX - 10), 1000);
		SSL_read_ex((void *)i, (void *)lie, SIZE_MAX, &n);
		SSL_read_ex((void *)i, (void *)lie, 100, (size_t *)16);
		/* A server of such records, of which each has the same state. */
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			continue;
		if (write(pair[0], tls, sizeof(tls)) > 0 && read(pair[1], got, sizeof(got)) > 0)
			SSL_read((void *)1, (void *)lie, sizeof(lie) - 1);
		(void)!write(pair[1], tls, 1);
		close(pair[0]);
		close(pair[1]);
		if (i % 1000 == 0)
			usleep(1000);
	}
}

#endif
