// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_NS 1000000000u

/* The name that somebody gave to dm-N; the kernel's own if there is none any more. */
static void read_mapped(const char *kernel, char shown[DISK_NAME_LEN])
{
	char path[64];
	FILE *f;

	snprintf(shown, DISK_NAME_LEN, "%s", kernel);
	snprintf(path, sizeof(path), "/sys/block/%s/dm/name", kernel);
	f = fopen(path, "re");
	if (!f)
		return;
	if (!fgets(shown, DISK_NAME_LEN, f))
		snprintf(shown, DISK_NAME_LEN, "%s", kernel);
	shown[strcspn(shown, "\n")] = '\0';
	fclose(f);
}

/* Whether it is dm-N; *slot: where the name of that is kept. */
static bool is_mapped(const char *name, size_t *slot)
{
	char *end;

	if (strncmp(name, "dm-", 3) || name[3] < '0' || name[3] > '9')
		return false;
	*slot = strtoul(name + 3, &end, 10) % DISK_NAMES;
	return !*end;
}

void disk_name(struct disk_names *d, const char *kernel, uint64_t time_ns,
	       char shown[DISK_NAME_LEN])
{
	char name[WIRE_DISK_NAME + 1] = { 0 };
	size_t slot;

	memcpy(name, kernel, WIRE_DISK_NAME);
	if (is_mapped(name, &slot)) {
		if (strncmp(d->known[slot].kernel, name, WIRE_DISK_NAME) ||
		    time_ns > d->known[slot].read_ns + AGAIN_NS) {
			memcpy(d->known[slot].kernel, name, WIRE_DISK_NAME);
			d->known[slot].read_ns = time_ns;
			read_mapped(name, d->known[slot].shown);
		}
		memcpy(shown, d->known[slot].shown, DISK_NAME_LEN);
		return;
	}
	/* In place of a '/', which a name in sysfs cannot have. */
	for (char *c = name; *c; c++)
		if (*c == '!')
			*c = '/';
	snprintf(shown, DISK_NAME_LEN, "%s", name);
}
