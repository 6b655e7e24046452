// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "helper/helper.h"
#include "kernel/host_proc.h"

#define LARGE_BYTES (128 << 10)
#define END_BYTES (64 << 20)
#define INTERVAL_NS 10000000000u
/* This part is kept for what grows until it is looked at again. */
#define KEPT_PART 8u

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

/* What no file backs, in bytes: proc_pid_statm(5). */
static uint64_t anonymous_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long resident = 0, shared = 0;

	if (f && fscanf(f, "%*u %lu %lu", &resident, &shared) != 2)
		resident = shared = 0;
	if (f)
		fclose(f);
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What the fork has changed since, in bytes: proc_pid_smaps(5). */
static uint64_t changed_bytes(pid_t fork)
{
	unsigned long long kib = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)fork);
	f = host_proc_has_own_ids() ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_Dirty: %llu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib << 10;
}

uint64_t memory_share(struct helpers *helpers, uint64_t budget, pid_t writer)
{
	uint64_t own = anonymous_bytes() + (writer ? changed_bytes(writer) : 0);
	uint64_t others = budget - budget / KEPT_PART;

	helpers_memory(helpers, own < others ? others - own : 0);
	return own;
}
