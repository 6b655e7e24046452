/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * things.h - a scenario with a thread for each way to learn what was waited for: asker waits for
 * the answer to what it sends, poller for any of two things, faulter for a page of a mapped file
 * that is on the disk alone, and syncer for what it wrote to be on the disk. A part of chainload's
 * one translation unit.
 */
#pragma once

#include <sys/epoll.h>
#include <sys/mman.h>

#include "hop.h"
#include "options.h"
#include "scratch.h"
#include "threads.h"

#define THINGS_PAGE 4096
#define THINGS_PAGES 256

static struct {
	int tcp[2]; /* poller's end, and asker's */
	int poll;   /* poller's epoll instance: that end, and an eventfd that nobody writes to */
	int file;   /* syncer's */
	const volatile char *pages;
} things;

IN_STACK int asker_asks(void)
{
	return TRANSFER(send(things.tcp[1], "?", 1, 0), 1);
}

IN_STACK int asker_waits(void)
{
	char byte;

	return TRANSFER(recv(things.tcp[1], &byte, 1, 0), 1);
}

/* So that poller is asleep before it is asked. */
IN_STACK void asker_pauses(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
}

IN_STACK int asker_runs(struct thread *asker)
{
	int error = 0;

	for (; !error && asker->rounds < options.rounds; asker->rounds++) {
		asker_pauses();
		error = asker_asks();
		if (!error)
			error = asker_waits();
	}
	return error;
}

IN_STACK int poller_waits(void)
{
	struct epoll_event ready;
	char byte;
	int n;

	do
		n = epoll_wait(things.poll, &ready, 1, -1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? TRANSFER(recv(things.tcp[0], &byte, 1, 0), 1) : -errno;
}

IN_STACK void poller_works(struct thread *poller)
{
	work_on_cpu(poller, options.work_us[0]);
}

IN_STACK int poller_answers(void)
{
	return TRANSFER(send(things.tcp[0], "!", 1, 0), 1);
}

IN_STACK int poller_runs(struct thread *poller)
{
	int error = 0;

	for (; !error && poller->rounds < options.rounds; poller->rounds++) {
		error = poller_waits();
		poller_works(poller);
		if (!error)
			error = poller_answers();
	}
	return error;
}

IN_STACK char faulter_touches(uint64_t page)
{
	char byte = things.pages[page * THINGS_PAGE];

	__asm__ volatile("" ::: "memory");
	return byte;
}

IN_STACK int faulter_runs(struct thread *faulter)
{
	for (; faulter->rounds < options.rounds; faulter->rounds++)
		if (faulter_touches(faulter->rounds % THINGS_PAGES) != 'c')
			return -EIO;
	return 0;
}

IN_STACK int syncer_syncs(uint64_t offset)
{
	int error = TRANSFER(pwrite(things.file, "s", 1, (off_t)offset), 1);

	if (!error && fsync(things.file))
		error = -errno;
	return error;
}

IN_STACK int syncer_runs(struct thread *syncer)
{
	int error = 0;

	for (; !error && syncer->rounds < options.rounds; syncer->rounds++)
		error = syncer_syncs(syncer->rounds * THINGS_PAGE);
	return error;
}

/* A file of which nothing is in memory, mapped so that a page comes alone. */
static int things_map(void)
{
	static char page[THINGS_PAGE];
	int fd = open_scratch(0);
	void *at;

	if (fd < 0)
		return fd;
	memset(page, 'c', sizeof(page));
	for (int i = 0; i < THINGS_PAGES; i++)
		if (write(fd, page, sizeof(page)) != sizeof(page))
			return errno ? -errno : -EIO;
	if (fsync(fd))
		return -errno;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	at = mmap(NULL, sizeof(page) * THINGS_PAGES, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED || madvise(at, sizeof(page) * THINGS_PAGES, MADV_RANDOM))
		return -errno;
	things.pages = at;
	return 0;
}

static int things_add(int fd)
{
	struct epoll_event in = { .events = EPOLLIN };

	return fd < 0 || epoll_ctl(things.poll, EPOLL_CTL_ADD, fd, &in) ? -errno : 0;
}

static int things_sets_up(void)
{
	int error = tcp_pair(things.tcp);

	things.poll = epoll_create1(EPOLL_CLOEXEC);
	if (!error)
		error = things.poll < 0 ? -errno : 0;
	if (!error)
		error = things_add(things.tcp[0]);
	if (!error)
		error = things_add(eventfd(0, EFD_CLOEXEC));
	if (!error)
		error = things_map();
	things.file = open_scratch(0);
	if (!error && things.file < 0)
		error = things.file;
	crew_add("asker", asker_runs);
	crew_add("poller", poller_runs);
	crew_add("faulter", faulter_runs);
	crew_add("syncer", syncer_runs);
	return error;
}
