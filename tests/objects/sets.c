// SPDX-License-Identifier: GPL-2.0-or-later
/* Several descriptors at a time. */
#define _GNU_SOURCE
#include "waiter.h"

#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

static bool init_epoll(struct waiter *w)
{
	struct epoll_event in = { .events = EPOLLIN };
	int ends[2];

	must(!pipe(ends), "pipe");
	w->fd = epoll_create1(0);
	in.data.fd = ends[0];
	must(w->fd >= 0 && !epoll_ctl(w->fd, EPOLL_CTL_ADD, ends[0], &in), "epoll");
	w->other = ends[1];
	called(w, "%d:%d, ready: pipe %lu", (int)getpid(), w->fd, inode_of(ends[0]));
	return true;
}

static void wait_epoll(struct waiter *w)
{
	struct epoll_event ev;
	char c[8];

	if (epoll_wait(w->fd, &ev, 1, -1) == 1 && read(ev.data.fd, c, sizeof(c)) < 0)
		return;
}

static bool init_poll(struct waiter *w)
{
	init_pipe(w);
	called(w, "pipe %lu", inode_of(w->fd));
	return true;
}

static void wait_poll(struct waiter *w)
{
	struct pollfd p = { w->fd, POLLIN, 0 };

	if (poll(&p, 1, -1) == 1)
		read_byte(w);
}

static bool init_poll_2(struct waiter *w)
{
	init_pipe(w);
	called(w, "of 2");
	return true;
}

static void wait_poll_2(struct waiter *w)
{
	struct pollfd p[2] = { { w->fd, POLLIN, 0 }, { -1, 0, 0 } };

	if (poll(p, 2, -1) == 1)
		read_byte(w);
}

/* Of sockets it is known which one is ready, since Linux 6.3. */
static bool init_poll_tcp(struct waiter *w)
{
	unsigned int port = connect_tcp(w, AF_INET), version[2];
	struct utsname u;

	if (!port)
		return cannot(w);
	must(!uname(&u) && sscanf(u.release, "%u.%u", &version[0], &version[1]) == 2, "uname");
	if (version[0] < 6 || (version[0] == 6 && version[1] < 3))
		called(w, "of 2");
	else
		called(w, "of 2, ready: tcp 127.0.0.1:%u", port);
	return true;
}

static bool init_select(struct waiter *w)
{
	init_pipe(w);
	called(w, "of 1");
	return true;
}

static void wait_select(struct waiter *w)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(w->fd, &set);
	if (select(w->fd + 1, &set, NULL, NULL, NULL) == 1)
		read_byte(w);
}

struct waiter of_sets[] = {
	WAITER("epoll", init_epoll, wait_epoll, write_byte),
	WAITER("poll", init_poll, wait_poll, write_byte),
	WAITER("poll", init_poll_2, wait_poll_2, write_byte),
	WAITER("poll", init_poll_tcp, wait_poll_2, write_byte),
	WAITER("select", init_select, wait_select, write_byte),
	{ .class = NULL },
};
