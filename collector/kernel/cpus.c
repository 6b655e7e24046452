// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpus.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define CPUS "/sys/devices/system/cpu"
#define NODES "/sys/devices/system/node/online"

/* The first line of a small file; "" if there is none. */
static void read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, size, f))
		*line = '\0';
	if (f)
		fclose(f);
}

/* "0-3,8,10-11" */
void cpus_online(bool *is_online, uint32_t n)
{
	unsigned int first, last;
	char list[4096], *at = list;
	int len;

	read_line(CPUS "/online", list, sizeof(list));
	for (uint32_t cpu = 0; cpu < n; cpu++)
		is_online[cpu] = !*list;
	while (sscanf(at, "%u%n", &first, &len) == 1) {
		at += len;
		last = first;
		if (sscanf(at, "-%u%n", &last, &len) == 1)
			at += len;
		for (uint32_t cpu = first; cpu <= last && cpu < n; cpu++)
			is_online[cpu] = true;
		at += *at == ',';
	}
}

int cpu_node(uint32_t cpu)
{
	char path[64], nodes[64];
	struct dirent *entry;
	int node = -1;
	DIR *dir;

	/* "0", or a list: "0-1", "0,2". */
	read_line(NODES, nodes, sizeof(nodes));
	if (!strpbrk(nodes, "-,"))
		return -1;
	snprintf(path, sizeof(path), CPUS "/cpu%u", cpu);
	dir = opendir(path);
	while (dir && node < 0 && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "node%d", &node) != 1)
			node = -1;
	if (dir)
		closedir(dir);
	return node;
}
