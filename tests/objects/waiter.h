/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waiter.h - a thread that waits for one thing again and again, and whose waits the main thread
 * ends (classes.c). The other files have those of some classes each, in an array that ends with one
 * without a class.
 */
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define PAUSE_NS 20000000 /* between two pokes */

/* What a thread has; init() fills it in, and the main thread pokes until the thread has ended. */
struct waiter {
	const char *class;
	bool (*init)(struct waiter *w);
	void (*wait)(struct waiter *w);
	void (*poke)(struct waiter *w);
	char name[PATH_MAX + 64];
	int fd, other;	/* the thread's end, and the one that the main thread pokes */
	uint32_t *word; /* in memory: a lock, or what faults */
	bool without;
	pthread_t thread;
};

#define WAITER(c, i, w, p)                                  \
	{                                                   \
		.class = c, .init = i, .wait = w, .poke = p \
	}

extern struct waiter of_files[], of_sockets[], of_locks[], of_sets[], of_others[];

extern char folder[]; /* for the test's files */
extern volatile bool ending;

/* Sets the name that the waiter's object is expected to have. */
__attribute__((format(printf, 2, 3))) void called(struct waiter *w, const char *format, ...);
/* Says that the machine does not have it, by errno. Returns false. */
bool cannot(const struct waiter *w);
void must(bool ok, const char *what);

void read_byte(struct waiter *w);
void write_byte(struct waiter *w);
unsigned long inode_of(int fd);
bool init_pipe(struct waiter *w);
void poke_nothing(struct waiter *w);
/* One end of a TCP connection is w->fd, the other w->other. Returns the port of the latter; 0:
 * none. */
unsigned int connect_tcp(struct waiter *w, int family);
