// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "waiter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int any_port(int family, int type, struct sockaddr_in6 *at)
{
	struct sockaddr_in *v4 = (void *)at;
	socklen_t len = sizeof(*at);
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	memset(at, 0, sizeof(*at));
	at->sin6_family = (sa_family_t)family;
	if (family == AF_INET)
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		at->sin6_addr = in6addr_loopback;
	if (fd < 0 || bind(fd, (void *)at, family == AF_INET ? sizeof(*v4) : sizeof(*at)) ||
	    getsockname(fd, (void *)at, &len))
		return -1;
	return fd;
}

unsigned int connect_tcp(struct waiter *w, int family)
{
	struct sockaddr_in6 at;
	int listener = any_port(family, SOCK_STREAM, &at);

	if (listener < 0)
		return 0;
	must(!listen(listener, 5), "listen");
	w->fd = socket(family, SOCK_STREAM, 0);
	must(!connect(w->fd, (void *)&at, sizeof(at)), "connect");
	w->other = accept(listener, NULL, NULL);
	close(listener);
	return ntohs(at.sin6_port);
}

/* The client's end; the server's is the one that pokes. */
static bool init_stream(struct waiter *w, int family)
{
	unsigned int port = connect_tcp(w, family);

	if (!port)
		return cannot(w);
	called(w, family == AF_INET ? "127.0.0.1:%u" : "[::1]:%u", port);
	return true;
}

static bool init_tcp(struct waiter *w)
{
	return init_stream(w, AF_INET);
}

static bool init_tcp6(struct waiter *w)
{
	return init_stream(w, AF_INET6);
}

static bool init_accept(struct waiter *w)
{
	struct sockaddr_in6 at;

	w->fd = any_port(AF_INET, SOCK_STREAM, &at);
	must(w->fd >= 0 && !listen(w->fd, 5), "listen");
	w->other = ntohs(at.sin6_port);
	called(w, ":%d", w->other);
	return true;
}

static void wait_accept(struct waiter *w)
{
	int fd = accept(w->fd, NULL, NULL);

	if (fd >= 0)
		close(fd);
}

static void poke_accept(struct waiter *w)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)w->other),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (void *)&at, sizeof(at)))
		return;
	close(fd);
}

static bool init_udp(struct waiter *w)
{
	struct sockaddr_in6 a, b;

	w->fd = any_port(AF_INET, SOCK_DGRAM, &a);
	w->other = any_port(AF_INET, SOCK_DGRAM, &b);
	must(w->fd >= 0 && w->other >= 0 &&
		     !connect(w->fd, (void *)&b, sizeof(struct sockaddr_in)) &&
		     !connect(w->other, (void *)&a, sizeof(struct sockaddr_in)),
	     "udp");
	called(w, "127.0.0.1:%u", ntohs(b.sin6_port));
	return true;
}

/* Of a server that listens at a path: this process, which has both ends, and is not named. */
static bool init_unix(struct waiter *w)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", folder);
	must(!bind(listener, (void *)&at, sizeof(at)) && !listen(listener, 5), "bind");
	w->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	must(!connect(w->fd, (void *)&at, sizeof(at)), "connect");
	w->other = accept(listener, NULL, NULL);
	called(w, "%s", at.sun_path);
	return true;
}

struct waiter of_sockets[] = {
	WAITER("tcp", init_tcp, read_byte, write_byte),
	WAITER("tcp", init_tcp6, read_byte, write_byte),
	WAITER("tcp", init_accept, wait_accept, poke_accept),
	WAITER("udp", init_udp, read_byte, write_byte),
	WAITER("unix", init_unix, read_byte, write_byte),
	{ .class = NULL },
};
