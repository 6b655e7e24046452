/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asleep.h - reads the stack of a thread that has slept since its registers were recorded. Used for
 * stacks that are larger than a copy, and for threads that fell asleep before the recording.
 *
 * A process that holds its memory lock, or is in the middle of an exec, makes a reader wait without
 * end. So another process makes these calls, which is given up if they hang
 * (helper/call_timeout.h).
 */
#ifndef UNWIND_ASLEEP_H
#define UNWIND_ASLEEP_H

#include <stddef.h>
#include <stdint.h>

/* A thread in a system call: its stack pointer and its pc there. */
struct asleep {
	uint32_t tgid, tid;
	uint64_t sp, pc;
	/*
	 * Context switches that it had made when it was off its CPU: with the same number it has
	 * not run since, and come back to where it was.
	 */
	uint64_t switches;
};

#define ASLEEP_READ_MAX (16u << 10)

/*
 * Reads up to len bytes, at most ASLEEP_READ_MAX, from addr on of the memory of a thread that
 * sleeps there, before and after. Stops before the first page that is not anonymous memory: a page
 * of a file system that a user serves could block the read for ever. Returns the number of bytes
 * read; 0: none, or it does not sleep there, or its process does not answer in time.
 */
size_t asleep_read(const struct asleep *a, uint64_t addr, void *buf, size_t len);

#endif /* UNWIND_ASLEEP_H */
