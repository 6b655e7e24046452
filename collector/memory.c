// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
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

/* ---- the control group ---------------------------------------------------------------------- */

/* Reads a number from a file of the group; NULL: that after a word. 0: there is none. */
static uint64_t group_number(const char *group, const char *file, const char *word)
{
	char path[4200], line[256];
	unsigned long long n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", group, file);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		size_t len = word ? strlen(word) : 0;

		if ((!word || (!strncmp(line, word, len) && line[len] == ' ')) &&
		    sscanf(line + len, "%llu", &n) == 1)
			break;
	}
	if (f)
		fclose(f);
	return n;
}

/* The folder of this process's group, and how long the part of all groups is; 0: not known. */
static size_t find_group(char *group, size_t size, bool *is_unified)
{
	char line[4096], *path;
	size_t root = 0;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && !root && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		path = strchr(line, ':');
		if (!path)
			continue;
		*is_unified = !strncmp(path, "::", 2);
		if (!*is_unified && strncmp(path, ":memory:", 8))
			continue;
		root = strlen(*is_unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
		snprintf(group, size, "%s%s",
			 *is_unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory",
			 path + (*is_unified ? 2 : 8));
	}
	if (f)
		fclose(f);
	return root;
}

bool memory_group_is_short(bool was_short)
{
	uint64_t limit, taken, files;
	bool is_unified = false;
	char group[4200] = "";
	size_t root = find_group(group, sizeof(group), &is_unified);

	for (size_t len = strlen(group); root && len >= root; len--) {
		if (group[len] && group[len] != '/')
			continue;
		group[len] = 0;
		limit = group_number(group, is_unified ? "memory.max" : "memory.limit_in_bytes",
				     NULL);
		taken = group_number(group, is_unified ? "memory.current" : "memory.usage_in_bytes",
				     NULL);
		files = group_number(group, "memory.stat",
				     is_unified ? "inactive_file" : "total_inactive_file") +
			group_number(group, "memory.stat",
				     is_unified ? "active_file" : "total_active_file");
		taken -= files < taken ? files : taken;
		if (limit && (limit <= taken || limit - taken < limit / (was_short ? 4 : 8)))
			return true;
	}
	return false;
}

/* ---- what the helpers may take -------------------------------------------------------------- */

uint64_t memory_share(struct helpers *helpers, uint64_t budget, pid_t writer)
{
	uint64_t own = anonymous_bytes() + (writer ? changed_bytes(writer) : 0);
	uint64_t others = budget - budget / KEPT_PART;

	helpers_memory(helpers, own < others ? others - own : 0);
	return own;
}
