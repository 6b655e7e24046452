// SPDX-License-Identifier: GPL-2.0-or-later
#include "process_status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/host_proc.h"

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
	char line[512];
	FILE *f;

	f = fopen(host_proc_name(tgid, "status").text, "re");
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

uint64_t process_owner_key(uint32_t tgid)
{
	struct process_status status;

	return process_status_read(&status, tgid) ? UINT64_MAX : status.uid;
}

bool process_comm(char comm[16], uint32_t tgid)
{
	FILE *f = fopen(host_proc_name(tgid, "comm").text, "re");
	size_t n = f ? fread(comm, 1, 15, f) : 0;

	if (f)
		fclose(f);
	if (n && comm[n - 1] == '\n')
		n--;
	comm[n] = '\0';
	return n;
}

uint64_t process_start_ticks(uint32_t tgid)
{
	FILE *f = fopen(host_proc_name(tgid, "stat").text, "re");
	const char *p;
	char stat[1024];

	if (!f)
		return 0;
	stat[fread(stat, 1, sizeof(stat) - 1, f)] = '\0';
	fclose(f);
	/* The name may have any character. The start is field 22; behind the name is field 3. */
	p = strrchr(stat, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}
