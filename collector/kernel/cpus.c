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

bool cpu_is_online(uint32_t cpu)
{
	char path[64], line[8];

	snprintf(path, sizeof(path), CPUS "/cpu%u/online", cpu);
	/* A CPU that cannot go offline has no such file. */
	read_line(path, line, sizeof(line));
	return line[0] != '0';
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
