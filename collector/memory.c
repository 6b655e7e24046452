// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory.h"

#include <malloc.h>

#define LARGE_BYTES (128 << 10)
#define END_BYTES (64 << 20)
#define INTERVAL_NS 10000000000u

void memory_begin(void)
{
	/*
	 * Fixed, as glibc otherwise raises it to the largest array that was ever freed, up to 32
	 * MiB.
	 */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	/*
	 * Large, as otherwise the end of the heap moves back and forth with each stack that waits.
	 */
	mallopt(M_TRIM_THRESHOLD, END_BYTES);
}

void memory_give_back(uint64_t *last_ns, uint64_t now_ns)
{
	if (now_ns - *last_ns < INTERVAL_NS)
		return;
	*last_ns = now_ns;
	/* What was freed lies between what was not: the heap rarely ends with it. */
	malloc_trim(0);
}
