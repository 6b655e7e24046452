// SPDX-License-Identifier: GPL-2.0-or-later
/* Futexes, each where locks are in real programs. */
#define _GNU_SOURCE
#include "waiter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t lock_in_bss;

static long futex(uint32_t *word, int op)
{
	struct timespec never_long = { 1, 0 };

	return syscall(SYS_futex, word, op, op & FUTEX_WAKE ? INT_MAX : 0,
		       op & FUTEX_WAKE ? NULL : &never_long, NULL, 0);
}

static void wait_futex(struct waiter *w)
{
	futex(w->word, FUTEX_WAIT_PRIVATE);
}

static void poke_futex(struct waiter *w)
{
	futex(w->word, FUTEX_WAKE_PRIVATE);
}

/* Where /proc has a mapping of a file that ends before the word, or contains it. */
static void call_by_maps(struct waiter *w)
{
	unsigned long start, end, offset, before_end = 0, before_start = 0, before_offset = 0;
	unsigned long at = (unsigned long)w->word;
	char line[PATH_MAX + 128], path[PATH_MAX], before[PATH_MAX] = "";
	FILE *f = fopen("/proc/self/maps", "r");

	must(f, "maps");
	while (fgets(line, sizeof(line), f)) {
		*path = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %[^\n]", &start, &end, &offset, path) < 3)
			continue;
		if (at >= start && at < end) {
			if (*path == '/')
				called(w, "%d:%s+0x%lx", (int)getpid(), strrchr(path, '/') + 1,
				       at - start + offset);
			else if (start == before_end && *before == '/')
				called(w, "%d:%s+0x%lx", (int)getpid(), strrchr(before, '/') + 1,
				       at - before_start + before_offset);
			else
				called(w, "%d:0x%lx", (int)getpid(), at);
		}
		before_start = start;
		before_end = end;
		before_offset = offset;
		snprintf(before, sizeof(before), "%s", path);
	}
	fclose(f);
}

static bool init_futex(struct waiter *w)
{
	w->word = &lock_in_bss;
	call_by_maps(w);
	return true;
}

static bool init_heap_futex(struct waiter *w)
{
	w->word = calloc(1, 1 << 20);
	must(w->word, "calloc");
	call_by_maps(w);
	return true;
}

/* In memory that a file is behind of: processes meet there. */
static bool init_shared_futex(struct waiter *w)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/shared", folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	must(fd >= 0 && !ftruncate(fd, 8192), "shared file");
	w->word = (uint32_t *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) + 1025;
	called(w, "%s+0x1004", path);
	return true;
}

static void wait_shared_futex(struct waiter *w)
{
	futex(w->word, FUTEX_WAIT);
}

static void poke_shared_futex(struct waiter *w)
{
	futex(w->word, FUTEX_WAKE);
}

/*
 * The main thread holds this one, and passes it on for a moment. Whom the waiter waits for the
 * kernel knows, as the holder inherits its priority.
 */
static pthread_mutex_t lock_with_owner;

static bool init_owned_lock(struct waiter *w)
{
	pthread_mutexattr_t attr;
	size_t len;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	errno = pthread_mutex_init(&lock_with_owner, &attr);
	if (errno)
		return cannot(w);
	pthread_mutex_lock(&lock_with_owner);
	w->word = (uint32_t *)(void *)&lock_with_owner;
	call_by_maps(w);
	len = strlen(w->name);
	snprintf(w->name + len, sizeof(w->name) - len, " held by classes/%d", (int)gettid());
	return true;
}

static void wait_owned_lock(struct waiter *w)
{
	(void)w;
	pthread_mutex_lock(&lock_with_owner);
	pthread_mutex_unlock(&lock_with_owner);
}

/* Who waits first gets it first. */
static void poke_owned_lock(struct waiter *w)
{
	(void)w;
	pthread_mutex_unlock(&lock_with_owner);
	pthread_mutex_lock(&lock_with_owner);
}

struct waiter of_locks[] = {
	WAITER("futex", init_futex, wait_futex, poke_futex),
	WAITER("futex", init_heap_futex, wait_futex, poke_futex),
	WAITER("futex", init_shared_futex, wait_shared_futex, poke_shared_futex),
	WAITER("futex", init_owned_lock, wait_owned_lock, poke_owned_lock),
	{ .class = NULL },
};
