// SPDX-License-Identifier: GPL-2.0-or-later
#include "process_status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "Name:\tA\tB...": the n-th number, from 0 on; from the end if n is negative. */
static uint64_t number_of(const char *line, int n, int base)
{
	const char *at = n < 0 ? strrchr(line, '\t') : strchr(line, '\t');

	while (at && n-- > 0)
		at = strchr(at + 1, '\t');
	return at ? strtoull(at, NULL, base) : 0;
}

int process_status_read(struct process_status *out, uint32_t tgid)
{
	bool has_uid = false, has_gid = false;
	char name[40], line[512];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/status", tgid);
	f = fopen(name, "re");
	if (!f)
		return -ESRCH;
	*out = (struct process_status) { .ns_pid = tgid };
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Uid:", 4)) {
			out->uid = (uid_t)number_of(line, 1, 10);
			has_uid = true;
		} else if (!strncmp(line, "Gid:", 4)) {
			out->gid = (gid_t)number_of(line, 1, 10);
			has_gid = true;
		} else if (!strncmp(line, "NSpid:", 6)) {
			out->ns_pid = (uint32_t)number_of(line, -1, 10);
		} else if (!strncmp(line, "SigCgt:", 7)) {
			out->caught = number_of(line, 0, 16);
		}
	}
	fclose(f);
	return has_uid && has_gid ? 0 : -ESRCH;
}
