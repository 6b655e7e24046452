/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sleeping_memory.h - the memory of a thread that sleeps, and whether it still does. These calls
 * may hang: they are made by another process (helper/call_timeout.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread in a system call: its stack pointer and its pc there. */
struct sleeping_thread {
	uint32_t tgid, tid;
	uint64_t sp, pc;
	/*
	 * Context switches that it had made when it was off its CPU: with the same number it has
	 * not run since, and come back to where it was.
	 */
	uint64_t switches;
};

#define SLEEPING_READ_MAX (16u << 10)

/* Whether the thread is in that system call. */
bool sleeping_is_at(const struct sleeping_thread *a);
/* Whether it has slept there all the time. After its memory was read. */
bool sleeping_is_asleep(const struct sleeping_thread *a);

/* Files of the process in /proc; -1: not open. */
struct sleeping_memory {
	int mem, pagemap;
};

/* To be closed, also if it cannot be opened. */
void sleeping_memory_open(struct sleeping_memory *m, uint32_t tgid);
void sleeping_memory_close(struct sleeping_memory *m);
/*
 * Reads up to len bytes from addr on, at most SLEEPING_READ_MAX, up to the first page that is not
 * anonymous memory: a page of a file system that a user serves could block the read for ever.
 * Returns the number of bytes.
 */
size_t sleeping_memory_read(const struct sleeping_memory *m, uint64_t addr, void *buf, size_t len);
