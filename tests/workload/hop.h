/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hop.h - one thread waits, another lets it go on: by a futex, a pipe, an eventfd, a pair of
 * unix sockets or a loopback TCP connection.
 *
 * A hop has one waiter and one passer. hop_wait() and hop_pass() are always inlined, so that the
 * function which is found in the stack is the named one that called them.
 */
#pragma once

#include <arpa/inet.h>
#include <limits.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "calls.h"

enum hop_kind { HOP_FUTEX, HOP_PIPE, HOP_EVENTFD, HOP_UNIX, HOP_TCP, HOP_KINDS };

static const char *const hop_names[HOP_KINDS] = { "futex", "pipe", "eventfd", "unix", "tcp" };

struct hop {
	enum hop_kind kind;
	int rx, tx;		 /* what the waiter reads and the passer writes, -1 for a futex */
	_Atomic uint32_t passes; /* the futex word */
	uint32_t taken;		 /* the waiter's own count */
	_Atomic uint64_t passed_ns; /* when the passer last began to pass */
};

/* The kind of that name, or HOP_KINDS. len is the length of the name. */
static inline enum hop_kind hop_kind_named(const char *name, size_t len)
{
	int kind;

	for (kind = 0; kind < HOP_KINDS; kind++)
		if (strlen(hop_names[kind]) == len && !memcmp(hop_names[kind], name, len))
			break;
	return (enum hop_kind)kind;
}

INLINED void futex_wait(_Atomic uint32_t *word, uint32_t while_value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_value, NULL, NULL, 0);
}

INLINED void futex_wake_one(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

INLINED void futex_wake_all(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static int tcp_pair(int fds[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int one = 1, error = 0;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	fds[0] = fds[1] = -1;
	if (listener < 0)
		return -errno;
	if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len))
		error = -errno;
	if (!error && (fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
		error = -errno;
	if (!error && connect(fds[1], (struct sockaddr *)&address, len))
		error = -errno;
	if (!error && (fds[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
		error = -errno;
	if (!error && setsockopt(fds[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		error = -errno;
	close(listener);
	return error;
}

/* 0 or a negative errno. What is opened stays open until the process ends. */
static inline int hop_open(struct hop *hop, enum hop_kind kind)
{
	int fds[2] = { -1, -1 }, error = 0;

	*hop = (struct hop) { .kind = kind, .rx = -1, .tx = -1 };
	switch (kind) {
	case HOP_PIPE:
		error = pipe2(fds, O_CLOEXEC) ? -errno : 0;
		break;
	case HOP_EVENTFD:
		fds[0] = fds[1] = eventfd(0, EFD_CLOEXEC);
		error = fds[0] < 0 ? -errno : 0;
		break;
	case HOP_UNIX:
		error = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) ? -errno : 0;
		break;
	case HOP_TCP:
		error = tcp_pair(fds);
		break;
	case HOP_FUTEX:
	case HOP_KINDS:
		break;
	}
	hop->rx = fds[0];
	hop->tx = fds[1];
	return error;
}

/* Sleeps until the next pass that has not been waited for yet. 0 or a negative errno. */
INLINED int hop_wait(struct hop *hop)
{
	uint64_t token;

	switch (hop->kind) {
	case HOP_FUTEX:
		while (atomic_load(&hop->passes) == hop->taken)
			futex_wait(&hop->passes, hop->taken);
		hop->taken++;
		return 0;
	case HOP_UNIX:
	case HOP_TCP:
		return TRANSFER(recv(hop->rx, &token, sizeof(token), 0), sizeof(token));
	default:
		return TRANSFER(read(hop->rx, &token, sizeof(token)), sizeof(token));
	}
}

/* Lets the waiter go on. 0 or a negative errno. */
INLINED int hop_pass(struct hop *hop)
{
	uint64_t token = 1;

	hop->passed_ns = clock_ns(CLOCK_MONOTONIC);
	switch (hop->kind) {
	case HOP_FUTEX:
		atomic_fetch_add(&hop->passes, 1);
		futex_wake_one(&hop->passes);
		return 0;
	case HOP_UNIX:
	case HOP_TCP:
		return TRANSFER(send(hop->tx, &token, sizeof(token), 0), sizeof(token));
	default:
		return TRANSFER(write(hop->tx, &token, sizeof(token)), sizeof(token));
	}
}
