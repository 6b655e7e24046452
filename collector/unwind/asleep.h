/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asleep.h - reads the stack of a thread that has slept since its registers were recorded. Used for
 * stacks that are larger than a copy, and for threads that fell asleep before the recording.
 */
#ifndef UNWIND_ASLEEP_H
#define UNWIND_ASLEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the thread is asleep now, in a system call with this stack pointer and this pc. */
bool asleep_at(uint32_t tgid, uint32_t tid, uint64_t sp, uint64_t pc);
/*
 * Whether the thread is asleep there and has made just this number of context switches. If the
 * number was read while it was off its CPU, it has not run since.
 */
bool asleep_since(uint32_t tgid, uint32_t tid, uint64_t sp, uint64_t pc, uint64_t switches);

struct asleep_memory {
	int words, pages; /* descriptors of /proc/PID/mem and /proc/PID/pagemap */
};

/*
 * Opens the memory of the process, which asleep_close() closes. What is read is the stack of this
 * sleep only if asleep_at() is true before and after the read, or asleep_since() after it. Returns
 * 0 or a negative errno.
 */
int asleep_open(struct asleep_memory *m, uint32_t tgid);
void asleep_close(struct asleep_memory *m);
/*
 * Reads up to len bytes, at most 28 KiB, from addr on. Stops before the first page that is not
 * anonymous memory: a page of a file system that a user serves could block the read for ever.
 * Returns the number of bytes read.
 */
size_t asleep_read(const struct asleep_memory *m, uint64_t addr, void *buf, size_t len);

#endif /* UNWIND_ASLEEP_H */
