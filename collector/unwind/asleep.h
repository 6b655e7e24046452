/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asleep.h - the memory of a thread that has not moved since its registers were recorded: for
 * stacks that are larger than a copy can be, and for threads that fell asleep before the recording.
 */
#ifndef UNWIND_ASLEEP_H
#define UNWIND_ASLEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the thread is asleep now, in a system call with this stack pointer and this pc. */
bool asleep_at(uint32_t tgid, uint32_t tid, uint64_t sp, uint64_t pc);
/*
 * Whether it has been asleep there without interruption since it had this number of context
 * switches while it was not on a CPU.
 */
bool asleep_since(uint32_t tgid, uint32_t tid, uint64_t sp, uint64_t pc, uint64_t switches);

struct asleep_memory {
	int words, pages; /* descriptors */
};

/*
 * The memory of the process, to be closed by asleep_close(). What is read is the sleeping thread's
 * stack if asleep_at() holds before and after, or asleep_since() after. Returns 0 or a negative
 * errno.
 */
int asleep_open(struct asleep_memory *m, uint32_t tgid);
void asleep_close(struct asleep_memory *m);
/*
 * Reads up to len bytes, at most 28 KiB, from addr on. Returns how many: up to the first page that
 * is not the process's own anonymous memory. Another page may be of a file system that a user
 * serves, who could make the read wait for ever.
 */
size_t asleep_read(const struct asleep_memory *m, uint64_t addr, void *buf, size_t len);

#endif /* UNWIND_ASLEEP_H */
