/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox.h - processes without rights, for what must not be able to do what a recorder can: they
 * read files that strangers made. They are forked before the recorder has
 * anything in memory that they must not see, and before it gives up the right to change its user.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where sandbox_enter() puts the socket. */
#define SANDBOX_SOCKET 3

/*
 * In a forked process: from now on it has nothing open but the socket and /dev/null; signals that
 * end a recording are ignored, and it ends with its parent. Unless it keeps its rights it has a
 * user that no one else is (own_id.h; if it was root's), and no capabilities and no new privileges.
 * False if any right is left: then end it.
 */
bool sandbox_enter(const char *name, int socket, bool keeps_rights);

/*
 * After sandbox_enter(): only system calls that use what is open already, with messages and memory,
 * and, if may_fork, to open files, to fork, to kill, to wait and to block signals; all others fail
 * with EPERM. False if the kernel has no seccomp. Nothing is forbidden in builds with sanitizers,
 * which make system calls of their own.
 */
bool sandbox_seal(bool may_fork);

/* Bounds of this process: bytes of memory, seconds on a CPU. */
void sandbox_limit(uint64_t bytes, unsigned int cpu_seconds);

/* Whether this build seals. */
bool sandbox_is_real(void);

/*
 * Messages over a SOCK_SEQPACKET socket, each with a descriptor if fd is not -1. They return the
 * bytes sent or received (0: the other side has ended), or a negative errno. *fd is the caller's to
 * close, -1: none came.
 */
ssize_t sandbox_send(int socket, const void *message, size_t len, int fd);
ssize_t sandbox_receive(int socket, void *message, size_t size, int *fd);
